"""Bring catalogs up to date with the code and compile them: `make messages`, or of one: `make messages ARGS=site`."""

from __future__ import annotations

import sys

from .catalog import brought_up_to_date, write
from .sources import PLACES


def main(names: list[str]) -> None:
    for place in PLACES:
        if not names or place.name in names:
            catalog = brought_up_to_date(place)
            write(place, catalog)
            missing = sum(1 for message in catalog if message.id and not any(message.string))
            print(f"{place.name}: {len(catalog)} sentences, {missing} of them not translated")


if __name__ == "__main__":
    main(sys.argv[1:])
