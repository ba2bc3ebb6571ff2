"""Search: what a user finds among their own conversations, on a page of its own and in the palette of the shell.

/search/?q=ferry                    a page, which works without scripts
the same with of=… and shown=…      the next hits of one group
the same, asked by htmx             the results alone, for the palette
/c/…/find/?q=ferry                  data for find in one conversation
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_safe

from conversations.access import find_conversation
from conversations.core.errors import LookUpTooCostly
from conversations.core.text.search_query import QueryProblem, SearchQuery, parse_query
from conversations.core.text.shown_hits import MOST_SHOWN, ShownHits, write_shown
from conversations.core.text.similar_words import SimilarWords
from conversations.models import Conversation
from conversations.selectors.conversations.conversation_list import list_conversations
from conversations.selectors.conversations.scenarios import list_scenarios
from conversations.selectors.search.found_text import MarkedPiece, mark_parts
from conversations.selectors.search.hits import MessageHits, TitleHit
from conversations.selectors.search.search_own_messages import NOTHING_SHOWN, search_own_messages
from conversations.selectors.search.search_titles import search_similar_titles, search_titles
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.services.language_models.model_choice import choose_model, offered_models
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest

from .commands import COMMANDS

MOST_HERE, MOST_TITLES, MOST_RECENT = 20, 8, 8
MOST_TITLES_ON_PAGE = 50
MOST_IN_ONE = 1_000
HERE, OTHERS = "here", "others"  # groups of messages: of the conversation that is shown, and of all but it
MOST_ASKED = 3  # models
KEYS = {"find": ("Ctrl", "F"), "stop": ("Ctrl", "."), "keys": ("?",)}  # of commands, as the list of keys has them
# Commands that are addresses, with their fields.
WITH_PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "new": ("conversations:new", {}),
    "temporary": ("conversations:new", {"temporary": "true"}),
    "prompts": ("conversations:saved_prompts", {}),
}
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


@dataclass(frozen=True, slots=True)
class FoundStart:
    """Something that can be done: a command, or a conversation begun with a scenario, model or question."""

    label: list[MarkedPiece]
    kind: str
    address: str = ""
    command: str = ""
    keys: tuple[str, ...] = ()


@dataclass(slots=True)
class HitGroup:
    """Messages that were found, after those that pages before have *shown*; *next* is the address of those after."""

    messages: MessageHits = field(default_factory=MessageHits)
    shown: ShownHits = NOTHING_SHOWN
    next: str = ""

    @property
    def first(self) -> int:
        return len(self.shown.messages) + 1

    @property
    def last(self) -> int:
        return len(self.shown.messages) + len(self.messages.hits)


@dataclass(slots=True)
class SearchResults:
    """All that is found for a query, in groups; *notes* are sentences about what could not be searched for.

    *questions* have what was typed asked in a new conversation, which is never what was found.
    *first* is the address of the first page where this is another one.
    """

    query: SearchQuery
    here: HitGroup = field(default_factory=HitGroup)
    others: HitGroup = field(default_factory=HitGroup)
    titles: list[TitleHit] = field(default_factory=list)
    has_more_titles: bool = False
    has_similar_titles: bool = False
    recent: list[Conversation] = field(default_factory=list)
    starts: list[FoundStart] = field(default_factory=list)
    questions: list[FoundStart] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: str = ""

    @property
    def groups(self) -> list[HitGroup]:
        return [self.here, self.others]

    @property
    def count(self) -> int:
        """How many things are shown."""
        of_messages = len(self.here.messages.hits) + len(self.others.messages.hits)
        return of_messages + len(self.titles) + len(self.recent) + len(self.starts)


@require_safe
@answers_errors()
def search(request: HtmxRequest) -> HttpResponse:
    """What is found for the query: for scripts the results, or the palette that they come into; else a page."""
    public_id = parameters.optional_unique_id(request, "conversation")
    current = find_conversation(request.user, public_id) if public_id else None
    if request.htmx and "palette" in request.GET:
        return render(request, "conversations/_palette.html")
    found = _more(request, current) if "shown" in request.GET else _search_all(request, current)
    context = {"found": found, "typed": found.query.text}
    return render(request, "conversations/_found.html" if request.htmx else "conversations/search.html", context)


@require_GET
@answers_errors()
def find(request: HtmxRequest, public_id: Any) -> HttpResponse:
    """The messages of one conversation that have the words, in the order of the thread, and the words as they stand."""
    conversation = find_conversation(request.user, public_id)
    query = parse_query(request.GET.get("q", ""))
    notes = _problems(query)
    zone = parameters.time_zone(request)
    try:
        found = search_own_messages(request.user.pk, query, zone=zone, conversation=conversation.pk, most=MOST_IN_ONE)
    except LookUpTooCostly:
        found = MessageHits()
        notes.append(_too_costly())
    hits = sorted((hit.position, hit.message) for hit in found.hits)
    if found.is_partial:
        notes.append(gettext("These words are in nearly every message: only the newest were looked through."))
    answer = {
        "hits": [{"message": message, "position": position} for position, message in hits],
        "words": sorted(set().union(*(hit.words for hit in found.hits)))[:MOST_IN_ONE],
        "has_more": found.has_more,
        "notes": notes,
        "markup": render_to_string("conversations/_find_bar.html") if "markup" in request.GET else "",
    }
    return JsonResponse(answer)


def _search_all(request: HtmxRequest, current: Conversation | None) -> SearchResults:
    user, zone = request.user, parameters.time_zone(request)
    query = parse_query(request.GET.get("q", ""))
    found = SearchResults(query, notes=_problems(query))
    if query.is_empty:
        found.recent = list_conversations(user, limit=MOST_RECENT)
        found.starts = _starts(request, "")
        return found
    most_titles = MOST_TITLES if request.htmx else MOST_TITLES_ON_PAGE
    try:
        titles = search_titles(user.pk, query, zone=zone, most=most_titles + 1)
        found.titles, found.has_more_titles = titles[:most_titles], len(titles) > most_titles
        if current:
            found.here = _search_group(request, found, HERE, current)
        found.others = _search_group(request, found, OTHERS, current)
        if not found.titles and all(group.messages.have_typos or not group.messages.hits for group in found.groups):
            found.titles = search_similar_titles(user.pk, query, zone=zone, most=most_titles)
            found.has_similar_titles = bool(found.titles)
    except LookUpTooCostly:
        found.notes.append(_too_costly())
    found.notes += _notes_on_hits(found)
    if query.has_words and not query.filters_conversations and not query.filters_messages:
        found.starts = _starts(request, " ".join([*query.words, *query.phrases]))
        if not found.count:
            found.starts = _starts(request, " ".join([*query.words, *query.phrases]), with_typos=True)
        found.questions = _questions(request, query.text)
    return found


def _more(request: HtmxRequest, current: Conversation | None) -> SearchResults:
    """Return the next hits of one group, and nothing else."""
    query = parse_query(request.GET.get("q", ""))
    found = SearchResults(query, first=f"{reverse('conversations:search')}?{urlencode({'q': query.text})}")
    group = HERE if current and request.GET.get("of") == HERE else OTHERS
    try:
        setattr(found, group, _search_group(request, found, group, current))
    except LookUpTooCostly:
        found.notes.append(_too_costly())
    found.notes += _notes_on_hits(found)
    return found


def _search_group(request: HtmxRequest, found: SearchResults, group: str, current: Conversation | None) -> HitGroup:
    """Search the messages of a group for those that are not shown yet."""
    where: dict[str, Any] = {}
    if current:
        where = {"conversation": current.pk, "most": MOST_HERE} if group == HERE else {"besides": current.pk}
    shown, zone = parameters.shown_hits(request), parameters.time_zone(request)
    messages = search_own_messages(request.user.pk, found.query, zone=zone, shown=shown, **where)
    known = shown.messages.union(hit.message for hit in messages.hits)
    address = ""
    if messages.has_more and len(known) < MOST_SHOWN:
        fields = {"q": found.query.text, "of": group, "shown": write_shown(ShownHits(known, messages.have_typos))}
        fields |= {"conversation": str(current.public_id)} if current else {}
        address = f"{reverse('conversations:search')}?{urlencode(fields)}"
    return HitGroup(messages, shown, address)


def _notes_on_hits(found: SearchResults) -> list[str]:
    """Return what the hits are and are not, as sentences."""
    notes = []
    if any(group.messages.is_partial for group in found.groups):
        notes.append(
            gettext("These words are in nearly every message: only the newest were looked through.")
            if found.query.has_words
            else gettext("Without a word to search for, only the newest messages were looked through.")
        )
    if {group.messages.have_typos for group in found.groups if group.messages.hits} == {
        True
    } or found.has_similar_titles:
        notes.append(gettext("Nothing has these words exactly. What is shown has words that are one letter away."))
    if any(group.messages.has_more and not group.next for group in found.groups):
        notes.append(gettext("These are the first 1,000. Add a word or a filter to see others."))
    return notes


def _too_costly() -> str:
    return gettext("This search takes too long. Add a word, or a filter such as before:2026-01-31.")


def _problems(query: SearchQuery) -> list[str]:
    return [str(PROBLEMS[problem]) % {"part": part} for problem, part in query.problems]


def _starts(request: HtmxRequest, typed: str, *, with_typos: bool = False) -> list[FoundStart]:
    """Return the commands, scenarios and language models whose names have all words that are *typed*."""
    words = typed.lower().split()
    similar = SimilarWords(words)

    def fits(*names: str) -> bool:
        if with_typos:
            return bool(similar.find_all(" ".join(names)))
        return all(any(word in name.lower() for name in names) for word in words)

    starts = [
        FoundStart(mark_parts(str(label), words), gettext("Command"), _command_address(name), name, KEYS.get(name, ()))
        for name, label in COMMANDS.items()
        if fits(str(label), f"/{name}")
    ]
    if words:
        starts += [
            FoundStart(_begin_with(str(each.shown_name), words), gettext("Scenario"), _new(scenario=each.pk))
            for each in list_scenarios(request.user)
            if fits(str(each.shown_name))
        ]
        starts += [
            FoundStart(_begin_with(each.label, words), gettext("Language model"), _new(language_model=each.name))
            for each in offered_models(request.user)
            if fits(each.label, each.name)
        ]
    return starts


def _questions(request: HtmxRequest, typed: str) -> list[FoundStart]:
    """Return the ways to ask *typed* in a new conversation: of the model that one begins with, then of others.

    It comes into the composer and is not sent: what was typed to find something may be half a question, and a request
    costs money.
    """
    scenario = scenario_to_begin_with(request.user, None)
    first = choose_model(Conversation(owner=request.user, scenario=scenario)).configured
    models = [first, *(each for each in offered_models(request.user) if each.name != first.name)][:MOST_ASKED]
    return [
        FoundStart(
            [MarkedPiece(gettext("Ask %(model)s: %(question)s") % {"model": each.label, "question": typed})],
            gettext("New conversation"),
            _new(shared_text=typed, **({} if each is first else {"language_model": each.name})),
        )
        for each in models
    ]


def _begin_with(name: str, words: Sequence[str]) -> list[MarkedPiece]:
    before, after = gettext("Begin with “%(name)s”").split("%(name)s")
    return [MarkedPiece(before), *mark_parts(name, words), MarkedPiece(after)]


def _new(**chosen: Any) -> str:
    return f"{reverse('conversations:new')}?{urlencode(chosen)}"


def _command_address(name: str) -> str:
    if name not in WITH_PAGES:
        return ""
    page, fields = WITH_PAGES[name]
    return f"{reverse(page)}?{urlencode(fields)}" if fields else reverse(page)
