"""The lint step of action.yml: inputs become a command, and its reports annotations, a summary and outputs.

Inputs arrive as environment variables and are never part of a script. Standard library only.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_WORST_FIRST = ("refuses", "silent", "unknown", "slow", "hygiene", "ok")
_SAID = {
    2: "the inputs or the settings are not understood; the log says why",
    3: "something needed could not be read, and nothing worse was found; with --allow-unknown in args this passes",
    4: "an error of drafter-lint itself; the log says which",
}


class InputError(Exception):
    """An input cannot be understood."""


def command(inputs: Mapping[str, str]) -> list[str]:
    """The words of the command line, without formats and reports.

    Args:
        inputs: by the names of action.yml.

    Raises:
        InputError: they contradict each other.
    """
    drafter, paths, pairs = inputs["drafter"], _lines(inputs["paths"]), _switch(inputs, "pairs")
    if sum(map(bool, (drafter, paths, pairs))) > 1:
        raise InputError("drafter, paths and pairs each say what is checked; give one of them")
    for name in ("target", "flags"):
        if inputs[name] and not drafter:
            raise InputError(f"{name} is about a drafter, and none is given")
    options = [word for engine in _lines(inputs["engine"]) for word in ("--engine", engine)]
    if inputs["fail-on"]:
        options += ["--fail-on", inputs["fail-on"]]
    options += _words(inputs, "args")
    if drafter:
        target = ["--target", inputs["target"]] if inputs["target"] else []
        return ["check", drafter, *target, *options]
    return ["check", *options] if pairs else ["scan", *options]


def behind(inputs: Mapping[str, str]) -> list[str]:
    """The words that stand last: the engine's flags, or the paths."""
    if inputs["drafter"]:
        flags = _words(inputs, "flags")
        return ["--", *flags] if flags else []
    return [] if _switch(inputs, "pairs") else ["--", *(_lines(inputs["paths"]) or ["."])]


def main() -> int:
    """Run drafter-lint; its exit code is the step's."""
    inputs = {
        name.removeprefix("INPUT_").lower().replace("_", "-"): value.strip()
        for name, value in os.environ.items()
        if name.startswith("INPUT_")
    }
    try:
        words, last = command(inputs), behind(inputs)
        summary, upload = _switch(inputs, "summary"), _switch(inputs, "upload-sarif")
    except InputError as error:
        print(f"::error title=drafter-lint::{error}")
        _outputs({"exit-code": "2"})
        return 2
    with tempfile.TemporaryDirectory(dir=os.environ["RUNNER_TEMP"]) as made:
        folder = Path(made)
        # It outlives this step: the upload comes after it.
        sarif = inputs["sarif"] or (str(Path(os.environ["RUNNER_TEMP"], "drafter-lint.sarif")) if upload else "")
        reports = {"json": folder / "json", "github": folder / "github", "markdown": folder / "markdown"}
        if sarif:
            Path(sarif).parent.mkdir(parents=True, exist_ok=True)
            Path(sarif).unlink(missing_ok=True)
            reports["sarif"] = Path(sarif)
        options = [word for name, path in reports.items() for word in ("--report", f"{name}={path}")]
        code = _run([*words, *options, "--color", "always", *last], token=inputs["token"])
        if code in _SAID:
            print(f"::error title=drafter-lint::{_SAID[code]}", flush=True)
        outputs = {"exit-code": str(code)}
        if reports["json"].exists():
            outputs |= _counted(json.loads(reports["json"].read_text("utf-8")))
            # Its other lines, one for each check, are in the log already.
            lines = reports["github"].read_text("utf-8").splitlines()
            print(*(line for line in lines if line.startswith("::")), sep="\n", flush=True)
            outputs["sarif"] = sarif
            if summary:
                _append("GITHUB_STEP_SUMMARY", reports["markdown"].read_text("utf-8"))
        _outputs(outputs)
    return code


def _run(words: list[str], *, token: str) -> int:
    """Run the command line. Nothing it prints is obeyed: the runner takes orders from any line that starts with ::."""
    environment = {**os.environ, "COLUMNS": "120", **({"HF_TOKEN": token} if token else {})}
    silence = secrets.token_hex(16)
    print(f"::stop-commands::{silence}", flush=True)
    try:
        # -P: what is installed runs, whatever the checkout holds.
        full = [sys.executable, "-P", "-X", "utf8", "-m", "drafter_lint", *words]
        return subprocess.run(full, env=environment, stdin=subprocess.DEVNULL, check=False).returncode
    finally:
        print(f"::{silence}::", flush=True)


def _counted(report: dict[str, list[dict[str, object]]]) -> dict[str, str]:
    """The worst verdict and the number of findings."""
    verdicts = {str(check["verdict"]) for check in report["checks"]}
    found = [check["findings"] for check in report["checks"]]
    return {
        "verdict": next((verdict for verdict in _WORST_FIRST if verdict in verdicts), ""),
        "findings": str(sum(len(each) for each in found if isinstance(each, list))),
    }


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _words(inputs: Mapping[str, str], name: str) -> list[str]:
    try:
        return shlex.split(inputs[name])
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error


def _switch(inputs: Mapping[str, str], name: str) -> bool:
    if inputs[name] not in {"true", "false"}:
        raise InputError(f'{name}: expected "true" or "false", not {inputs[name]!r}')
    return inputs[name] == "true"


def _outputs(values: Mapping[str, str]) -> None:
    # A delimiter nobody can guess: a value may hold line ends.
    mark = secrets.token_hex(16)
    _append("GITHUB_OUTPUT", "".join(f"{name}<<{mark}\n{value}\n{mark}\n" for name, value in values.items()))


def _append(variable: str, text: str) -> None:
    with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
