"""Prints what every published drafter and trainer template is taken for; exits 1 if one is mistaken."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import census_entries as census


def main() -> int:
    """One line each, and the sums."""
    sums: Counter[str] = Counter()
    for entry, found, verdict in census.verdicts():
        sums[verdict] += 1
        drafter = found.drafter
        conflict = "  (config and tensors disagree)" if found.conflicts else ""
        print(f"{verdict:<10} {entry.method:<14} {drafter.layout:<20} {entry.name}: {drafter.title}{conflict}")
    print(", ".join(f"{count} {verdict}" for verdict, count in sums.most_common()))
    return 1 if sums["mistaken"] else 0


if __name__ == "__main__":
    sys.exit(main())
