"""Everything a person may do to the path, in any order, against a model that keeps each branch as a list."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as effort
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from conversations.core.errors import NothingToRegenerate, ReplyInProgress
from conversations.models import Conversation, Message
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import exclude_message, pin_message
from conversations.services.messages.switch_version import switch_version
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.support.hypothesis_profile import count_cases
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
CHOICES = st.integers(0, 1_000)  # which of those that there are
ENDS = st.sampled_from([True, True, True, False])  # whether the reply is made at once


@dataclass
class Node:
    """A message of the model, with what was said after it: every version of that."""

    pk: int
    content: str
    role: str
    children: list[Node] = field(default_factory=list)
    pinned: bool = False
    excluded: bool = False

    @property
    def newest_leaf_pk(self) -> int:
        return max([self.pk, *(child.newest_leaf_pk for child in self.children)])


class Talk(RuleBasedStateMachine):
    """One conversation. *path* is what is shown; the root has no message and is followed by the first ones."""

    def __init__(self) -> None:
        super().__init__()
        self.conversation = begin(make_user(f"person-{uuid.uuid4().hex}"))
        self.root = Node(0, "", "root")
        self.path: list[Node] = []
        self.is_writing = False

    # What a person does

    @initialize()
    def talk(self):
        self.post(ends=True)
        self.post(ends=True)

    @rule(ends=ENDS)
    def post(self, ends):
        if self.is_writing:
            with pytest.raises(ReplyInProgress):
                post(self.conversation, "too early")
            return
        self._asked(post(self.conversation, self._new_words()), self._last, ends)

    @precondition(lambda self: self._shown("user"))
    @rule(choice=CHOICES, ends=ENDS)
    def edit(self, choice, ends):
        edited = self._choose(self._shown("user"), choice)
        if self.is_writing:
            with pytest.raises(ReplyInProgress):
                self._edit(edited, "too early")
            return
        place = self.path.index(edited)
        above = self.path[place - 1] if place else self.root
        posted = self._edit(edited, self._new_words())
        del self.path[place:]
        self._asked(posted, above, ends)

    @precondition(lambda self: self.path)
    @rule(choice=CHOICES, ends=ENDS)
    def regenerate(self, choice, ends):
        reply = self._choose(self._shown("assistant"), choice)
        is_last = reply is self.path[-1]
        if self.is_writing and is_last:
            expected = ReplyInProgress
        elif not is_last:
            expected = NothingToRegenerate
        elif self.path[-2].excluded:
            return
        else:
            again = self._regenerate(reply)
            self.path.pop()
            self._written(again, ends)
            return
        with pytest.raises(expected):
            self._regenerate(reply)

    @precondition(lambda self: self._places_with_versions())
    @rule(choice=CHOICES, version=CHOICES)
    def switch(self, choice, version):
        above, shown = self._choose(self._places_with_versions(), choice)
        version = self._choose(above.children, version)
        if version is not shown and self.is_writing:
            with pytest.raises(ReplyInProgress):
                switch_version(conversation=self.conversation, message_id=version.pk)
            return
        switch_version(conversation=self.conversation, message_id=version.pk)
        if version is not shown:
            del self.path[self.path.index(shown) :]
            self._go_down(version)

    @precondition(lambda self: self.is_writing)
    @rule()
    def finish(self):
        reply = self.path[-1]
        reply.content = f"Reply {reply.pk}"
        assert end_reply(reply.pk, COMPLETE, content=reply.content)
        self.is_writing = False

    @precondition(lambda self: self.path and not self.is_writing)
    @rule(choice=CHOICES, pinned=st.booleans())
    def mark(self, choice, pinned):
        message = self._choose(self.path, choice)
        if pinned and not message.excluded:
            pin_message(conversation=self.conversation, message_id=message.pk, pinned=True)
            message.pinned = True
        elif not pinned:
            exclude_message(conversation=self.conversation, message_id=message.pk, excluded=not message.excluded)
            message.excluded = not message.excluded
            message.pinned = message.pinned and not message.excluded

    # What must hold

    @invariant()
    def the_path_is_the_models(self):
        active = Message.objects.filter(conversation=self.conversation, active=True).order_by("position")
        columns = active.values_list("pk", "position", "content", "pinned", "excluded")
        assert list(columns) == [
            (node.pk, position, node.content, node.pinned, node.excluded) for position, node in enumerate(self.path)
        ]

    @invariant()
    def the_head_is_the_end_of_the_path(self):
        self.conversation = Conversation.objects.select_related("owner", "scenario").get(pk=self.conversation.pk)
        assert self.conversation.head_id == (self.path[-1].pk if self.path else None)
        assert self.conversation.has_pins == self.conversation.messages.filter(pinned=True).exists()

    @invariant()
    def nothing_is_lost(self):
        stored = dict(self.conversation.messages.values_list("pk", "content"))
        assert stored == {node.pk: node.content for node in self._all(self.root)}

    @invariant()
    def a_reply_being_written_is_asked_for_with_the_path_alone(self):
        if self.is_writing:
            prompt = prepare_reply(self.path[-1].pk).window.prompt
            sent = [node.content for node in self.path[:-1] if not node.excluded]
            assert sorted(message.content for message in prompt) == sorted(sent)

    # How the model keeps up

    @property
    def _last(self) -> Node:
        return self.path[-1] if self.path else self.root

    def _shown(self, role: str) -> list[Node]:
        return [node for node in self.path if node.role == role]

    def _places_with_versions(self) -> list[tuple[Node, Node]]:
        """Return what stands above, and what is shown, at each place where something else was said too."""
        places = zip([self.root, *self.path], self.path, strict=False)
        return [(above, shown) for above, shown in places if len(above.children) > 1]

    def _choose(self, things, choice):
        return things[choice % len(things)]

    def _new_words(self) -> str:
        return f"Question {len(list(self._all(self.root)))}"

    def _all(self, node: Node):
        for child in node.children:
            yield child
            yield from self._all(child)

    def _edit(self, message: Node, content: str):
        return edit_message(
            user=self.conversation.owner,
            conversation=self.conversation,
            message_id=message.pk,
            content=content,
            client_id=uuid.uuid4(),
        )

    def _regenerate(self, reply: Node) -> Message:
        return regenerate_reply(user=self.conversation.owner, conversation=self.conversation, reply_id=reply.pk)

    def _asked(self, posted, above: Node, ends: bool) -> None:
        question = Node(posted.message.pk, posted.message.content, "user")
        above.children.append(question)
        self.path.append(question)
        self._written(posted.reply, ends)

    def _written(self, reply: Message, ends: bool) -> None:
        node = Node(reply.pk, "", "assistant")
        self._last.children.append(node)
        self.path.append(node)
        self.is_writing = True
        if ends:
            self.finish()

    def _go_down(self, node: Node) -> None:
        """Show *node* and, after each message, the one on the way to the newest."""
        self.path.append(node)
        if node.children:
            self._go_down(max(node.children, key=lambda child: child.newest_leaf_pk))


def test_whatever_a_person_does_the_path_is_one_line_and_nothing_is_lost(settings):
    settings.MESSAGES_PER_MINUTE = 0
    slow = [HealthCheck.too_slow]
    run_state_machine_as_test(
        Talk,
        settings=effort(
            max_examples=count_cases(15), stateful_step_count=15, deadline=None, suppress_health_check=slow
        ),
    )
