"""What reading and comparing tokenizers costs, as ratios to its budget and to parsing the whole files.

    python benchmarks/tokenizers.py [FOLDER…]

Each folder holds a checkpoint's tokenizer. Without one, two vocabularies of 160,000 tokens are made, with merges that
bring each file to about 20 MB. Every step runs in a process of its own: a process counts the memory of the one it was
forked from as its own peak.
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS, MEGABYTES = 1.0, 150.0
_SCRIPT = """
import json, resource, sys, time
from pathlib import Path
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.checkpoint.tokenizer import compare
from drafter_lint.reference import Reference
from drafter_lint.sources.local import LocalSource

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def tokenizer(where):
    return Checkpoint(Reference(spelling=where, kind="local", name=where), LocalSource(where), role="drafter").tokenizer

mode, *folders = sys.argv[1:]
before, started = peak(), time.process_time()
if mode == "compare":
    left, right = map(tokenizer, folders)
    parity = compare(left, right)
    told = f"{parity.relation}, {parity.common} ids in common"
else:
    for folder in folders:
        json.loads(Path(folder, "tokenizer.json").read_bytes())
    told = ""
print(json.dumps([time.process_time() - started, peak(), peak() - before, told]))
"""


def main() -> None:
    """Compare each folder with the next one."""
    with tempfile.TemporaryDirectory() as made:
        folders = [Path(name) for name in sys.argv[1:]] or [Path(made, f"made-{seed}") for seed in (1, 2)]
        for folder in folders if not sys.argv[1:] else ():
            subprocess.run((sys.executable, __file__, "--make", str(folder)), check=True)
        for left, right in itertools.pairwise(folders):
            seconds, megabytes, _, told = measured("compare", left, right)
            parsing, parsed, _, _ = measured("parse", left, right)
            print(
                f"{left.name} against {right.name}: {told}\n"
                f"  {seconds:.2f} s, {seconds / SECONDS:.2f} of the budget, {seconds / parsing:.2f} of parsing it all\n"
                f"  {megabytes:.0f} MB, {megabytes / MEGABYTES:.2f} of the budget, "
                f"{megabytes / parsed:.2f} of parsing it all"
            )


def measured(mode: str, *folders: Path) -> tuple[float, float, float, str]:
    """Processor seconds, the peak of memory in MB, how much of it came on top of starting, and what was found."""
    command = (sys.executable, "-c", _SCRIPT, mode, *map(str, folders))
    seconds, peak, added, told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return float(seconds), float(peak), float(added), str(told)


def make(where: Path) -> None:
    """A byte-level tokenizer.json of 160,000 tokens, of which the last 60,000 are in the folder's own order."""
    chars = [chr(code) for code in (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x144))]
    common = random.Random(0)
    words = ["".join(common.choices(chars, k=common.randint(3, 9))) for _ in range(160_000)]
    tail = words[100_000:]
    random.Random(where.name).shuffle(tail)
    vocab = {word: place for place, word in enumerate(dict.fromkeys([*chars, *words[:100_000], *tail]))}
    document = {
        "added_tokens": [{"id": len(vocab), "content": "<|end|>", "special": True}],
        "pre_tokenizer": {"type": "ByteLevel"},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": [[word[:2], word[2:]] for word in words * 2]},
    }
    where.mkdir()
    (where / "tokenizer.json").write_text(json.dumps(document, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]))
    else:
        main()
