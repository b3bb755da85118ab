"""Counts and sizes that must fit: drafted tokens, tensor parallelism, context lengths, mask tokens."""

from __future__ import annotations

from drafter_lint.engines.plan import OVERRUN, OVERRUN_EAGER, RefusalKind
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Located, Location

#: RoPE types whose table merely grows with max_position_embeddings
#: (vllm 0.33.0, config/speculative.py, _CACHE_ONLY_ROPE_TYPES).
_CACHE_ONLY = {"default", "linear", "llama3", "ntk", "proportional"}


def tokens(case: Case, view: View | None, *, given: Located[int] | None) -> None:
    """num_speculative_tokens: there, positive, and a multiple of what a multi-token module predicts."""
    predicted = view.n_predict if view else None
    at = given.at if given else place(case, "num_speculative_tokens")
    if given is None and "num_speculative_tokens" not in case.request.speculative_config and predicted is None:
        says = "num_speculative_tokens is not given, and the drafter's config has no n_predict to stand in"
        case.refuse(RefusalKind.TOKEN_COUNTS, "config", says, at=at, keys=("flags.keys",))
    elif given is not None and given.value <= 0:
        says = f"num_speculative_tokens is {given.value}; it must be positive"
        case.refuse(RefusalKind.TOKEN_COUNTS, "config", says, at=at, keys=("flags.keys",))
    elif given is not None and predicted is not None and _uneven(given.value, predicted):
        says = f"num_speculative_tokens is {given.value}, no multiple of the {predicted} the module predicts"
        case.refuse(RefusalKind.TOKEN_COUNTS, "config", says, at=at, keys=("config.mtp-model-types",))


def _uneven(count: int, predicted: int) -> bool:
    return count > predicted and (predicted == 0 or count % predicted != 0)


def tensor_parallel(case: Case, view: View) -> None:
    """Sizes the drafter's heads and inner width must divide into."""
    ranks = case.request.tensor_parallel.value if case.request.tensor_parallel else 1
    asked = case.request.draft_tensor_parallel
    if asked is not None and asked.value not in {1, ranks}:
        says = f"draft_tensor_parallel_size is {asked.value}; 1 or the target's {ranks} is allowed"
        keys = ("parallel.draft-tensor-parallel",)
        case.refuse(RefusalKind.TENSOR_PARALLEL, "config", says, at=asked.at, keys=keys)
    drafted = asked.value if asked is not None else ranks
    heads = view.integer("num_attention_heads")
    if heads and drafted > 0 and heads % drafted:
        says = f"{heads} attention heads do not divide into {drafted} ranks"
        case.refuse(RefusalKind.TENSOR_PARALLEL, "config", says, at=view.at("num_attention_heads"))
    if ranks <= 1:
        return
    groups = view.integer("num_key_value_heads") or heads
    if groups and not view.get("kv_lora_rank") and groups % ranks and ranks % groups:
        says = f"{groups} key-value heads neither divide into {ranks} ranks nor multiply up to them"
        case.refuse(RefusalKind.TENSOR_PARALLEL, "load", says, at=view.at("num_key_value_heads"))
    inner = view.integer("intermediate_size")
    if inner and inner % ranks:
        says = f"intermediate_size {inner} does not divide into {ranks} ranks"
        case.refuse(RefusalKind.TENSOR_PARALLEL, "load", says, at=view.at("intermediate_size"))


def ranks_of_head(case: Case, view: View) -> None:
    """V1 splits a drafter on captured states like its target, whatever ``draft_tensor_parallel_size`` says."""
    ranks = case.request.tensor_parallel.value if case.request.tensor_parallel else 1
    asked = case.request.draft_tensor_parallel
    key = "parallel.draft-size-for"
    if asked is None or asked.value != 1 or ranks <= 1:
        return
    says = f"the drafter is split over the target's {ranks} ranks all the same"
    case.ignore_flag("draft_tensor_parallel_size", asked.at, says, key)
    heads = view.integer("num_attention_heads")
    if heads and heads % ranks:
        says = f"{heads} attention heads do not divide into the target's {ranks} ranks, over which the drafter is split"
        case.refuse(RefusalKind.TENSOR_PARALLEL, "load", says, at=view.at("num_attention_heads"), keys=(key,))


