"""`manage.py recompute_sums [--dry-run]`: compute the sums for limits and figures again from the ledger."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from conversations.management.database_command import DatabaseCommand
from conversations.services.ledger.recompute_ledger_sums import LedgerSumDifference, recompute_ledger_sums
from conversations.services.ledger.recompute_rolled_up_sums import RolledUpDifference, recompute_rolled_up_sums
from conversations.services.ledger.recompute_spending import Difference, recompute_spending


class Command(DatabaseCommand):
    """Prints each sum that was wrong and what it is now; the site may go on meanwhile."""

    help = "Recompute the sums behind spending limits and figures from the ledger."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="report wrong sums without correcting them")

    def handle(self, *, dry_run: bool, **options: Any) -> None:
        lines = [_spending_line(each) for each in recompute_spending(mend=not dry_run)]
        lines += [_figures_line(each) for each in recompute_ledger_sums(mend=not dry_run)]
        lines += [_rolled_up_line(each) for each in recompute_rolled_up_sums(mend=not dry_run)]
        for line in lines:
            self.stdout.write(line)
        done = "wrong" if dry_run else "corrected"
        self.stdout.write(f"{len(lines)} {done}." if lines else "All sums match the ledger.")


def _spending_line(each: Difference) -> str:
    return (
        f"{_whose(each.user_id, 'the site')}, {each.period} of {each.begins_on}: "
        f"spent {each.stored_spent_usd:f} → {each.spent_usd:f}, "
        f"reserved {each.stored_reserved_usd:f} → {each.reserved_usd:f}"
    )


def _figures_line(each: LedgerSumDifference) -> str:
    whose = _whose(each.user_id, "deleted user")
    return (
        f"{whose}, {each.quarter:%Y-%m-%d %H:%M} UTC, {each.language_model}, {each.purpose}: "
        f"completions {each.stored_completions} → {each.completions}, "
        f"cost {each.stored_cost_usd:f} → {each.cost_usd:f}"
    )


def _rolled_up_line(each: RolledUpDifference) -> str:
    return (
        f"rolled up {each.dimension} {each.key}, {each.at:%Y-%m-%d %H:%M} UTC: "
        f"completions {each.stored_completions} → {each.completions}, "
        f"cost {each.stored_cost_usd:f} → {each.cost_usd:f}"
    )


def _whose(user_id: int | None, otherwise: str) -> str:
    return otherwise if user_id is None else f"user {user_id}"
