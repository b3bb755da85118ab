"""The architecture vLLM looks the draft class up by: registered as written, and rewritten by the method."""

from __future__ import annotations

from typing import Literal

from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm import timeline
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Confidence, Located


def registered(case: Case, view: View) -> bool:
    """ModelConfig: the architecture, after the rewrite and before EAGLEConfig, must be registered."""
    architecture = view.architecture
    if architecture is None:
        return True
    known = any(
        timeline.at(case.world, key, architecture.value) is not None
        for key in ("registry.speculative", "registry.general")
    )
    if not known:
        case.refuse(
            RefusalKind.ARCHITECTURE_UNREGISTERED,
            "config",
            f"no class is registered for {architecture.value}",
            at=architecture.at,
            keys=("registry.speculative", "registry.general"),
        )
    return known


def rewritten(case: Case, view: View, name: str) -> Located[str] | None:
    """EAGLEConfig: the method is written into the architecture's name."""
    law = case.world.text("config.eagle-rewrite")
    before = view.architecture
    at = before.at if before else view.raw.at("architectures")
    if law == "forced":
        after = "EagleLlamaForCausalLM" if name == "eagle" else "Eagle3LlamaForCausalLM"
        case.step(
            "architecture",
            f"{name} always builds {after} here, whatever the config says",
            "config.eagle-rewrite",
            at=at,
        )
        return Located(after, at)
    if view.speculators:
        return before
    if before is None:
        stage: Literal["config", "load"] = (
            "config" if case.world.text("config.eagle-rewrite-checked") == "config" else "load"
        )
        says = "config.json names no architecture, and the base model's name makes no drafter's"
        case.refuse(RefusalKind.ARCHITECTURE_UNREGISTERED, stage, says, at=at, keys=("config.eagle-rewrite",))
        return None
    prefix = "Eagle" if name == "eagle" else "Eagle3"
    suffixed = name == "eagle3" and law == "prefix or suffix" and before.value.endswith("Eagle3")
    if before.value.startswith(prefix) or suffixed:
        return before
    after = prefix + before.value
    case.rewrite(
        "architectures", (before.value, after), f"method {name} is put before the name", "config.eagle-rewrite", at=at
    )
    return Located(after, at)


def block_drafter(case: Case, view: View) -> Located[str] | None:
    """EAGLEConfig for dflash: what it makes of another method's architecture is registered nowhere."""
    before = view.architecture
    if before is None or view.speculators or before.value == "LiLiCorrDraftModel":
        if before is None:
            says = "config.json names no architecture, and the base model's name makes no drafter's"
            at = view.raw.at("architectures")
            case.refuse(RefusalKind.ARCHITECTURE_UNREGISTERED, "config", says, at=at, keys=("config.eagle-rewrite",))
        return before
    kept = before.value.startswith("DFlash") or before.value.endswith("DFlash")
    after = before.value if kept else f"DFlash{before.value}"
    if not kept:
        says = "method dflash is put before the name"
        case.rewrite("architectures", (before.value, after), says, "config.eagle-rewrite", at=before.at)
    if timeline.at(case.world, "registry.speculative", after) is None and not (
        kept and timeline.at(case.world, "registry.general", after) is None
    ):
        says = f"no class is registered for {after}, which method dflash makes of the architecture"
        keys = ("registry.speculative", "config.eagle-rewrite")
        case.refuse(RefusalKind.ARCHITECTURE_UNREGISTERED, "config", says, at=before.at, keys=keys)
    return Located(after, before.at)


def spark(case: Case, view: View) -> Located[str] | None:
    """What dspark makes of an architecture: those it knows stay, every other one is DeepSeek-V4's."""
    before = view.architecture
    at = before.at if before else view.raw.at("architectures")
    if before is not None and before.value in case.world.names("dspark.kept"):
        return before
    plain = before is not None and before.value == "DSparkDraftModel" and view.model_type == "qwen3"
    if before is not None and plain and case.world.flag("dspark.qwen3-renamed"):
        change = (before.value, "Qwen3DSparkModel")
        case.rewrite("architectures", change, "model_type is qwen3", "dspark.qwen3-renamed", at=at)
        return Located("Qwen3DSparkModel", at)
    kind = case.target.text_model_type or case.target.model_type
    family = kind.value if kind else ""
    after = "DSparkV41DraftModel" if family == "deepseek_v41" else "DSparkDraftModel"
    name = before.value if before else ""
    if name != after:
        case.rewrite(
            "architectures", (name, after), "every name that is not listed becomes this one", "dspark.kept", at=at
        )
    if family not in {"deepseek_v4", "deepseek_v41"} and not view.model_type.startswith("deepseek"):
        says = f"{after}, DeepSeek-V4's class, is built for a drafter whose layers are of model_type {view.model_type}"
        case.refuse(
            RefusalKind.METHOD_UNSUITABLE,
            "load",
            says,
            at=at,
            keys=("dspark.kept", "dspark.qwen3-renamed"),
            confidence=Confidence.LIKELY,
        )
        return None
    return Located(after, at)
