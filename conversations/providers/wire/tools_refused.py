"""What a provider says of a request with tools that its language model or its server can't take.

The wordings are those of Ollama, OpenAI, Azure, OpenRouter, vLLM, llama.cpp, DeepSeek, DeepInfra, SiliconFlow and
Alibaba, from their users' public reports, checked 2026-11-21; each stands in a test.
"""

from __future__ import annotations

import re

_TOOLS = r"(?:tools?|tool[ _]use|tool[ _-]?call(?:s|ing)?|functions?|function[ _-]?call(?:s|ing)?)"
_WORDINGS = [
    re.compile(wording, re.IGNORECASE)
    for wording in (
        rf"does(?: not|n't) support (?:the )?{_TOOLS}\b",  # Ollama, DeepSeek
        rf"\b{_TOOLS} (?:is|are) not (?:supported|enabled)\b",  # OpenAI, Azure, DeepInfra, SiliconFlow, Alibaba
        r"no endpoints found that support (?:tool use|the provided 'tool_choice')",  # OpenRouter
        r"tool choice requires --enable-auto-tool-choice",  # vLLM
        r"tools param requires --jinja|unsupported param: tools\b",  # llama.cpp
    )
]


def is_about_tools(message: str) -> bool:
    """Tell whether *message* says that tools are what can't be taken."""
    return any(wording.search(message) for wording in _WORDINGS)
