"""Fields of the drafter's config that this release does not read, or reads and overrules; and its switches."""

from __future__ import annotations

from collections.abc import Mapping

from drafter_lint.engines.plan import Capture, Scheme
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.classes import DraftClass
from drafter_lint.engines.vllm.view import View

_FACTS: Mapping[str, str] = {
    "norm_before_residual": "class.norm-before-residual",
    "norm_before_fc": "class.norm-before-fc",
    "fc_norm": "class.fc-norm",
    "norm_output": "class.norm-output",
    "attention_bias": "class.qkv-bias",
    "use_aux_hidden_state": "class.use-aux-hidden-state",
}
_UNKNOWN = {"use_aux_norm": "no release reads this key; the one read is fc_norm"}


def schemes(case: Case, view: View, drafter: DraftClass, *, parallel_drafting: bool) -> dict[str, Scheme]:
    """The switches as the class set them, with where they come from."""
    found: dict[str, Scheme] = {}
    for name, key in _FACTS.items():
        on = drafter.use_aux if name == "use_aux_hidden_state" else drafter.switches[name]
        if drafter.kind == "eagle1" and name != "attention_bias":
            on = False
        value = view.get(name)
        nested = name in view.eagle_config()
        says = "as written" if value is not None or nested else "absent: the default"
        at = view.layers.at("eagle_config", name) if nested else value.at if value is not None else None
        found[name] = Scheme(on=on, says=says, at=at, evidence=case.evidence(key))
    says = "a key of the speculative configuration"
    evidence = case.evidence("class.mask-hidden")
    found["parallel_drafting"] = Scheme(on=parallel_drafting, says=says, evidence=evidence)
    return found


def ignored(case: Case, view: View, drafter: DraftClass, *, captured: Capture, runner: str) -> None:
    """Note every field that has no effect."""
    _switches(case, view, drafter)
    key = f"capture.reading-{runner}"
    for entry in captured.ignored:
        why = (
            "another list is read"
            if captured.read
            else "not read by this release and runner: the default layers are used"
        )
        if not captured.active:
            why = "the target hands over its last state only"
        case.ignore_field("eagle_aux_hidden_state_layer_ids", entry.at, why, key)
    layers = view.get("num_hidden_layers")
    if layers is not None and drafter.kind != "eagle1" and layers.value != drafter.numbers["num_hidden_layers"]:
        case.ignore_field("num_hidden_layers", layers.at, "this class builds one layer", "class.multi-layer")
    tied = view.get("tie_word_embeddings")
    if tied is not None and tied.value:
        case.ignore_field(
            "tie_word_embeddings", tied.at, "the head is not tied to the drafter's embedding", "share.head"
        )
    width = view.get("target_hidden_size")
    if width is not None and drafter.kind == "eagle1":
        case.ignore_field("target_hidden_size", width.at, "an EAGLE head sizes fc from hidden_size", "class.fc-count")
    if view.speculators:
        _speculators(case, view)


def _switches(case: Case, view: View, drafter: DraftClass) -> None:
    for name, key in _FACTS.items():
        value = view.get(name)
        if value is None or not value.value:
            continue
        on = drafter.switches.get(name, False)
        if not on and name != "use_aux_hidden_state":
            case.ignore_field(name, value.at, f"{drafter.name} does not read it in this release", key)
    nested = view.eagle_config()
    if "use_aux_hidden_state" in nested and not nested["use_aux_hidden_state"] and drafter.use_aux:
        at = view.layers.at("eagle_config", "use_aux_hidden_state")
        says = f"{drafter.name} does not read it in this release"
        case.ignore_field("eagle_config.use_aux_hidden_state", at, says, "class.use-aux-hidden-state")
    for name in ("norm_before_residual", "fc_norm", "norm_output"):
        if nested.get(name):
            says = "it is read at the top level only"
            case.ignore_field(f"eagle_config.{name}", view.layers.at("eagle_config", name), says, _FACTS[name])
    for name, says in _UNKNOWN.items():
        value = view.get(name)
        if value is not None:
            case.ignore_field(name, value.at, says, "class.fc-norm")


def _speculators(case: Case, view: View) -> None:
    """Top-level fields of the speculators layout that the reader does not copy."""
    key = f"config.speculators-{view.speculators}-keys"
    copied = case.world.names(key)
    for name in (*_FACTS, "eagle_aux_hidden_state_layer_ids", "num_aux_hidden_states", "eagle_config"):
        value = view.raw.raw(name)
        if value is not None and value.value and name not in copied:
            case.ignore_field(name, value.at, "the speculators reader does not pass it on", key)
