"""What SGLang makes of the flags of DFLASH, DSPARK, NGRAM and UNO: token counts, blocks, and what stands beside."""

from __future__ import annotations

from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.facts import World
from drafter_lint.findings import Located, Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

BLOCK_METHODS = ("DFLASH", "DSPARK")
#: Keys by which a target's config tells that a DSpark drafter rides inside it.
BUNDLED = ("dspark_block_size", "dspark_markov_rank", "dspark_noise_token_id", "dspark_target_layer_ids")
_TOKENS = "--speculative-num-draft-tokens"
_PATH = "--speculative-draft-model-path"


def block(request: LaunchRequest, opened: Fields, target: Target, notes: Notes, *, method: str) -> None:
    """A block a step: one step, one branch, as many tokens as the block has, or one more."""
    _beside(notes.world, request, notes, method=method)
    if request.drafter is None and not (method == "DSPARK" and (bundled(target) or in_folder(notes.world, target))):
        says = f"{method} needs --speculative-draft-model-path"
        at = (request.method.at,) if request.method else ()
        notes.refuse(RefusalKind.DRAFT_PATH_MISSING, "arguments", says, "block.path", at=at)
    for what, given in (("--speculative-num-steps", request.num_steps), ("--speculative-eagle-topk", request.topk)):
        if given is not None and given.value != 1:
            says = f"{method} drafts a block in one step and one branch"
            notes.rewrite(what, str(given.value), "1", says, "block.one-step", at=given.at)
    _size(request, opened, notes, method=method)
    running(notes.world, request, notes)


def bundled(target: Target) -> bool:
    """True if the target's config has a key of a DSpark drafter."""
    return any(target.checkpoint.config.value.get(key) is not None for key in BUNDLED)


def in_folder(world: World, target: Target) -> bool:
    """True if a DSpark drafter lies in the target's own folder ``dspark``, which newer releases look into."""
    return world.flag("dspark.folder") and target.checkpoint.other_json("dspark/config.json") is not None


def running(world: World, request: LaunchRequest, notes: Notes) -> None:
    """Every speculative method caps what runs at once."""
    if "--max-running-requests" not in request.options:
        count = world.text("eagle.running-requests")
        says = "speculation caps the requests that run at once"
        notes.rewrite("--max-running-requests", "unset", count, says, "eagle.running-requests", at=None)


def _beside(world: World, request: LaunchRequest, notes: Notes, *, method: str) -> None:
    stages = request.options.get("--pp-size")
    if method == "DFLASH" and stages is not None and stages.value not in (None, "1"):
        says = f"{method} runs in one pipeline stage only; --pp-size is {stages.value}"
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, "block.pipeline", at=(stages.at,))
    attention = request.options.get("--enable-dp-attention")
    if attention is None:
        return
    law = world.text("block.dp-attention") if method == "DFLASH" else "needs-lm-head"
    if law == "refused":
        says = f"{method} does not go with data-parallel attention"
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, "block.dp-attention", at=(attention.flag_at,))
    elif "--enable-dp-lm-head" not in request.options:
        says = f"{method} with data-parallel attention needs --enable-dp-lm-head"
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, "block.dp-attention", at=(attention.flag_at,))


def _flag(request: LaunchRequest, name: str) -> Located[int] | None:
    option = request.options.get(name)
    value = option.value if option else None
    return Located(int(value), option.at) if option and value and value.lstrip("-").isdigit() else None


