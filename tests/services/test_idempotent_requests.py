"""Requests that may be sent again: which joins which, against a plain model, and what is kept of the answers."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from random import Random

import pytest
from django.utils import timezone

from conversations.core.api.idempotency import IdempotencyMarks
from conversations.core.errors import AnswerNotKept, IdempotencyKeyReused
from conversations.models import IdempotentRequest
from conversations.services.api.api_keys import make_key
from conversations.services.api.idempotent_requests import (
    ANSWER_KEPT,
    KEY_VALID,
    Idempotency,
    RequestSentAgain,
    forget_request,
    join_first_request,
    keep_answer,
    let_go,
    note_client_gone,
    read_answer,
    store_once,
    sweep_idempotent_requests,
    take_back,
)
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def key():
    return make_key(make_user("alice"), name="a program").key


def request_of(key, body="hello", *, idempotency_key="", number=None):
    return Idempotency(key, IdempotencyMarks(idempotency_key, number), body.encode())


def age(request, duration):
    for field in ("created_at", "ended_at"):
        row = IdempotentRequest.objects.filter(pk=request.id)
        value = row.values_list(field, flat=True).get()
        row.update(**{field: value and value - duration})


@dataclass
class Left:
    """A request that has left, in the model."""

    request: Idempotency
    number: int
    order: int
    client_has_gone: bool = False
    has_ended: bool = False
    can_be_found: bool = True


@pytest.mark.parametrize("seed", range(40))
def test_who_joins_whom_is_as_in_the_model(key, seed):
    chance = Random(seed)
    left: list[Left] = []

    def expected(request):
        named, number = request.marks.idempotency_key, request.marks.retry_number or 0
        same = [each for each in left if each.can_be_found and each.request.marks.idempotency_key == named]
        if named:
            return same[0] if same else None
        same = [each for each in same if each.request.digest == request.digest and each.number < number]
        return max(same, key=lambda each: (each.client_has_gone, each.number, each.order), default=None)

    for order in range(60):
        running = [each for each in left if not each.has_ended]
        act = chance.choice(["send"] * 4 + ["leave", "end", "let go", "take back"])
        if act == "send":
            idempotency_key = chance.choice(["", "", "one", "two"])
            number = chance.choice([None, 0, 1, 2]) if idempotency_key else chance.choice([0, 1, 2])
            request = request_of(key, chance.choice("ab"), idempotency_key=idempotency_key, number=number)
            first = expected(request)
            if first and first.request.digest != request.digest:
                with pytest.raises(IdempotencyKeyReused):
                    join_first_request(request)
                continue
            joined = None
            try:
                store_once(request)
            except RequestSentAgain as again:
                joined = again.first.pk
            assert joined == (first and first.request.id)
            if first is None:
                left.append(Left(request, number or 0, order))
            else:
                first.number = max(first.number, number or 0)
        elif running:
            chosen = chance.choice(running)
            if act == "leave":
                note_client_gone(chosen.request)
                chosen.client_has_gone = True
            elif act == "end":
                keep_answer(chosen.request, {"text": "x"}, has_ended=True)
                chosen.has_ended = True
            elif act == "let go":
                let_go(chosen.request, {"error": {"code": "rate_limited"}})
                chosen.has_ended, chosen.can_be_found = True, False
            else:
                IdempotentRequest.objects.filter(pk=chosen.request.id).update(wanted_until=timezone.now() - KEY_VALID)
                was_taken = take_back(chosen.request)
                assert was_taken == (not chosen.request.marks.idempotency_key)
                chosen.has_ended, chosen.can_be_found = was_taken, not was_taken


def test_one_that_is_wanted_is_not_taken_back(key):
    first = request_of(key, number=0)
    store_once(first)
    note_client_gone(first)
    assert not take_back(first)
    assert join_first_request(request_of(key, number=1)).pk == first.id
    assert not take_back(first)


def test_one_that_was_joined_is_not_forgotten(key):
    first, alone = request_of(key, number=0), request_of(key, "other", number=0)
    store_once(first), store_once(alone)
    join_first_request(request_of(key, number=1))
    forget_request(first), forget_request(alone)
    assert IdempotentRequest.objects.get().pk == first.id


def test_an_answer_is_read_with_the_same_request_alone(key):
    first = request_of(key, idempotency_key="one")
    store_once(first, holder="here")
    keep_answer(first, {"text": "a secret"})
    assert "secret" not in IdempotentRequest.objects.get().answer
    reading = read_answer(first.id, b"hello")
    assert (reading.said, reading.has_ended) == ({"text": "a secret"}, False)
    assert read_answer(first.id, b"other").said == {}


def test_words_go_before_the_key_does_and_the_request_is_not_made_again(key):
    first = request_of(key, idempotency_key="one")
    store_once(first)
    keep_answer(first, {"text": "x"}, has_ended=True)
    age(first, ANSWER_KEPT + dt.timedelta(seconds=1))
    sweep_idempotent_requests()
    assert IdempotentRequest.objects.get().answer == ""
    with pytest.raises(AnswerNotKept):
        join_first_request(request_of(key, idempotency_key="one"))
    age(first, KEY_VALID)
    assert join_first_request(request_of(key, idempotency_key="one")) is None
    assert not IdempotentRequest.objects.exists()


def test_without_a_key_an_answer_is_kept_for_a_minute(key):
    first = request_of(key, number=0)
    store_once(first)
    keep_answer(first, {"text": "x"}, has_ended=True)
    assert join_first_request(request_of(key, number=1)).pk == first.id
    age(first, dt.timedelta(seconds=61))
    assert join_first_request(request_of(key, number=2)) is None
    sweep_idempotent_requests()
    assert not IdempotentRequest.objects.exists()
