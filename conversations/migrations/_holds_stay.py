"""That what is held stays, kept by the database: no conversation under a legal hold is deleted, whatever runs.

A hold itself is never deleted. It changes once, when it is lifted; only then may it forget the conversation or the user.
To mend rows by hand, say so first: SET chatsite.log_may_change = 'on'.
"""

from __future__ import annotations

from chatsite.postgres.append_only import MAY_CHANGE

MAY_NOT_CHANGE = f"current_setting('{MAY_CHANGE}', TRUE) IS DISTINCT FROM 'on'"
WHAT_IS_HELD = "'conversation_id' - 'user_id'"
WHO_DID_IT = "'placed_by_id' - 'lifted_by_id'"
LIFTING = "'lifted_by_id' - 'lifted_by_email' - 'lifted_at'"

HOLD = f"""
CREATE FUNCTION conversations_legalhold_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'legal hold % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER legalhold_loses_no_row BEFORE DELETE ON conversations_legalhold
FOR EACH ROW WHEN ({MAY_NOT_CHANGE}) EXECUTE FUNCTION conversations_legalhold_stays();

CREATE TRIGGER legalhold_is_only_lifted BEFORE UPDATE ON conversations_legalhold
FOR EACH ROW WHEN (OLD.lifted_at IS NULL AND {MAY_NOT_CHANGE} AND (
  to_jsonb(NEW) - 'placed_by_id' - {LIFTING} IS DISTINCT FROM to_jsonb(OLD) - 'placed_by_id' - {LIFTING}
  OR NEW.placed_by_id IS NOT NULL AND NEW.placed_by_id IS DISTINCT FROM OLD.placed_by_id
)) EXECUTE FUNCTION conversations_legalhold_stays();

CREATE TRIGGER legalhold_only_forgets BEFORE UPDATE ON conversations_legalhold
FOR EACH ROW WHEN (OLD.lifted_at IS NOT NULL AND {MAY_NOT_CHANGE} AND (
  to_jsonb(NEW) - {WHAT_IS_HELD} - {WHO_DID_IT} IS DISTINCT FROM to_jsonb(OLD) - {WHAT_IS_HELD} - {WHO_DID_IT}
  OR NEW.conversation_id IS NOT NULL AND NEW.conversation_id IS DISTINCT FROM OLD.conversation_id
  OR NEW.user_id IS NOT NULL AND NEW.user_id IS DISTINCT FROM OLD.user_id
  OR NEW.placed_by_id IS NOT NULL AND NEW.placed_by_id IS DISTINCT FROM OLD.placed_by_id
  OR NEW.lifted_by_id IS NOT NULL AND NEW.lifted_by_id IS DISTINCT FROM OLD.lifted_by_id
)) EXECUTE FUNCTION conversations_legalhold_stays();

CREATE FUNCTION conversations_held_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM conversations_legalhold
    WHERE lifted_at IS NULL AND (conversation_id = OLD.id OR user_id = OLD.owner_id)
  ) THEN
    RAISE EXCEPTION 'conversation % is under a legal hold', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$;

CREATE TRIGGER conversation_is_not_held BEFORE DELETE ON conversations_conversation
FOR EACH ROW WHEN ({MAY_NOT_CHANGE}) EXECUTE FUNCTION conversations_held_stays();
"""
LET_GO = """
DROP TRIGGER conversation_is_not_held ON conversations_conversation;
DROP FUNCTION conversations_held_stays();
DROP FUNCTION conversations_legalhold_stays() CASCADE;
"""
