"""The speculators layout as vLLM reads it: which fields are copied, and what stands in for missing ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.checkpoint import Config
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm.case import Case
from drafter_lint.findings import Located

_LAYER = "transformer_layer_config"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculatorsConfig:
    """What the reader makes of the file.

    Attributes:
        type: ``speculators_model_type``.
        layers: the layer config.
        added: the keys the reader sets beside those of the layer.
        model_type: what ``hf_config.model_type`` is afterwards.
        architecture: the class chosen.
    """

    type: str
    layers: Config
    added: Mapping[str, Located[object]] = field(default_factory=dict)
    model_type: str = ""
    architecture: Located[str] | None = None


def is_one(config: Config) -> bool:
    """True if a config without model_type is taken for the speculators layout."""
    found = config.raw("speculators_config")
    return found is not None and found.value is not None


def tokens(config: Config) -> Located[int] | None:
    """``speculative_tokens`` of the first proposal method."""
    found = config.raw("speculators_config")
    methods = found.value.get("proposal_methods") if found and isinstance(found.value, dict) else None
    first = methods[0] if isinstance(methods, list) and methods else None
    count = first.get("speculative_tokens") if isinstance(first, dict) else None
    return Located(count, config.at("speculators_config")) if isinstance(count, int) else None


def read(case: Case, config: Config, *, served: bool) -> SpeculatorsConfig | None:
    """Read the file; None, with a refusal noted, where the reader raises."""
    kind = config.string("speculators_model_type")
    known = case.world.names("config.speculators-types")
    if kind is None or kind.value not in known:
        named = repr(kind.value) if kind else "missing"
        says = f"speculators_model_type is {named}; this release reads {', '.join(known)}"
        place = config.at("speculators_model_type")
        case.refuse(RefusalKind.CONFIG_UNREADABLE, "config", says, at=place, keys=("config.speculators-types",))
        return None
    if (served or case.world.flag("config.speculators-validated")) and not _complete(case, config):
        return None
    return _eagle(case, config, kind) if kind.value in {"eagle3", "peagle"} else _block(case, config, kind)


def _complete(case: Case, config: Config) -> bool:
    """``validate_speculators_config``: every key it touches must be there."""
    verifier = config.raw("speculators_config", "verifier", "name_or_path")
    missing = [
        name
        for name, there in (
            ("speculators_config.proposal_methods[0].speculative_tokens", tokens(config) is not None),
            ("speculators_config.verifier.name_or_path", verifier is not None),
            (_LAYER, config.object(_LAYER) is not None),
        )
        if not there
    ]
    for name in missing:
        case.refuse(
            RefusalKind.CONFIG_FIELD,
            "config",
            f"{name} is missing from the speculators config",
            at=config.at(name.split(".")[0]),
            keys=("config.speculators-validated",),
        )
    return not missing


def _eagle(case: Case, config: Config, kind: Located[str]) -> SpeculatorsConfig | None:
    peagle = kind.value == "peagle"
    architectures = f"config.speculators-{kind.value}-architectures"
    layers = config.object(_LAYER)
    layer_type = (layers.string("model_type") if layers else None) or Located("llama", config.at(_LAYER))
    table = case.world.table(architectures)
    architecture = table.get(layer_type.value, table.get("*"))
    if architecture is None:
        says = f"{kind.value} over layers of model_type {layer_type.value!r}; only {', '.join(table)} are read"
        case.refuse(RefusalKind.CONFIG_UNREADABLE, "config", says, at=layer_type.at, keys=(architectures,))
        return None
    added = _added(case, config, peagle=peagle)
    if peagle:
        token = config.raw("mask_token_id")
        if token is None:
            says = "a peagle speculator without mask_token_id"
            place = config.at("mask_token_id")
            case.refuse(
                RefusalKind.CONFIG_FIELD, "config", says, at=place, keys=("config.speculators-peagle-architectures",)
            )
            return None
        added["pard_token"] = token
    says = f"the speculators reader makes it {architecture} from layers of model_type {layer_type.value}"
    case.step("architecture", says, architectures, at=kind.at)
    own = case.world.text("config.speculators-model-type")
    return SpeculatorsConfig(
        type=kind.value,
        layers=layers or Config(config.document, f"/{_LAYER}"),
        added=added,
        model_type="speculators" if own == "speculators" else layer_type.value,
        architecture=Located(architecture, kind.at),
    )


#: What the readers of the block drafters copy, and the architecture they put in place.
_BLOCKS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "dflash": ("DFlashDraftModel", ("draft_vocab_size", "target_hidden_size")),
    "dflash2": ("DFlash2DraftModel", ("draft_vocab_size", "target_hidden_size")),
    "dspark": (
        "Qwen3DSparkModel",
        (
            "draft_vocab_size",
            "target_hidden_size",
            "mask_token_id",
            "markov_rank",
            "markov_head_type",
            "block_size",
            "enable_confidence_head",
            "confidence_head_with_markov",
        ),
    ),
}
_IDS, _TOP = "aux_hidden_state_layer_ids", "eagle_aux_hidden_state_layer_ids"


def _block(case: Case, config: Config, kind: Located[str]) -> SpeculatorsConfig | None:
    """The readers of dflash, dflash2 and dspark: ids are kept as written, and once more minus one."""
    architecture, copied = _BLOCKS[kind.value]
    wanted = [_IDS] if kind.value == "dspark" else [_IDS, "mask_token_id"]
    missing = [key for key in wanted if config.raw(key) is None]
    for key in missing:
        says = f"a {kind.value} speculator without {key}"
        place = config.at(key)
        case.refuse(RefusalKind.CONFIG_FIELD, "config", says, at=place, keys=("config.speculators-types",))
    ids = config.raw(_IDS)
    if missing or ids is None or not isinstance(ids.value, list):
        return None
    added = {key: found for key in copied if (found := config.raw(key)) is not None and found.value is not None}
    added[_TOP] = ids
    shift = 0 if case.world.text("block.reading-v1") == "as written" else 1
    lowered = [identifier - shift for identifier in ids.value if isinstance(identifier, int)]
    anchor = config.raw("sample_from_anchor") or Located[object](False, config.at("sample_from_anchor"))
    if kind.value == "dspark":
        added |= {"target_layer_ids": Located(lowered, ids.at), "sample_from_anchor": anchor}
    else:
        mask = config.raw("mask_token_id")
        inside: dict[str, object] = {"target_layer_ids": lowered, "mask_token_id": mask.value if mask else None}
        inside["sample_from_anchor"] = anchor.value
        added["dflash_config"] = Located(inside, mask.at if mask else ids.at)
        block = config.raw("block_size")
        added |= {"block_size": block} if block else {}
    says = f"the speculators reader makes it {architecture}"
    case.step("architecture", says, "config.speculators-types", at=kind.at)
    return SpeculatorsConfig(
        type=kind.value,
        layers=config.object(_LAYER) or Config(config.document, f"/{_LAYER}"),
        added=added,
        model_type="speculators",
        architecture=Located(architecture, kind.at),
    )


def _added(case: Case, config: Config, *, peagle: bool) -> dict[str, Located[object]]:
    """The keys the reader sets; ``norm_before_residual`` is true for eagle3 and false for peagle if absent."""
    copied = case.world.names(f"config.speculators-{'peagle' if peagle else 'eagle3'}-keys")
    defaults: dict[str, object] = {
        "draft_vocab_size": None,
        "norm_before_residual": not peagle,
        "norm_before_fc": False,
        "fc_norm": False,
        "norm_output": False,
    }
    added: dict[str, Located[object]] = {}
    for key in copied:
        found = config.raw(key)
        if found is not None and (found.value is not None or key == "draft_vocab_size"):
            if key != "eagle_aux_hidden_state_layer_ids" or found.value:
                added[key] = found
        elif key in defaults:
            added[key] = Located(defaults[key], config.at(key))
    return added
