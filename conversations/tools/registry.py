"""The registry of Python functions as tools: declared with a decorator, found in the modules that the settings name.

    @tool
    def weather(city: str, days: int = 1) -> str:
        \"""Tell the weather of the next days.

        Args:
            city: Its name in English.
        \"""

A function may be async, may raise, and may have a parameter of the type `ToolContext`, which says whom it runs for.
What can't be a tool is a problem that the checks name; the others are there all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any, TypeVar, overload

from django.conf import settings

from conversations.core.tools.tool_spec import BUILT_IN, OWN, TOOL_NAME, ToolSpec

from .docstrings import parse_docstring
from .function_runners import LoopRunner, ThreadRunner
from .function_signatures import UnfitSignature, read_signature
from .python_tool import PythonTool

logger = logging.getLogger(__name__)
BUILT_IN_MODULE = "conversations.tools.built_in"
OF_SERVERS = "__"  # is in the names of MCP servers' tools, and of no other
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _Declared:
    function: Callable[..., Any]
    name: str
    needs_approval: bool
    timeout_seconds: float | None


@dataclass(frozen=True, slots=True)
class Registry:
    """The tools that are Python functions, by name, and what is wrong with those that are not there."""

    tools: Mapping[str, PythonTool]
    problems: tuple[str, ...]


_declared: list[_Declared] = []


@overload
def tool(function: Function, /) -> Function: ...


@overload
def tool(
    *, name: str = "", needs_approval: bool = False, timeout_seconds: float | None = None
) -> Callable[[Function], Function]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    needs_approval: bool = False,
    timeout_seconds: float | None = None,
) -> Any:
    """Declare a function to be a tool; it stays the function that it is.

    One that *needs_approval* may change something: the user approves each call of it. *name* is the function's own if
    blank, and *timeout_seconds* the setting `TOOL_CALL_SECONDS`.
    """

    def declare(function: Function) -> Function:
        _declared.append(_Declared(function, name or function.__name__, needs_approval, timeout_seconds))
        return function

    return declare if function is None else declare(function)


def registry() -> Registry:
    """Return the built-in tools and the site's own; their modules are imported when this is first asked for."""
    return _registry_of(tuple(settings.TOOL_MODULES))


@cache
def _registry_of(own_modules: tuple[str, ...]) -> Registry:
    tools: dict[str, PythonTool] = {}
    problems = []
    for module in (BUILT_IN_MODULE, *own_modules):
        try:
            import_module(module)
            declared = [each for each in _declared if _is_in(each, module)]
        except (Exception, SystemExit) as error:
            logger.exception("the tools of %s can't be imported", module)
            problems.append(f"{module} can't be imported: {type(error).__name__}: {error}")
            continue
        for each in declared:
            try:
                _add(each, tools)
            except UnfitSignature as error:
                problems.append(f"the tool {each.name!r} of {module}: {error}")
    return Registry(tools, tuple(problems))


def _is_in(declared: _Declared, module: str) -> bool:
    return f"{declared.function.__module__}.".startswith(f"{module}.")


def _add(declared: _Declared, tools: dict[str, PythonTool]) -> None:
    """Add a declared tool. Raises `UnfitSignature`."""
    if problem := next(_problems_of(declared, tools), None):
        raise UnfitSignature(problem)
    tools[declared.name] = _build_tool(declared)


def _problems_of(declared: _Declared, tools: Mapping[str, PythonTool]) -> Iterator[str]:
    if not TOOL_NAME.fullmatch(declared.name):
        yield "a name has 1 to 64 letters, digits, hyphens and underscores"
    if OF_SERVERS in declared.name:
        yield f"{OF_SERVERS!r} is in the names of MCP servers' tools only"
    if declared.name in tools:
        yield "there is another one of this name"
    if isgeneratorfunction(declared.function) or isasyncgenfunction(declared.function):
        yield "it yields, and a tool returns"


def _build_tool(declared: _Declared) -> PythonTool:
    """Return the tool that was declared. Raises `UnfitSignature`."""
    signature = read_signature(declared.function)
    is_built_in = _is_in(declared, BUILT_IN_MODULE)
    spec = ToolSpec(
        name=declared.name,
        description=parse_docstring(declared.function).description,
        parameters=signature.schema,
        source=BUILT_IN if is_built_in else OWN,
        needs_approval=declared.needs_approval,
    )
    is_ours = is_built_in and iscoroutinefunction(declared.function)
    runner = LoopRunner() if is_ours else ThreadRunner(declared.name)
    return PythonTool(spec, declared.function, signature, runner, declared.timeout_seconds)