def _size(request: LaunchRequest, opened: Fields, notes: Notes, *, method: str) -> None:
    flag = "--speculative-dflash-block-size" if method == "DFLASH" else "--speculative-dspark-block-size"
    typed, tokens = _flag(request, flag), request.num_draft_tokens
    more = 0 if method == "DFLASH" else 1
    if typed is not None and typed.value <= 0:
        says = f"{flag} is {typed.value}; a block has at least one token"
        notes.refuse(RefusalKind.TOKEN_COUNTS, "arguments", says, "block.size", at=(typed.at,))
        return
    written = block_size(opened, method=method)
    block = typed or (None if method == "DFLASH" and tokens is not None else written)
    need = None if block is None else block.value + more
    if need is not None and tokens is not None and tokens.value != need:
        what = "the block" if not more else "the block and one more"
        says = f"{_TOKENS} is {tokens.value}, and {what} is {need} tokens"
        at = (tokens.at, *((block.at,) if block else ()))
        notes.refuse(RefusalKind.TOKEN_COUNTS, "arguments", says, "block.size", at=at)
        return
    if tokens is not None and more and tokens.value < 2:
        says = f"{_TOKENS} is {tokens.value}; {method} needs at least 2"
        notes.refuse(RefusalKind.TOKEN_COUNTS, "arguments", says, "block.size", at=(tokens.at,))
        return
    count = tokens.value if tokens else need if need is not None else {0: 16, 1: 8}[more]
    if tokens is None:
        source = "the flag" if typed else "block_size of the drafter" if written else "neither a flag nor the config"
        says = f"{count} draft tokens, from {source}"
        notes.rewrite(_TOKENS, "unset", str(count), says, "block.size", at=None)
    elif written is not None and method == "DFLASH" and tokens.value != written.value:
        says = f"blocks of {tokens.value} tokens as asked for, although the drafter was made for {written.value}"
        notes.step("tokens", says, "block.size", at=written.at)
    window = _flag(request, "--speculative-draft-window-size")
    if window is not None and method == "DFLASH" and 0 < window.value < count:
        says = f"--speculative-draft-window-size {window.value} is shorter than a block of {count} tokens"
        notes.refuse(RefusalKind.TOKEN_COUNTS, "arguments", says, "block.window", at=(window.at,))


def block_size(fields: Fields, *, method: str) -> Located[int] | None:
    """Where SGLang reads the size of a block: ``dspark_block_size``, ``dflash_config.block_size``, ``block_size``."""
    config = fields.config
    prefixed = config.integer("dspark_block_size") if method == "DSPARK" else None
    return prefixed or config.integer("dflash_config", "block_size") or config.integer("block_size")


def ngram(world: World, request: LaunchRequest, notes: Notes) -> None:
    """NGRAM drafts from what was said before: no drafter, a tree as broad as its own flag says."""
    if request.drafter is not None:
        notes.unread_flag(_PATH, request.drafter.at, "NGRAM opens no drafter", "ngram.laws")
    breadth = _flag(request, "--speculative-ngram-max-bfs-breadth")
    topk = breadth.value if breadth else 10
    if request.topk is not None and request.topk.value != topk:
        says = f"NGRAM's tree is as broad as --speculative-ngram-max-bfs-breadth, {topk}"
        notes.rewrite(
            "--speculative-eagle-topk", str(request.topk.value), str(topk), says, "ngram.laws", at=request.topk.at
        )
    tokens = request.num_draft_tokens
    if tokens is None:
        window = _flag(request, "--speculative-ngram-max-match-window-size")
        count = (window.value if window else 12) if world.text("ngram.laws") == "window" else 12
        notes.rewrite(_TOKENS, "unset", str(count), f"NGRAM drafts {count} tokens by default", "ngram.laws", at=None)
    attention = request.options.get("--enable-dp-attention")
    if attention is not None:
        says = "NGRAM does not go with data-parallel attention"
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, "ngram.laws", at=(attention.flag_at,))
    page, backend = request.options.get("--page-size"), request.options.get("--attention-backend")
    paged = page is not None and (page.value or "").isdigit() and int(page.value or 0) > 1
    if topk > 1 and paged and page is not None and backend is not None and backend.value != "flashinfer":
        says = f"NGRAM's tree of {topk} branches over pages of {page.value} tokens needs flashinfer"
        notes.refuse(RefusalKind.TOKEN_COUNTS, "arguments", says, "ngram.laws", at=(page.at, backend.at))
    running(world, request, notes)


def uno(request: LaunchRequest, notes: Notes) -> None:
    """UNO drafts with the target and an adapter: a drafter is refused, the adapter and the width are asked for."""
    asked = request.method.at if request.method else None
    at: tuple[Location, ...] = (asked,) if asked else ()
    if request.drafter is not None:
        says = "UNO drafts with the target itself and takes no --speculative-draft-model-path"
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, "uno.laws", at=(request.drafter.at, *at))
    if "--uno-lora-path" not in request.options:
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", "UNO needs --uno-lora-path", "uno.laws", at=at)
    if request.num_draft_tokens is None:
        says = "UNO needs --speculative-num-draft-tokens"
        notes.refuse(RefusalKind.TOKEN_COUNTS, "arguments", says, "uno.laws", at=at)
    given = request.tensor_parallel
    if given is not None and given.value != 1:
        says = f"UNO runs on one device; tensor parallelism is {given.value}"
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, "uno.laws", at=(given.at,))
