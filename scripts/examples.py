"""Writes into the documents what their commands and programs print now; names the abridged examples to look at.

python scripts/examples.py [DOCUMENT...]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import documents

CRASHES = ("internal error", "Traceback (most recent call last)", "No module named drafter_lint")


def main() -> int:
    """Refresh every example; 1 if one crashes, or an abridged one no longer fits."""
    said = []
    asked = [Path(name).resolve() for name in sys.argv[1:]]
    for document in asked or documents.DOCUMENTS:
        text = document.read_text("utf-8")
        for block in reversed(documents.blocks(document, "console", "python")):
            for (start, end), made, odd in _made(block):
                said += odd
                if any(crash in made for crash in CRASHES):
                    said.append(f"{block.name}: {made}")
                else:
                    text = text[:start] + made + text[end:]
        document.write_text(text, "utf-8")
    print("".join(f"{line.rstrip()}\n" for line in said), end="")
    return 1 if said else 0


def _made(block: documents.Block) -> Iterator[tuple[tuple[int, int], str, list[str]]]:
    """What belongs where, and what no longer fits."""
    with tempfile.TemporaryDirectory() as folder:
        if block.kind == "console":
            made, odd = documents.refreshed(block, Path(folder))
            told = [f"{block.name}: abridged, and no longer what is printed: {item.command}" for item in odd]
            yield block.span, made, told
        elif span := documents.printed_span(block):
            yield span, documents.run_python(block, Path(folder)), []


if __name__ == "__main__":
    sys.exit(main())
