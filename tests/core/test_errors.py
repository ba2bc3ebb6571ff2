"""The tree of errors: unique codes, sentences for people, and the drawing of it that stays true."""

import datetime as dt
import json
import re

import pytest

from conversations.core import errors
from conversations.core.errors import (
    ContextTooLong,
    ConversationError,
    FrameError,
    InvalidHistory,
    LimitReached,
    MoneyUsedUp,
    PolicyFailed,
    PromptError,
    ProviderRejected,
    RateLimited,
)
from conversations.core.errors.stored_errors import sentence_for

BRANCH = re.compile(r"^ {4}(?P<indent>[│ ]*)(?P<branch>[├└] )?(?P<names>[A-Z]\w+(, [A-Z]\w+)*)(  |$)")
CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
OPENS_AT = dt.datetime(2026, 3, 4, 23, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))


def example(error):
    """Return an instance of the class *error*, as the code that raises it makes it."""
    if issubclass(error, errors.PicturesTooLong):
        return error(tokens_over=17, picture_tokens=1_105)
    if issubclass(error, PromptError):
        return error(tokens_over=17)
    if issubclass(error, errors.RoomUsedUpByReasoning):
        return error(room_tokens=4_096)
    if issubclass(error, errors.DialectRejected):
        return error(word="wire")
    if issubclass(error, errors.KeptReasoningTooLong):
        return error(characters=1_100_000, most=1_000_000)
    if issubclass(error, LimitReached):
        return error(opens_at=OPENS_AT)
    if issubclass(error, (errors.RateLimitedUntil, errors.ProviderUnavailableUntil)):
        return error(again_at=OPENS_AT.isoformat())
    if issubclass(error, InvalidHistory):
        return error(reason="the second message is empty")
    if issubclass(error, errors.UploadTooLarge):
        return error(kilobytes=2_048)
    if issubclass(
        error,
        (
            errors.DocumentTooLarge,
            errors.DocumentStorageFull,
            errors.ShareStorageFull,
            errors.AppendedTextFull,
            errors.FilesTooLarge,
            errors.PictureTooLarge,
            errors.ImportTooLarge,
        ),
    ):
        return error(megabytes=20)
    if issubclass(
        error,
        (
            *(errors.TooManyDocuments, errors.TooManyFiles, errors.TooManyPictures),
            *(errors.TooManySavedPrompts, errors.TooManyFolders, errors.TooManyShares),
            errors.TooManyApiKeys,
        ),
    ):
        return error(most=100)
    if issubclass(error, errors.ParameterInvalid):
        return error("n", "only 1 is supported")
    if issubclass(error, errors.ApiScopeMissing):
        return error(scope="chat")
    if issubclass(error, errors.ExportForeign):
        return error(form="DeepSeek")
    if issubclass(error, errors.PicturesTooLargeForModel):
        return error(given_bytes=28_000_001, most_bytes=28_000_000)
    if issubclass(error, errors.TooManyPicturesForModel):
        return error(most=20)
    if issubclass(error, (errors.NotesHaveTooManyCharacters, errors.NotesHaveTooManyTokens, errors.RemarkTooLong)):
        return error(most=1_000, given=1_234)
    if issubclass(error, errors.SharedMessagesTooMany):
        return error(most=20_000, number=30_000)
    if issubclass(error, errors.SavedPromptTooLong):
        return error(name=80, content=20_000)
    if issubclass(error, errors.PictureTooManyPixels):
        return error(width=30_000, height=30_000, megapixels=120)
    if issubclass(error, errors.EffortNotAccepted):
        return error(language_model="qwen3")
    if issubclass(error, errors.SummaryTooLong):
        return error(tokens_over=17)
    return error()


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
    sentence = str(example(error))
    assert re.fullmatch(r"[A-Z][^%{}<>]+\.", sentence)
    assert not re.search(r"_|\bNone\b|Error|Exception|HTTP|null", sentence)


@pytest.mark.parametrize("error", CLASSES)
def test_every_sentence_can_be_translated_with_its_params(error):
    raised = example(error)
    assert sorted(re.findall(r"%\((\w+)\)s", raised.template)) == sorted(raised.params)


def test_the_tokens_over_are_in_the_sentence_and_beside_it():
    refused = errors.MessageTooLong(tokens_over=31_405)
    assert refused.tokens_over == 31_405
    assert "31,405 tokens" in str(refused)


@pytest.mark.parametrize("error", [error for error in CLASSES if error.counted])
def test_one_is_said_as_one(error):
    one, two = (str(error(**{error.counted: number})) for number in (1, 2))
    assert re.search(r"\b1 (token|document|file|picture)\b", one)
    assert re.search(r"\b2 (tokens|documents|files|pictures)\b", two)


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
    assert sentence_for(error.code, example(error).params) == str(example(error))


@pytest.mark.parametrize(("code", "params"), [("of another version", {}), ("message_too_long", {}), ("", {"a": 1})])
def test_what_another_version_stored_gives_a_sentence_all_the_same(code, params):
    assert sentence_for(code, params) == str(ConversationError())
