"""Star and archive one or several conversations, and undo that as one; random sequences of several tabs."""

from __future__ import annotations

import datetime as dt
import json
import uuid

import pytest
from django.utils import timezone
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from conversations.core.errors import (
    ConversationNotFound,
    FolderNameTaken,
    FolderNotFound,
    NameInvisible,
    ScenarioNotFound,
    TooManyFolders,
)
from conversations.live import fanout
from conversations.models import Conversation, ListChange, Run, Scenario
from conversations.selectors.conversations.conversation_list import Place, list_conversations
from conversations.selectors.conversations.deleted_conversations import list_deleted_conversations
from conversations.selectors.conversations.folders import find_folder, scenario_of_folder
from conversations.services.conversations import folders
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.deletion import delete_conversation, delete_permanently, restore_conversation
from conversations.services.conversations.folders import change_folder, create_folder, delete_folder, fold_folder
from conversations.services.conversations.list_changes import (
    arrange_conversations,
    delete_conversations,
    move_conversations,
    sweep_list_changes,
    undo_list_change,
)
from conversations.services.documents.documents import add_to_conversation
from tests.support.hypothesis_profile import count_cases
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


def talks(user, count):
    return [post(begin(user), f"Talk {number}").message.conversation for number in range(count)]


def ids(conversations):
    return [each.public_id for each in conversations]


def test_a_starred_one_stands_apart_and_an_archived_one_has_left_the_list(alice):
    starred, archived, other = talks(alice, 3)
    arrange_conversations(alice, [starred.public_id], starred=True)
    arrange_conversations(alice, [archived.public_id], archived=True)
    assert list_conversations(alice) == [other]
    assert list_conversations(alice, Place.STARRED) == [starred]
    assert list_conversations(alice, Place.ARCHIVED) == [archived]
    assert len(list_conversations(alice, Place.ANYWHERE)) == 3


def test_a_starred_one_that_is_archived_keeps_its_star_for_when_it_comes_back(alice):
    [one] = talks(alice, 1)
    arrange_conversations(alice, [one.public_id], starred=True)
    arrange_conversations(alice, [one.public_id], archived=True)
    assert list_conversations(alice, Place.STARRED) == []
    arrange_conversations(alice, [one.public_id], archived=False)
    assert list_conversations(alice, Place.STARRED) == [one]


def test_a_message_takes_a_conversation_out_of_the_archive(alice, monkeypatch, django_capture_on_commit_callbacks):
    one = begin(alice)
    arrange_conversations(alice, [one.public_id], archived=True)
    one.refresh_from_db()
    told = []
    monkeypatch.setattr(fanout, "offer_here", lambda topic, payload: told.append((topic, payload)))
    with django_capture_on_commit_callbacks(execute=True):
        post(one, "Once more")
    assert list_conversations(alice) == [one]
    frames = [json.loads(payload) for topic, payload in told if topic == f"user.{alice.pk}"]
    assert {"type": "list.changed", "conversations": [str(one.public_id)]} in frames


def test_a_change_of_several_is_undone_as_one_and_each_is_what_it_was(alice):
    first, second = talks(alice, 2)
    arrange_conversations(alice, [first.public_id], starred=True)
    change = arrange_conversations(alice, ids([first, second]), starred=True, archived=True)
    undo_list_change(alice, change.pk)
    assert list_conversations(alice, Place.STARRED) == [first]
    assert list_conversations(alice) == [second]
    with pytest.raises(ConversationNotFound):
        undo_list_change(alice, change.pk)


def test_no_one_arranges_or_undoes_what_is_another_users(alice):
    [one] = talks(alice, 1)
    change = arrange_conversations(alice, [one.public_id], starred=True)
    bob = make_user("bob")
    with pytest.raises(ConversationNotFound):
        arrange_conversations(bob, [one.public_id], archived=True)
    with pytest.raises(ConversationNotFound):
        undo_list_change(bob, change.pk)
    assert list_conversations(alice, Place.STARRED) == [one]


