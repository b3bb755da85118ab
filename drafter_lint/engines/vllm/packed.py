"""Quantised prediction layers: parts vLLM builds plain whatever the checkpoint is, and parts it builds packed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from drafter_lint.checkpoint import TensorTable
from drafter_lint.engines.loading import Loaded
from drafter_lint.engines.plan import RefusalKind, TensorFate
from drafter_lint.engines.vllm import prediction_slots as tables
from drafter_lint.engines.vllm import timeline
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Confidence

_FC = "mtp.fc"
#: Formats of compressed-tensors that put a weight under another name.
_PACKED = ("pack-quantized", "nvfp4-pack-quantized", "marlin-24")
_FLOATS = ("BF16", "F16", "F32")
_EXPERT = re.compile(r"mtp\.\d+\.ffn\.experts\.\d+\.w[123]\.weight$")


def follow(
    case: Case, view: View, found: TensorTable, loaded: Loaded, *, module: str, skips: bool
) -> tuple[TensorFate, ...]:
    """What is known of the tensors of quantised layers.

    Args:
        case: the planning in progress.
        view: the configuration.
        found: the tensors.
        loaded: a loading as if nothing were quantised. Norms and projections of ``nn.Linear`` never are.
        module: the registry's module of the class.
        skips: True if the loader leaves out names without a parameter.
    """
    says = "the layers are quantised: of their tensors only those of plain parts are followed"
    case.step("weights", says, "loader.complete")
    plain = tuple(fate for fate in loaded.tensors if tables.plain(fate.parameter))
    mine = {fate.name for fate in plain}
    shapes = [refusal for refusal in loaded.refusals if refusal.kind is RefusalKind.TENSOR_SHAPE]
    case.notes.refusals.extend(refusal for refusal in shapes if set(refusal.tensors) <= mine)
    return plain + _projection(case, view, found, module=module, skips=skips)


def _projection(case: Case, view: View, found: TensorTable, *, module: str, skips: bool) -> tuple[TensorFate, ...]:
    """``mtp.fc`` stored plain where the class builds it as the checkpoint's quantisation says."""
    tensor = found.get(f"{_FC}.weight")
    law = timeline.at(case.world, "mtp.fc-quantised", module)
    written = view.raw.raw("quantization_config") or case.target.text.raw("quantization_config")
    settings = written.value if written is not None and isinstance(written.value, dict) else {}
    if tensor is None or law is None or tensor.dtype not in _FLOATS or not _covers(settings):
        return ()
    says = (
        f"{tensor.name} is stored plain ({tensor.dtype}); its layer is built packed, "
        f"for quantization_config.ignore does not name {_FC}"
    )
    if skips:
        return (TensorFate(name=tensor.name, fate="dropped", says=says, evidence=case.evidence("mtp.fc-quantised")),)
    case.refuse(
        RefusalKind.QUANTIZATION,
        "load",
        says,
        at=found.at(tensor.name, "plain"),
        beside=(written.at,) if written is not None else (),
        keys=("mtp.fc-quantised",),
        tensors=(tensor.name,),
        confidence=Confidence.LIKELY,
    )
    return ()


def experts(case: Case, found: TensorTable) -> None:
    """Experts of a DeepSeek-V4 prediction layer stored plain, where the class builds the 4-bit ones of its target."""
    if not _four_bit_experts(case):
        return
    plain = [name for name, tensor in found.items() if tensor.dtype in _FLOATS and _EXPERT.search(name)]
    if not plain:
        return
    says = (
        f"{len(plain)} experts of the prediction layers are stored plain, the first is {plain[0]}; "
        "they are built in 4 bits, as the target's are"
    )
    case.refuse(
        RefusalKind.QUANTIZATION,
        "load",
        says,
        at=found.at(plain[0], "plain"),
        keys=("deepseek-v4.experts",),
        measured={"plain": len(plain)},
        tensors=tuple(plain[:20]),
        confidence=Confidence.LIKELY,
    )


def named_twice(case: Case) -> None:
    """A DSpark module inside its target that is named as a drafter: it then gets the quantisation of another model."""
    given = case.request.drafter
    if given is None or case.request.draft_quantization is not None or not _four_bit_experts(case):
        return
    says = (
        "the drafter is inside its target and named as a model of its own: its experts are built as 8-bit ones, "
        "for only an unnamed one takes over the target's quantisation"
    )
    case.refuse(
        RefusalKind.QUANTIZATION,
        "load",
        says,
        at=given.at,
        keys=("dspark.quantisation", "deepseek-v4.experts"),
        confidence=Confidence.LIKELY,
    )


def _four_bit_experts(case: Case) -> bool:
    """True if DeepSeek-V4's own quantisation holds for the target, with experts of 4 bits, its default."""
    config = case.target.checkpoint.config
    method, kind = config.string("quantization_config", "quant_method"), config.string("model_type")
    width = config.string("expert_dtype")
    left = config.raw("quantization_config", "ignored_layers")
    return (
        method is not None
        and method.value == "fp8"
        and kind is not None
        and kind.value == "deepseek_v4"
        and (width is None or width.value == "fp4")
        and not (left is not None and left.value)
    )


def _covers(settings: Mapping[str, object]) -> bool:
    """True if the quantisation is of a kind that packs every linear layer, and leaves this one out nowhere."""
    if settings.get("quant_method") != "compressed-tensors":
        return False
    groups = settings.get("config_groups")
    groups = [group for group in groups.values() if isinstance(group, dict)] if isinstance(groups, dict) else []
    formats = {settings.get("format"), *(group.get("format") for group in groups)} - {None}
    targets = [target for group in groups if isinstance(group.get("targets"), list) for target in group["targets"]]
    if not formats or not formats <= set(_PACKED) or "Linear" not in targets:
        return False
    ignored = settings.get("ignore")
    return not any(_names(entry) for entry in ignored) if isinstance(ignored, list) else True


def _names(entry: object) -> bool:
    """True if an entry of ``ignore`` may mean the projection; patterns of a file are never run."""
    if not isinstance(entry, str):
        return True
    if not entry.startswith("re:"):
        return entry == _FC
    words = re.findall(r"[A-Za-z]{2,}", entry.removeprefix("re:"))
    return not words or any(word in {"mtp", "fc"} for word in words)
