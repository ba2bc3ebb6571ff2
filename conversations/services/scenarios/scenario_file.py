"""A scenario as JSON, without history: written to a file, and read again only if this site could have written it.

    {"format": "windowseat.scenario", "version": 1, "name": …, "system_prompt": …, "language_model": …, "effort": …,
     "sampling": {…}, "policy": {"name": "sliding", "low_water_share": 0.7, …}, "tools": [], "web_search": "offered"}

*name* is required, everything else has its default. What is wrong is said by the field's place in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NoReturn

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import User
from conversations.models import Scenario
from conversations.models.scenario import POLICY_FIELDS, SHARES
from conversations.services.language_models.sampling import check_levels

from .scenario_settings import check_scenario

FORMAT = "windowseat.scenario"
VERSION = 1
MOST_BYTES = 2 * 2**20

Kinds = Mapping[str, tuple[type, ...]]
LIMIT = (int, type(None))
HEAD: Kinds = {"format": (str,), "version": (int,)}
FIELDS: Kinds = {
    "name": (str,),
    "system_prompt": (str,),
    "language_model": (str,),
    "effort": (str,),
    "sampling": (dict,),
    "policy": (dict,),
    "tools": (list,),
    "web_search": (str,),
}
POLICY: Kinds = {
    "name": (str,),
    "cap_tokens": LIMIT,
    "message_cap_tokens": LIMIT,
    "reply_reserve_tokens": LIMIT,
    "grounding_share": (int, float),
    "low_water_share": (int, float),
    "recall_share": (int, float),
    "last_messages": (int,),
    "summary_cap_tokens": (int,),
    "skip_oversized": (bool,),
    "pictures_only_with_question": (bool,),
}
IN_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def write_document(scenario: Scenario) -> str:
    """Return the text of the scenario's file."""
    values = {name: getattr(scenario, name) for name in POLICY_FIELDS}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": scenario.name,
        "system_prompt": scenario.system_prompt,
        "language_model": scenario.language_model,
        "effort": scenario.effort,
        "sampling": scenario.sampling,
        "policy": {"name": scenario.policy_name, **values, **{name: float(values[name]) for name in SHARES}},
        "tools": scenario.tools,
        "web_search": scenario.web_search,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def read_document(raw: bytes, *, owner: User | None, any_policy: bool = False) -> Scenario:
    """Return the scenario that the file describes, checked but not stored. Raises a `ValidationError`.

    *any_policy* allows any dotted path as its window policy, see `check_scenario`.
    """
    document = _parse(raw)
    _check_head(document)
    _check_fields(document)
    policy = document.get("policy", {})
    scenario = Scenario(owner=owner, **_columns(document, policy))
    scenario.full_clean()
    check_scenario(scenario, any_policy=any_policy)
    return scenario


def problems_of(error: ValidationError) -> list[str]:
    """Return what is wrong with a file, each with its place in it."""
    if not hasattr(error, "error_dict"):
        return list(error.messages)
    return [
        words if field == NON_FIELD_ERRORS else f"{_place(field)}: {words}"
        for field, sentences in error.message_dict.items()
        for words in sentences
    ]


def _place(column: str) -> str:
    if column == "policy_name":
        return "policy.name"
    return f"policy.{column}" if column in POLICY_FIELDS else column


def _parse(raw: bytes) -> dict[str, Any]:
    if len(raw) > MOST_BYTES:
        raise ValidationError(_("The file is too large to be a scenario."))
    try:
        document = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse, object_pairs_hook=_with_each_name_once)
    except UnicodeDecodeError:
        raise ValidationError(_("The file is not text in UTF-8.")) from None
    except RecursionError:
        raise ValidationError(_("The file is nested too deeply.")) from None
    except ValueError as error:
        raise ValidationError(_("The file is not JSON: %(error)s."), params={"error": error}) from None
    if not isinstance(document, dict):
        raise ValidationError(_("The file does not contain a scenario. It must be a JSON object."))
    check_levels(document)
    return document


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number here")


def _with_each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field is named twice")
    return found


def _check_head(document: Mapping[str, Any]) -> None:
    if document.get("format") != FORMAT:
        raise ValidationError({"format": _("This is not a scenario: its format is not “windowseat.scenario”.")})
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise ValidationError({"version": _("This version of the format is not supported; version 1 is.")})
    if not str(document.get("name", "")).strip():
        raise ValidationError({"name": _("The scenario has no name.")})


def _check_fields(document: Mapping[str, Any]) -> None:
    """Refuse what is unknown, for it would be lost, and what is of another kind. `true` is no number here."""
    problems = dict(_problems(document, {**HEAD, **FIELDS}, place=""))
    if isinstance(policy := document.get("policy"), dict):
        problems |= _problems(policy, POLICY, place="policy.")
    if problems:
        raise ValidationError(problems)


def _problems(found: Mapping[str, Any], kinds: Kinds, *, place: str) -> Iterator[tuple[str, ValidationError]]:
    for name, value in found.items():
        if name not in kinds:
            yield f"{place}{name[:100]}", ValidationError(_("This field is unknown."))
        elif type(value) not in kinds[name]:
            wanted = IN_WORDS[kinds[name][-1] if type(None) not in kinds[name] else kinds[name][0]]
            yield f"{place}{name}", ValidationError(_("This must be %(kind)s."), params={"kind": wanted})


def _columns(document: Mapping[str, Any], policy: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that the file fills. A share is a decimal number with the digits that were written."""
    columns = {name: document[name] for name in FIELDS.keys() & document.keys() - {"policy"}}
    columns |= {name: value for name, value in policy.items() if name != "name"}
    columns |= {name: Decimal(str(policy[name])) for name in SHARES if name in policy}
    return columns | ({"policy_name": policy["name"]} if "name" in policy else {})
