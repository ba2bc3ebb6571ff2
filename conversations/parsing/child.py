"""The child process: reads one document from its standard input, and writes what is in it to its standard output.

{"name": …, "encoding": …, "seconds": …, "memory_megabytes": …} ⏎ the bytes of the file
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from conversations.core.documents.splitting import Block, PassageSize, split_blocks
from conversations.core.errors import DocumentDamaged, DocumentEmpty, DocumentError, DocumentTooCostly, DocumentTooLong
from conversations.parsing.confinement import confine
from conversations.parsing.kinds import open_document
from conversations.parsing.lines import END, End, read_order, write_line
from conversations.parsing.parsed import (
    LONGEST_HEADING_CHARACTERS,
    LONGEST_PASSAGE_CHARACTERS,
    MOST_CHARACTERS,
    MOST_PASSAGES,
    KindFound,
    Parsed,
    ParsedPassage,
    ParsingLimits,
    Progress,
    Unread,
)
from conversations.parsing.reading import Read
from conversations.parsing.texts import clean
from conversations.providers.tokens.tokenizer import count_text

SIZE = PassageSize(most_characters=LONGEST_PASSAGE_CHARACTERS)


def main() -> None:
    order = read_order(sys.stdin.buffer.readline())
    confine(ParsingLimits(seconds=order["seconds"], memory_megabytes=order["memory_megabytes"]))
    answer = Answer(sys.stdout.buffer)
    try:
        parse(sys.stdin.buffer.read(), name=order["name"], encoding=order["encoding"], answer=answer)
        answer.tell(END)
    except Exception as error:
        answer.fail(error)


def parse(content: bytes, *, name: str, encoding: str, answer: Answer) -> None:
    """Tell what is in a file. Raises a `DocumentError`, or whatever a parser raises."""
    kind, read = open_document(content, name=name)
    answer.tell(KindFound(kind))
    passages = characters = 0
    for passage in split_blocks(_blocks(read, answer), count_text=count_text(encoding), size=SIZE):
        passages += 1
        characters += len(passage.text)
        if passages > MOST_PASSAGES or characters > MOST_CHARACTERS:
            raise DocumentTooLong
        heading = clean(passage.heading)[:LONGEST_HEADING_CHARACTERS]
        answer.tell(ParsedPassage(heading, passage.text, passage.tokens))
    if not passages:
        raise DocumentEmpty


def _blocks(read: Read, answer: Answer) -> Iterator[Block]:
    for piece in read(answer.report):
        if isinstance(piece, Unread):
            answer.tell(piece)
        else:
            yield replace(piece, text=clean(piece.text))


class Answer:
    """Writes lines for the parent; progress at once, passages when there are enough of them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._percent = 0

    def tell(self, parsed: Parsed | End | DocumentError) -> None:
        self._stream.write(write_line(parsed))
        if not isinstance(parsed, ParsedPassage):
            self._stream.flush()

    def report(self, done: int, of: int) -> None:
        percent = min(100 * done // max(of, 1), 100)
        if percent > self._percent:
            self._percent = percent
            self.tell(Progress(percent))

    def fail(self, error: Exception) -> None:
        """Tell which `DocumentError` it is. A parser's words may be the document's: only their class is logged."""
        known = as_document_error(error)
        print(f"{known.code}: {type(error).__module__}.{type(error).__name__}", file=sys.stderr)
        self.tell(known)


def as_document_error(error: Exception) -> DocumentError:
    if isinstance(error, DocumentError):
        return error
    return DocumentTooCostly() if isinstance(error, MemoryError | RecursionError) else DocumentDamaged()


if __name__ == "__main__":
    main()
