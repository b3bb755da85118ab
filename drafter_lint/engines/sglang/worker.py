"""What SGLang's draft workers ask of a class and its config before anything is loaded."""

from __future__ import annotations

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.sglang.classes import AUX_CLASSES
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.tables import has
from drafter_lint.facts import World
from drafter_lint.findings import Confidence
from drafter_lint.launch import LaunchRequest

_BESIDE = "hf_quant_config.json"
#: Quantisation methods that read a description beside the weights.
_DESCRIBED = frozenset(
    (
        *("awq", "awq_marlin", "gptq", "gptq_marlin", "marlin", "moe_wna16", "qoq", "w4afp8", "quark", "auto-round"),
        *("modelopt", "modelopt_fp8", "modelopt_fp4"),
    )
)


def binds(world: World, method: str, known: str, fields: Fields, notes: Notes, *, from_target: bool) -> None:
    """Whether the class has what the worker calls: ``set_embed`` and a map for EAGLE3, both setters for EAGLE."""
    at = (fields.at("architectures"),)
    if method == "EAGLE3" and known not in AUX_CLASSES:
        if not from_target:
            says = f"{known} has no map of draft ids: it is no EAGLE-3 class"
            where = ("worker.needs-map-attribute", "algorithm.is-eagle")
            notes.refuse(RefusalKind.METHOD_UNSUITABLE, "load", says, *where, at=at)
    elif method == "EAGLE" and not has(world, "models.set-embed-and-head", known):
        says = f"{known} cannot be given the target's embedding and head"
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "load", says, "models.set-embed-and-head", at=at)


def config_fields(world: World, method: str, fields: Fields, notes: Notes) -> None:
    if fields.integer("num_nextn_predict_layers") == 0 and world.text("draft.zero-nextn") == "refused":
        says = "num_nextn_predict_layers is 0: the drafter gets a key-value pool without layers"
        at = (fields.at("num_nextn_predict_layers"),)
        notes.refuse(RefusalKind.CONFIG_FIELD, "first-request", says, "draft.zero-nextn", at=at)
    null = fields.has("eagle_config") and fields.get("eagle_config") is None
    if null and method == "EAGLE3" and world.text("draft.null-eagle-config") == "refused":
        says = "eagle_config is null, and the worker asks it for a key"
        at = (fields.at("eagle_config"),)
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "draft.null-eagle-config", at=at)


def quantised(world: World, opened: Checkpoint, fields: Fields, request: LaunchRequest, notes: Notes) -> None:
    """The drafter inherits ``--quantization``; a method with a description of its own needs one in the drafter too."""
    if _BESIDE in opened.source.files:  # what Model-Optimizer writes; read in place of the field (model_config.py)
        return
    own = request.draft_quantization if world.text("draft.quantization") != "inherited" else None
    given = own or request.quantization
    if given is None or given.value not in _DESCRIBED or fields.true("quantization_config"):
        return
    says = f"the drafter is opened with quantisation {given.value} and has no quantization_config"
    at = (given.at, fields.config.at("quantization_config"))
    kind = RefusalKind.QUANTIZATION
    notes.refuse(kind, "load", says, "draft.quantization", at=at, confidence=Confidence.LIKELY)
