from conversations.core.prompt.messages import PromptMessage, PromptToolCall

CALL = PromptToolCall("id", "find", '{"a": 1}')


def test_a_message_travels_without_empty_fields():
    assert PromptMessage("user", "hello").to_json() == {"role": "user", "content": "hello"}


def test_a_name_travels():
    assert PromptMessage("user", "hello", name="Ann").to_json()["name"] == "Ann"


def test_a_tool_call_and_its_result_travel_in_openais_form():
    call = {"id": "id", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}
    assert PromptMessage("assistant", "", tool_calls=(CALL,)).to_json()["tool_calls"] == [call]
    assert PromptMessage("tool", "found", tool_call_id="id").to_json()["tool_call_id"] == "id"


def test_a_tool_call_comes_back_as_it_was():
    assert PromptToolCall.from_json(CALL.to_json()) == CALL