def context(case: Case, view: View, *, runner: str, shared: bool = True) -> None:
    """What happens where the drafter's positions end before the target's.

    ``shared`` is False for a draft model of its own: its table is never raised, and its own length bounds it.
    """
    target = case.request.context_length or case.target.max_position_embeddings
    positions = view.integer("max_position_embeddings")
    if target is None or positions is None:
        return
    own = _own_length(case, positions, target.value)
    if positions >= target.value:
        return
    law = case.world.text("context.draft-raised")
    at = view.at("max_position_embeddings")
    key = "context.draft-raised"
    if not shared:
        _beyond(case, at, own=own, target=target.value, runner=runner)
    elif law == "always" or (law == "if only the cache grows" and _only_cache(view)):
        change = (str(positions), str(target.value))
        case.rewrite("max_position_embeddings", change, "raised to the length served", key, at=at)
    elif law == "no":
        _overrun(case, view, positions=positions, target=target.value)
    elif runner == "v2" and case.world.flag("context.target-lowered"):
        change = (str(target.value), str(own))
        says = "lowered to the drafter's own length, whose rotary table cannot grow"
        case.rewrite("max_model_len", change, says, "context.target-lowered", at=at)
    else:
        case.step("context", f"nothing is drafted from position {own} on", key, at=at)


def _overrun(case: Case, view: View, *, positions: int, target: int) -> None:
    """No table is raised, and no position is looked at before it is looked up."""
    says = f"positions {positions} to {target} are looked up past the end of the drafter's rotary table"
    topic = "context"
    if _only_cache(view):
        # Compiled lookups assert their index, and the device with them; the eager kernel reads on.
        eager = "--enforce-eager" in case.request.options
        topic = OVERRUN_EAGER if eager else OVERRUN
        says += ", and what lies behind it is read" if eager else ", and the compiled drafter stops the engine there"
    case.step(topic, says, "context.draft-raised", at=view.at("max_position_embeddings"))


def _beyond(case: Case, at: Location, *, own: int, target: int, runner: str) -> None:
    if runner != "v2":
        case.step("context", f"nothing is drafted from position {own} on", "draft-model.past-its-length", at=at)
    elif case.world.flag("context.target-lowered"):
        says = "lowered to the draft model's own length"
        case.rewrite("max_model_len", (str(target), str(own)), says, "context.target-lowered", at=at)
    else:
        says = f"V2 goes on drafting: positions {own} to {target} are past the end of the draft model's rotary table"
        case.step("context", says, "context.target-lowered", at=at)


def _own_length(case: Case, positions: int, target: int) -> int:
    limit = case.request.speculative_config.get("max_model_len")
    own = min(positions, target)
    if limit is None or not isinstance(limit.value, int):
        return own
    bound = target if case.world.flag("context.own-length-applied") else own
    if limit.value > bound:
        says = f"max_model_len of the drafter is {limit.value}, over {bound}"
        keys = ("context.own-length-applied",)
        case.refuse(RefusalKind.CONTEXT, "config", says, at=limit.at, keys=keys)
    return limit.value


def _only_cache(view: View) -> bool:
    for key in ("rope_scaling", "rope_parameters"):
        found = view.get(key)
        if found is not None and isinstance(found.value, dict):
            kind = found.value.get("rope_type", found.value.get("type", "default"))
            if kind not in _CACHE_ONLY:
                return False
    return True


def mask_token(case: Case, view: View, *, runner: str = "v1") -> None:
    """The token that stands for what is not drafted yet, under any of its names."""
    fact = "parallel.token-keys-v2" if runner == "v2" else "parallel.token-keys"
    keys = case.world.names(fact)
    found = next((value for key in keys if (value := _token(view, key)) is not None), None)
    if found is None:
        says = f"parallel drafting needs one of {', '.join(keys)} in the drafter's config"
        case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=view.raw.at(), keys=(fact,))
        return
    vocab = case.target.vocab_size.value if case.target.vocab_size else view.integer("vocab_size")
    if isinstance(found.value, int) and vocab is not None and not 0 <= found.value < vocab:
        says = f"the mask token {found.value} is outside the vocabulary of {vocab}"
        case.refuse(RefusalKind.VOCABULARY, "first-request", says, at=found.at, keys=(fact,))


def _token(view: View, key: str) -> Located[object] | None:
    outer, dot, inner = key.partition(".")
    found = view.get(outer)
    if dot:
        nested = found.value if found and isinstance(found.value, dict) else {}
        return Located(nested[inner], view.at(outer)) if inner in nested else None
    if key == "mask_token_id" and found is not None and found.value is None:
        return None
    return found
