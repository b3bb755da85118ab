"""An engine's interpreter that has no engine: what the kit's sessions are tested with.

It is the real worker around an engine that does what the name of a case says, so that forks, limits and signals are
the real ones.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import types
from pathlib import Path

from conformance.workers import __main__ as worker
from conformance.workers.protocol import Seen, Task

VERSION = "0.32.0"
#: Not empty if this release cannot draft on this machine.
BROKEN: list[bool] = []


def run(task: Task, seen: Seen) -> None:
    """Do as one of the cases in which the real engines did so, or what a machine may do to any of them."""
    if not (Path(task.drafter) / "config.json").exists() or not Path("target").is_dir():
        raise FileNotFoundError("the pair is not in the working directory")
    seen.draft_class = "Eagle3LlamaForCausalLM"
    match task.case:
        case "ok_d2t":
            _serve(seen, accept_length=4.0)
        case "drop_fc":
            _serve(seen, accept_length=1.0)
            seen.unfilled = [*(seen.unfilled or ()), "model.fc.weight"]
        case "d2t_short":
            raise AssertionError("sizes differ")
        case "drop_norm":
            time.sleep(60)
        case "drop_mlp":
            os.kill(os.getpid(), signal.SIGILL)
        case "e1_ok":
            raise RuntimeError("CUDA is not there")
        case _:
            seen.target_right = False


def _serve(seen: Seen, *, accept_length: float) -> None:
    seen.stage = "engine_up"
    if BROKEN:
        raise TypeError("cannot inspect a kernel")
    seen.stage, seen.method, seen.num_speculative_tokens = "generated", "eagle3", 3
    seen.aux_layers, seen.dropped, seen.unfilled = [2, 4, 5], ["t2d"], ["model.embed_tokens.weight"]
    seen.shares_embed, seen.shares_lm_head = True, False
    seen.accept_length, seen.target_right = accept_length, True


def interpreter(folder: Path) -> Path:
    """A program that takes an interpreter's arguments and runs this."""
    program = folder / "python"
    tests, root = Path(__file__).parent, Path(__file__).parents[1]
    paths = f"sys.path[:0] = [{str(root)!r}, {str(tests)!r}]"
    program.write_text(f"#!{sys.executable}\nimport sys\n{paths}\nimport fake_engine\nfake_engine.main()\n", "utf-8")
    program.chmod(0o755)
    return program


def main(*, broken: bool = False) -> None:
    """Stand in for ``python -m conformance.workers vllm FOLDER``; broken: no pair is drafted with."""
    BROKEN.extend([True] * broken)
    module = types.ModuleType("conformance.workers.on_vllm")
    vars(module).update(VERSION=VERSION, HOME=Path(__file__).parent, run=run)
    sys.modules[module.__name__] = module
    worker.main(sys.argv[3], Path(sys.argv[4]))
