"""A compiled queryset returns what its queryset returns, and Django writes its SQL once."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone

from chatsite.postgres.compiled_queryset import CompileError, compiled_queryset
from conversations.models import Conversation, Message
from tests.support.people import begin, make_user, post, post_answered

pytestmark = pytest.mark.django_db


@compiled_queryset
def of_owner(owner_id: int, since: dt.datetime, *, limit: int) -> QuerySet[Conversation]:
    answered = Exists(Message.objects.filter(conversation=OuterRef("pk"), state="complete"))
    found = Conversation.objects.filter(owner_id=owner_id, last_active_at__gte=since).select_related("scenario", "head")
    return found.annotate(is_answered=answered).order_by("pk")[:limit]


@compiled_queryset
def titles(public_id: uuid.UUID, title: str) -> QuerySet[Conversation, str]:
    return Conversation.objects.filter(Q(public_id=public_id) | Q(title=title)).values_list("title", flat=True)


@compiled_queryset
def errors_of(message_ids: list[int]) -> QuerySet[Message, tuple[Any, ...]]:
    found = Message.objects.filter(pk__in=message_ids).order_by("-position", "pk")
    return found.values_list("pk", "error_params", F("error_params__tokens_over"))


@compiled_queryset
def from_position(position: int) -> QuerySet[Message]:
    return Message.objects.filter(position__gte=position).order_by("pk")


@compiled_queryset
def at_positions(positions: list[int]) -> QuerySet[Message]:
    return Message.objects.filter(position__in=positions).order_by("pk")


@compiled_queryset
def counts(owner_id: int) -> QuerySet[Conversation, tuple[Any, ...]]:
    conversations = Conversation.objects.filter(owner_id=owner_id).annotate(number=Count("messages"), kind=Value("all"))
    empty = conversations.filter(head=None).annotate(none=Value("empty"))
    return conversations.values_list("kind", "title", "number").union(
        empty.values_list("none", "title", "number"), all=True
    )


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def talks(alice):
    talks = [begin(alice) for _ in range(3)]
    for number, talk in enumerate(talks[:2]):
        post_answered(talk, f"Question {number}")
    return talks


@pytest.fixture
def count_written(monkeypatch):
    """Return how many times Django has written SQL since it was asked last."""
    written = []
    as_sql = SQLCompiler.as_sql
    monkeypatch.setattr(SQLCompiler, "as_sql", lambda *args, **kwargs: written.append(1) or as_sql(*args, **kwargs))

    def count() -> int:
        number = len(written)
        written.clear()
        return number

    return count


def values_of(instance):
    return {field.attname: getattr(instance, field.attname) for field in instance._meta.concrete_fields}


def test_its_instances_are_those_of_the_queryset_with_all_that_is_joined_and_added(
    alice, talks, django_assert_num_queries
):
    post(begin(make_user("bob")), "Not Alice's")
    long_ago = timezone.now() - dt.timedelta(days=1)
    expected = list(of_owner(alice.pk, long_ago, limit=10))
    with django_assert_num_queries(1):
        found = of_owner.all(alice.pk, long_ago, limit=10)
        assert found == expected == talks
        assert [each.is_answered for each in found] == [True, True, False]
        assert [each.head.content if each.head else None for each in found] == ["Fine", "Fine", None]
    for ours, djangos in zip(found, expected, strict=True):
        assert values_of(ours) == values_of(djangos)
        assert values_of(ours.scenario) == values_of(djangos.scenario)
    assert of_owner.all(alice.pk, timezone.now(), limit=10) == []


def test_sql_is_written_once_for_each_constant(alice, talks, count_written):
    now = timezone.now()
    of_owner.all(alice.pk, now, limit=7)
    assert count_written() > 0
    for _ in range(3):
        of_owner.all(alice.pk + 1, now, limit=7)
    assert count_written() == 0
    assert len(of_owner.all(alice.pk, now - dt.timedelta(days=1), limit=2)) == 2
    assert count_written() > 0
    assert len(of_owner.all(alice.pk, now - dt.timedelta(days=1), limit=7)) == 3


def test_values_are_single_or_tuples_with_json_read(alice, talks):
    Conversation.objects.filter(pk=talks[2].pk).update(title="Third")
    assert titles.all(talks[0].public_id, "Third") == list(titles(talks[0].public_id, "Third"))
    assert titles.first(uuid.uuid4(), "Third") == "Third"
    assert titles.first(uuid.uuid4(), "None of them") is None
    message = Message.objects.filter(conversation=talks[0]).latest("position")
    Message.objects.filter(pk=message.pk).update(error_params={"tokens_over": 3})
    assert errors_of.all([message.pk]) == [(message.pk, {"tokens_over": 3}, 3)] == list(errors_of([message.pk]))


def test_a_list_may_be_of_any_length(alice, talks, count_written):
    ids = list(Message.objects.values_list("pk", flat=True))
    errors_of.all(ids[:1])
    count_written()
    found = [errors_of.all(ids[:length]) for length in (0, 1, len(ids))]
    assert count_written() == 0
    assert [len(each) for each in found] == [0, 1, 4]
    assert found[2] == list(errors_of(ids))


def test_a_union_takes_an_argument_for_each_of_its_parts(alice, talks):
    assert sorted(counts.all(alice.pk)) == sorted(counts(alice.pk))
    assert [row[0] for row in sorted(counts.all(alice.pk))] == ["all", "all", "all", "empty"]
    assert counts.all(make_user("bob").pk) == []


@pytest.mark.parametrize("beyond", [2**31, 2**32 + 1, 2**63, -(2**31) - 1])
def test_a_number_that_its_column_can_not_hold_is_not_cut_to_one_that_it_can(alice, talks, beyond):
    position = Message.objects.latest("position").position
    for asked in (beyond, position):
        assert from_position.all(asked) == list(from_position(asked))
    assert from_position.all(position) != []
    assert at_positions.all([beyond, 2**32 + position]) == []
    assert at_positions.all([beyond, position]) == at_positions.all([position]) == list(at_positions([position]))


def test_none_and_a_wrong_number_of_arguments_are_refused(alice):
    with pytest.raises(TypeError, match="owner_id is None"):
        counts.all(None)
    for arguments in ((), (1, 2)):
        with pytest.raises(TypeError, match="by position"):
            counts.all(*arguments)
    with pytest.raises(TypeError):
        counts.all(owner_id=1)


def limited(limit: int) -> QuerySet[Conversation]:
    return Conversation.objects.order_by("pk")[:limit]


def unused(owner_id: int, folder_id: int) -> QuerySet[Conversation]:
    return Conversation.objects.filter(owner_id=owner_id)


def changed(title: str) -> QuerySet[Conversation]:
    return Conversation.objects.filter(title__icontains=title)


def of_a_moment(owner_id: int) -> QuerySet[Conversation]:
    return Conversation.objects.filter(owner_id=owner_id, last_active_at__lt=timezone.now())


def flagged(archived: bool) -> QuerySet[Conversation]:  # what is refused
    return Conversation.objects.filter(archived=archived)


def listed_elsewhere(titles: list[str]) -> QuerySet[Conversation]:
    return Conversation.objects.annotate(first=Value(titles[0])).filter(first=F("title"))


def prefetched(owner_id: int) -> QuerySet[Conversation]:
    return Conversation.objects.filter(owner_id=owner_id).prefetch_related("messages")


def as_dicts(owner_id: int) -> Any:
    return Conversation.objects.filter(owner_id=owner_id).values("pk")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (limited, "written into the SQL"),
        (unused, "does not have folder_id"),
        (changed, "as it was"),
        (of_a_moment, "as it was"),
        (flagged, "can't be an argument"),
        (listed_elsewhere, "for `__in` alone"),
        (prefetched, "another query"),
        (as_dicts, "values_list"),
    ],
)
def test_what_can_not_be_compiled_is_refused_at_the_first_call(build, reason):
    with pytest.raises(TypeError, match=reason):
        compiled_queryset(build).all(*[1] * (2 if build is unused else 1))
    assert issubclass(CompileError, TypeError)
