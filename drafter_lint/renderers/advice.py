"""What a finding advises and what it rests on, in words, for every renderer."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence

from drafter_lint.findings import AddArguments, Evidence, Fix, RemoveConfig, ReplaceArgument, SetConfig


def advice(fix: Fix, argv: Sequence[str], *, quoted: bool = False) -> str:
    """The advice, and the words to type where it does not hold them already; ``quoted`` as a shell wants them."""
    return ": ".join(filter(None, said_and_typed(fix, argv, quoted=quoted)))


def said_and_typed(fix: Fix, argv: Sequence[str], *, quoted: bool = False) -> tuple[str, str]:
    """The advice as a sentence and as words to type; one of them is empty where the other says it all."""
    typed = "; ".join(_typed(fix, argv, shlex.quote if quoted else str))
    if fix.text in typed:
        return "", typed
    return fix.text, "" if typed in fix.text else typed


def citations(evidence: Sequence[Evidence]) -> Iterator[str]:
    """``sglang 0.5.23, srt/models/llama_eagle3.py, LlamaModel.forward (read)``, each once."""
    for item in dict.fromkeys(evidence):
        where = ", ".join(filter(None, (f"{item.engine} {item.version}".strip(), item.file, item.symbol)))
        yield f"{where} ({item.how})" + (f": {item.note}" if item.note else "")


def _typed(fix: Fix, argv: Sequence[str], word: Callable[[str], str]) -> Iterator[str]:
    for edit in fix.edits:
        if isinstance(edit, ReplaceArgument):
            before = argv[edit.index - 1] if 0 < edit.index <= len(argv) else ""
            value = word(edit.value)
            yield f"{before} {value}" if before.startswith("-") and "=" not in before else value
        elif isinstance(edit, AddArguments):
            yield " ".join(map(word, edit.values))
        elif isinstance(edit, SetConfig):
            yield f"config.json: {edit.pointer} = {json.dumps(edit.value)}"
        elif isinstance(edit, RemoveConfig):
            yield f"config.json: without {edit.pointer}"
