"""Prompts whose tokens OpenAI has published."""

from __future__ import annotations

from conversations.core.prompt.messages import PromptMessage

# Both examples: https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
JARGON_EXAMPLE = (
    PromptMessage(
        "system",
        "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
    ),
    PromptMessage("system", "New synergies will help drive top-line growth.", name="example_user"),
    PromptMessage("system", "Things working well together will increase revenue.", name="example_assistant"),
    PromptMessage(
        "system",
        "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
        name="example_user",
    ),
    PromptMessage("system", "Let's talk later when we're less busy about how to do better.", name="example_assistant"),
    PromptMessage("user", "This late pivot means we don't have time to boil the ocean for the client deliverable."),
)
WEATHER_EXAMPLE = (
    PromptMessage("system", "You are a helpful assistant that can answer to questions about the weather."),
    PromptMessage("user", "What's the weather like in San Francisco?"),
)
WEATHER_TOOL = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}
