"""What a search could not take or tell, as sentences: parts of the query, and words that are in too many messages."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.core.text.search_query import QueryProblem, SearchQuery

PROBLEMS: dict[QueryProblem, Promise] = {
    QueryProblem.UNKNOWN_FILTER: _(
        "“%(part)s” is no filter, so it is searched for as a word. Filters are in:, from:, before:, after:, has:, is:."
    ),
    QueryProblem.UNKNOWN_VALUE: _(
        "“%(part)s” is left out. You can use from:me, from:model, has:document, has:picture, is:starred, is:archived."
    ),
    QueryProblem.INVALID_DATE: _("“%(part)s” is left out: that is no date. Write it as before:2026-01-31."),
    QueryProblem.NO_VALUE: _("“%(part)s” is left out until something follows it."),
    QueryProblem.TOO_LONG: _("Only the first 500 characters are searched for."),
    QueryProblem.TOO_MANY_WORDS: _("Only the first 12 words are searched for."),
    QueryProblem.NO_WORD: _("There is no word in this to search for."),
}


def query_problems(query: SearchQuery) -> list[str]:
    return [str(PROBLEMS[problem]) % {"part": part} for problem, part in query.problems]


def too_costly() -> str:
    return gettext("This search takes too long. Add a word, or a filter such as before:2026-01-31.")


def only_newest(*, has_words: bool) -> str:
    """Say that only the newest messages were looked through."""
    if has_words:
        return gettext("These words are in nearly every message: only the newest were looked through.")
    return gettext("Without a word to search for, only the newest messages were looked through.")
