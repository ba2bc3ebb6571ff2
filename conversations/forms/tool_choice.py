"""The choice of tools for a scenario: boxes in groups, each with what the tool costs in every request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.core.tools.tool_spec import BUILT_IN, OWN
from conversations.models import Scenario
from conversations.providers.tokens.tokenizer import count_tool_schemas
from conversations.services.language_models.model_context import model_context
from conversations.tools.mcp_tools import all_tools_key
from conversations.tools.toolbox import OfferedTool, offered_tools, scenario_toolbox
from conversations.wording.tool_labels import built_in_labels

GROUPS = {BUILT_IN: _("Built in"), OWN: _("From this site")}


@dataclass(frozen=True, slots=True)
class ToolCheckbox:
    """A box to tick. *tokens* go with every request; None is a tool that is not there now."""

    key: str
    name: str
    description: str
    source: str
    tokens: int | None
    needs_approval: bool = False


class ToolsWidget(forms.CheckboxSelectMultiple):
    """Draws the *boxes* in their groups."""

    boxes: tuple[ToolCheckbox, ...] = ()

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        chosen = set(value or ())
        groups = [
            (GROUPS.get(source, source), list(boxes)) for source, boxes in groupby(self.boxes, lambda box: box.source)
        ]
        context = {"name": name, "groups": groups, "chosen": chosen, "id": (attrs or {}).get("id", f"id_{name}")}
        return render_to_string("conversations/_tool_choice.html", context)


class ToolsField(forms.MultipleChoiceField):
    """Names of tools, of those that `offer_tools` has offered."""

    widget = ToolsWidget

    def __init__(self, **options: Any) -> None:
        help_text = _("Tools that the language model may call while it replies. Each costs tokens in every request.")
        defaults: dict[str, Any] = {"label": _("Tools"), "required": False, "help_text": help_text}
        super().__init__(**defaults | options)

    def offer_tools(self, scenario: Scenario) -> None:
        """Offer what the scenario's owner may choose, and what is chosen already though it is not there now."""
        boxes = tuple(tool_checkboxes(scenario))
        self.choices = [(box.key, box.name) for box in boxes]
        self.widget.boxes = boxes

    def has_changed(self, initial: Any, data: Any) -> bool:
        return sorted(initial or ()) != sorted(data or ())


def tool_checkboxes(scenario: Scenario) -> Iterable[ToolCheckbox]:
    """Return a box for each tool, those of one source one after another."""
    language_model = model_context(scenario).language_model
    keys = set(scenario.tools)
    for source, tools in groupby(offered_tools(scenario.owner), lambda tool: tool.spec.source):
        boxes = [
            _checkbox(tool, tokens=count_tool_schemas([tool.spec.schema], language_model=language_model))
            for tool in tools
        ]
        if source not in GROUPS:
            boxes.insert(0, _all_tools_checkbox(boxes))
        yield from boxes
        keys.difference_update(box.key for box in boxes)
    for key in sorted(keys):
        explanation = gettext("Chosen earlier, but no longer available.")
        yield ToolCheckbox(key, key, explanation, source=gettext("No longer available"), tokens=None)


def chosen_tools(scenario: Scenario) -> list[ToolCheckbox]:
    """Return those tools of the scenario that are there."""
    specs = [tool.spec for tool in scenario_toolbox(scenario).tools.values()]
    if not specs:
        return []
    language_model = model_context(scenario).language_model
    counted = ((spec, count_tool_schemas([spec.schema], language_model=language_model)) for spec in specs)
    return [_checkbox(OfferedTool(spec.name, spec), tokens=tokens) for spec, tokens in counted]


def _checkbox(tool: OfferedTool, *, tokens: int) -> ToolCheckbox:
    spec = tool.spec
    labels = built_in_labels(spec.name, spec.source)
    name, description = (labels.name, labels.description) if labels else (spec.name, _one_line(spec.description))
    return ToolCheckbox(tool.key, str(name), str(description), spec.source, tokens, spec.needs_approval)


def _all_tools_checkbox(boxes: Sequence[ToolCheckbox]) -> ToolCheckbox:
    """Return the box of all tools of an MCP server, of which there may be others tomorrow."""
    return ToolCheckbox(
        all_tools_key(boxes[0].key),
        gettext("All its tools"),
        gettext("Including tools that it offers later."),
        boxes[0].source,
        tokens=sum(box.tokens or 0 for box in boxes),
        needs_approval=any(box.needs_approval for box in boxes),
    )


def _one_line(description: str) -> str:
    """Return its first line: what follows is for the language model."""
    return description.strip().partition("\n")[0]
