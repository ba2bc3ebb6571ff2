"""Middleware in groups: what Django runs in a thread step by step runs there one after the other.

Under ASGI Django hands each `process_request`, `process_view` and `process_response` of synchronous middleware to a
thread and waits for it: 27 times for a page. Here, middleware that stands side by side in `MIDDLEWARE` is a group,
which goes to the thread once for all requests, views and responses of its members. In which order they are called, and
what becomes of their answers and errors, is as Django has it. Figures, and when to remove this, are in
docs/decisions/0108.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any, cast

from asgiref.sync import markcoroutinefunction, sync_to_async
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.exception import response_for_exception
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.utils.module_loading import import_string

# These wait for nothing, neither a database nor a file, so that they run in the event loop itself.
NON_BLOCKING = {
    "chatsite.middleware.without_cookies.WithoutCookiesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "chatsite.middleware.null_characters.NullCharacterMiddleware",
}
UNGROUPED_STEPS = ("process_exception", "process_template_response")  # Django looks for these at each member itself
_groups: dict[str, type[MiddlewareGroup]] = {}


class GroupingHandler(ASGIHandler):
    """Django's ASGI application, with middleware in groups."""

    def load_middleware(self, is_async: bool = False) -> None:
        with listed_middleware(_group_paths(settings.MIDDLEWARE)):
            super().load_middleware(is_async)


@contextmanager
def listed_middleware(paths: Iterable[str]) -> Iterator[None]:
    """Let `MIDDLEWARE` be *paths* while a handler loads it."""
    listed = settings.MIDDLEWARE
    setattr(settings, "MIDDLEWARE", list(paths))  # noqa: B010  # no setting may be assigned to
    try:
        yield
    finally:
        setattr(settings, "MIDDLEWARE", listed)  # noqa: B010


class MiddlewareGroup:
    """Several middleware, the outermost first, as one; *classes* and *in_thread* are set by subclasses."""

    sync_capable = False
    async_capable = True
    classes: Sequence[type[MiddlewareMixin]] = ()
    in_thread = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._members = list(_make_members(self.classes, get_response))
        self._views = [each.process_view for each in self._members if hasattr(each, "process_view")]
        if self._views:  # Django looks whether there is one
            self.process_view = self._process_view
        self._has_requests = any(hasattr(each, "process_request") for each in self._members)
        self._has_responses = any(hasattr(each, "process_response") for each in self._members)
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        entered = len(self._members)
        response: HttpResponseBase | None = None
        if self._has_requests:
            entered, response = await self._run(self._process_request, request)
        if not response:
            response = await self._get_response(request)
        if self._has_responses:
            response = await self._run(self._process_response, request, response, entered)
        return cast(HttpResponseBase, response)

    async def _run(self, step: Callable[..., Any], *arguments: Any) -> Any:
        return await sync_to_async(step)(*arguments) if self.in_thread else step(*arguments)

    def _process_request(self, request: HttpRequest) -> tuple[int, HttpResponseBase | None]:
        """Return how many members see the response, and the response if one of them has answered or failed."""
        for place, member in enumerate(self._members):
            if not hasattr(member, "process_request"):
                continue
            try:
                response = member.process_request(request)
            except Exception as error:
                return place, response_for_exception(request, error)
            if response:
                return place + 1, response
        return len(self._members), None

    def _process_view(self, request: HttpRequest, *arguments: Any) -> HttpResponseBase | None:
        for process_view in self._views:
            response: HttpResponseBase | None = process_view(request, *arguments)
            if response:
                return response
        return None

    def _process_response(self, request: HttpRequest, response: HttpResponseBase, entered: int) -> HttpResponseBase:
        for member in reversed(self._members[:entered]):
            if hasattr(member, "process_response"):
                try:
                    response = member.process_response(request, response)
                except Exception as error:
                    response = response_for_exception(request, error)
        return response


def __getattr__(name: str) -> type[MiddlewareGroup]:
    """Return the group with that *name*, by which Django finds it in its list."""
    try:
        return _groups[name]
    except KeyError:
        raise AttributeError(name) from None


def _make_members(classes: Sequence[type[MiddlewareMixin]], get_response: Callable[..., Any]) -> Iterator[Any]:
    """Yield middleware, without what says that it is not used: Django leaves that out, and would leave out a group."""
    for each in classes:
        with suppress(MiddlewareNotUsed):
            yield each(get_response)


def _group_paths(paths: Sequence[str]) -> Iterator[str]:
    """Yield the paths of middleware, with a group's in place of those of its members."""
    for kind, members in groupby(paths, key=_choose_kind):
        if kind is None:
            yield from members
            continue
        classes = [import_string(path) for path in members]
        name = "_".join(each.__name__ for each in classes)
        _groups[name] = type(name, (MiddlewareGroup,), {"classes": classes, "in_thread": kind == "in a thread"})
        yield f"{__name__}.{name}"


def _choose_kind(path: str) -> str | None:
    """Return where the steps of the middleware at *path* run; None if it can't be a member of a group."""
    found = import_string(path)
    if not (isinstance(found, type) and issubclass(found, MiddlewareMixin)):
        return None
    if any(hasattr(found, step) for step in UNGROUPED_STEPS):
        return None
    if found.__call__ is not MiddlewareMixin.__call__ or found.__acall__ is not MiddlewareMixin.__acall__:
        return None
    return "at once" if path in NON_BLOCKING else "in a thread"
