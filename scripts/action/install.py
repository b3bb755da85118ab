"""The install step of action.yml: drafter-lint in an environment of its own, whatever the job's Python is.

Runs before drafter-lint is there: standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ACTION = Path(__file__).resolve().parents[2]


def main() -> int:
    """Install, and put the Python to run it with into the step's outputs."""
    folder = Path(os.environ["RUNNER_TEMP"], "drafter-lint", "venv")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():  # the action may be used twice in a job
        venv.create(folder, with_pip=True)
    version = os.environ.get("INPUT_VERSION", "").strip()
    wanted = f"drafter-lint=={version}" if version else str(ACTION)
    # -I: what the job's PYTHONPATH offers is not installed.
    pip = [str(python), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    code = subprocess.run([*pip, wanted], check=False).returncode
    if code:
        print(f"::error title=drafter-lint::{wanted} could not be installed; the log says why")
        return code
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.write(f"python={python}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
