"""What must be true after every fault, asked of the database, the upstream and the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from conversations.core.prompt.continuation import CONTINUE_REQUEST
from conversations.core.prompt.grounding_text import QUESTION_HEADER
from conversations.core.prompt.messages import digest_of
from conversations.core.text.storable_text import UNSTORABLE
from conversations.services.ledger import recompute_ledger_sums, recompute_rolled_up_sums, recompute_spending
from tests.support.sent_pictures import text_of, with_placeholders
from tests.support.tool_dialogues import wrong_with

from .pages import Page
from .sites import Site

LOST_OR_DOUBLED = "SELECT count(*) FROM conversations_message WHERE client_id = %s AND content = %s"
MESSAGES = """
SELECT reply.id, reply.content, reply.state, parent.content AS question,
       (SELECT count(*) FROM conversations_completion row WHERE row.reply_id = reply.id) AS requests
FROM conversations_message reply JOIN conversations_message parent ON parent.id = reply.parent_id
WHERE reply.role = 'assistant' AND reply.id > %s
  AND EXISTS (SELECT FROM conversations_run run WHERE run.reply_id = reply.id)
"""
LIVE_RUNS_OF_ENDED = """
SELECT run.* FROM conversations_run run JOIN conversations_message reply ON reply.id = run.reply_id
WHERE run.state <> 'ended' AND reply.state <> 'streaming'
"""
ASKED_BY_PROGRAMS = """
SELECT messages_digest FROM conversations_completion WHERE purpose = 'api' AND conversation_id IS NULL AND id > %s
"""
TWO_PATHS = """
SELECT conversation_id FROM conversations_message WHERE active
GROUP BY conversation_id HAVING count(*) <> max(position) + 1 OR count(*) <> count(DISTINCT position)
"""
CALLS_OF_ENDED = """
SELECT call.* FROM conversations_toolcall call JOIN conversations_message reply ON reply.id = call.reply_id
WHERE reply.state <> 'streaming' AND (call.state IN ('awaiting_approval', 'ready', 'running') OR call.ended_at IS NULL)
"""
RESULTS_WITHOUT_ROWS = """
SELECT id FROM conversations_message message WHERE role = 'tool' AND step_of_id IS NOT NULL
AND NOT EXISTS (SELECT FROM conversations_toolcall call WHERE call.message_id = message.id)
"""
HALF_STEPS = """
SELECT step_of_id FROM conversations_message WHERE step_of_id IS NOT NULL GROUP BY step_of_id
HAVING sum(jsonb_array_length(tool_calls)) <> count(*) FILTER (WHERE role = 'tool')
"""
STEPS_ELSEWHERE = """
SELECT step.id FROM conversations_message step JOIN conversations_message reply ON reply.id = step.step_of_id
WHERE (step.active, step.excluded, step.parent_id) IS DISTINCT FROM (reply.active, reply.excluded, reply.parent_id)
OR step.position >= reply.position
"""


RESERVED = """
SELECT user_id, period, begins_on FROM conversations_spending GROUP BY user_id, period, begins_on
HAVING sum(reserved_usd) <> 0
"""
FREE_ABOVE_LIMIT = """
SELECT period, begins_on FROM conversations_spending WHERE user_id IS NULL GROUP BY period, begins_on
HAVING count(free_usd) FILTER (WHERE limit_usd IS NOT NULL) > 0
   AND (sum(free_usd) + sum(spent_usd + reserved_usd) > min(limit_usd) OR min(free_usd) < 0)
