"""What the input of long conversations costs with a provider's prefix cache, policy by policy, against a naive window.

Every conversation is replayed, a request at every user message, under OpenAI's published rules (`_prefix_cache`). Costs
are of input only, relative to the naive window's at the same prices: it is filled again at every request, and has its
own cache hits too. Beside the cost stands what it is paid with:

    history share = tokens of older messages in view ÷ those that the naive window has in view, all requests together

The conversations are replayed once more with a looked-up block of a quarter of the budget in every request, another one
each time, placed where the product places it: last, with the question. The naive window has the same blocks there. Then
with recall, at several shares: of messages chosen by chance as much as fits, more than questions need.

At last they are replayed under the rules by which providers bill (`_cache_billing`), without and with such a block,
with the breakpoints that the product sets and without any, against the naive window without breakpoints under the same
rule. “The least” is what no request before had, at the full price: no cache can save that.

FILE is a JSON list of conversations in OpenAI's format, `[{"messages": [{"role", "content"}, …]}, …]`. To replay a
public set of dialogues, write its turns in that form, one speaker as `user` and the other as `assistant`; of JSON Lines
with a `messages` column, `jq -s '[.[] | {messages}]' set.jsonl > FILE` is all it takes. Without FILE one conversation
is made up and replayed (`_two_people`); `--generate FILE` only writes it down. How much is saved depends on how long
messages are, beside the budget: what is new in a request has to be read in any case.

    python -m tests.benchmarks.cache_cost [FILE] [--budget N] [--tokens N] [--seed N] [--generate FILE] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from conversations.core.window.policies import (
    DEFAULT_LOW_WATER_SHARE,
    DEFAULT_RECALL_SHARE,
    LastMessages,
    SlidingWindow,
    WindowPolicy,
)
from tests.benchmarks._cache_billing import RULES, CacheBill, bill_all
from tests.benchmarks._figures import Figures, arguments_for, verdict, write_json
from tests.benchmarks._openai_conversations import BadFile, Conversation, parse_conversations, read_conversations
from tests.benchmarks._prefix_cache import INPUT_PRICES
from tests.benchmarks._replay import Bill, replay, stored
from tests.benchmarks._two_people import two_people

BUDGET_TOKENS = 4_096
TOKENS = 200_000
SEED = 1
BLOCK_SHARE = 0.25
NAIVE = "naive"
DEFAULT = f"sliding {DEFAULT_LOW_WATER_SHARE:.0%}"
MARKS = sorted({0.9, 0.8, 0.7, 0.6, 0.5, DEFAULT_LOW_WATER_SHARE}, reverse=True)
COST_AT_MOST = 0.17
HISTORY_AT_LEAST = 0.84
COST_WITH_BLOCK_AT_MOST = 0.46
RECALL_SHARES = sorted({0.1, 0.25, 0.5, 0.75, DEFAULT_RECALL_SHARE})
DEFAULT_RECALL = f"recall {DEFAULT_RECALL_SHARE:.0%}"
COST_WITH_RECALL_AT_MOST = 0.46
BILLED_BY = "GPT-5.6 and later"
BILLED_COST_AT_MOST = 0.20


def policies(budget_tokens: int) -> dict[str, WindowPolicy]:
    return {
        NAIVE: sliding(budget_tokens, low_water_share=1),
        **{f"sliding {mark:.0%}": sliding(budget_tokens, low_water_share=mark) for mark in MARKS},
        "last 20 messages": LastMessages(cap_tokens=budget_tokens, last_messages=20),
        "last 100 messages": LastMessages(cap_tokens=budget_tokens, last_messages=100),
    }


def recalling_policies(budget_tokens: int) -> dict[str, WindowPolicy]:
    return {f"recall {share:.0%}": sliding(budget_tokens, recall_share=share) for share in RECALL_SHARES}


def sliding(budget_tokens: int, *, recall_share: float = 0, **values: float) -> SlidingWindow:
    return SlidingWindow(cap_tokens=budget_tokens, recall_share=recall_share, **values)


def measure(conversations: Sequence[Conversation], budget_tokens: int) -> Figures:
    """Return the figures. Raises `BadFile` if not a single message fits the budget."""
    chosen = policies(budget_tokens)
    bills = {name: replay(conversations, policy) for name, policy in chosen.items()}
    if not bills[NAIVE].requests:
        raise BadFile(f"no user message fits a budget of {budget_tokens:,} tokens")
    block_tokens = int(BLOCK_SHARE * budget_tokens)
    with_block = {name: replay(conversations, chosen[name], block_tokens=block_tokens) for name in (NAIVE, DEFAULT)}
    recalling = {name: replay(conversations, policy) for name, policy in recalling_policies(budget_tokens).items()}
    with_recall = rows({NAIVE: bills[NAIVE], **recalling})
    return {
        "budget_tokens": budget_tokens,
        "conversations": len(conversations),
        "messages": sum(len(conversation.messages) for conversation in conversations),
        "tokens": sum(message.content_tokens for conversation in conversations for message in stored(conversation)),
        "requests": bills[NAIVE].requests,
        "refused": bills[NAIVE].refused,
        "block_tokens": with_block[NAIVE].block_tokens / with_block[NAIVE].requests,
        **goals(
            row(bills[DEFAULT], bills[NAIVE]), row(with_block[DEFAULT], with_block[NAIVE]), with_recall[DEFAULT_RECALL]
        ),
        "policies": rows(bills),
        "policies_with_block": rows(with_block),
        "policies_with_recall": with_recall,
        "recalled_tokens": recalling[DEFAULT_RECALL].recalled_tokens / bills[NAIVE].requests,
        "billing": billing(conversations, chosen),
        "billing_with_block": billing(conversations, chosen, block_tokens=block_tokens),
    }


def billing(
    conversations: Sequence[Conversation], chosen: Mapping[str, WindowPolicy], *, block_tokens: int = 0
) -> dict[str, Figures]:
    """Return by rule what the product's requests cost beside the naive window's."""
    naive, marked, unmarked = ([CacheBill(rule, marks) for rule in RULES] for marks in (False, True, False))
    bill_all(conversations, chosen[NAIVE], naive, block_tokens=block_tokens)
    bill_all(conversations, chosen[DEFAULT], [*marked, *unmarked], block_tokens=block_tokens)
    return {
        rule.name: {
            "relative_cost": mine.cost / theirs.cost,
            "relative_cost_without_breakpoints": without.cost / theirs.cost,
            "least": mine.new_tokens / theirs.cost,
            "read_share": mine.read_tokens / (mine.read_tokens + mine.written_tokens + mine.other_tokens),
            "naive_cost_a_token": theirs.cost / (theirs.read_tokens + theirs.written_tokens + theirs.other_tokens),
        }
        for rule, theirs, mine, without in zip(RULES, naive, marked, unmarked, strict=True)
    }


def goals(plain: Figures, with_block: Figures, with_recall: Figures) -> Figures:
    return {
        "relative_cost_10": plain["relative_cost_10"],
        "history_share": plain["history_share"],
        "relative_cost_10_with_block": with_block["relative_cost_10"],
        "relative_cost_10_with_recall": with_recall["relative_cost_10"],
    }


def rows(bills: Mapping[str, Bill]) -> dict[str, Figures]:
    return {name: row(bill, bills[NAIVE]) for name, bill in bills.items()}


def row(bill: Bill, naive: Bill) -> Figures:
    """Return a policy's figures, costs and history relative to the naive window's."""
    relative_costs = {
        f"relative_cost_{name}": price.cost(bill.input_tokens, bill.cached_tokens)
        / price.cost(naive.input_tokens, naive.cached_tokens)
        for name, price in INPUT_PRICES.items()
    }
    return {
        "input_tokens": bill.input_tokens,
        "cacheable_share": bill.cached_tokens / bill.input_tokens,
        **relative_costs,
        "history_share": bill.older_tokens / naive.older_tokens if naive.older_tokens else 1.0,
    }


def report(result: Figures) -> None:
    print(
        "{conversations:,} conversations, {messages:,} messages of {tokens:,} tokens; {requests:,} requests within "
        "{budget_tokens:,} tokens, {refused:,} more could not be sent".format(**result)
    )
    print(f"\n{'':<20} {'input tokens':>13} {'cacheable':>10}     cost at 10 %   25 %   50 %  writes   history")
    print_rows(result["policies"])
    print(f"\nwith a looked-up block of {result['block_tokens']:,.0f} tokens in every request")
    print_rows(result["policies_with_block"])
    print(
        f"\nwith as much recalled in every request as fits, against the naive window that recalls nothing; "
        f"{result['recalled_tokens']:,.0f} tokens at the default share"
    )
    print_rows(result["policies_with_recall"])
    print("\n“writes”: at 10 %, and all that is not read from the cache at 125 %")
    print(f"cost at 10 %      {verdict(result['relative_cost_10'], at_most=COST_AT_MOST)}")
    print(f"history in view   {verdict(result['history_share'], at_least=HISTORY_AT_LEAST)}")
    cost_with_block = verdict(result["relative_cost_10_with_block"], at_most=COST_WITH_BLOCK_AT_MOST)
    print(f"cost with block   {cost_with_block}")
    print(f"cost with recall  {verdict(result['relative_cost_10_with_recall'], at_most=COST_WITH_RECALL_AT_MOST)}")
    report_billing(result)


def report_billing(result: Figures) -> None:
    for name, title in (("billing", "without documents"), ("billing_with_block", "with a block in every request")):
        print(f"\nbilled by each provider's rule, {title}; 1 is the naive window's bill")
        print(f"{'':<25} {'with breakpoints':>17} {'without':>9} {'the least':>10} {'read':>8}")
        for rule, figures in result[name].items():
            print(
                f"{rule:<25} {figures['relative_cost']:>17.3f} {figures['relative_cost_without_breakpoints']:>9.3f} "
                f"{figures['least']:>10.3f} {figures['read_share']:>8.1%}"
            )
        print(f"{BILLED_BY}  {verdict(result[name][BILLED_BY]['relative_cost'], at_most=BILLED_COST_AT_MOST)}")


def print_rows(by_policy: Mapping[str, Figures]) -> None:
    for name, figures in by_policy.items():
        costs = "  ".join(f"{figures[f'relative_cost_{price}']:5.3f}" for price in INPUT_PRICES)
        print(
            f"{name:<20} {figures['input_tokens']:>13,} {figures['cacheable_share']:>10.1%}            "
            f"{costs}   {figures['history_share']:>7.1%}"
        )


def parse_arguments() -> argparse.Namespace:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="conversations in OpenAI's message format")
    parser.add_argument("--budget", type=int, default=BUDGET_TOKENS, metavar="N", help="tokens a prompt (%(default)s)")
    parser.add_argument("--tokens", type=int, default=TOKENS, metavar="N", help="made up without FILE (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help="of what is made up (%(default)s)")
    parser.add_argument("--generate", type=Path, metavar="FILE", help="write what is made up to this file, and end")
    arguments = parser.parse_args()
    if min(arguments.budget, arguments.tokens) < 1:
        parser.error("--budget and --tokens must be at least 1")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    made_up = [two_people(tokens=arguments.tokens, seed=arguments.seed)]
    if arguments.generate:
        arguments.generate.write_text(json.dumps(made_up, indent=1) + "\n", encoding="utf-8")
        return
    try:
        conversations = read_conversations(arguments.file) if arguments.file else parse_conversations(made_up)
        result = measure(conversations, arguments.budget)
    except BadFile as error:
        sys.exit(f"{error}.")
    report(result)
    write_json(result, arguments.json)


if __name__ == "__main__":
    main()
