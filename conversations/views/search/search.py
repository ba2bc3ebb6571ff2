"""Search: what a user finds among their own conversations, on a page of its own and in the palette of the shell.

/search/?q=ferry                    a page, which works without scripts
the same with of=… and shown=…      the next hits of one group, or of one conversation
the same, asked by htmx             the results alone, for the palette
/c/…/find/?q=ferry                  data for find in one conversation
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_safe

from conversations.access import find_conversation
from conversations.core.errors import LookUpTooCostly
from conversations.core.text.search_query import SearchQuery, parse_query
from conversations.core.text.shown_hits import MOST_SHOWN, ShownHits, write_shown
from conversations.models import Conversation
from conversations.selectors.conversations.conversation_list import list_conversations
from conversations.selectors.search.hits import HitConversation, MessageHit, MessageHits, TitleHit
from conversations.selectors.search.search_own_messages import NOTHING_SHOWN, search_own_messages
from conversations.selectors.search.search_titles import search_similar_titles, search_titles
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.search_problems import only_newest, query_problems, too_costly

from .found_actions import FoundAction, find_actions, ways_to_ask

MOST_OF_ONE, MOST_MORE_OF_ONE = 3, 20  # hits of a conversation before one asks for more of them, and then
MOST_IN_PALETTE, MOST_ON_PAGE = 18, 50  # in the palette commands are below, and 50 come with each "More hits"
MOST_TITLES, MOST_RECENT = 8, 8
MOST_TITLES_ON_PAGE = 50
MOST_IN_ONE = 1_000
# Groups of messages: of the conversation that is shown, of all but it, and of one of these.
HERE, OTHERS, ONE = "here", "others", "one"


@dataclass(slots=True)
class ConversationHits:
    """The hits of one conversation that are shown; *more* is the address of the others, if there are any."""

    conversation: HitConversation
    hits: list[MessageHit]
    more: str = ""


@dataclass(slots=True)
class HitGroup:
    """Messages that were found, after those that pages before have *shown*; *next* is the address of those after."""

    messages: MessageHits = field(default_factory=MessageHits)
    shown: ShownHits = NOTHING_SHOWN
    next: str = ""
    conversations: list[ConversationHits] = field(default_factory=list)

    @property
    def first(self) -> int:
        return len(self.shown.messages) + 1

    @property
    def last(self) -> int:
        return len(self.shown.messages) + len(self.messages.hits)

    @property
    def has_more(self) -> bool:
        return self.messages.has_more or bool(self.messages.more_in)


@dataclass(slots=True)
class SearchResults:
    """All that is found for a query, in groups; *notes* are sentences about what could not be searched for.

    *questions* have what was typed asked in a new conversation, which is never what was found.
    *first* is the address of the first page where this is another one, and *one* the conversation that it is all of.
    """

    query: SearchQuery
    one: Conversation | None = None
    here: HitGroup = field(default_factory=HitGroup)
    others: HitGroup = field(default_factory=HitGroup)
    titles: list[TitleHit] = field(default_factory=list)
    has_more_titles: bool = False
    has_similar_titles: bool = False
    recent: list[Conversation] = field(default_factory=list)
    actions: list[FoundAction] = field(default_factory=list)
    questions: list[FoundAction] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: str = ""

    @property
    def groups(self) -> list[HitGroup]:
        return [self.here, self.others]

    @property
    def count(self) -> int:
        """How many things are shown."""
        of_messages = len(self.here.messages.hits) + len(self.others.messages.hits)
        return of_messages + len(self.titles) + len(self.recent) + len(self.actions)


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
    notes = query_problems(query)
    zone = parameters.time_zone(request)
    try:
        found = search_own_messages(request.user.pk, query, zone=zone, conversation=conversation.pk, most=MOST_IN_ONE)
    except LookUpTooCostly:
        found = MessageHits()
        notes.append(too_costly())
    hits = sorted((hit.position, hit.message) for hit in found.hits)
    if found.is_partial:
        notes.append(only_newest(has_words=True))
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
    found = SearchResults(query, notes=query_problems(query))
    if query.is_empty:
        found.recent = list_conversations(user, limit=MOST_RECENT)
        found.actions = find_actions(user, "")
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
        found.notes.append(too_costly())
    found.notes += _notes_on_hits(found)
    if query.has_words and not query.filters_conversations and not query.filters_messages:
        found.actions = find_actions(user, " ".join([*query.words, *query.phrases]))
        if not found.count:
            found.actions = find_actions(user, " ".join([*query.words, *query.phrases]), with_typos=True)
        found.questions = ways_to_ask(user, query.text)
    return found


def _more(request: HtmxRequest, current: Conversation | None) -> SearchResults:
    """Return the next hits of one group, and nothing else."""
    query = parse_query(request.GET.get("q", ""))
    found = SearchResults(query, first=f"{reverse('conversations:search')}?{urlencode({'q': query.text})}")
    asked = request.GET.get("of")
    group = asked if current and asked in (HERE, ONE) else OTHERS
    found.one = current if group == ONE else None
    try:
        messages = _search_group(request, found, group, current)
        setattr(found, HERE if group == HERE else OTHERS, messages)
    except LookUpTooCostly:
        found.notes.append(too_costly())
    found.notes += _notes_on_hits(found)
    return found


def _search_group(request: HtmxRequest, found: SearchResults, group: str, current: Conversation | None) -> HitGroup:
    """Search the messages of a group for those that are not shown yet."""
    is_first = "shown" not in request.GET
    which: dict[str, Any]
    if group in (HERE, ONE):
        which = {"most": MOST_OF_ONE if is_first else MOST_MORE_OF_ONE}
    else:
        which = {"most": MOST_IN_PALETTE if is_first and request.htmx else MOST_ON_PAGE, "most_of_one": MOST_OF_ONE}
    if current:
        which["besides" if group == OTHERS else "conversation"] = current.pk
    shown, zone = parameters.shown_hits(request), parameters.time_zone(request)
    messages = search_own_messages(request.user.pk, found.query, zone=zone, shown=shown, **which)

    def address_of(group: str, ids: Iterable[int], conversation: Any) -> str:
        fields = {"q": found.query.text, "of": group}
        fields["shown"] = write_shown(ShownHits(frozenset(ids), messages.have_typos))
        fields |= {"conversation": str(conversation.public_id)} if conversation else {}
        return f"{reverse('conversations:search')}?{urlencode(fields)}"

    known = shown.messages.union(hit.message for hit in messages.hits)
    is_next = messages.has_more and len(known) < MOST_SHOWN
    result = HitGroup(messages, shown, address_of(group, known, current) if is_next else "")
    for conversation, some in groupby(messages.hits, attrgetter("conversation")):
        each = ConversationHits(conversation, list(some))
        if conversation.id in messages.more_in:
            earlier = messages.earlier.get(conversation.id, [])
            each.more = address_of(ONE, [*earlier, *(hit.message for hit in each.hits)], conversation)
        result.conversations.append(each)
    return result


def _notes_on_hits(found: SearchResults) -> list[str]:
    """Return what the hits are and are not, as sentences."""
    notes = []
    if any(group.messages.is_partial for group in found.groups):
        notes.append(only_newest(has_words=found.query.has_words))
    if {group.messages.have_typos for group in found.groups if group.messages.hits} == {
        True
    } or found.has_similar_titles:
        notes.append(gettext("Nothing has these words exactly. What is shown has words that are one letter away."))
    if any(group.messages.has_more and not group.next for group in found.groups):
        notes.append(gettext("These are the first 1,000. Add a word or a filter to see others."))
    return notes
