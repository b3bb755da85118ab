"""What a check, a start and a survey cost, as ratios within one run: times of different machines are not comparable.

python benchmarks/bench.py [MOST_PAIRS]

With VLLM_PYTHON, the interpreter of an environment that has vLLM, its own config stage is measured beside a check.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import published
from hub_pairs import COMMITS, Answer, CountingHub, small, spawn
from loopback_hub import Repo

KIMI, DRAFTER = "moonshotai/Kimi-K2.5", "lightseekorg/kimi-k2.5-eagle3"
ENGINE = ("--engine", "sglang==0.5.23")
#: Seconds every request takes, as from a laptop to the Hub.
LATENCY = 0.04
TIMES = 9
SIZES = (100, 1000, 10_000)
_TARGETS = 20
#: What everybody would call, and its cost: every header of every shard.
_OBVIOUS = f"from huggingface_hub import get_safetensors_metadata as get; get({KIMI!r}); get({DRAFTER!r})"
#: The same by the Hub's own gathering of them, where the target's repository has an index.
_AT_ONCE = (
    "from huggingface_hub import HfApi; api = HfApi(); "
    f"api.get_sharded_safetensors_metadata({KIMI!r}); api.get_safetensors_metadata({DRAFTER!r})"
)
#: The interpreter of an environment that has vLLM, if there is one: its dry run, as far as it goes before weights.
_VLLM = os.environ.get("VLLM_PYTHON", "")
_CONFIG_STAGE = """
import sys
from vllm.engine.arg_utils import EngineArgs
speculative = {"method": "eagle3", "model": sys.argv[2], "num_speculative_tokens": 3}
EngineArgs(model=sys.argv[1], speculative_config=speculative, enforce_eager=True).create_engine_config()
"""


class Cost(NamedTuple):
    """What one way took."""

    requests: int
    sent: int
    peak: int
    seconds: float


def main() -> int:
    """Measure and print."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1]
    for table in (hub(), start(), surveys([size for size in SIZES if size <= most] or SIZES[:1])):
        for row in table:
            print("| " + " | ".join(row) + " |", flush=True)
        print(flush=True)
    return 0


def hub() -> Iterator[Sequence[str]]:
    """A pair of full size over a Hub on this machine: 64 shards, 208,216 tensors."""
    repos: Mapping[str, Repo] = {
        KIMI: {"commit": COMMITS["target"], "files": published.target_files("moonshotai--Kimi-K2.5")},
        DRAFTER: {"commit": COMMITS["drafter"], "files": published.drafter("lightseekorg--kimi-k2.5-eagle3").files()},
    }
    branch = ("check", DRAFTER, "--target", KIMI, *ENGINE)
    pinned = ("check", f"{DRAFTER}@{COMMITS['drafter']}", "--target", f"{KIMI}@{COMMITS['target']}", *ENGINE)
    with CountingHub(repos, latency=LATENCY) as served, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)

        def cost(run: Callable[[], Answer]) -> Cost:
            before, sent = len(served.requests), served.sent.bytes
            answer = run()
            if answer.code:
                raise SystemExit(f"exit {answer.code}: {answer.err}{answer.out}")
            return Cost(len(served.requests) - before, served.sent.bytes - sent, answer.peak, answer.seconds)

        obvious = cost(lambda: spawn(home, (), program=_OBVIOUS))
        ways = {
            "its get_sharded_safetensors_metadata of the target": cost(lambda: spawn(home, (), program=_AT_ONCE)),
            "cold": cost(lambda: spawn(home, branch)),
            "again, on a branch": cost(lambda: spawn(home, branch)),
            "again, at commits": cost(lambda: spawn(home, pinned)),
            "again, offline": cost(lambda: spawn(home, (*branch, "--offline"))),
        }
    yield ("check of Kimi-K2.5 and a drafter, 40 ms a request", "requests", "bytes sent", "peak memory", "time")
    yield ("---",) * 5
    yield ("the client's get_safetensors_metadata of both", *_absolute(obvious))
    for name, way in ways.items():
        ratios = map(_ratio, way, obvious)
        yield (name, *(f"{text} ({ratio})" for text, ratio in zip(_absolute(way), ratios, strict=True)))


