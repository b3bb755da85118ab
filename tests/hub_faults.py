"""Every fault of a Hub at every stage of a check: what is served, what is broken, and what must be said of it.

``tests/test_hub_matrix.py`` holds the command line to it, ``benchmarks/faults.py`` prints what it takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hub_pairs import DRAFTER, TARGET, Answer, run, small_pair
from loopback_hub import Kind, LoopbackHub, Repo, Stage
from made_tokenizers import BYTES, byte_level

#: The stages of reading a drafter, and the file whose name is told; ``values`` are the bytes of its ``d2t``.
STAGES: Mapping[Stage, str] = {
    "info": "",
    "header": "model.safetensors",
    "values": "model.safetensors",
    "config": "config.json",
    "tokenizer.json": "tokenizer.json",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a Hub.

    Attributes:
        name: as the loopback Hub knows it.
        words: as a reader knows it.
        code: the rule that speaks of it.
        waits: whether only the deadline ends it.
        retry_after: the header of that name, where one is sent.
    """

    name: Kind
    words: str
    code: str = "DFL004"
    waits: bool = False
    retry_after: str | None = None


FAULTS: tuple[Fault, ...] = (
    Fault("no-connection", "nobody listens"),
    Fault("no-tls", "TLS fails"),
    Fault("reset", "connection reset"),
    Fault("stall", "silence instead of an answer", waits=True),
    Fault("stalled-body", "silence in the middle of the body", waits=True),
    Fault("trickled-head", "headers, a byte now and then", waits=True),
    Fault("trickle", "body, a byte now and then", waits=True),
    Fault("truncated", "body ends early"),
    Fault("another-size", "another size than listed"),
    Fault("bad-json", "a login page with status 200"),
    Fault("redirect-loop", "redirects in a circle"),
    Fault("ignored-range", "range ignored, whole file sent", code=""),
    Fault("500", "500"),
    Fault("503", "503"),
    Fault("429", "429"),
    Fault("429", "429, Retry-After past the deadline", retry_after="3600"),
    Fault("401", "401", code="DFL002"),
    Fault("403", "403", code="DFL002"),
    Fault("gated", "403, terms not accepted", code="DFL003"),
    Fault("404", "404 for what is listed", code="DFL001"),
)


@dataclass(frozen=True, slots=True)
class Expected:
    """What must come of a fault.

    Attributes:
        exit_code: of the command.
        verdict: of its check.
        code: of the rule that tells it; "" if there is nothing to tell.
    """

    exit_code: int
    verdict: str
    code: str


def expected(fault: Fault, stage: Stage) -> Expected:
    """What must come of a fault at a stage.

    A file that is listed and not there is missing for the engine as well. Whether tokenizers agree is no engine's
    question: a verdict rests on it only where a second try may answer it.
    """
    if not fault.code:
        return Expected(0, "ok", "")
    if stage == "tokenizer.json":
        return Expected(3, "unknown", "DFL320") if fault.code == "DFL004" else Expected(0, "ok", "DFL320")
    if fault.name == "404" and stage != "info":
        return Expected(1, "refuses", "DFL005" if stage == "config" else "DFL010")
    return Expected(3, "unknown", fault.code)


def repositories() -> dict[str, Repo]:
    """A sound pair with tokenizers: the drafter's and the target's differ in an added token that nothing rests on."""
    made = small_pair()
    for name, texts in ((DRAFTER, BYTES[:-1]), (TARGET, BYTES)):
        made[name]["files"] = {**made[name]["files"], "tokenizer.json": byte_level(texts).encode()}
    return made


def check(deadline: float) -> Answer:
    """The command line, in this process."""
    words = ("check", DRAFTER, "--target", TARGET, "--engine", "sglang", "--timeout", str(deadline))
    return run(*words, "--format", "json")


def broken(fault: Fault, stage: Stage, *, deadline: float, name: str = DRAFTER) -> tuple[Answer, LoopbackHub]:
    """What the command line says while one stage of one repository is broken; the Hub is closed again."""
    with LoopbackHub(repositories()) as hub:
        hub.fault(name, stage, fault.name, retry_after=fault.retry_after)
        return check(deadline), hub
