"""What vLLM asks of a draft model of its own: vocabulary, ranks, rotary embedding, and a file that fills its class."""

from __future__ import annotations

import re

from drafter_lint.engines.plan import Capture, FcUse, MapUse, Provision, RefusalKind
from drafter_lint.engines.vllm import weights
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.draft import Draft
from drafter_lint.engines.vllm.runner import mixed_vocabularies
from drafter_lint.engines.vllm.view import View
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Confidence, Located

#: Classes whose names in a file begin with model or lm_head, and whose layers each have an input_layernorm
#: (vllm 0.8.5 to 0.33.0, model_executor/models/llama.py, qwen2.py, qwen3.py).
FOLLOWED = ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM")
_LAYER = re.compile(r"^model\.layers\.(\d+)\.")
#: A config may claim any number of layers; more than any model has are not listed.
_MOST = 512
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tekken.json", "tiktoken.model", "vocab.json", "spiece.model")
_SENSES = ("vision_config", "audio_config", "vit_config", "thinker_config")
_TRUE = {"1", "true"}


def v0(case: Case) -> None:
    """The V0 engine serves a draft model wherever V1 does not know the method."""
    case.step("runner", "V1 runs no plain draft model here: the V0 engine serves", "method.v1-only-if-named")
    asked = case.request.environment.get("VLLM_USE_V1")
    if asked is not None and asked.value.strip().lower() in _TRUE:
        says = "VLLM_USE_V1 forces the V1 engine, which runs no plain draft model"
        case.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, at=asked.at, keys=("method.v1-only-if-named",))
    piped = case.request.options.get("--pipeline-parallel-size")
    if piped is not None and piped.value not in {None, "1"}:
        says = "the V0 engine does not speculate with pipeline parallelism"
        case.refuse(RefusalKind.METHOD_UNSUITABLE, "load", says, at=piped.at, keys=("draft-model.tensor-parallel",))


def proposer(case: Case, view: View, *, runner: str) -> None:
    """What the V1 proposer refuses before it loads the draft model; V2's speculator looks at none of it."""
    if runner == "v2":
        says = "model runner V2 captures no CUDA graph for a plain draft model"
        case.step("graphs", f"{says}; VLLM_USE_V2_MODEL_RUNNER=0 chooses V1, which does", "draft-model.graphs-v2")
        return
    asked, ranks = case.request.draft_tensor_parallel, case.request.tensor_parallel
    target = ranks.value if ranks else 1
    if asked is not None and asked.value != target and asked.value == 1:
        says = f"draft_tensor_parallel_size is {asked.value}; a plain draft model is run at the target's {target}"
        keys = ("draft-model.tensor-parallel",)
        case.refuse(RefusalKind.TENSOR_PARALLEL, "load", says, at=asked.at, keys=keys)
    unpadded = case.request.speculative_config.get("disable_padded_drafter_batch")
    if unpadded is not None and unpadded.value is True and case.world.text("draft-model.padded-batch") == "required":
        says = "disable_padded_drafter_batch does not go with a plain draft model"
        case.refuse(RefusalKind.FLAG_VALUE, "load", says, at=unpadded.at, keys=("draft-model.padded-batch",))
    rope = next((key for key in ("rope_scaling", "rope_parameters") if "mrope_section" in _object(view, key)), None)
    if rope and case.world.text("draft-model.rotary") == "no m-rope":
        says = "the draft model's rotary embedding has sections (M-RoPE), which the proposer does not place"
        case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=view.at(rope), keys=("draft-model.rotary",))
    whole = case.target.checkpoint.config
    sense = next((key for key in _SENSES if whole.object(key)), None)
    if sense and case.world.text("draft-model.multimodal-target") == "refused":
        says = f"the target takes more than text ({sense}), and the proposer of this release does not"
        case.refuse(
            RefusalKind.OTHER,
            "load",
            says,
            at=whole.at(sense),
            keys=("draft-model.multimodal-target",),
            confidence=Confidence.LIKELY,
        )


def _object(view: View, key: str) -> dict[str, object]:
    found = view.get(key)
    return found.value if found is not None and isinstance(found.value, dict) else {}


def vocabularies(case: Case, draft: Draft, view: View) -> None:
    """One vocabulary, or two with the ids translated between them."""
    own, theirs = _vocabulary(view), case.target.vocab_size
    if mixed_vocabularies(case):
        _mixed(case, draft)
        return
    says = "draft ids are taken for target ids; the draft model's tokenizer is not read"
    draft.map = MapUse(use="identity", says=says, evidence=case.evidence("draft-model.vocabulary"))
    case.step("map", says, "draft-model.vocabulary")
    if own is None or theirs is None or own.value == theirs.value:
        return
    says = f"a plain draft model must have the target's vocab_size: {own.value} against {theirs.value}"
    case.refuse(
        RefusalKind.VOCABULARY_UNEQUAL,
        "load" if case.world.flag("method.v1-only-if-named") else "config",
        says,
        at=own.at.saying(f"{own.value} ids"),
        beside=(theirs.at.saying(f"{theirs.value} ids"),),
        keys=("draft-model.vocabulary",),
        measured={"drafter": own.value, "target": theirs.value},
        remedy=("use_heterogeneous_vocab", True) if _translatable(case, draft) else None,
    )


