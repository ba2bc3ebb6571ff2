"""Messages: the stored rows of a conversation, a tree of versions."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

MOST_REASONING_CHARACTERS = 1_000_000  # that are kept of one step; the rest is paid for and not shown


class MessageRole(models.TextChoices):
    USER = "user", _("User")
    ASSISTANT = "assistant", _("Assistant")
    TOOL = "tool", _("Tool")


class MessageState(models.TextChoices):
    """A reply begins as streaming and ends in exactly one of the others."""

    STREAMING = "streaming", _("Streaming")
    COMPLETE = "complete", _("Complete")
    STOPPED = "stopped", _("Stopped")
    INTERRUPTED = "interrupted", _("Interrupted")
    FAILED = "failed", _("Failed")


class Message(models.Model):
    """One stored row of a conversation.

    The rows form a tree by *parent*; *active* marks the path that is shown and sent, and *position* is the depth.
    *grounding* is a list of all passages that were ever looked up for it, `{"text", "source", "score", "document"}`,
    the last a document's public id, which is missing where a passage was posted with the message: every look-up adds
    what is new, and the window record of a reply names by number what it was sent. The words of a deleted document are
    taken out of it, and their places stay. *content_tokens* is what the message adds to the chat format's overhead,
    counted in *encoding* when the row was written; a streaming reply has 0 until the text of its step has come whole
    and is stored, as the request that gave it is settled. Only a streaming reply's content ever changes.

    *picture_ids* are the `Picture`s of a user's message, in their order; they are of the same conversation.

    *reasoning* is what the language model thought before *content*, in *reasoning_seconds* and with *reasoning_tokens*,
    which are None where it thought nothing and, if the provider reports none, *reasoning_tokens_estimated*: our own
    count. Of a reply with steps each has its own. It is shown and exported, and part of nothing else: no prompt, index,
    search, title or summary has it.

    *copied_model* names the language model that made a reply which was copied into a branch, or imported: the requests
    for it stay those of the reply that it was copied from.

    *name* says who speaks, where an imported history has several people; prompts leave it out.

    What tools were asked for while a reply was made stands before it on the path: for each step an assistant's message
    with *tool_calls* and a tool's message for each result, all of them *step_of* the reply and children of its
    question. So a reply has its place behind its steps, and moves there with each. The *kept_reasoning* of a step is
    what its provider demands back with the calls while the reply is made (`core.prompt.kept_reasoning`).
    """

    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="messages", verbose_name=_("conversation")
    )
    parent = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, related_name="children", verbose_name=_("parent")
    )
    position = models.PositiveIntegerField(_("position"))
    step_of = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, related_name="steps", verbose_name=_("step of")
    )
    active = models.BooleanField(_("active"), default=True)
    role = models.CharField(_("role"), max_length=10, choices=MessageRole)
    content = models.TextField(_("content"), blank=True)
    reasoning = models.TextField(_("reasoning"), blank=True, default="", db_default="")
    reasoning_tokens = models.PositiveIntegerField(_("reasoning tokens"), null=True)
    reasoning_tokens_estimated = models.BooleanField(default=False, db_default=False)
    reasoning_seconds = models.FloatField(_("reasoning seconds"), null=True)
    name = models.CharField(_("name"), max_length=100, blank=True, default="", db_default="")
    copied_model = models.CharField(_("copied model"), max_length=200, blank=True, default="", db_default="")
    grounding = models.JSONField(default=list)
    picture_ids = ArrayField(models.BigIntegerField(), default=list, db_default=[], blank=True)
    tool_calls = models.JSONField(default=list)
    tool_call_id = models.CharField(max_length=100, blank=True)
    kept_reasoning = models.TextField(blank=True, db_default="")
    content_tokens = models.PositiveIntegerField(_("content tokens"), default=0)
    grounding_tokens = models.PositiveIntegerField(_("grounding tokens"), default=0)
    encoding = models.CharField(_("encoding"), max_length=50)
    pinned = models.BooleanField(_("pinned"), default=False)
    excluded = models.BooleanField(_("excluded"), default=False)
    never_recalled = models.BooleanField(_("never recalled"), default=False, db_default=False)
    last_forgotten = models.BooleanField(_("last forgotten"), default=False, db_default=False)
    state = models.CharField(_("state"), max_length=12, choices=MessageState, default=MessageState.COMPLETE)
    error_code = models.CharField(_("error code"), max_length=50, blank=True)
    error_params = models.JSONField(default=dict)
    client_id = models.UUIDField(null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["position"]
        constraints = [
            # The path that is shown and sent is linear, and reading it is one range of this index.
            models.UniqueConstraint(
                fields=["conversation", "position"], condition=Q(active=True), name="message_one_active_per_position"
            ),
            # A message sent again after a lost acknowledgement is the same message.
            models.UniqueConstraint(fields=["conversation", "client_id"], name="message_client_id"),
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(state="streaming"), name="message_one_streaming_reply"
            ),
            models.CheckConstraint(
                condition=~Q(state="streaming") | Q(role="assistant"), name="message_only_replies_stream"
            ),
            models.CheckConstraint(
                condition=Q(parent=None, position=0) | Q(parent__isnull=False, position__gt=0),
                name="message_root_is_at_position_0",
            ),
        ]
        indexes = [
            # On any branch: whether a conversation has pins must not take a look at all of its messages.
            models.Index(fields=["conversation"], condition=Q(pinned=True), name="message_pins"),
            # What a look-up among older messages must not find: few of many.
            models.Index(fields=["conversation"], condition=Q(excluded=True), name="message_excluded"),
            # The list of them, with a way back.
            models.Index(fields=["conversation"], condition=Q(never_recalled=True), name="message_never_recalled"),
            # By which what is forgotten is known once another version is shown: few of many.
            models.Index(fields=["conversation"], condition=Q(last_forgotten=True), name="message_last_forgotten"),
            # In whose grounding a document is that is being deleted.
            GinIndex(
                fields=["grounding"],
                opclasses=["jsonb_path_ops"],
                condition=~Q(grounding=[]),
                name="message_grounding",
            ),
        ]

    def __str__(self) -> str:
        words = {"role": self.get_role_display(), "id": self.pk, "position": self.position + 1}
        return gettext("message %(id)s: %(role)s, at %(position)s") % words

    @property
    def has_ended(self) -> bool:
        return self.state != MessageState.STREAMING

    @property
    def can_be_pinned(self) -> bool:
        """Whether it is sent by itself: half of a tool turn is not, nor is a reply that failed or is without a word."""
        is_sent = self.state != MessageState.FAILED and bool(self.content)
        return is_sent and self.role != MessageRole.TOOL and not self.tool_calls

    @property
    def first_position(self) -> int:
        """Where it begins on the path: a reply with its first step."""
        return self.parent.position + 1 if self.parent else self.position

    @property
    def answered_message(self) -> Message:
        """The message that this reply answers; replies always have one."""
        if self.parent is None:
            raise ValueError(f"message {self.pk} is not a reply")
        return self.parent
