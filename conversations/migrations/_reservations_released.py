"""Triggers that release a run's reservation when the run ends or is deleted, whatever ends or deletes it.

At the very end of the transaction, however long a deletion takes: the requests of all users meet in the site's sums,
which must not be locked before. The sums are those of `services/ledger/spending_sums`, in the same order, and of the
site's any one part.
"""

from __future__ import annotations

RELEASE = """
CREATE FUNCTION conversations_release_reservation() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  today date := (OLD.reserved_at AT TIME ZONE 'UTC')::date;
  any_part smallint := floor(random() * 16);
BEGIN
  INSERT INTO conversations_spending AS stored (user_id, period, begins_on, part, spent_usd, reserved_usd, free_usd)
  SELECT sum.user_id, sum.period, sum.begins_on, CASE WHEN sum.place > 2 THEN any_part ELSE 0 END, 0,
         -OLD.reserved_usd, CASE WHEN sum.place > 2 THEN OLD.reserved_usd END
  FROM (
    VALUES (1, OLD.payer_id, 'day', today), (2, OLD.payer_id, 'month', date_trunc('month', today)::date),
           (3, NULL, 'day', today), (4, NULL, 'month', date_trunc('month', today)::date)
  ) AS sum (place, user_id, period, begins_on)
  WHERE sum.place > 2 OR EXISTS (SELECT FROM accounts_user WHERE id = sum.user_id)
  ORDER BY sum.place
  ON CONFLICT (user_id, period, begins_on, part) DO UPDATE
  SET reserved_usd = stored.reserved_usd + EXCLUDED.reserved_usd, free_usd = stored.free_usd + EXCLUDED.free_usd;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER ended_run_reserves_nothing AFTER UPDATE OF state ON conversations_run
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (OLD.reserved_usd > 0 AND OLD.state <> 'ended' AND NEW.state = 'ended') EXECUTE FUNCTION conversations_release_reservation();

CREATE CONSTRAINT TRIGGER deleted_run_reserves_nothing AFTER DELETE ON conversations_run
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (OLD.reserved_usd > 0 AND OLD.state <> 'ended') EXECUTE FUNCTION conversations_release_reservation();
"""
DO_NOT_RELEASE = """
DROP TRIGGER ended_run_reserves_nothing ON conversations_run;
DROP TRIGGER deleted_run_reserves_nothing ON conversations_run;
DROP FUNCTION conversations_release_reservation();
"""
