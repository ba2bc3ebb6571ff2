"""What an MCP tool answered, as text. Pictures, sounds and files are named in words and never fetched."""

from __future__ import annotations

import json

from mcp_types import AudioContent, CallToolResult, EmbeddedResource, ImageContent, ResourceLink, TextContent
from mcp_types import TextResourceContents as TextResource

Block = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink


def text_of(result: CallToolResult) -> str:
    """Return the texts of *result* in their order; what is structured, as JSON, only where there is no text."""
    has_text = any(isinstance(block, TextContent) and block.text for block in result.content)
    if result.structured_content is not None and not has_text:
        structured = json.dumps(result.structured_content, ensure_ascii=False)
        return "\n".join((structured, *map(_words_for, result.content)))
    return "\n".join(map(_words_for, result.content))


def _words_for(block: Block) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ImageContent):
        return f"(an image, {block.mime_type}, which is not shown)"
    if isinstance(block, AudioContent):
        return f"(a sound, {block.mime_type}, which is not played)"
    if isinstance(block, ResourceLink):
        return f"(a link to {block.name}, {block.uri}, which was not opened)"
    if isinstance(block.resource, TextResource):
        return block.resource.text
    return f"(a file, {block.resource.uri}, {block.resource.mime_type or 'of no known kind'}, which was not opened)"
