"""The child process: parses one document from its standard input, and writes passages to its standard output.

{"name": …, "encoding": …, "seconds": …, "memory_megabytes": …} ⏎ the bytes of the file
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from conversations.core.documents.splitting import Block, PassageSize, split_blocks
from conversations.core.errors import DocumentDamaged, DocumentEmpty, DocumentError, DocumentTooCostly, DocumentTooLong
from conversations.parsing.decoding import clean_text
from conversations.parsing.file_kinds import open_document
from conversations.parsing.parsed import (
    LONGEST_HEADING_CHARACTERS,
    LONGEST_PASSAGE_CHARACTERS,
    MOST_CHARACTERS,
    MOST_PASSAGES,
    KindFound,
    ParseBlocks,
    Parsed,
    ParsedPassage,
    ParsingLimits,
    Progress,
    SkippedParts,
)
from conversations.parsing.process_protocol import END, End, decode_order, encode_line
from conversations.parsing.sandbox.confinement import confine
from conversations.providers.tokens.tokenizer import count_text

SIZE = PassageSize(most_characters=LONGEST_PASSAGE_CHARACTERS)


def main() -> None:
    order = decode_order(sys.stdin.buffer.readline())
    confine(ParsingLimits(seconds=order["seconds"], memory_megabytes=order["memory_megabytes"]))
    answer = Answer(sys.stdout.buffer)
    try:
        parse(sys.stdin.buffer.read(), name=order["name"], encoding=order["encoding"], answer=answer)
        answer.write(END)
    except Exception as error:
        answer.fail(error)


def parse(content: bytes, *, name: str, encoding: str, answer: Answer) -> None:
    """Write the passages of a file to *answer*. Raises a `DocumentError`, or what a parser raises."""
    kind, parse_blocks = open_document(content, name=name)
    answer.write(KindFound(kind))
    passages = characters = 0
    for passage in split_blocks(_blocks(parse_blocks, answer), count_text=count_text(encoding), size=SIZE):
        passages += 1
        characters += len(passage.text)
        if passages > MOST_PASSAGES or characters > MOST_CHARACTERS:
            raise DocumentTooLong
        heading = clean_text(passage.heading)[:LONGEST_HEADING_CHARACTERS]
        answer.write(ParsedPassage(heading, passage.text, passage.tokens))
    if not passages:
        raise DocumentEmpty


def _blocks(parse_blocks: ParseBlocks, answer: Answer) -> Iterator[Block]:
    for piece in parse_blocks(answer.report):
        if isinstance(piece, SkippedParts):
            answer.write(piece)
        else:
            yield replace(piece, text=clean_text(piece.text))


class Answer:
    """Writes lines for the parent; progress at once, passages when there are enough of them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._percent = 0

    def write(self, parsed: Parsed | End | DocumentError) -> None:
        self._stream.write(encode_line(parsed))
        if not isinstance(parsed, ParsedPassage):
            self._stream.flush()

    def report(self, done: int, of: int) -> None:
        percent = min(100 * done // max(of, 1), 100)
        if percent > self._percent:
            self._percent = percent
            self.write(Progress(percent))

    def fail(self, error: Exception) -> None:
        """Write the `DocumentError`. A parser's message may quote the document: only the class is logged."""
        known = as_document_error(error)
        print(f"{known.code}: {type(error).__module__}.{type(error).__name__}", file=sys.stderr)
        self.write(known)


def as_document_error(error: Exception) -> DocumentError:
    if isinstance(error, DocumentError):
        return error
    return DocumentTooCostly() if isinstance(error, MemoryError | RecursionError) else DocumentDamaged()


if __name__ == "__main__":
    main()
