"""A checkpoint without config.json.

## What it checks
That config.json is in the folder or repository named, for the drafter and for the target.

## Why it bites
Engines read it before anything else and stop without it. Often it is there, one folder further down: a trainer's
output folder was named instead of the checkpoint inside it.

## Fix
Name the folder that has the config.json, or export the checkpoint with one.

## Limits
A folder in Mistral's own layout (params.json), a GGUF file and a LoRA adapter have no config.json and are not judged by
this rule.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from drafter_lint.errors import Trouble
from drafter_lint.findings import Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.access.trouble import about_config, place, said
from drafter_lint.scope import Reading

_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.33.0",
        file="transformers_utils/config.py",
        symbol="get_config",
        how="read",
        note="names config.json and params.json as the two files it looks for",
    ),
    Evidence(
        engine="sglang",
        version="0.5.23",
        file="srt/utils/hf_transformers/config.py",
        symbol="get_config",
        how="read",
        note="AutoConfig.from_pretrained raises without it",
    ),
)


@rule("DFL005", "no-config", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """config.json is not among the files."""
    if at.trouble.trouble is not Trouble.MISSING or not about_config(at):
        return
    files = at.checkpoint.source.files
    other = sorted(name for name in files if name in {"params.json", "adapter_config.json"} or name.endswith(".gguf"))
    if other:
        reason = f"{at.checkpoint.role} {at.trouble.what}: {at.trouble.detail}; there is {other[0]}, which is not read"
        yield NotChecked(reason, needed=True)
        return
    lists = sorted(name for name in files if fnmatchcase(name, "freq_*.pt"))
    fix = Fix(at.trouble.hint or "export the checkpoint together with its config.json")
    if lists and at.checkpoint.role == "drafter":
        fix = Fix(f"name the drafter; {lists[0]} looks like a token map of FR-Spec, which goes to the engine by a flag")
    yield Found(
        message=f"the {at.checkpoint.role} has no config.json: {said(at)}",
        locations=(place(at, "missing"),),
        measured={"files": len(files)},
        evidence=_EVIDENCE,
        fix=fix,
    )
