"""Scenarios: instructions, language model, window policy and tools of conversations."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from chatsite.names import NameField
from conversations.core.window.policies import WindowPolicy

# The columns that are a policy's values, by the names that `WindowPolicy` has for them.
POLICY_FIELDS = tuple(field.name for field in dataclasses.fields(WindowPolicy))
SHARES = ("low_water_share", "grounding_share", "recall_share")  # the columns that are parts of a whole
AT_LEAST_1 = [MinValueValidator(1)]
PART = [MinValueValidator(0), MaxValueValidator(1)]
# The names of the scenarios that the site makes for itself.
PLAIN = gettext_noop("Plain conversation")
WITH_TOOLS = gettext_noop("With tools")
PART_ABOVE_0 = [MinValueValidator(Decimal("0.01")), MaxValueValidator(1)]


class WebSearch(models.TextChoices):
    """Whether the questions of its conversations are searched for on the web, where the site can do that."""

    OFFERED = "offered", _("When switched on in the conversation")
    ALWAYS = "always", _("For every question")
    NEVER = "never", _("Never")


def scenario_name(name: str) -> str:
    """Return what people read for *name*: the scenarios that the site made are called in their language."""
    return gettext(name) if name in (PLAIN, WITH_TOOLS) else name


class Scenario(models.Model):
    """The settings of a conversation, kept apart from its history.

    Without an owner it belongs to the site. *language_model* is a name from the configuration; blank means its
    default. *effort* is how hard a model that accepts it is asked to think; blank is what it does unasked. *sampling*
    goes to the provider as it is, such as `{"temperature": 0.2}`. *policy_name* is the name of a built-in window
    policy or the dotted path of a class.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="scenarios",
        verbose_name=_("owner"),
    )
    name = NameField(_("name"), max_length=100)
    system_prompt = models.TextField(_("system prompt"), blank=True)
    language_model = models.CharField(_("language model"), max_length=200, blank=True)
    effort = models.CharField(_("effort"), max_length=10, blank=True, default="", db_default="")
    sampling = models.JSONField(_("model parameters (JSON)"), default=dict, blank=True)
    tools = models.JSONField(_("tools"), default=list, blank=True)
    web_search = models.CharField(
        _("web search"),
        max_length=10,
        choices=WebSearch,
        default=WebSearch.OFFERED,
        db_default=WebSearch.OFFERED.value,
        help_text=_("Whether questions are also looked up on the web, where this site has a web search."),
    )
    offered = models.BooleanField(_("offered"), default=False, help_text=_("Everyone may choose it."))
    is_default = models.BooleanField(_("is default"), default=False, help_text=_("New conversations start with it."))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    policy_name = models.CharField(_("window policy"), max_length=200, default="sliding")
    low_water_share = models.DecimalField(
        _("fill after sliding"),
        max_digits=3,
        decimal_places=2,
        default=Decimal("0.7"),
        validators=PART_ABOVE_0,
        help_text=_("How full the window is after it slides. 1 = slide with every message (less caching)."),
    )
    last_messages = models.PositiveIntegerField(
        _("messages to keep"),
        default=20,
        validators=AT_LEAST_1,
        help_text=_("How many of the newest messages are sent, including the new one."),
    )
    cap_tokens = models.PositiveIntegerField(
        _("longest prompt, tokens"),
        null=True,
        blank=True,
        validators=AT_LEAST_1,
        help_text=_("Longest prompt, in tokens. Leave empty for the model's limit."),
    )
    message_cap_tokens = models.PositiveIntegerField(
        _("longest message, tokens"),
        null=True,
        blank=True,
        validators=AT_LEAST_1,
        help_text=_("Longest message that is sent, in tokens. Leave empty for no limit."),
    )
    reply_reserve_tokens = models.PositiveIntegerField(
        _("reply reserve, tokens"),
        null=True,
        blank=True,
        validators=AT_LEAST_1,
        help_text=_("Longest reply, in tokens. Leave empty for the model's default."),
    )
    grounding_share = models.DecimalField(
        _("share for passages"),
        max_digits=3,
        decimal_places=2,
        default=Decimal("0.5"),
        validators=PART,
        help_text=_("Largest share of the budget for passages of documents and the web, 0 to 1."),
    )
    recall_share = models.DecimalField(
        _("share for recall"),
        max_digits=3,
        decimal_places=2,
        default=Decimal("0.25"),
        validators=PART,
        help_text=_("Share of the room for older messages that is for what is recalled, 0 to 1. 0 = off."),
    )
    summary_cap_tokens = models.PositiveIntegerField(
        _("longest summary, tokens"),
        default=1_000,
        help_text=_("Longest summary that is sent, where one is kept of what is out of view. 0 = none is sent."),
    )
    skip_oversized = models.BooleanField(
        _("skip messages that are too large"),
        default=False,
        help_text=_("Continue with older messages when one is too large, instead of stopping there."),
    )
    pictures_only_with_question = models.BooleanField(
        _("send pictures only with their question"),
        default=False,
        help_text=_("In later requests a line with its description or file name stands for each picture."),
    )

    class Meta:
        verbose_name = _("scenario")
        verbose_name_plural = _("scenarios")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint("is_default", condition=models.Q(is_default=True), name="scenario_one_default"),
            models.CheckConstraint(
                condition=models.Q(last_messages__gte=1)
                & (models.Q(cap_tokens=None) | models.Q(cap_tokens__gte=1))
                & (models.Q(message_cap_tokens=None) | models.Q(message_cap_tokens__gte=1))
                & (models.Q(reply_reserve_tokens=None) | models.Q(reply_reserve_tokens__gte=1)),
                name="scenario_limits_are_above_0",
            ),
            models.CheckConstraint(
                condition=models.Q(grounding_share__gte=0, grounding_share__lte=1)
                & models.Q(recall_share__gte=0, recall_share__lte=1)
                & models.Q(low_water_share__gt=0, low_water_share__lte=1),
                name="scenario_shares_are_parts",
            ),
        ]

    def __str__(self) -> str:
        """Its name if it is the site's. How people call their own is theirs; the admin writes this on every page."""
        return self.shown_name if self.owner_id is None else gettext("Scenario %(id)s") % {"id": self.pk}

    @property
    def shown_name(self) -> str:
        """Its name, for those who may know it."""
        return scenario_name(self.name)
