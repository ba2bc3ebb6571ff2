"""A worker is killed in the middle of an import: another goes on with it, nothing twice and nothing missing."""

from __future__ import annotations

from tests.support.exports import as_json, chatgpt, node
from tests.support.patience import wait_for

CONVERSATIONS = 2_000
SEND = """
WITH owner AS (SELECT owner_id FROM conversations_conversation WHERE public_id = %s),
sent AS (
  INSERT INTO conversations_conversationimport
         (public_id, owner_id, state, is_cancelled, is_pausing, items, total_bytes, read_bytes, report, error_code,
          worker, attempt, created_at, changed_at)
  SELECT gen_random_uuid(), owner_id, 'waiting', false, false, 0, 0, 0, '{}', '', '', 0, now(), now()
  FROM owner RETURNING id
), file AS (
  INSERT INTO conversations_importfile (of_import_id, number, name, size_bytes, received_bytes, digest)
  SELECT id, 0, 'conversations.json', %s, %s, '' FROM sent RETURNING id, of_import_id
), piece AS (
  INSERT INTO conversations_importpiece (file_id, start, content) SELECT id, 0, %s FROM file
)
SELECT of_import_id FROM file
"""
STATE = "SELECT state, items, report FROM conversations_conversationimport WHERE id = %s"
LET_GO = "UPDATE conversations_conversationimport SET lease_until = now() WHERE id = %s AND state = 'running'"
STORED = """
WITH brought AS (
  SELECT conversation_id, source_id FROM conversations_conversationorigin
  WHERE conversation_id IS NOT NULL AND brought_by_id = %s
)
SELECT count(*) AS conversations, count(DISTINCT source_id) AS different,
  (SELECT count(*) FROM conversations_messageorigin WHERE conversation_id IN (SELECT conversation_id FROM brought))
  AS messages
FROM brought
"""


def conversation(number):
    nodes = [node("q", "root", "user", f"question {number}"), node("a", "q", "assistant", f"answer {number}")]
    return chatgpt(f"c{number}", nodes, "a")


def test_an_import_whose_worker_is_killed_ends_with_another(parted_site, chance):
    content = as_json([conversation(number) for number in range(CONVERSATIONS)])
    killed = parted_site.run_worker()
    conversation_of_owner = parted_site.begin(parted_site.sign_up())  # to whom none of these is known
    [row] = parted_site.database.rows(SEND, conversation_of_owner, len(content), len(content), content)
    sent = row["of_import_id"]

    def state():
        [row] = parted_site.database.rows(STATE, sent)
        return row

    killed_after = chance.randrange(CONVERSATIONS // 2)
    wait_for(lambda: state()["items"] > killed_after, f"more than {killed_after} are stored")
    killed.kill()
    assert (state()["state"], state()["items"] < CONVERSATIONS) == ("running", True)
    parted_site.database.rows(LET_GO, sent)  # what time does, but sooner
    parted_site.run_worker()
    wait_for(lambda: state()["state"] == "ended", "another worker has ended it")
    [stored] = parted_site.database.rows(STORED, sent)
    assert stored == {"conversations": CONVERSATIONS, "different": CONVERSATIONS, "messages": 2 * CONVERSATIONS}
    counts = state()["report"]["formats"]["chatgpt"]
    assert (counts["new"], counts["messages_taken"]) == (CONVERSATIONS, 2 * CONVERSATIONS)
