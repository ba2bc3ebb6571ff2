from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from conversations.core.errors import ConversationError
from conversations.models import Conversation, Message, ToolCall
from conversations.providers.clients.completions import CompletionClient
from conversations.services.replies.end_reply import COMPLETE, STOPPED, Ending, end_reply
from conversations.services.replies.make_reply import make_reply
from conversations.tools.toolbox import Toolbox
from tests.support.people import begin, make_user, post
from tests.support.upstream import Upstream, serve_upstream
from tests.support.waiting import in_thread

from .tools import NotedTool, Texts


@pytest.fixture(scope="session")
def upstream():
    with serve_upstream() as running:
        yield running


@dataclass
class Talk:
    """A conversation with a model of the fake provider that has tools, and the replies that are made in it."""

    upstream: Upstream
    client: CompletionClient
    conversation: Conversation
    tools: list[NotedTool] = field(default_factory=list)
    texts: Texts = field(default_factory=Texts)
    clock: Callable[[], float] = time.monotonic

    async def ask(self, question: str, *tools: NotedTool) -> Message:
        """Return the reply to *question* as it ended."""
        return await self.end(self.begin((await in_thread(post, self.conversation, question)).reply, *tools))

    def begin(self, reply: Message, *tools: NotedTool) -> asyncio.Task[Any]:
        """Make the reply, or go on with it."""
        self.tools, self.texts = list(tools) or self.tools, Texts()
        making = make_reply(
            reply.pk,
            sink=self.texts,
            client=self.client,
            find_tools=lambda reply: Toolbox.of(self.tools),
            clock=self.clock,
        )
        return asyncio.create_task(making, name=str(reply.pk))

    async def end(self, making: asyncio.Task[Any]) -> Message:
        """End the reply as the worker does."""
        ending = COMPLETE
        try:
            await making
        except asyncio.CancelledError:
            ending = STOPPED
        except ConversationError as error:
            ending = Ending.failed(error)
        await in_thread(
            end_reply, int(making.get_name()), ending, content=self.texts.text, reasoning=self.texts.reasoning
        )
        return await in_thread(Message.objects.get, pk=int(making.get_name()))

    async def path(self) -> list[Message]:
        return await in_thread(list, self.conversation.messages.filter(active=True).order_by("position"))

    async def calls(self) -> list[ToolCall]:
        calls = ToolCall.objects.filter(reply__conversation=self.conversation).select_related("message")
        return await in_thread(list, calls.order_by("reply", "step", "index"))

    async def results(self) -> list[str]:
        return [call.message.content if call.message else call.result for call in await self.calls()]

    def prompts(self) -> list[list[dict[str, Any]]]:
        return [exchange["body"]["messages"] for exchange in self.upstream.log()]


@pytest.fixture
async def talk_to(settings, upstream, transactional_db) -> Callable[..., Awaitable[Talk]]:
    """Return what begins a conversation with a model, which is named after what it does."""
    upstream.reset()
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = upstream.base_url, "sk-test"
    client = CompletionClient(upstream.base_url, "sk-test")

    async def begin_with(model: str, options: str = "") -> Talk:
        limits = "context_window=16384 encoding=o200k_base input_usd=1 output_usd=2"
        settings.LANGUAGE_MODELS = f"{model} {limits} {options}"
        return Talk(upstream, client, await in_thread(lambda: begin(make_user("alice"))))

    yield begin_with
    await client.aclose()


@pytest.fixture
async def talk(talk_to) -> Talk:
    return await talk_to("tools-script")
