"""The program of a command: which engine it starts, where its flags begin, and what is set in front of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from drafter_lint.launch.words import ASSIGNMENT

# Modules that start a server, and those that do with the word "serve" behind them.
_MODULES = {
    "sglang.launch_server": "sglang",
    "vllm.entrypoints.openai.api_server": "vllm",
    "vllm.entrypoints.api_server": "vllm",
    "vllm.entrypoints.grpc_server": "vllm",
}
_SERVED = {"sglang": "sglang", "sglang.cli.main": "sglang", "vllm": "vllm", "vllm.entrypoints.cli.main": "vllm"}
_SCRIPTS = {"sglang/launch_server.py": "sglang", "vllm/entrypoints/openai/api_server.py": "vllm"}
_CONTAINERS = {"docker", "podman", "nerdctl"}
# Images whose entry point is the server: the words behind the image are its flags.
_IMAGE = re.compile(r"(?:[\w.:-]+/)*vllm-openai(?:-[\w-]+)?(?:[:@][\w.:${}-]+)?")
_SHELLS = {"sh", "bash", "zsh", "dash"}
_SHELL_COMMAND = re.compile(r"-[a-z]*c")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An engine's program in a command.

    Attributes:
        engine: what it starts.
        start: the index of the first word that is the engine's own.
        before: how many words stand in front of the program: assignments, wrappers.
    """

    engine: str
    start: int
    before: int


def find_program(words: Sequence[str]) -> Program | None:
    """The first engine program in some words, whatever wraps it (env, exec, uv run, docker run IMAGE, numactl …)."""
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        base = word.rpartition("/")[2]
        if index and words[index - 1] == "-m":
            if word in _MODULES:
                return Program(engine=_MODULES[word], start=index + 1, before=index - 1)
            if word in _SERVED and following == "serve":
                return Program(engine=_SERVED[word], start=index + 2, before=index - 1)
        elif base in {"vllm", "sglang"} and following == "serve":
            return Program(engine=base, start=index + 2, before=index)
        for script, engine in _SCRIPTS.items():
            if word.endswith(script):
                return Program(engine=engine, start=index + 1, before=index)
    return _image_program(words)


def _image_program(words: Sequence[str]) -> Program | None:
    tools = [index for index, word in enumerate(words) if word.rpartition("/")[2] in _CONTAINERS]
    if not tools or any(word.partition("=")[0] == "--entrypoint" for word in words):
        return None
    for index in range(tools[0] + 1, len(words)):
        if _IMAGE.fullmatch(words[index]):
            return Program(engine="vllm", start=index + 1, before=index)
    return None


def shell_script(words: Sequence[str]) -> int | None:
    """The index of a word that is a whole command for a shell: ``sh -c "…"``, ``--entrypoint bash IMAGE -lc "…"``."""
    shells = [index for index, word in enumerate(words) if word.rpartition("/")[2].rpartition("=")[2] in _SHELLS]
    if not shells:
        return None
    for index in range(shells[0] + 1, len(words) - 1):
        if _SHELL_COMMAND.fullmatch(words[index]):
            return index + 1
    return None


def assignments(words: Sequence[str]) -> tuple[tuple[int, str, int], ...]:
    """The environment set by some words, as (index, name, where the value starts)."""
    found = [(index, match) for index, word in enumerate(words) if (match := ASSIGNMENT.match(word))]
    return tuple((index, match[1], match.end()) for index, match in found)
