"""With tool calls each step keeps what was thought in it, in order."""

from __future__ import annotations

from .tools import NotedTool, call, script


async def test_each_step_has_its_own_reasoning(talk):
    steps = [{"think": "Look."}, call(x=1)], [{"think": "Look again."}, {"say": "Hm."}, call(x=2)]
    await talk.ask(script(*steps, answer="A garden."), NotedTool())
    path = await talk.path()
    assert [message.reasoning for message in path] == ["", "Look.", "", "Look again.", "", ""]
    assert [message.reasoning_tokens is not None for message in path] == [False, True, False, True, False, False]
    assert [message.content for message in path][-3:] == ["Hm.", 'look saw {"x": 2}', "A garden."]


async def test_no_later_step_is_sent_it(talk):
    await talk.ask(script([{"think": "The secret plan."}, call(x=1)]), NotedTool())
    assert "secret" not in str(talk.prompts()[-1][1:])
