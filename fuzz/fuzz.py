"""Feeds one target with what its code has not seen yet, for a while: python fuzz/fuzz.py TARGET SECONDS.

What makes it fail is left in the folder it is run in, as crash-*; put it into fuzz/corpus/TARGET when it is mended.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["drafter_lint"]):
    import targets


def main() -> None:
    """Run."""
    name, seconds = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(targets.seeds(name)):
            (Path(folder) / f"{number}").write_bytes(seed)
        bounds = [f"-max_total_time={seconds}", f"-max_len={targets.MAX_INPUT}", "-timeout=10", "-rss_limit_mb=2048"]
        atheris.Setup(
            [sys.argv[0], *bounds, "-print_final_stats=1", folder],
            lambda data: targets.attempt(targets.TARGETS[name], data),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
