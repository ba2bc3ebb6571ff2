"""Middleware in groups does what Django's own chain does with it, whichever of it answers or fails."""

from __future__ import annotations

import itertools
import random
import sys

import pytest
from asgiref.sync import SyncToAsync, async_to_sync
from django.core.exceptions import PermissionDenied
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpResponse
from django.test import AsyncRequestFactory
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin

from chatsite.middleware.middleware_groups import WITHOUT_WAITING, GroupingHandler, _in_groups

pytestmark = pytest.mark.urls(__name__)
urlpatterns = []
STEPS = ("process_request", "process_view", "process_response")
BEHAVIOURS = ("go on", "go on", "go on", "go on", "answer", "refuse", "break")


class Step:
    """What one member does at one step, written down in *seen*."""

    def __init__(self, name, behaviour, seen):
        self.name, self.behaviour, self.seen = name, behaviour, seen

    def __call__(self, _request, *arguments):
        response = arguments[0] if arguments and isinstance(arguments[0], HttpResponse) else None
        self.seen.append((self.name, self.behaviour, response and response.status_code))
        if self.behaviour == "refuse":
            raise PermissionDenied
        if self.behaviour == "break":
            raise ValueError(self.name)
        return HttpResponse(self.name, status=299) if self.behaviour == "answer" else response


def make_middleware(name, chance, seen):
    """Return the class of one with some of the steps."""
    steps = [step for step in STEPS if chance.random() < 0.6]
    made = {step: Step(f"{name}.{step}", chance.choice(BEHAVIOURS), seen) for step in steps}
    functions = {step: (lambda self, *arguments, do=do: do(*arguments)) for step, do in made.items()}
    return type(name, (MiddlewareMixin,), functions)


@sync_and_async_middleware
def between(get_response):
    async def answer(request):
        return await get_response(request)

    return answer


@pytest.fixture
def _quiet(caplog):
    caplog.set_level("CRITICAL")


@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize("seed", range(60))
def test_the_same_is_called_and_answered_in_the_same_order(seed, settings, monkeypatch):
    chance, seen, names = random.Random(seed), [], []
    settings.DEBUG_PROPAGATE_EXCEPTIONS = False
    module = sys.modules[__name__]
    for number in range(chance.randint(1, 7)):
        name = f"Member{number}"
        made = between if chance.random() < 0.2 else make_middleware(name, chance, seen)
        monkeypatch.setattr(module, name, made, raising=False)
        names.append(f"{__name__}.{name}")
    settings.MIDDLEWARE = names
    monkeypatch.setattr(
        "chatsite.middleware.middleware_groups.WITHOUT_WAITING", {name for name in names if chance.random() < 0.3}
    )

    def view(_request):
        seen.append("view")
        return HttpResponse("page")

    monkeypatch.setattr(ASGIHandler, "resolve_request", lambda *_: (view, (), {}))
    answers = []
    for handler in (ASGIHandler(), GroupingHandler()):
        seen.clear()
        response = async_to_sync(handler.get_response_async)(AsyncRequestFactory().get("/"))
        answers.append((list(seen), response.status_code, response.content))
    assert answers[0] == answers[1]
    assert names == settings.MIDDLEWARE


def test_the_sites_middleware_goes_to_a_thread_a_few_times_alone(settings):
    listed = settings.MIDDLEWARE
    handler = GroupingHandler()
    assert len(list(_in_groups(listed))) < len(listed) - 8
    assert set(listed) >= WITHOUT_WAITING
    assert [view.__class__.__name__ for view in handler._view_middleware] == ["SyncToAsync"] * 2


def test_each_step_of_a_group_goes_to_the_thread_once(settings, monkeypatch):
    module, hops, called = sys.modules[__name__], itertools.count(), SyncToAsync.__call__
    names = [f"Thread{number}" for number in range(5)]
    for name in names:
        steps = {"process_request": lambda *_: None, "process_response": lambda *arguments: arguments[-1]}
        monkeypatch.setattr(module, name, type(name, (MiddlewareMixin,), steps), raising=False)
    settings.MIDDLEWARE = [f"{__name__}.{name}" for name in names]
    monkeypatch.setattr(ASGIHandler, "resolve_request", lambda *_: (lambda _request: HttpResponse("page"), (), {}))
    handler = GroupingHandler()

    async def count(self, *arguments, **named):
        next(hops)
        return await called(self, *arguments, **named)

    monkeypatch.setattr(SyncToAsync, "__call__", count)
    assert async_to_sync(handler.get_response_async)(AsyncRequestFactory().get("/")).status_code == 200
    assert next(hops) == 3  # the requests, the view, the responses