def _absolute(cost: Cost) -> tuple[str, str, str, str]:
    return f"{cost.requests}", f"{cost.sent / 1e6:.2f} MB", f"{cost.peak / 1e6:.0f} MB", f"{cost.seconds:.2f} s"


def _ratio(way: float, obvious: float) -> str:
    return "0" if not way else f"1/{obvious / way:.3g}" if way < obvious else f"{way / obvious:.3g} x"


def start() -> Iterator[Sequence[str]]:
    """Whole processes, in turns with the one they are compared with, so that both meet the same machine."""
    compiled = {"PYTHONDONTWRITEBYTECODE": ""}  # as installed packages are
    with tempfile.TemporaryDirectory() as folder:
        drafter, target = (str(small(name).write(Path(folder) / name)) for name in ("eagle3-llama", "target-llama"))
        run = (sys.executable, "-m", "drafter_lint")
        ways: dict[str, Sequence[str]] = {
            "python -c 'import click, pydantic'": (sys.executable, "-c", "import click, pydantic"),
            "--help": (*run, "--help"),
            "a local check": (*run, "check", drafter, "--target", target, *ENGINE),
            "a local check, every engine, JSON": (*run, "check", drafter, "--target", target, "--format", "json"),
        }
        if _VLLM:
            ways["vLLM's own config stage"] = (_VLLM, "-c", _CONFIG_STAGE, target, drafter)
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(TIMES):
            for name, command in ways.items():
                if turn and command[0] == _VLLM:  # half a minute each
                    continue
                before = _work()
                subprocess.run(command, check=True, capture_output=True, cwd=folder, env=os.environ | compiled)
                seconds[name].append(_work() - before)
    # Whatever else the machine does only ever adds to it.
    least = {name: min(measured) for name, measured in seconds.items()}
    basis = next(iter(least.values()))
    yield ("whole process", "work of the processor", "ratio")
    yield ("---",) * 3
    for name, seconds_of_work in least.items():
        yield (f"`{name}`", f"{seconds_of_work:.2f} s", f"{seconds_of_work / basis:.2f}")


def _work() -> float:
    """Seconds of work of all processes started so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def surveys(sizes: Sequence[int]) -> Iterator[Sequence[str]]:
    """Local pairs, each with a folder of its own, against every engine."""
    yield ("survey of local pairs", "1 process", "peak memory", "2 processes", "peak memory of the largest")
    yield ("---",) * 5
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        recipes = small("eagle3-llama"), small("target-llama")
        drafters = [recipes[0].write(home / f"d{number}") for number in range(max(sizes) // _TARGETS)]
        targets = [recipes[1].write(home / f"t{number}") for number in range(_TARGETS)]
        first: list[int] = []
        for size in sizes:
            rows = [(drafter, target) for target in targets for drafter in drafters[: size // _TARGETS]]
            lines = (json.dumps({"drafter": str(drafter), "target": str(target)}) for drafter, target in rows)
            (home / "pairs.jsonl").write_text("".join(f"{line}\n" for line in lines))
            row = [f"{size:,} pairs"]
            for jobs in (1, 2):
                words = ("survey", str(home / "pairs.jsonl"), "-o", str(home / f"{size}-{jobs}.jsonl"))
                answer = spawn(home, (*words, "--jobs", f"{jobs}", "--report", f"html={home / 'survey.html'}"))
                if answer.code:
                    raise SystemExit(f"exit {answer.code}: {answer.err}")
                first = first if len(first) == 2 else [*first, answer.peak]
                speed = f"{size / answer.seconds:.0f} pairs/s, {size / answer.cpu:.0f} a second of work"
                row += [speed, f"{answer.peak / 1e6:.0f} MB ({answer.peak / first[jobs - 1]:.2f})"]
            yield row


if __name__ == "__main__":
    sys.exit(main())