def _translatable(case: Case, draft: Draft) -> bool:
    """True if this release would translate, with the runner that serves and the tokenizer that is there."""
    if case.world.text("draft-model.mixed-vocabularies") == "no key":
        return False
    if draft.runner == "v2" and case.world.text("draft-model.mixed-in-v2") != "left to v1":
        return False
    return _has_tokenizer(case) is True


def _has_tokenizer(case: Case) -> bool | None:
    """None if the files cannot be listed."""
    try:
        files = case.drafter.source.files
    except Unavailable:
        return None
    return any(name in files for name in _TOKENIZERS)


def _vocabulary(view: View) -> Located[int] | None:
    size = view.integer("vocab_size")
    return Located(size, view.at("vocab_size")) if size is not None else None


def _mixed(case: Case, draft: Draft) -> None:
    at, keys = place(case, "use_heterogeneous_vocab"), ("draft-model.mixed-vocabularies",)
    sampled = case.request.speculative_config.get("draft_sample_method")
    if sampled is not None and sampled.value != "greedy":
        says = f"draft_sample_method {sampled.value} does not go with vocabularies of their own: greedy does"
        case.refuse(RefusalKind.FLAG_VALUE, "config", says, at=sampled.at, keys=keys)
    local = case.request.speculative_config.get("use_local_argmax_reduction")
    if local is not None and local.value is True and case.world.text("draft-model.mixed-argmax") == "refused":
        says = "use_local_argmax_reduction leaves no logits to restrict to the common tokens"
        case.refuse(RefusalKind.FLAG_VALUE, "config", says, at=local.at, keys=("draft-model.mixed-argmax",))
    if draft.runner == "v2":
        says = "V2 does not translate between the vocabularies: draft ids are taken for target ids"
        evidence = case.evidence("draft-model.mixed-in-v2")
        draft.map = MapUse(use="identity", says=says, evidence=evidence)
        case.ignore_flag("use_heterogeneous_vocab", at, says, "draft-model.mixed-in-v2")
        return
    says = "ids are translated by the text of their tokens, and only common tokens are drafted"
    draft.map = MapUse(use="tokens", says=says, evidence=case.evidence(*keys))
    case.step("map", says, *keys, at=at)
    if _has_tokenizer(case) is False:
        says = "the draft model's own tokenizer is loaded, and its folder has none"
        case.refuse(
            RefusalKind.OTHER, "load", says, at=case.drafter.config.at(), keys=keys, confidence=Confidence.LIKELY
        )


def loaded(case: Case, draft: Draft, view: View, architecture: Located[str]) -> None:
    """The model's own class with its own file."""
    where = case.evidence("draft-model.binding")
    draft.draft_class = architecture.value
    draft.capture = Capture(active=False, width=case.target.hidden_size.value if case.target.hidden_size else None)
    draft.head = Provision(provider="own", says="nothing of the target's is bound", evidence=where)
    draft.embedding = draft.head
    draft.fc = FcUse(built=False, runs=False, says="the class has no fc", evidence=where)
    case.step("class", f"{architecture.value} as it is served alone", "draft-model.binding", at=architecture.at)
    found = weights.names(case)
    # Mistral's own names are renamed (maybe_remap_mistral: vllm 0.8.5 to 0.11.2 in llama.py, later in mistral.py).
    if architecture.value not in FOLLOWED or any(".attention.wq." in name for name in found):
        says = f"{architecture.value} loads its own checkpoint; which tensor goes where is not followed"
        case.step("weights", says, "draft-model.complete")
        return
    strange = [name for name in found if name.partition(".")[0] not in {"model", "lm_head"}]
    if strange:
        case.refuse(
            RefusalKind.TENSOR_UNEXPECTED,
            "load",
            f"as a plain draft model {architecture.value} has no place for {strange[0]}",
            at=case.drafter.tensors.at(strange[0]),
            keys=("loader.names-checked",),
            tensors=tuple(strange),
        )
    elif found and not view.flag("quantization_config") and case.request.draft_quantization is None:
        _layers(case, view, found)


def _layers(case: Case, view: View, found: tuple[str, ...]) -> None:
    """Every declared layer must be in the file."""
    declared = min(view.integer("num_hidden_layers") or 0, _MOST)
    there = {int(match[1]) for name in found if (match := _LAYER.match(name))}
    missing = [f"model.layers.{index}" for index in range(declared) if index not in there]
    beyond = [name for name in found if (match := _LAYER.match(name)) and int(match[1]) >= declared]
    if beyond and declared:
        says = f"num_hidden_layers is {declared}, and {beyond[0]} belongs to a layer that is not built"
        case.refuse(
            RefusalKind.TENSOR_UNEXPECTED,
            "load",
            says,
            at=view.at("num_hidden_layers"),
            keys=("loader.names-checked",),
            tensors=tuple(beyond),
        )
    if not missing:
        return
    says = f"num_hidden_layers is {declared}, and the file has no {missing[0]}: loading stops at what stays unfilled"
    case.refuse(
        RefusalKind.TENSOR_REQUIRED,
        "load",
        says,
        at=view.at("num_hidden_layers"),
        keys=("draft-model.complete",),
        measured={"declared": declared, "in_file": len(there)},
        tensors=tuple(missing),
    )
