"""Prints what the official plugin has and the built one lacks: ``python -m localcloud.providers.google.differences``.

Made of ``traits.json``: inputs of the Pulumi SDK's classes beside the schema that the built plugin prints.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from localcloud.providers.google import schema


def rows() -> Iterator[tuple[str, str, str]]:
    """Type, kind of difference, properties."""
    for token in schema.table()["types"]:
        facts, name = schema.facts(token), token.removeprefix("gcp:").rpartition(":")[2]
        where = f"`{token.removeprefix('gcp:').partition('/')[0]}.{name}`"
        for kind, listed in (
            ("only official", facts.get("onlyOfficial", [])),
            ("only built here", facts.get("onlyHere", [])),
            ("another type", [f"{path} ({' here, '.join(both)})" for path, both in facts.get("otherType", {}).items()]),
        ):
            if listed:
                yield where, kind, ", ".join(f"`{path}`" for path in listed)


def table() -> str:
    """The differences as a Markdown table."""
    lines = ["| Type | Difference | Properties |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows())]
    return "\n".join(lines)


def main() -> int:
    """Prints the table."""
    print(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
