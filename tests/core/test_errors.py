"""The tree of errors: unique codes, sentences for people, and the drawing of it that stays true."""

import json
import re

import pytest

from conversations.core import errors
from conversations.core.errors import (
    ContextTooLong,
    ConversationError,
    FrameError,
    MoneyUsedUp,
    PolicyFailed,
    ProviderRejected,
    RateLimited,
)
from conversations.core.errors.stored_errors import sentence_for
from tests.support.error_examples import CLASSES, OPENS_AT, example_of_error

BRANCH = re.compile(r"^ {4}(?P<indent>[│ ]*)(?P<branch>[├└] )?(?P<names>[A-Z]\w+(, [A-Z]\w+)*)(  |$)")


def drawn_tree():
    """Yield (class, parent) from the drawing in the module's docstring."""
    parents = []
    for line in errors.__doc__.splitlines():
        if match := BRANCH.match(line):
            depth = (len(match["indent"]) + len(match["branch"] or "")) // 2
            names = match["names"].split(", ")
            yield from ((name, parents[depth - 1] if depth else "Exception") for name in names)
            parents[depth:] = [names[-1]]


def test_the_tree_as_drawn_is_the_tree_as_it_is():
    assert sorted(drawn_tree()) == sorted((error.__name__, error.__base__.__name__) for error in CLASSES)


def test_every_error_has_a_code_of_its_own():
    codes = [error.code for error in CLASSES]
    assert len(set(codes)) == len(codes) == len([error for error in CLASSES if "code" in vars(error)])
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_says_a_sentence_of_its_own_to_a_person(error):
    assert "template" in vars(error)
    sentence = str(example_of_error(error))
    assert re.fullmatch(r"[A-Z][^%{}<>]+\.", sentence)
    assert not re.search(r"_|\bNone\b|Error|Exception|HTTP|null", sentence)


@pytest.mark.parametrize("error", CLASSES)
def test_every_sentence_can_be_translated_with_its_params(error):
    raised = example_of_error(error)
    assert sorted(re.findall(r"%\((\w+)\)s", raised.template)) == sorted(raised.params)


def test_the_tokens_over_are_in_the_sentence_and_beside_it():
    refused = errors.MessageTooLong(tokens_over=31_405)
    assert refused.tokens_over == 31_405
    assert "31,405 tokens" in str(refused)


@pytest.mark.parametrize("error", [error for error in CLASSES if error.counted])
def test_one_is_said_as_one(error):
    one, two = (str(error(**{error.counted: number})) for number in (1, 2))
    assert re.search(r"\b1 (token|document|file|picture|second)\b", one)
    assert re.search(r"\b2 (tokens|documents|files|pictures|seconds)\b", two)


def test_a_message_too_long_beside_the_scenario_is_still_a_message_too_long():
    with pytest.raises(errors.MessageTooLong):
        raise errors.MessageTooLongForScenario(tokens_over=1)


def test_a_limit_says_when_it_opens_in_universal_time():
    refused = MoneyUsedUp(opens_at=OPENS_AT)
    assert refused.opens_at == OPENS_AT
    assert "at 2026-03-04 21:30 UTC" in str(refused)


def test_a_limit_that_is_stored_with_a_reply_says_when_it_opens_in_anybodys_time():
    stored = json.loads(json.dumps(MoneyUsedUp(opens_at=OPENS_AT).params))
    said = sentence_for(MoneyUsedUp.code, stored, tell=lambda moment: f"{moment.astimezone(OPENS_AT.tzinfo):%H:%M}")
    assert "at 23:30." in said


def test_details_are_for_the_log_and_not_in_the_sentence():
    kinds = (RateLimited, ContextTooLong, FrameError, PolicyFailed)
    for refused in (kind(detail="key sk-1") for kind in kinds):
        assert refused.detail == "key sk-1"
        assert "sk-1" not in str(refused)


def test_what_a_provider_rejected_is_not_tried_again():
    rejected = [error for error in CLASSES if issubclass(error, ProviderRejected)]
    assert not any(error.retryable for error in rejected)
    assert {error.__name__ for error in CLASSES if getattr(error, "retryable", False)} == {
        *("ProviderUnavailable", "WorkerExhausted", "ProviderTimedOut", "StreamBroken", "RateLimited")
    }


@pytest.mark.parametrize("error", CLASSES)
def test_a_stored_code_with_its_params_gives_its_sentence_back(error):
    assert sentence_for(error.code, example_of_error(error).params) == str(example_of_error(error))


@pytest.mark.parametrize(("code", "params"), [("of another version", {}), ("message_too_long", {}), ("", {"a": 1})])
def test_what_another_version_stored_gives_a_sentence_all_the_same(code, params):
    assert sentence_for(code, params) == str(ConversationError())