def test_what_is_deleted_or_not_there_is_passed_over(alice):
    gone, there = talks(alice, 2)
    delete_conversation(gone)
    assert arrange_conversations(alice, [*ids([gone, there]), uuid.uuid4()], starred=True).count == 1
    restore_conversation(user=alice, public_id=gone.public_id)
    assert list_conversations(alice, Place.STARRED) == [there]


def test_changes_that_no_page_offers_to_undo_are_swept(alice):
    [one] = talks(alice, 1)
    for days in (2, 0):
        change = arrange_conversations(alice, [one.public_id], starred=True)
        then = timezone.now() - dt.timedelta(days=days)
        ListChange.objects.filter(pk=change.pk).update(created_at=then)
    sweep_list_changes()
    assert ListChange.objects.get() == change


def test_several_are_deleted_and_brought_back_as_one_and_their_replies_stop(alice):
    first, second, other = talks(alice, 3)
    change = delete_conversations(alice, ids([first, second]))
    assert list_conversations(alice) == [other]
    assert set(list_deleted_conversations(alice)) == {first, second}
    assert Run.objects.filter(reply__conversation__in=[first, second], state="waiting").count() == 0
    delete_permanently(alice, second.public_id)
    undo_list_change(alice, change.pk)
    assert list_conversations(alice) == [other, first]
    with pytest.raises(ConversationNotFound):
        delete_conversations(make_user("bob"), [first.public_id])


def test_a_folder_holds_conversations_until_it_is_deleted(alice):
    inside, outside = talks(alice, 2)
    work = create_folder(alice, name="Work")
    move_conversations(alice, [inside.public_id], work)
    assert list_conversations(alice) == [outside]
    assert list_conversations(alice, Place.IN_FOLDER, folder=work) == [inside]
    delete_folder(alice, work.pk)
    assert list_conversations(alice) == [outside, inside]


def test_a_move_is_undone_also_after_the_folder_it_came_from_was_deleted(alice):
    [one] = talks(alice, 1)
    first, second = (create_folder(alice, name=name) for name in ("First", "Second"))
    move_conversations(alice, [one.public_id], first)
    change = move_conversations(alice, [one.public_id], second)
    undo_list_change(alice, change.pk)
    assert list_conversations(alice, Place.IN_FOLDER, folder=first) == [one]
    change = move_conversations(alice, [one.public_id], second)
    delete_folder(alice, first.pk)
    undo_list_change(alice, change.pk)
    assert list_conversations(alice) == [one]


def test_a_conversation_begun_in_a_folder_is_in_it_and_what_goes_on_stays_where_it_is(alice):
    work = create_folder(alice, name="Work")
    new = start_conversation(user=alice, public_id=uuid.uuid4(), folder_id=work.pk)
    assert new.folder == work
    post(new, "Hello")
    move_conversations(alice, [new.public_id], None)
    again = start_conversation(user=alice, public_id=new.public_id, folder_id=work.pk)
    assert again.folder is None
    theirs = create_folder(make_user("bob"), name="Bob's")
    assert start_conversation(user=alice, public_id=uuid.uuid4(), folder_id=theirs.pk).folder is None


def test_a_folder_has_a_scenario_that_its_owner_may_choose(alice):
    bob = make_user("bob")
    with pytest.raises(ScenarioNotFound):
        create_folder(alice, name="Work", scenario_id=Scenario.objects.create(name="Bob's", owner=bob).pk)
    offered = Scenario.objects.create(name="Translator", offered=True)
    work = create_folder(alice, name="Work", scenario_id=offered.pk)
    assert scenario_of_folder(alice, work) == offered
    Scenario.objects.filter(pk=offered.pk).update(offered=False)
    work = change_folder(alice, work.pk, name="Labour", scenario_id=offered.pk)
    assert (work.name, scenario_of_folder(alice, work)) == ("Labour", None)
    Scenario.objects.filter(pk=offered.pk).delete()
    assert scenario_of_folder(alice, find_folder(alice, work.pk)) is None


