"""How well passages are found that answer a question: by words, and fused with a test embedding.

    recall at k = relevant records among the first k ÷ all relevant ones, of which k at most can be there
    reciprocal rank = 1 ÷ rank of the first relevant record

FILE has records with ids and questions with the ids of those that answer, `{"documents": [{"id", …}, …] or the path of
a JSON list of them, "questions": [{"question", "relevant": [id, …], "kind"}]}`. The records are read, split and looked
up by the product itself, on PostgreSQL. A question without relevant records should find nothing.

Floors and weights were tuned on the questions with odd numbers of the example; the others show whether that helps
them too. The test embedding knows no language: it likens words by their letters, and so finds other forms
and typing errors, but no synonyms. Of a real model it says only what fusing does.

    python -m tests.benchmarks.grounding [FILE] [--kinds] [--json FILE]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks._figures import Figures, arguments_for, write_json
from tests.benchmarks._retrieval import EMBEDDING_FLOOR, Quality, Question, Records, Site, quality
from tests.benchmarks._site import temporary_site

EXAMPLE = Path("tests/benchmarks/data/conference_questions.json")
RANKS = (1, 5, 10)
WORDS, FUSED = "words", "words and meaning"
EMBEDDINGS = {
    WORDS: "",
    FUSED: f"test-embedding floor={EMBEDDING_FLOOR} context_window=8192",
}
Found = list[tuple[Question, Sequence[str]]]


def measure(records: Records) -> dict[str, Found]:
    """Return what was found for each question, way by way."""
    from django.conf import settings

    settings.OPENAI_EMBEDDING_BASE_URL = "http://127.0.0.1:9/v1"  # never asked
    settings.OPENAI_EMBEDDING_MODEL = EMBEDDINGS[FUSED]
    site, found = Site(records), {}
    for way, model in EMBEDDINGS.items():
        settings.OPENAI_EMBEDDING_MODEL = model
        found[way] = [(question, site.ask(question.text)) for question in records.questions]
    return found


def parts_of(found: Found, *, kinds: bool) -> dict[str, Found]:
    """Return the questions as they are told apart."""
    parts = {"tuned on": found[::2], "not looked at": found[1::2], "all": found}
    if kinds:
        for kind in dict.fromkeys(question.kind for question, _ in found):
            parts[kind] = [(question, ids) for question, ids in found if question.kind == kind]
    return parts


def report(qualities: Mapping[str, Mapping[str, Quality]]) -> None:
    heads = "".join(f"{f'at {rank}':>7}" for rank in RANKS)
    for way, parts in qualities.items():
        print(f"{way:<32}recall{heads[6:]}{'rank':>7}   without an answer")
        for part, each in parts.items():
            recall = "".join(f"{each.recall[rank]:>7.2f}" for rank in RANKS)
            nothing = f"{each.nothing_found:.0%} of {each.without} found nothing" if each.without else ""
            print(f"  {part:<16}{each.questions:>4} questions{recall}{each.reciprocal_rank:>7.2f}   {nothing}")


def main() -> None:
    parser = arguments_for("Ask FILE's questions of its records.")
    parser.add_argument("file", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--kinds", action="store_true", help="show each kind of question too")
    arguments = parser.parse_args()
    records = Records.read(arguments.file)
    with temporary_site():
        found = measure(records)
    qualities = {
        way: {part: quality(some, ranks=RANKS) for part, some in parts_of(each, kinds=arguments.kinds).items()}
        for way, each in found.items()
    }
    report(qualities)
    figures: Figures = {way: {part: asdict(each) for part, each in parts.items()} for way, parts in qualities.items()}
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()
