"""The drafter can never draft the end of an answer.

## What it checks
That at least one of the ids by which the target ends an answer is among the ids `d2t` leads to.

## Why it bites
What is not among the drafted ids is never proposed. The target still ends its answers: the token then comes from the
target itself, one step later than it could have. A vocabulary made from the answers of the target holds it, so its
absence also says that the ids were counted on other text.

## Fix
Build the draft vocabulary with the target's special tokens in it.

## Limits
One drafted end of several is enough: the others belong to other kinds of prompts. Control tokens of the chat template
that are not drafted are reported as a possibility, because most of them stand only in prompts; templates outside
`tokenizer_config.json` are not searched for them. A target that declares no end is not checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from drafter_lint.checkpoint import Tokenizer
from drafter_lint.drafters import Eagle
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, cut_short, rule
from drafter_lint.rules.shared import listed
from drafter_lint.rules.vocabulary.drafted import READERS, drafted_vocabulary
from drafter_lint.scope import Pair

_FIX = Fix("build the draft vocabulary with the target's special tokens in it")


@rule("DFL322", "special-tokens-not-drafted", Outcome.HYGIENE)
def check(at: Pair[Eagle]) -> Checks:
    """The target's ends against the map."""
    drafted = drafted_vocabulary(at.drafter, at.target)
    if drafted is None or not drafted.targets or drafted.fault:
        return
    ids = frozenset(drafted.targets)
    theirs = at.target.checkpoint.tokenizer
    try:
        eos = theirs.special("eos").everywhere
        controls = tuple(_controls(theirs, ids, {item.value for item in eos}))
    except Unavailable as trouble:
        yield cut_short(trouble)
        return
    if not eos:
        yield NotChecked("the target declares no id that ends an answer")
    elif not any(item.value in ids for item in eos):
        said = " or ".join(str(item.value) for item in eos)
        yield Found(
            message=f"the target ends an answer with id {said}, and none of the {len(ids)} drafted ids is that",
            locations=(
                at.drafter.tensor_at("d2t", "never leads there"),
                eos[0].at.saying("the end of an answer"),
            ),
            measured={"ends": [item.value for item in eos], "drafted": len(ids)},
            evidence=READERS,
            fix=_FIX,
            confidence=Confidence.LIKELY,
        )
    if controls:
        names = [f"{index} {text!r}" for index, text in controls]
        yield Found(
            message=f"{len(controls)} control tokens of the target's chat template are not drafted: {listed(names)}",
            locations=(at.drafter.tensor_at("d2t", "never leads there"),),
            measured={"controls": [index for index, _ in controls], "drafted": len(ids)},
            evidence=READERS,
            fix=_FIX,
            confidence=Confidence.POSSIBLE,
        )


def _controls(theirs: Tokenizer, ids: Collection[int], ends: Collection[int]) -> Iterator[tuple[int, str]]:
    """Special tokens that the chat template in tokenizer_config.json writes and the drafter cannot."""
    template = theirs.written_template
    for index, token in sorted(theirs.added.items()) if template else ():
        if token.special and index not in ids and index not in ends and token.text in template:
            yield index, token.text
