"""A tokenizer file that is not what its name says.

## What it checks
The tokenizer files that other rules compare, and the small files beside them: `tokenizer_config.json`,
`special_tokens_map.json`, `added_tokens.json` and `generation_config.json`. That the JSON is JSON, that a
`tokenizer.model` holds pieces, that no Git LFS pointer stands in place of either.

## Why it bites
Engines build the target's tokenizer before they load a weight, and stop at a file that is none. They pass over a
`generation_config.json` that cannot be read, in silence: with it go the ids that end an answer. What a drafter ships
itself is opened by no engine, but of a draft model whose tokens are translated; nobody can compare it, and whoever
serves the drafter alone meets it.

## Fix
Fetch the file again, or take the drafter's copy out.

## Limits
Files are read as far as other rules read them: of repositories without a tokenizer on the drafter's side only the small
ones. Parts that no id depends on, such as merges, are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.checkpoint.tokenizer.declared import GENERATION
from drafter_lint.drafters import Drafter, DraftModel, Eagle
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import self_drafting
from drafter_lint.rules.vocabulary.drafted import drafted_vocabulary
from drafter_lint.scope import Pair

_CONFIG = " config.json"  # which rules of its own speak of
_BROKEN = {Trouble.MALFORMED, Trouble.LFS_POINTER}
#: How readers of ours say that a file is of another kind altogether, and not that they hold it to a law of their own.
_NONE = ("not JSON", "not UTF-8", "no SentencePiece model", "a Git LFS pointer", "nested")
_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.8.5 to 0.33.0",
        file="transformers_utils/config.py",
        symbol="try_get_generation_config",
        how="read",
        note="an OSError, which transformers makes of JSON that cannot be read, is taken for an absent file",
    ),
    Evidence(
        engine="",
        version="transformers 5.0",
        file="tokenization_utils_base.py",
        symbol="PreTrainedTokenizerBase.from_pretrained",
        how="read",
        note="reads each of these files that is there with json.load, and passes nothing over",
    ),
)


@rule("DFL325", "tokenizer-unreadable", Outcome.REFUSES)
def check(at: Pair[Drafter]) -> Checks:
    """Every file that was looked at, once."""
    ours, theirs = at.drafter.checkpoint, at.target.checkpoint
    if not at.drafter.method or at.target.standin:
        return
    compared = ours.tokenizer.file is not None and not self_drafting(at)
    copied = compared and _copied(ours, theirs)
    told: set[str] = set()
    for checkpoint in (ours, theirs) if not self_drafting(at) else (theirs,):
        small = not checkpoint.distant or (checkpoint is theirs and _ends_asked(at))
        for read in _parts(checkpoint, small=compared or small, whole=compared, copied=copied):
            try:
                read()
            except Unavailable as trouble:
                if trouble.trouble in _BROKEN and trouble.what not in told and not trouble.what.endswith(_CONFIG):
                    told.add(trouble.what)
                    yield _found(checkpoint, trouble, translated=isinstance(at.drafter, DraftModel))


def _ends_asked(at: Pair[Drafter]) -> bool:
    """True if special-tokens-not-drafted looks for the ids that end an answer."""
    drafted = drafted_vocabulary(at.drafter, at.target) if isinstance(at.drafter, Eagle) else None
    return drafted is not None and bool(drafted.targets) and not drafted.fault


def _copied(ours: Checkpoint, theirs: Checkpoint) -> bool:
    """True if nobody reads a vocabulary: both are made of the same files."""
    try:
        return ours.tokenizer.same_files(theirs.tokenizer)
    except Unavailable:
        return False


def _parts(checkpoint: Checkpoint, *, small: bool, whole: bool, copied: bool) -> Iterator[Callable[[], object]]:
    """What other rules read, piece by piece: one that fails hides no other."""
    tokenizer = checkpoint.tokenizer
    if small:
        yield lambda: tokenizer.special("eos")
    if whole or not checkpoint.distant:
        yield lambda: tokenizer.added
        yield lambda: tokenizer.chat_templates
    if whole and not copied:
        yield lambda: tokenizer.vocabulary


def _found(checkpoint: Checkpoint, trouble: Unavailable, *, translated: bool) -> Found:
    file = trouble.what.rpartition(": ")[2]
    target = checkpoint.role == "target"
    if not target:
        only = "only what translates between two vocabularies opens the drafter's copy"
        outcome, then = Outcome.HYGIENE, only if translated else "no engine opens the drafter's copy"
    elif file == GENERATION:
        outcome, then = Outcome.HYGIENE, "engines go on without it, and without the ids in it that end an answer"
    elif trouble.detail.startswith(_NONE):
        outcome, then = Outcome.REFUSES, "the target's tokenizer cannot be built"
    else:
        outcome, then = Outcome.HYGIENE, "what it says of ids is not checked"
    return Found(
        message=f"{file} of the {checkpoint.role}: {trouble.detail}; {then}",
        locations=(Location(role=checkpoint.role, subject=checkpoint.subject, file=file, label="cannot be read"),),
        measured={"file": file},
        evidence=_EVIDENCE[:1] if file == GENERATION else _EVIDENCE[1:],
        fix=Fix(f"fetch {file} again" if target else f"fetch {file} again, or take it out"),
        outcome=outcome,
        confidence=Confidence.LIKELY,
    )
