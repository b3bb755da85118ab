"""The founding mistake, found and explained, on bundled fixtures: what `make demo` runs."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRAFTER = "fixtures/recipes/lightseekorg--kimi-k2.5-eagle3.recipe.toml"
TARGET = "fixtures/targets/moonshotai--Kimi-K2.5.recipe.toml"
ENGINE = "sglang==0.5.10.post1"


def check(algorithm: str) -> int:
    """Run the real command line and show the command."""
    words = ["check", DRAFTER, "--target", TARGET, "--engine", ENGINE, "--", "--speculative-algorithm", algorithm]
    print(f"$ drafter-lint {shlex.join(words)}\n", flush=True)
    # -P: what is installed is shown, not the checkout it happens to be started in.
    command = [sys.executable, "-P", "-m", "drafter_lint", *words]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main() -> int:
    """Show the mistake, then its correction; 0 if the first is found and the second is clean."""
    print("A Kimi-K2.5 server, started with EAGLE instead of EAGLE3. It answers every request; accept length is 1.0.\n")
    wrong = check("EAGLE")
    print("\n\nThe same pair with the flag corrected:\n")
    right = check("EAGLE3")
    if (wrong, right) != (1, 0):
        print(f"demo failed: expected exit codes 1 and 0, got {wrong} and {right}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
