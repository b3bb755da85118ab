"""Writes the golden reports of the published pairs; look at the difference before committing it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import menagerie


def main() -> int:
    """Write every report, and remove those of pairs that are gone."""
    menagerie.GOLDEN.mkdir(exist_ok=True)
    made = dict(menagerie.reports())
    for path, text in made.items():
        path.write_text(text, "utf-8")
    for path in set(menagerie.GOLDEN.glob("*.txt")) - set(made):
        path.unlink()
    print(f"{len(made)} reports in {menagerie.GOLDEN}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