def test_names_of_folders_are_clean_and_different_and_there_are_not_too_many(alice, monkeypatch):
    work = create_folder(alice, name="  Work\n")
    assert work.name == "Work"
    with pytest.raises(FolderNameTaken):
        create_folder(alice, name="Work")
    with pytest.raises(NameInvisible):
        create_folder(alice, name="\u200b")
    monkeypatch.setattr(folders, "MOST_FOLDERS", 1)
    with pytest.raises(TooManyFolders):
        create_folder(alice, name="More")


def test_no_one_sees_changes_folds_or_deletes_the_folder_of_another_user(alice):
    work, bob = create_folder(alice, name="Work"), make_user("bob")
    for act in (
        lambda: find_folder(bob, work.pk),
        lambda: change_folder(bob, work.pk, name="Mine"),
        lambda: fold_folder(bob, work.pk, is_folded=True),
        lambda: delete_folder(bob, work.pk),
    ):
        with pytest.raises(FolderNotFound):
            act()
    assert find_folder(alice, work.pk).name == "Work"


class ListOfSeveralTabs(RuleBasedStateMachine):
    """What several tabs do to three conversations, one after the other: the last one holds, and nothing is lost."""

    @initialize()
    def begin(self):
        Conversation.objects.all().delete()
        self.alice = make_user(f"alice{uuid.uuid4().hex}")
        self.talks = talks(self.alice, 3)
        self.expected = {talk.pk: {"starred": False, "archived": False, "deleted": False} for talk in self.talks}
        self.changes = []

    def _there(self, chosen):
        return [self.talks[at] for at in chosen if not self.expected[self.talks[at].pk]["deleted"]]

    @rule(
        chosen=st.sets(st.integers(0, 2), min_size=1),
        field=st.sampled_from(["starred", "archived"]),
        value=st.booleans(),
    )
    def arrange(self, chosen, field, value):
        there = self._there(chosen)
        if not there:
            with pytest.raises(ConversationNotFound):
                arrange_conversations(self.alice, [self.talks[at].public_id for at in chosen], **{field: value})
            return
        change = arrange_conversations(self.alice, ids(there), **{field: value})
        differing = [each.pk for each in there if self.expected[each.pk][field] != value]
        self.changes.append((change.pk, field, not value, differing))
        for each in there:
            self.expected[each.pk][field] = value

    @rule(data=st.data())
    def undo(self, data):
        if self.changes:
            at = data.draw(st.integers(0, len(self.changes) - 1))
            change, field, value, changed = self.changes.pop(at)
            undo_list_change(self.alice, change)
            for pk in changed:
                if not self.expected[pk]["deleted"]:
                    self.expected[pk][field] = value

    @rule(at=st.integers(0, 2))
    def delete_or_restore(self, at):
        one = self.talks[at]
        expected = self.expected[one.pk]
        if expected["deleted"]:
            restore_conversation(user=self.alice, public_id=one.public_id)
        else:
            delete_conversation(one)
        expected["deleted"] = not expected["deleted"]

    @invariant()
    def every_conversation_stands_in_one_place(self):
        rows = Conversation.objects.filter(owner=self.alice)
        stored = {
            row.pk: {"starred": row.starred, "archived": row.archived, "deleted": row.deleted_at is not None}
            for row in rows
        }
        assert stored == self.expected
        shown = [
            each.pk
            for place in (Place.UNDER_DATES, Place.STARRED, Place.ARCHIVED)
            for each in list_conversations(self.alice, place)
        ]
        assert sorted(shown) == sorted(pk for pk, expected in self.expected.items() if not expected["deleted"])


def test_random_sequences_of_several_tabs_end_as_the_last_one_said():
    run_state_machine_as_test(ListOfSeveralTabs, settings=settings(max_examples=count_cases(40)))


def test_a_file_that_begins_a_conversation_puts_it_into_the_folder(alice):
    work, public_id = create_folder(alice, name="Work"), uuid.uuid4()
    add_to_conversation(user=alice, public_id=public_id, name="a.txt", content=b"words", folder_id=work.pk)
    assert Conversation.objects.get(public_id=public_id).folder == work
