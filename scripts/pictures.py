"""Writes the pictures of the README: what the tool prints, as SVG; with ``--check``, only compares.

python scripts/pictures.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
COLUMNS = 100
CUT = "…"
FIXED = "\u00a0"  # viewers run ordinary spaces together, whatever xml:space says

#: The terminal of the pictures; dark, so that it stands out on a light page and blends into a dark one.
GROUND, INK = "#10151c", "#d5dde6"
COLORS = {"31": "#ff8278", "32": "#7bdc8a", "33": "#e8bb50", "34": "#82b8ff", "36": "#6fd6df"}
BOLD, DIM = "1", "2"
CELL, LINE, EDGE = 8.4, 20.0, 20.0
SIZE = 14
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
_ANSI = re.compile(r"\x1b\[([\d;]*)m")


class Picture(NamedTuple):
    """One picture.

    Attributes:
        name: of its file.
        title: what it shows, for those who do not see it.
        words: the command, one tuple for each line it is shown on.
        blocks: how the parts to show begin, where only some of what is printed is shown.
        exit_code: what the command ends with.
    """

    name: str
    title: str
    words: tuple[tuple[str, ...], ...]
    blocks: tuple[str, ...] = ()
    exit_code: int = 1


class Run(NamedTuple):
    """Characters drawn alike."""

    text: str
    codes: frozenset[str]


PICTURES = (
    Picture(
        name="founding.svg",
        title="drafter-lint finds an EAGLE-3 drafter started with EAGLE in serve.sh, and says what to type instead",
        words=(("scan", "docs/examples/serve.sh"),),
    ),
    Picture(
        name="matrix.svg",
        title="one drafter in eight releases of two engines: refused, silently wrong, or fine",
        words=(
            ("check", "fixtures/recipes/lightseekorg--kimi-k2.6-eagle3.1-mla.recipe.toml"),
            ("--target", "fixtures/targets/moonshotai--Kimi-K2.6.recipe.toml"),
            ("--engine", "sglang==0.5.5.post3", "--engine", "sglang==0.5.10.post1"),
            ("--engine", "sglang==0.5.14", "--engine", "sglang==0.5.23"),
            ("--engine", "vllm==0.13.0", "--engine", "vllm==0.18.1"),
            ("--engine", "vllm==0.22.1", "--engine", "vllm==0.33.0"),
        ),
        blocks=(" engine ", "error[DFL509] field-ignored: fc_norm"),
    ),
)


def pictures() -> Mapping[Path, str]:
    """Every picture as it would be drawn now."""
    return {FOLDER / picture.name: svg(picture, [*_command(picture), *_shown(picture)]) for picture in PICTURES}


def _command(picture: Picture) -> Iterator[str]:
    for index, words in enumerate(picture.words):
        head = "\x1b[2m$\x1b[0m \x1b[1mdrafter-lint" if index == 0 else "\x1b[1m   "
        tail = "" if index == len(picture.words) - 1 else " \\"
        yield f"{head} {' '.join(words)}{tail}\x1b[0m"


def _shown(picture: Picture) -> Iterator[str]:
    blocks = printed(picture).strip("\n").split("\n\n")
    starts = [next((b for b in blocks if _plain(b).startswith(start)), "") for start in picture.blocks]
    if not all(starts):
        raise ValueError(f"{picture.name}: not everything that it is to show is printed")
    kept = starts or blocks
    for index, block in enumerate(kept):
        if index and picture.blocks:
            yield from ("", f"\x1b[2m{CUT}\x1b[0m", "")
        elif index:
            yield ""
        yield from block.split("\n")
    if picture.blocks:
        yield from ("", f"\x1b[2m{CUT}\x1b[0m")


def printed(picture: Picture) -> str:
    """What the command prints, with its colours.

    Raises:
        ValueError: it ends otherwise than the picture is meant to show.
    """
    words = [word for line in picture.words for word in line]
    at = words.index("--") if "--" in words else len(words)
    # -P: what is installed is shown, not the checkout it happens to be started in.
    command = [sys.executable, "-P", "-m", "drafter_lint", *words[:at], "--color", "always", *words[at:]]
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "PYTHONUTF8": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, encoding="utf-8")
    if done.returncode != picture.exit_code:
        raise ValueError(f"{picture.name}: ended with {done.returncode}: {done.stderr}")
    return done.stdout


def svg(picture: Picture, lines: Sequence[str]) -> str:
    """Lines with ANSI colours as a drawing of a terminal."""
    width, height = EDGE * 2 + CELL * COLUMNS, EDGE * 2 + LINE * len(lines)
    box = f'width="{width:g}" height="{height:g}"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{escape(picture.title)}</title>",
        f'<rect {box} rx="8" fill="{GROUND}"/>',
        f'<g font-family="{escape(FONTS)}" font-size="{SIZE}" fill="{INK}">',
    ]
    for number, line in enumerate(lines):
        drawn = "".join(_drawn(_runs(line)))
        if drawn:
            body.append(f'<text y="{EDGE + LINE * number + LINE * 0.72:g}">{drawn}</text>')
    return "\n".join([*body, "</g>", "</svg>", ""])


def _drawn(runs: Iterable[Run]) -> Iterator[str]:
    column = 0
    for run in runs:
        at, length = EDGE + CELL * column, CELL * len(run.text)
        column += len(run.text)
        color = next((COLORS[code] for code in sorted(run.codes) if code in COLORS), None)
        look = f' fill="{color}"' if color else ""
        look += ' font-weight="700"' if BOLD in run.codes else ""
        look += ' fill-opacity="0.6"' if DIM in run.codes else ""
        # The length is given because no font is: columns meet whichever of them is at hand.
        place = f'x="{at:g}" textLength="{length:g}" lengthAdjust="spacingAndGlyphs"'
        yield f"<tspan {place}{look}>{escape(run.text.replace(' ', FIXED))}</tspan>"


def _runs(line: str) -> Iterator[Run]:
    codes: frozenset[str] = frozenset()
    for index, part in enumerate(_ANSI.split(line)):
        if index % 2:
            given = frozenset(part.split(";")) - {"", "0"}
            codes = given
        elif part:
            yield Run(part, codes)


def _plain(text: str) -> str:
    return _ANSI.sub("", text)


def main() -> int:
    """Write, or compare."""
    made = pictures()
    stale = [path for path, text in made.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(path.relative_to(ROOT))
    if "--check" in sys.argv[1:]:
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for path in stale:
        path.write_text(made[path], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
