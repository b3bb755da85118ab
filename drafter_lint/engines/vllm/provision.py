"""Where head, embedding and vocabulary map come from once the weights are in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from drafter_lint.engines.plan import MapUse, ParameterState, Provision, RefusalKind
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.classes import DraftClass
from drafter_lint.engines.vllm.weights import Own
from drafter_lint.errors import Unavailable

EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"
MAP = "draft_id_to_target_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisions:
    """Head, embedding and map, and the parameters once the shared ones are bound."""

    embedding: Provision
    head: Provision
    map: MapUse
    parameters: tuple[ParameterState, ...]


def provide(
    case: Case, drafter: DraftClass, own: Own, *, parameters: tuple[ParameterState, ...], method: str, runner: str
) -> Provisions:
    """What the drafter runs with."""
    states = {state.name: state for state in parameters}
    embedding = _embedding(case, drafter, own, filled=_filled(states, EMBEDDING), method=method, runner=runner)
    head = _head(case, drafter, own, method=method, filled=_filled(states, HEAD))
    mapping = _map(case, drafter, filled=_filled(states, MAP))
    for topic, provision in (("embedding", embedding), ("head", head)):
        case.step(topic, provision.says, "share.embedding" if topic == "embedding" else "share.head")
    case.step("map", mapping.says, "class.map")
    bound = {EMBEDDING: embedding, HEAD: head}
    return Provisions(
        embedding=embedding,
        head=head,
        map=mapping,
        parameters=tuple(_bind(state, bound.get(state.name)) for state in parameters),
    )


def _filled(states: dict[str, ParameterState], name: str) -> bool:
    return name in states and states[name].state == "filled"


def _bind(state: ParameterState, provision: Provision | None) -> ParameterState:
    if provision is not None and provision.provider == "target":
        return replace(state, state="shared", holds="the target's")
    return state


def _embedding(case: Case, drafter: DraftClass, own: Own, *, filled: bool, method: str, runner: str) -> Provision:
    law = case.world.text("share.embedding")
    evidence = case.evidence("share.embedding", "share.embedding-width-checked")
    keep = Provision(
        provider="own" if filled else "uninitialised",
        says="the drafter keeps its own embedding" if filled else "the drafter keeps an embedding nothing filled",
        evidence=evidence,
    )
    shared = Provision(
        provider="target", says="the drafter has no embedding of its own and is given the target's", evidence=evidence
    )
    if law == "eagle3 without its own":
        return shared if method == "eagle3" and not own.embedding else keep
    if law == "of equal shape":
        says = "the embeddings have the same shape, so the target's takes the place of the drafter's"
        return replace(shared, says=says) if _same_table(case, drafter) else keep
    if own.embedding:
        return keep
    if _widths_differ(case, drafter):
        if runner == "v1" and case.world.flag("share.embedding-width-checked"):
            return replace(
                keep, says="the target's embedding has another width, so the drafter keeps one nothing filled"
            )
        _too_wide(case, drafter, "embedding", "share.embedding")
    return shared


def _head(case: Case, drafter: DraftClass, own: Own, *, method: str, filled: bool) -> Provision:
    law = case.world.text("share.head")
    evidence = case.evidence("share.head")
    if drafter.kind == "eagle1":
        return Provision(provider="target", says="an EAGLE head drafts with the target's head", evidence=evidence)
    if law != "without its own":
        if method != "eagle3":
            says = "the target's head takes the place of the drafter's for every method but eagle3"
            return Provision(provider="target", says=says, evidence=evidence)
    elif not own.head:
        cut = drafter.draft_vocab or 0
        target = case.target.vocab_size.value if case.target.vocab_size else cut
        says = "the drafter has no head of its own and is given the target's"
        if cut < target:
            says += f", of which the first {cut} of {target} rows are used"
        if _widths_differ(case, drafter):
            _too_wide(case, drafter, "head", "share.head")
        return Provision(provider="target", says=says, evidence=evidence)
    says = "the drafter keeps its own head" if filled else "the drafter keeps a head nothing filled"
    return Provision(provider="own" if filled else "uninitialised", says=says, evidence=evidence)


def _map(case: Case, drafter: DraftClass, *, filled: bool) -> MapUse:
    evidence = case.evidence("class.map")
    if drafter.kind == "eagle1":
        return MapUse(use="none", says="this class drafts over the whole vocabulary", evidence=evidence)
    draft, vocab = drafter.draft_vocab or 0, drafter.numbers["vocab_size"]
    target = case.target.vocab_size.value if case.target.vocab_size else vocab
    if draft > vocab and not filled:
        says = f"the head drafts over {draft} ids and vocab_size leaves room for {vocab}"
        _counts_differ(case, draft, vocab, says)
    if not drafter.has_map:
        if draft < vocab:
            says = f"without a map the head's {draft} ids must be the {vocab} of vocab_size"
            _counts_differ(case, draft, vocab, says)
        says = "draft and target vocabulary are equal, so the class keeps no map"
        return MapUse(use="identity", says=says, evidence=evidence)
    if filled:
        _outside(case, vocab)
        return MapUse(use="offsets", says="target id = draft id + d2t[draft id]", evidence=evidence)
    if draft >= target:
        return MapUse(
            use="identity", says="no d2t: offsets stay zero, which is right for a whole vocabulary", evidence=evidence
        )
    says = f"no d2t: offsets stay zero, so draft ids 0 to {draft - 1} pass for target ids"
    return MapUse(use="zeros", says=says, evidence=evidence)


def _counts_differ(case: Case, draft: int, vocab: int, says: str) -> None:
    """Logits go into the first ids of a row as wide as vocab_size, or without a map must be that row."""
    case.refuse(
        RefusalKind.VOCABULARY,
        "first-request",
        says,
        at=case.drafter.config.at("vocab_size"),
        keys=("class.map",),
        measured={"draft_vocab_size": draft, "vocab_size": vocab},
    )


def _outside(case: Case, vocab: int) -> None:
    """All logits are scattered at once into a row as wide as vocab_size; torch also takes ids counted from its end."""
    try:
        read = case.drafter.vocab_map
    except Unavailable:
        return
    targets = read.targets
    if not targets or read.d2t_tensor is None or (-vocab <= min(targets) and max(targets) < vocab):
        return
    beyond = [target for target in targets if not -vocab <= target < vocab]
    case.refuse(
        RefusalKind.VOCABULARY,
        "first-request",
        f"d2t leads {len(beyond)} draft ids past the {vocab} ids of vocab_size, the first to {beyond[0]}",
        at=case.drafter.tensors.at(read.d2t_tensor.name),
        keys=("class.map",),
        measured={"outside": len(beyond), "target_id": beyond[0], "vocab_size": vocab},
    )


def _same_table(case: Case, drafter: DraftClass) -> bool:
    """Equal shapes after both vocabularies are padded to 64 rows."""
    rows, width = case.target.vocab_size, case.target.hidden_size
    if rows is None or width is None:
        return False
    padded = -(-drafter.numbers["vocab_size"] // 64) == -(-rows.value // 64)
    return padded and width.value == drafter.numbers["hidden_size"]


def _widths_differ(case: Case, drafter: DraftClass) -> bool:
    return case.target.hidden_size is not None and case.target.hidden_size.value != drafter.numbers["hidden_size"]


def _too_wide(case: Case, drafter: DraftClass, what: str, key: str) -> None:
    width = case.target.hidden_size.value if case.target.hidden_size else 0
    hidden = drafter.numbers["hidden_size"]
    case.refuse(
        RefusalKind.STATE_WIDTH,
        "first-request",
        f"the target's {what} is {width} wide and the drafter works with {hidden}",
        at=case.drafter.config.at("hidden_size"),
        keys=(key,),
        measured={"target": width, "drafter": hidden},
    )
