"""Compute what people and the site have spent and reserved again, from the ledger."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from conversations.services.recompute_spending import Difference, recompute_spending


class Command(BaseCommand):
    """Prints each sum that was wrong and what it is now; the site may go on meanwhile."""

    help = "Compute the sums that limits of money are held against again, from the ledger."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say what is wrong")

    def handle(self, *, dry_run: bool, **options: Any) -> None:
        found = recompute_spending(mend=not dry_run)
        for difference in found:
            self.stdout.write(_line(difference))
        done = "wrong" if dry_run else "mended"
        self.stdout.write(f"{len(found)} {done}." if found else "All sums are what the ledger says.")


def _line(each: Difference) -> str:
    whose = "the site" if each.user_id is None else f"user {each.user_id}"
    return (
        f"{whose}, {each.period} of {each.begins_on}: "
        f"spent {each.stored_spent_usd:f} → {each.spent_usd:f}, "
        f"reserved {each.stored_reserved_usd:f} → {each.reserved_usd:f}"
    )
