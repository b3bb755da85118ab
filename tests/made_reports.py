"""Reports made by hand, for tests of how they are said: the founding mistake, a pass, and what lies between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from drafter_lint.engines.plan import Capture, FcUse, MapUse, Plan, Refusal, RefusalKind, Step, TensorFate
from drafter_lint.findings import (
    Confidence,
    Evidence,
    Finding,
    Fix,
    JsonValue,
    Located,
    Location,
    Outcome,
    ReplaceArgument,
    Skip,
)
from drafter_lint.launch import LaunchRequest
from drafter_lint.report import Check, Cost, EngineSubject, FailOn, Report, Subject

NAME = "lightseekorg/kimi-k2.5-eagle3 @ 1c0ffee"
ARGV = (
    "python",
    "-m",
    "sglang.launch_server",
    "--model-path",
    "moonshotai/Kimi-K2.5",
    "--speculative-algorithm",
    "EAGLE",
    "--speculative-draft-model-path",
    "lightseekorg/kimi-k2.5-eagle3",
    "--tp",
    "8",
)
LINE = " ".join(ARGV)
NO_COST = Cost(requests=0, bytes=0, seconds=0.0)
FORWARD = Evidence(
    engine="sglang",
    version="0.4.6.post5 to 0.5.23",
    file="srt/models/llama_eagle3.py",
    symbol="LlamaModel.forward",
    how="read",
)


def in_command(word: str, label: str = "", *, line: str = LINE) -> Location:
    """A place on the command line."""
    return Location(
        role="launch",
        subject="command line",
        argument=line.split(" ").index(word),
        text=line,
        column=line.index(f" {word}") + 2,
        width=len(word),
        label=label,
    )


def in_script(number: int, text: str, word: str, label: str = "") -> Location:
    """A place in a launch script."""
    column = text.index(word) + 1
    return Location(
        role="launch",
        subject="serve.sh",
        file="serve.sh",
        line=number,
        column=column,
        width=len(word),
        text=text,
        label=label,
    )


def in_config(number: int, text: str, value: str, pointer: str, label: str = "") -> Location:
    """A place in the drafter's config.json."""
    return Location(
        role="drafter",
        subject=NAME,
        file="config.json",
        line=number,
        column=text.index(value) + 1,
        width=len(value),
        pointer=pointer,
        text=text,
        label=label,
    )


def tensor(name: str, *shape: int, label: str = "") -> Location:
    """A tensor of the drafter; absent without a shape."""
    return Location(
        role="drafter", subject=NAME, file="model.safetensors", tensor=name, shape=shape or None, label=label
    )


def finding(
    *locations: Location,
    message: str = "EAGLE-3 drafter started in EAGLE mode; every draft token will be rejected",
    code: str = "DFL401",
    name: str = "eagle3-run-as-eagle",
    outcome: Outcome = Outcome.SILENT,
    confidence: Confidence = Confidence.CERTAIN,
    evidence: tuple[Evidence, ...] = (FORWARD,),
    fix: Fix | None = None,
    measured: Mapping[str, JsonValue] | None = None,
) -> Finding:
    """A finding, the founding one unless told otherwise."""
    return Finding(
        code=code,
        name=name,
        outcome=outcome,
        confidence=confidence,
        message=message,
        locations=locations,
        measured=measured or {},
        evidence=evidence,
        fix=fix,
    )


def founding() -> Finding:
    """The founding mistake on a command line."""
    return finding(
        in_command("EAGLE", "the target will hand over 7168 values a token (last layer only)"),
        in_command("lightseekorg/kimi-k2.5-eagle3", "this drafter needs 21504 = 3 x 7168"),
        in_config(3, '    "LlamaForCausalLMEagle3"', '"LlamaForCausalLMEagle3"', "/architectures/0"),
        tensor("fc.weight", 7168, 21504, label="skipped when the widths happen to match"),
        fix=Fix("--speculative-algorithm EAGLE3", (ReplaceArgument(6, "EAGLE3"),)),
        measured={"handed_over": 7168, "fc_takes": 21504, "method": "EAGLE"},
    )


def plan(*, engine: str = "sglang", version: str = "0.5.23") -> Plan:
    """The plan of a pair that works."""
    names = [f"layers.0.t{index}.weight" for index in range(13)]
    fates = [TensorFate(name=name, fate="taken", parameter=name) for name in names]
    return Plan(
        engine=engine,
        version=version,
        knowledge="observed",
        basis=version,
        method="EAGLE3",
        architecture="LlamaForCausalLMEagle3",
        draft_class="LlamaForCausalLMEagle3",
        takes_aux=True,
        steps=(Step(topic="method", says="EAGLE3, from --speculative-algorithm", evidence=(FORWARD,)),),
        capture=Capture(active=True, boundaries=(2, 30, 58), asked=(2, 30, 58), reading="default", width=21504),
        fc=FcUse(built=True, runs=True, takes=21504, fed=21504, says="always applied"),
        map=MapUse(use="offsets", says="hot_token_id = d2t + arange"),
        tensors=(
            *fates,
            TensorFate(name="d2t", fate="consumed", says="kept as the map"),
            TensorFate(name="t2d", fate="dropped", says="no parameter of that name", expected=True),
        ),
    )


def refusing_plan() -> Plan:
    """The plan of a pair that stops while loading."""
    refusal = Refusal(
        kind=RefusalKind.TENSOR_SHAPE,
        stage="load",
        says="fc.weight has 21504 columns, the class built 14336",
        locations=(tensor("fc.weight", 7168, 21504),),
        evidence=(FORWARD,),
    )
    return replace(plan(), refusals=(refusal,))


def request(*, assumed: bool = False) -> LaunchRequest:
    """The founding command, understood."""
    return LaunchRequest(
        engine="sglang",
        argv=ARGV,
        method=Located("EAGLE", in_command("EAGLE")),
        drafter=Located("lightseekorg/kimi-k2.5-eagle3", in_command("lightseekorg/kimi-k2.5-eagle3")),
        target=Located("moonshotai/Kimi-K2.5", in_command("moonshotai/Kimi-K2.5")),
        tensor_parallel=Located(8, in_command("8")),
        unresolved=("$MODEL",),
        assumed=assumed,
    )


def check(
    *findings: Finding,
    engine: str = "sglang",
    version: str = "0.5.23",
    skips: tuple[Skip, ...] = (),
    plans: tuple[Plan, ...] | None = None,
    target: bool = True,
    asked: bool = True,
) -> Check:
    """A check with some findings."""
    return Check(
        drafter=Subject(
            role="drafter",
            spelling="lightseekorg/kimi-k2.5-eagle3",
            name="lightseekorg/kimi-k2.5-eagle3",
            commit="1c0ffee" * 5,
            title="EAGLE-3, 1 layer, draft vocabulary 32000",
        ),
        target=Subject(
            role="target",
            spelling="kimi-k2.5",
            name="moonshotai/Kimi-K2.5",
            commit="8d2e004" * 5,
            title="hidden 7168, 61 layers, vocabulary 163840",
        )
        if target
        else None,
        engine=EngineSubject(
            name=engine, version=version, knowledge="observed", newest="0.5.23", basis=(version,), asked=asked
        ),
        request=request(),
        recognition=None,
        target_read=None,
        plans=(plan(engine=engine, version=version),) if plans is None else plans,
        findings=findings,
        not_checked=skips,
        checked=38,
    )


def report(*checks: Check, fail_on: FailOn = "silent", cost: Cost = NO_COST) -> Report:
    """A report of some checks."""
    return Report(checks=checks, cost=cost, fail_on=fail_on)
