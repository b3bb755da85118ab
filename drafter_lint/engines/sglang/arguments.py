"""What SGLang makes of its arguments: which flags it knows, the algorithm, the token counts, where the drafter is."""

from __future__ import annotations

from dataclasses import dataclass

from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.sglang import block_arguments
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.tables import has
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Located
from drafter_lint.launch import LaunchRequest, flag_releases, spelled
from drafter_lint.targets import Target

ALGORITHM = "--speculative-algorithm"
#: Algorithms whose arguments and worker are followed here.
EAGLE_FAMILY = ("EAGLE", "EAGLE3", "STANDALONE")
_LATER = Confidence.LIKELY


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The arguments after every default and rewrite.

    Attributes:
        method: the algorithm, None if the server does not speculate.
        known: False if the algorithm is none of this release's.
        from_target: True if no drafter is named: the target's own folder is opened as the drafter.
        typed: the algorithm as typed.
    """

    method: str | None
    known: bool = True
    from_target: bool = False
    typed: Located[str] | None = None


def read_arguments(world: World, request: LaunchRequest, target: Target, notes: Notes) -> Arguments:
    """Follow the arguments in the order the engine does."""
    _surface(world, request, notes)
    method = _algorithm(world, request, notes)
    if method is None:
        _unused(request, notes)
        return Arguments(method=None)
    if method not in world.names("algorithm.names"):
        return Arguments(method=method, known=False, typed=request.method)
    _stages(world, request, notes, method=method)
    if method in EAGLE_FAMILY:
        _counts(world, request, target, notes, method=method)
        block_arguments.running(world, request, notes)
    elif method == "NGRAM":
        block_arguments.ngram(world, request, notes)
    elif method == "UNO":
        block_arguments.uno(request, notes)
    return Arguments(method=method, from_target=request.drafter is None, typed=request.method)


def _surface(world: World, request: LaunchRequest, notes: Notes) -> None:
    """Flags this release does not have, and values it cannot read."""
    release = world.basis
    if request.assumed:
        return
    for word in request.unknown:
        says = f"no release of SGLang read has {word.value}"
        notes.refuse(RefusalKind.FLAG_UNKNOWN, "arguments", says, "arguments.parser", at=(word.at,))
    for option in request.options.values():
        if release not in flag_releases("sglang") or not option.spelling.startswith("-"):
            continue
        names = spelled("sglang", option.spelling, release=release)
        if len(names) != 1:
            what = f"could mean {', '.join(names)}" if names else f"is no flag of SGLang {release}"
            says = f"{option.spelling} {what}"
            notes.refuse(RefusalKind.FLAG_UNKNOWN, "arguments", says, "arguments.parser", at=(option.flag_at,))
    for at, expected in request.problems:
        says = f"a value that is not {expected}"
        notes.refuse(RefusalKind.FLAG_VALUE, "arguments", says, "arguments.parser", at=(at,))


def _algorithm(world: World, request: LaunchRequest, notes: Notes) -> str | None:
    typed = request.method
    if typed is None:
        notes.step("method", "no --speculative-algorithm: the server does not speculate", "algorithm.names")
        return None
    any_case = world.flag("algorithm.any-case")
    name = typed.value.upper() if any_case else typed.value
    if name not in world.names("algorithm.names"):
        listed = ", ".join(world.names("algorithm.names"))
        says = f"{typed.value} is no speculative algorithm of SGLang {world.version}; it has {listed}"
        notes.refuse(RefusalKind.METHOD_UNKNOWN, "arguments", says, "algorithm.names", at=(typed.at,))
        return name
    if name == "NEXTN":
        notes.step("method", "NEXTN is another name of EAGLE", "algorithm.names", at=typed.at)
        says = "NEXTN shares EAGLE's implementation"
        notes.rewrite(ALGORITHM, "NEXTN", "EAGLE", says, "algorithm.names", at=typed.at)
        return "EAGLE"
    notes.step("method", f"the flag says {typed.value}", "algorithm.names", "algorithm.is-eagle", at=typed.at)
    return None if name == "NONE" else name


def _unused(request: LaunchRequest, notes: Notes) -> None:
    for name, option in request.options.items():
        if name.startswith("--speculative-") and name != ALGORITHM:
            notes.unread_flag(name, option.flag_at, "not used without --speculative-algorithm", "algorithm.names")


def _counts(world: World, request: LaunchRequest, target: Target, notes: Notes, *, method: str) -> None:
    """Steps, topk and draft tokens: all three, or none of them."""
    steps, topk, tokens = request.num_steps, request.topk, request.num_draft_tokens
    if steps is None:
        given = [value for value in (topk, tokens) if value is not None]
        if given:
            says = "--speculative-num-steps is absent although --speculative-eagle-topk or -num-draft-tokens is given"
            places = tuple(value.at.saying("given without steps") for value in given)
            notes.refuse(RefusalKind.TOKEN_COUNTS, "arguments", says, "eagle.steps-absent", at=places)
            return
        chosen = _chosen(world, target, method)
        says = f"steps, topk and draft tokens are chosen by the target's architecture: {chosen}"
        notes.step("tokens", says, "eagle.chain-targets", "eagle.tree-targets")
        notes.rewrite("--speculative-num-draft-tokens", "unset", str(chosen[2]), says, "eagle.chain-targets", at=None)
        return
    if steps.value <= 0:
        _no_steps(world, steps, notes)
    if topk is None:
        later = world.text("eagle.topk-absent") == "later"
        says = f"--speculative-num-steps {steps.value} is given without --speculative-eagle-topk"
        notes.refuse(
            RefusalKind.TOKEN_COUNTS,
            "load" if later else "arguments",
            says,
            "eagle.topk-absent",
            at=(steps.at,),
            confidence=_LATER if later else Confidence.CERTAIN,
        )
        return
    branches = _with_pages(world, request, topk, notes)
    if branches == 1 and (tokens is None or tokens.value != steps.value + 1):
        before = "unset" if tokens is None else str(tokens.value)
        says = f"with one branch a step, {steps.value} steps are {steps.value + 1} draft tokens"
        at = tokens.at if tokens else None
        what = "--speculative-num-draft-tokens"
        notes.rewrite(what, before, str(steps.value + 1), says, "eagle.topk-one", at=at)
    elif branches > 1 and tokens is None:
        says = f"--speculative-eagle-topk {topk.value} is given without --speculative-num-draft-tokens"
        places = (topk.at,)
        notes.refuse(RefusalKind.TOKEN_COUNTS, "load", says, "eagle.topk-one", at=places, confidence=_LATER)


def _no_steps(world: World, steps: Located[int], notes: Notes) -> None:
    """Nothing to draft: later releases only verify, earlier ones join an empty list of drafts."""
    if world.text("eagle.zero-steps") == "verified":
        notes.step("tokens", f"{steps.value} steps: nothing is drafted", "eagle.zero-steps", at=steps.at)
        return
    says = f"--speculative-num-steps is {steps.value}, and the worker has no drafts to join"
    notes.refuse(RefusalKind.TOKEN_COUNTS, "first-request", says, "eagle.zero-steps", at=(steps.at,))


def _chosen(world: World, target: Target, method: str) -> tuple[int, int, int]:
    architecture = target.architecture.value if target.architecture else ""
    chain = world.names("eagle.chain-targets")
    if method == "STANDALONE" or ("*" in chain and architecture not in world.names("eagle.tree-targets")):
        return (3, 1, 4)
    return (3, 1, 4) if architecture in chain else (5, 4, 8)


def _with_pages(world: World, request: LaunchRequest, topk: Located[int], notes: Notes) -> int:
    """A tree of drafts over pages of more than one token."""
    page = request.options.get("--page-size")
    backend = request.options.get("--attention-backend")
    paged = page is not None and (page.value or "").isdigit() and int(page.value or 0) > 1
    law = world.text("eagle.topk-with-pages")
    if topk.value <= 1 or not paged or page is None or law == "accepted":
        return topk.value
    if law == "one":
        says = "no tree of drafts over pages of several tokens"
        what = "--speculative-eagle-topk"
        notes.rewrite(what, str(topk.value), "1", says, "eagle.topk-with-pages", at=topk.at)
        return 1
    if backend is not None and backend.value not in law.split():
        says = f"--speculative-eagle-topk {topk.value} with --page-size {page.value} needs one of {law}"
        at = (topk.at, page.at, backend.at)
        notes.refuse(RefusalKind.TOKEN_COUNTS, "arguments", says, "eagle.topk-with-pages", at=at)
    return topk.value


def _stages(world: World, request: LaunchRequest, notes: Notes, *, method: str) -> None:
    """Pipeline stages: none beside speculation, but for EAGLE and DSPARK in newer releases' prefill servers."""
    stages = request.options.get("--pp-size")
    if stages is None or stages.value in (None, "1") or method in {"DFLASH", "UNO"}:  # told with their other laws
        return
    mode = request.options.get("--disaggregation-mode")
    prefill = mode is not None and mode.value == "prefill"
    relay = request.environment.get("SGLANG_ENABLE_PP_SPEC")
    relayed = relay is not None and relay.value.lower() in {"1", "true", "yes", "y", "on"}
    alone = relayed and mode is None and method == "EAGLE"
    fits = alone or (prefill and not relayed and method in {"EAGLE", "DSPARK"})
    if world.text("speculation.pipeline") == "eagle-or-prefill" and fits:
        notes.step("pipeline", f"{method} over {stages.value} pipeline stages", "speculation.pipeline", at=stages.at)
        return
    says = f"{method} does not go with pipeline parallelism; --pp-size is {stages.value}"
    notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, "speculation.pipeline", at=(stages.at,))


def fills_itself(world: World, target: Target) -> bool:
    """True if the engine makes the target's own folder the draft path, because drafting layers ride inside it."""
    return has(world, "draft.self-filled", target.architecture.value if target.architecture else None)