"""


def check_everything(site: Site, pages: list[Page], *, after_message: int, after_row: int) -> None:
    """Check what messages above id *after_message* came to, rows above *after_row*, and the invariants of all rows."""
    replies = site.database.rows(MESSAGES, after_message)
    check_acknowledged(site, pages)
    check_rows(site)
    check_calls(site)
    check_texts(replies, list(asked_on_pages(site, site.upstream.log(), after_row=after_row)))
    check_pages(replies, pages)


def asked_on_pages(site: Site, log: list[dict[str, Any]], *, after_row: int) -> Iterator[dict[str, Any]]:
    """Yield what is in *log* but the requests of programs: the ledger has one row for each, by its messages."""
    rows = Counter(row["messages_digest"] for row in site.database.rows(ASKED_BY_PROGRAMS, after_row))
    for exchange in log:
        digest = digest_of(with_placeholders(exchange["body"].get("messages", [])))
        if rows[digest]:
            rows[digest] -= 1
        else:
            yield exchange


def check_acknowledged(site: Site, pages: list[Page]) -> None:
    """Each acknowledged user message is stored exactly once."""
    acknowledged = {client_id: content for page in pages for client_id, content in page.acknowledged.items()}
    for client_id, content in acknowledged.items():
        assert site.database.value(LOST_OR_DOUBLED, client_id, UNSTORABLE.sub("", content)) == 1


def check_rows(site: Site) -> None:
    """Nothing streams for ever, ended replies have no live run, paths are linear, the ledger is settled."""
    assert not site.database.rows("SELECT id FROM conversations_message WHERE state = 'streaming'")
    assert not site.database.rows(LIVE_RUNS_OF_ENDED)
    assert not site.database.rows(TWO_PATHS)
    assert not site.database.rows(
        "SELECT id, error_code FROM conversations_completion WHERE ended_at IS NULL OR cost_usd IS NULL"
    )
    check_sums(site)


def check_sums(site: Site) -> None:
    """What limits of money are held against and figures are made of is the ledger's, and nothing is held back."""
    assert not site.database.rows(recompute_spending.DIFFERENCES)
    assert not site.database.rows(recompute_ledger_sums.DIFFERENCES)
    for differences in recompute_rolled_up_sums.DIFFERENCES:
        assert not site.database.rows(differences)
    assert not site.database.rows(RESERVED)
    assert not site.database.rows(FREE_ABOVE_LIMIT)


def check_calls(site: Site) -> None:
    """No call of an ended reply goes on, each result has its row, and steps are whole, stored and sent."""
    for wrong in (CALLS_OF_ENDED, RESULTS_WITHOUT_ROWS, HALF_STEPS, STEPS_ELSEWHERE):
        assert not site.database.rows(wrong), wrong
    bodies = [exchange["body"] for exchange in site.upstream.log() if "messages" in exchange["body"]]
    assert not [wrong for body in bodies if (wrong := wrong_with(body))]


def check_texts(replies: list[dict[str, Any]], log: list[dict[str, Any]]) -> None:
    """What is stored is what the upstream emitted, up to the cut, and every request is in the ledger."""
    emitted: dict[str, list[str]] = {}
    for exchange in log:
        messages, said = exchange["body"]["messages"], ""
        if messages[-1]["content"] == CONTINUE_REQUEST:  # what is said now is put behind what was said before
            messages, said = messages[:-2], messages[-2]["content"]
        newest = [text_of(each["content"]) for each in messages if each["role"] == "user"][-1]
        question = newest.rpartition(f"\n\n{QUESTION_HEADER}\n")[2]  # without what was recalled for it
        emitted.setdefault(question, []).append(said + storable("".join(exchange["emitted"])))
    for reply in replies:
        texts = emitted.get(reply["question"], [])
        assert not reply["content"] or any(text.startswith(reply["content"]) for text in texts), reply
        if reply["state"] == "complete":
            assert reply["content"] in texts
    for question, texts in emitted.items():
        rows = sum(reply["requests"] for reply in replies if reply["question"] == question)
        assert rows >= len(texts), f"{len(texts)} requests left, {rows} are in the ledger"


def storable(text: str) -> str:
    """Return *text* with surrogates paired, and without those that are alone and NUL."""
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return UNSTORABLE.sub("", paired)


def check_pages(replies: list[dict[str, Any]], pages: list[Page]) -> None:
    """What a page put together from deltas and snapshots is what is stored; neither contradicts the other."""
    for reply in replies:
        for page in pages:
            if known := page.texts.get(reply["id"]):
                stored = reply["content"][known.start :]
                assert stored.startswith(known.text) or known.text.startswith(stored), (reply, known)
                if "length" in page.ends.get(reply["id"], {}):
                    assert len(reply["content"]) == page.ends[reply["id"]]["length"]
