"""Methods that draft without a draft model: looking the prompt up, suffix trees, and handing states to a connector."""

from __future__ import annotations

from drafter_lint.engines.plan import Provision, RefusalKind
from drafter_lint.engines.vllm import runner
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.draft import Draft
from drafter_lint.findings import Located

METHODS = ("ngram", "[ngram]", "ngram_gpu", "suffix", "extract_hidden_states")
_DEPTH = 24


def run(case: Case, draft: Draft, *, given: Located[int] | None) -> None:
    """Plan a method that opens no drafter."""
    name = "ngram" if draft.method == "[ngram]" else draft.method or ""
    draft.method = name
    if not case.world.flag("method.v1-only-if-named"):
        draft.runner = runner.choose(case, method=name, parallel_drafting=False)
    says = "nothing is loaded: the drafter's files are not opened"
    draft.head = draft.embedding = Provision(provider="none", says=says, evidence=case.evidence("methods.known"))
    case.step("class", f"{name} drafts without a model", "methods.known")
    model = case.request.speculative_config.get("model")
    if model is not None and model.value not in {name, "[ngram]"}:
        says = f"method {name} drafts without a model: {model.value} is never opened"
        case.ignore_flag("model", model.at, says, "methods.known")
    if name == "suffix":
        _suffix(case, given=given)
        return
    if name in {"ngram", "ngram_gpu"}:
        _lookup(case)
    _tokens(case, given=given)


def _tokens(case: Case, *, given: Located[int] | None) -> None:
    at = given.at if given else place(case, "num_speculative_tokens")
    if given is None or given.value <= 0:
        written = "is not given" if given is None else f"is {given.value}"
        says = f"num_speculative_tokens {written}; it must be a positive number"
        case.refuse(RefusalKind.TOKEN_COUNTS, "config", says, at=at, keys=("flags.keys",))


def _lookup(case: Case) -> None:
    keys = ("prompt_lookup_min", "prompt_lookup_max")
    values = [case.request.speculative_config.get(key) for key in keys]
    for key, value in zip(keys, values, strict=True):
        if value is not None and isinstance(value.value, int) and value.value < 1:
            says = f"{key} is {value.value}; it must be at least 1"
            case.refuse(RefusalKind.FLAG_VALUE, "arguments", says, at=value.at, keys=("flags.lookup",))
    low, high = values
    if low is None or high is None or not isinstance(low.value, int) or not isinstance(high.value, int):
        return
    if low.value > high.value:
        says = f"prompt_lookup_min {low.value} is over prompt_lookup_max {high.value}"
        case.refuse(RefusalKind.FLAG_VALUE, "config", says, at=low.at, keys=("flags.lookup",))


def _suffix(case: Case, *, given: Located[int] | None) -> None:
    case.step("class", "the package arctic-inference must be installed beside vLLM", "flags.suffix")
    limits = {"max_tree_depth": (1, None), "max_cached_requests": (0, None), "max_spec_factor": (0, None)}
    for name, (least, most) in {**limits, "min_token_prob": (0, 1)}.items():
        value = case.request.speculative_config.get(f"suffix_decoding_{name}")
        number = value.value if value is not None else None
        if value is None or not isinstance(number, (int, float)) or isinstance(number, bool):
            continue
        if number < least or (most is not None and number > most):
            says = f"suffix_decoding_{name} is {number}; it must be {least} or more{' and at most 1' if most else ''}"
            case.refuse(RefusalKind.FLAG_VALUE, "config", says, at=value.at, keys=("flags.suffix",))
    if given is not None:
        _tokens(case, given=given)
        return
    depth = case.request.speculative_config.get("suffix_decoding_max_tree_depth")
    shown = depth.value if depth is not None else _DEPTH
    says = f"num_speculative_tokens is not given: {shown}, the depth of the tree"
    case.step("tokens", says, "flags.suffix", at=place(case, "num_speculative_tokens"))
