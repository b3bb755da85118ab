"""Containers: what ``docker run`` starts, its image, its environment and its command."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drafter_lint.launch.files.spoken import ASSIGNED
from drafter_lint.launch.files.traced import Traced
from drafter_lint.launch.words import placeholders

# An image whose server takes its flags from the environment, in capitals; the model's name is the exception
# (docs.runpod.io/serverless/vllm/environment-variables and …/configuration).
_WORKER = re.compile(r"(?:[\w.-]+/)*worker(?:-v1)?-vllm(?:[:@].*)?")
_WORKER_FLAGS = {
    "MODEL_NAME": "--model",
    "MODEL_REVISION": "--revision",
    "SPECULATIVE_CONFIG": "--speculative-config",
    "TENSOR_PARALLEL_SIZE": "--tensor-parallel-size",
    "QUANTIZATION": "--quantization",
    "DTYPE": "--dtype",
    "MAX_MODEL_LEN": "--max-model-len",
}
RUNTIMES = {"docker", "podman", "nerdctl", "docker.io"}
_SWITCHES = re.compile(
    r"-[ditPqI]+|--(?:rm|detach|interactive|tty|privileged|init|read-only|publish-all|quiet|no-healthcheck"
    r"|oom-kill-disable|disable-content-trust|sig-proxy|replace|tls-verify|log-driver=\S+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What a container is told to run.

    Attributes:
        image: its image, None if it is not named.
        words: its command, entry point first.
        environment: the variables it is given.
        own_entry: True if the image's own entry point runs and the words are its arguments.
        pinned: True if another release than the image's is installed into it.
    """

    image: Traced | None
    words: Sequence[Traced]
    environment: Mapping[str, Traced]
    own_entry: bool
    pinned: bool = False


def created(words: Sequence[Traced], runtime: int) -> Container | None:
    """What ``docker run`` starts; None if it is another of its commands."""
    texts = [word.text for word in words]
    verbs = [index for index in range(runtime + 1, min(runtime + 4, len(texts))) if texts[index] in {"run", "create"}]
    if not verbs:
        return None
    environment: dict[str, Traced] = {}
    entry: Traced | None = None
    index = verbs[0] + 1
    while index < len(texts) and (texts[index].startswith("-") or _is_open(texts[index], texts[index + 1 :])):
        name, equals, _ = texts[index].partition("=")
        value = words[index].cut(len(name) + 1, len(words[index])) if equals else None
        index += 1
        if value is None and name.startswith("-") and not _SWITCHES.fullmatch(name) and index < len(words):
            value = words[index]
            index += 1
        if value is not None and name in {"-e", "--env"} and (match := ASSIGNED.match(value.text)):
            environment[match[1]] = value.cut(match.end(), len(value))
        elif value is not None and name == "--entrypoint":
            entry = value
    if index >= len(words):
        return None
    rest = list(words[index + 1 :])
    command = rest if entry is None else [*([entry] if entry.text else []), *rest]
    return Container(image=words[index], words=command, environment=environment, own_entry=entry is None)


def from_environment(container: Container) -> list[Traced]:
    """The vLLM flags a container of RunPod's worker gets through its environment; none for other containers."""
    if container.image is None or _WORKER.fullmatch(container.image.text.strip("\"'")) is None:
        return []
    given = [
        (flag, container.environment[name]) for name, flag in _WORKER_FLAGS.items() if name in container.environment
    ]
    return [word for flag, value in given for word in (Traced.stand_in(flag, value.extent()), value)]


def _is_open(text: str, rest: Sequence[str]) -> bool:
    """True for ``$DOCKER_ARGS`` in front of an image: options somebody else sets."""
    return bool(
        text.startswith("$")
        and placeholders(text) == ((0, len(text)),)
        and rest
        and (rest[0].startswith("$") or re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+(?::[\w.$\{}-]+)?|-.*", rest[0]))
        and "IMAGE" not in text.upper()
        and not rest[0].startswith("--")
    )
