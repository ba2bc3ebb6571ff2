"""Remote MCP servers, with the tools that they listed."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from conversations.core.tools.tool_spec import BUILT_IN, OWN


class McpServer(models.Model):
    """A remote MCP server whose tools scenarios may use. Only admins write here.

    *name* goes before the names of its tools: `name__tool`. *sealed_authorization* is the value of the header
    `Authorization`, sealed with `SECRET_KEY`. *tools* is what the server listed at *listed_at*, as it was checked:
    `{"name", "description", "parameters", "read_only"}`, and *refused_tools* what was not taken: `{"name", "reason"}`.
    *list_error* is the code of the error if the last try, at *tried_at*, failed. Calls ask the user first, but for
    tools that the server calls read-only and that the admin believes (*believes_read_only*).
    """

    name = models.CharField(
        _("name"),
        max_length=30,
        unique=True,
        validators=[
            RegexValidator(r"^[a-z0-9]+(-[a-z0-9]+)*$", _("Use lowercase letters, digits and single hyphens.")),
            RegexValidator(
                rf"^({BUILT_IN}|{OWN})$",
                _("This name is reserved for the site's own tools. Choose another one."),
                inverse_match=True,
            ),
        ],
    )
    url = models.CharField(_("address"), max_length=500)
    sealed_authorization = models.TextField(blank=True)
    enabled = models.BooleanField(_("enabled"), default=True)
    offered = models.BooleanField(
        _("offered"), default=False, help_text=_("Users may use its tools in scenarios of their own.")
    )
    believes_read_only = models.BooleanField(
        _("believes read-only"),
        default=False,
        help_text=_("Tools that the server calls read-only run without asking the user."),
    )
    timeout_seconds = models.PositiveSmallIntegerField(
        _("timeout seconds"), default=30, validators=[MinValueValidator(1), MaxValueValidator(300)]
    )
    tools = models.JSONField(default=list)
    refused_tools = models.JSONField(default=list)
    listed_at = models.DateTimeField(_("listed at"), null=True)
    tried_at = models.DateTimeField(_("tried at"), null=True)
    list_error = models.CharField(_("list error"), max_length=50, blank=True)
    list_error_detail = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("MCP server")
        verbose_name_plural = _("MCP servers")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
