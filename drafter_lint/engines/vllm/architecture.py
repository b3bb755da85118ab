"""The architecture vLLM looks the draft class up by: registered as written, and rewritten by the method."""

from __future__ import annotations

from typing import Literal

from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm import timeline
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Located


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


def block_drafter(case: Case, view: View) -> None:
    """EAGLEConfig for dflash: what it makes of another method's architecture is registered nowhere."""
    before = view.architecture
    if before is None or before.value == "LiLiCorrDraftModel":
        return
    kept = before.value.startswith("DFlash") or before.value.endswith("DFlash")
    after = before.value if kept else f"DFlash{before.value}"
    if timeline.at(case.world, "registry.speculative", after) is None:
        says = f"no class is registered for {after}, which method dflash makes of the architecture"
        keys = ("registry.speculative", "config.eagle-rewrite")
        case.refuse(RefusalKind.ARCHITECTURE_UNREGISTERED, "config", says, at=before.at, keys=keys)
