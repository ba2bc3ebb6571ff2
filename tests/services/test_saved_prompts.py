"""Saved prompts: what can be kept, and by whom it is found."""

from __future__ import annotations

import json

import pytest

from conversations.core.errors import (
    SavedPromptIncomplete,
    SavedPromptNameTaken,
    SavedPromptNotFound,
    SavedPromptTooLong,
    TooManySavedPrompts,
)
from conversations.models import SavedPrompt
from conversations.services.portability.delete_account import delete_account
from conversations.services.portability.export_account import exported_files
from conversations.services.saved_prompts import saved_prompts
from conversations.services.saved_prompts.saved_prompts import change_prompt, find_saved_prompt, save_prompt
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


def test_it_is_kept_as_it_can_be_stored(alice):
    prompt = save_prompt(alice, name="  Weekly\x00  report ", content="\nSum up\r\nthe week.\ud800\n")
    assert (prompt.name, prompt.content) == ("Weekly report", "Sum up\nthe week.")


def test_that_of_another_user_is_not_found(alice):
    prompt = save_prompt(make_user("bob"), name="His", content="text")
    with pytest.raises(SavedPromptNotFound):
        find_saved_prompt(alice, prompt.pk)


@pytest.mark.parametrize(("name", "content"), [("", "text"), ("name", " \n"), (" ", "text")])
def test_it_needs_a_name_and_a_text(alice, name, content):
    with pytest.raises(SavedPromptIncomplete):
        save_prompt(alice, name=name, content=content)


@pytest.mark.parametrize(("name", "content"), [("n" * 81, "text"), ("name", "t" * 20_001)])
def test_one_that_is_too_long_is_refused(alice, name, content):
    with pytest.raises(SavedPromptTooLong):
        save_prompt(alice, name=name, content=content)


def test_a_name_is_given_once_for_each_user(alice):
    first = save_prompt(alice, name="same", content="first")
    other = save_prompt(alice, name="other", content="second")
    save_prompt(make_user("bob"), name="same", content="his")
    for refused in (
        lambda: save_prompt(alice, name="same", content="again"),
        lambda: change_prompt(other, name="same", content="again"),
    ):
        with pytest.raises(SavedPromptNameTaken):
            refused()
    assert change_prompt(first, name="same", content="changed").content == "changed"
    assert set(alice.saved_prompts.values_list("name", "content")) == {("same", "changed"), ("other", "second")}


def test_so_many_are_kept_and_no_more(alice, monkeypatch):
    monkeypatch.setattr(saved_prompts, "MOST_PROMPTS", 1)
    save_prompt(alice, name="one", content="text")
    with pytest.raises(TooManySavedPrompts):
        save_prompt(alice, name="two", content="text")


def test_they_are_exported_and_deleted_with_the_account(alice):
    save_prompt(alice, name="Weekly report", content="Sum up the week.")
    save_prompt(make_user("bob"), name="His", content="text")
    files = {name: b"".join(pieces) for name, pieces in exported_files(alice, language_code="en")}
    [exported] = json.loads(files["prompts.json"])["prompts"]
    assert (exported["name"], exported["content"]) == ("Weekly report", "Sum up the week.")
    delete_account(alice)
    assert SavedPrompt.objects.get().name == "His"
