"""Middleware in groups does what Django's own chain does with it, whichever of it answers or fails."""

from __future__ import annotations

import itertools
import random
import sys
from functools import partial

import pytest
from asgiref.sync import SyncToAsync, async_to_sync, iscoroutinefunction
from django.core.exceptions import MiddlewareNotUsed, PermissionDenied
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpResponse
from django.test import AsyncRequestFactory
from django.urls import ResolverMatch
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin

from chatsite.middleware.middleware_groups import NON_BLOCKING, GroupingHandler, _group_paths
from chatsite.middleware.threaded_handler import SynchronousChain

pytestmark = pytest.mark.urls(__name__)
urlpatterns = []
STEPS = {"process_request": 0.6, "process_view": 0.6, "process_response": 0.6, "process_exception": 0.2}
BEHAVIOURS = ("go on", "go on", "go on", "go on", "answer", "refuse", "break")


class Step:
    """What one member does at one step, which is noted in *seen*."""

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
    steps = [step for step, often in STEPS.items() if chance.random() < often]
    made = {step: Step(f"{name}.{step}", chance.choice(BEHAVIOURS), seen) for step in steps}
    functions = {step: (lambda self, *arguments, do=do: do(*arguments)) for step, do in made.items()}
    if chance.random() < 0.1:
        functions["__init__"] = refuse_to_be_used
    return type(name, (MiddlewareMixin,), functions)


def refuse_to_be_used(_self, _get_response):
    raise MiddlewareNotUsed


@sync_and_async_middleware
def between(get_response):
    async def answer_async(request):
        return await get_response(request)

    return answer_async if iscoroutinefunction(get_response) else get_response


@pytest.fixture
def _quiet(caplog):
    caplog.set_level("CRITICAL")


@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize("seed", range(120))
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
        "chatsite.middleware.middleware_groups.NON_BLOCKING", {name for name in names if chance.random() < 0.3}
    )

    fails = chance.random() < 0.5

    def view(_request):
        seen.append("view")
        if fails:
            raise PermissionDenied
        return HttpResponse("page")

    monkeypatch.setattr(ASGIHandler, "resolve_request", lambda *_: (view, (), {}))
    chain = SynchronousChain()
    asked = [async_to_sync(handler.get_response_async) for handler in (ASGIHandler(), GroupingHandler())]
    answers = []
    for ask in (*asked, partial(chain.get_response_of, ResolverMatch(view, (), {}))):
        seen.clear()
        response = ask(AsyncRequestFactory().get("/"))
        answers.append((list(seen), response.status_code, response.content))
    assert answers[0] == answers[1] == answers[2]
    assert names == settings.MIDDLEWARE


def test_the_sites_middleware_goes_to_a_thread_a_few_times_alone(settings):
    listed = settings.MIDDLEWARE
    handler = GroupingHandler()
    assert len(list(_group_paths(listed))) < len(listed) - 8
    assert set(listed) >= NON_BLOCKING
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
