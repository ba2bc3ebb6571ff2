"""How much of what a question needs is in the window that would be sent for it, with recall of older messages.

    strict = questions whose whole evidence is in the window ÷ all that have evidence
    recall = mean share of a question's evidence that is in the window

FILE holds dated conversations, and questions asked in the middle of them with the messages that hold the answer (form:
`_recall_questions`). The product stores the messages, indexes them, and is asked for the window of each question at
each budget. A message counts as in the window if it is there whole, or if what was recalled of it is at least half of
it; of a short one all is needed. Sentences of small talk, for which nothing should be recalled, are tried behind every
conversation. One setting serves all data: what is compared with these figures may change the budgets and the share
of the room that recall may take, nothing else.

    python -m tests.benchmarks.recall FILE [--budgets 1024,2048,4096,8192] [--recall-share SHARE] [--json OUT]
                                           [--embeddings FOLDER_OR_MODEL]

With `--embeddings` messages and questions get vectors, too: of the model in a folder (LOCAL_EMBEDDINGS), or of that
name (OPENAI_EMBEDDING_MODEL, with the endpoint and key of the environment).
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks._figures import Figures, arguments_for, percentile, write_json
from tests.benchmarks._recall_questions import EvidenceQuestion, read_asked_conversations
from tests.benchmarks._site import temporary_site

if TYPE_CHECKING:
    from tests.benchmarks._recall_site import Answered

SMALL_TALK = Path(__file__).parent / "data" / "small_talk.txt"
BUDGETS = (1_024, 2_048, 4_096, 8_192)
LANGUAGE_MODEL = "reader context_window=32768 reply_reserve=1024 encoding=o200k_base"
EMBEDDINGS_ENDPOINT = ("OPENAI_EMBEDDING_BASE_URL", "OPENAI_EMBEDDING_API_KEY")
SILENT_AT_LEAST = 0.6
QUESTIONS_A_SECOND = 1_000 / 600

Answers = list[tuple[EvidenceQuestion, dict[int, "Answered"]]]


def measure(path: Path, *, budgets: Sequence[int], recall_share: float | None, embeddings: str = "") -> Figures:
    conversations = read_asked_conversations(path)
    small_talk = SMALL_TALK.read_text(encoding="utf-8").splitlines()
    provider = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "LANGUAGE_MODELS": LANGUAGE_MODEL}
    with temporary_site(**provider, **embeddings_setting(embeddings)):
        from tests.benchmarks._recall_site import RecallSite

        site = RecallSite(budgets, recall_share)
        answers: Answers = []
        chatter: list[int] = []
        for conversation in conversations:
            answered, talked = site.ask_all(conversation, small_talk)
            answers += answered
            chatter += talked
        site.close()
    return {
        "conversations": len(conversations),
        "questions": len(answers),
        "recall_share": recall_share,
        "embeddings": embeddings,
        "by_budget": {str(budget): figures_of(answers, budget) for budget in budgets},
        "small_talk_silent": sum(not tokens for tokens in chatter) / len(chatter),
        "lookup_ms": {
            name: 1_000 * percentile(site.look_up_seconds, share) for name, share in (("p50", 0.5), ("p95", 0.95))
        },
        "indexed_messages_a_second": site.indexed_messages / site.indexing_seconds,
    }


def embeddings_setting(folder_or_model: str) -> dict[str, str]:
    """Return the setting that chooses an embeddings model; options such as floor=0.3 may follow."""
    if not folder_or_model:
        return {}
    endpoint = {name: os.environ[name] for name in EMBEDDINGS_ENDPOINT if name in os.environ}
    name = folder_or_model.split()[0]
    if Path(name).is_dir():
        return {"LOCAL_EMBEDDINGS": folder_or_model.replace(name, str(Path(name).resolve()), 1)}
    return {"OPENAI_EMBEDDING_MODEL": folder_or_model, **endpoint}


def figures_of(answers: Answers, budget: int) -> Figures:
    """Return the shares at one budget: of questions with evidence, and the tokens recalled for those without."""
    with_evidence = [(question, by_budget[budget]) for question, by_budget in answers if question.evidence]
    without = [by_budget[budget].recalled_tokens for question, by_budget in answers if not question.evidence]
    by_category = defaultdict(list)
    for question, answered in with_evidence:
        by_category[question.category].append(answered)
    return {
        **shares([answered for _, answered in with_evidence]),
        "by_category": {name: shares(some) for name, some in sorted(by_category.items())},
        "recalled_tokens": statistics.median([answered.recalled_tokens for _, answered in with_evidence] or [0]),
        "prompt_tokens": statistics.mean([answered.prompt_tokens for _, answered in with_evidence] or [0]),
        "recalled_tokens_without_evidence": statistics.median(without) if without else None,
    }


def shares(answered: Sequence[Answered]) -> Figures:
    found = [each.evidence_share for each in answered]
    return {
        "questions": len(found),
        "strict": sum(share == 1 for share in found) / len(found) if found else 0.0,
        "recall": statistics.mean(found) if found else 0.0,
    }


def report(figures: Figures) -> None:
    share = "the policy's own" if figures["recall_share"] is None else figures["recall_share"]
    print(f"{figures['conversations']} conversations, {figures['questions']} questions; share for recall: {share}\n")
    print(f"{'budget':>8} {'strict':>8} {'recall':>8} {'recalled tokens':>16} {'prompt tokens':>14}")
    for budget, row in figures["by_budget"].items():
        print(
            f"{int(budget):>8,} {row['strict']:>8.1%} {row['recall']:>8.1%} {row['recalled_tokens']:>16,.0f} "
            f"{row['prompt_tokens']:>14,.0f}"
        )
        for name, part in row["by_category"].items():
            print(f"{'':>8} {part['strict']:>8.1%} {part['recall']:>8.1%}   {name} ({part['questions']})")
        if (without := row["recalled_tokens_without_evidence"]) is not None:
            print(f"{'':>8} recalled for questions without evidence: {without:,.0f} tokens (median)")
    silent = figures["small_talk_silent"]
    met = "met" if silent >= SILENT_AT_LEAST else "missed"
    print(f"\nsmall talk for which nothing is recalled  {silent:.0%} (goal: at least {SILENT_AT_LEAST:.0%}, {met})")
    print("a look-up takes {p50:.1f} ms (p50), {p95:.1f} ms (p95)".format(**figures["lookup_ms"]))
    print(f"messages indexed in a second              {figures['indexed_messages_a_second']:,.0f}")


def parse_arguments() -> argparse.Namespace:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help="conversations with questions and their evidence")
    parser.add_argument("--budgets", type=_numbers, default=BUDGETS, help="tokens of a prompt, by commas")
    parser.add_argument("--recall-share", type=float, metavar="SHARE", help="0 to 1; without it the policy's own")
    parser.add_argument("--embeddings", default="", metavar="FOLDER_OR_MODEL", help="look by meaning, too")
    return parser.parse_args()


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def main() -> None:
    arguments = parse_arguments()
    figures = measure(
        arguments.file, budgets=arguments.budgets, recall_share=arguments.recall_share, embeddings=arguments.embeddings
    )
    report(figures)
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()
