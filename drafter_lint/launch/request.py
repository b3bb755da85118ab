"""What the user asked an engine for: one launch request, every value located at its place in the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.findings import Located, Location


@dataclass(frozen=True, slots=True)
class Unresolved:
    """The value of a speculative key that holds a variable nobody has filled in; ``text`` is the JSON as typed."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One flag as typed.

    Attributes:
        name: the flag's canonical spelling at the engine ("--speculative-algorithm"), or a key of
            ``--speculative-config`` ("method").
        spelling: as typed ("--speculative-algo", "-tp", "speculative_config.method").
        value: the text after it, None for a bare switch.
        at: the place of the value (of the flag itself for a switch).
        flag_at: the place of the flag.
    """

    name: str
    spelling: str
    value: str | None
    at: Location
    flag_at: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """A command, understood without judging it; which spellings a version accepts is the plan's business.

    Attributes:
        engine: "sglang" or "vllm".
        argv: the command's words, the engine's own program words included if they were given.
        method: the algorithm or method as typed, None if not given.
        drafter: the draft model's path or id as typed.
        target: the served model's path or id as typed.
        num_speculative_tokens: vLLM's count.
        num_steps: SGLang's ``--speculative-num-steps``.
        topk: SGLang's ``--speculative-eagle-topk``.
        num_draft_tokens: SGLang's ``--speculative-num-draft-tokens``.
        tensor_parallel: ``--tp`` / ``--tensor-parallel-size``.
        draft_tensor_parallel: vLLM's ``draft_tensor_parallel_size``.
        quantization: of the target, as typed.
        draft_quantization: of the drafter, as typed.
        dtype: as typed.
        context_length: ``--context-length`` / ``--max-model-len`` in tokens.
        revision: of the target.
        draft_revision: of the drafter.
        options: every recognised flag by canonical name (the last one wins, as in argparse). A key written inside
            ``--speculative-config`` or behind its dot stands here by its own name too ("method"); a dotted part of
            another flag by the dotted name ("--compilation-config.mode").
        speculative_config: vLLM's speculative keys, wherever they were written, JSON-decoded; a value with a variable
            in it is :class:`Unresolved`. Keys stand as written: one with dashes keeps them, because releases differ in
            whether they know it. The fields above read both spellings.
        environment: variables set before the command.
        unknown: words that start with ``-`` and no table knows.
        problems: values that cannot be read at all ("--tp eight"), as (place, what was expected).
        unresolved: variables left in the words ("$MODEL").
        place: where the command starts, when it stands in a file.
        assumed: True if nobody typed this: it is what the engine needs for the drafter at hand.
    """

    engine: str
    argv: tuple[str, ...]
    method: Located[str] | None = None
    drafter: Located[str] | None = None
    target: Located[str] | None = None
    num_speculative_tokens: Located[int] | None = None
    num_steps: Located[int] | None = None
    topk: Located[int] | None = None
    num_draft_tokens: Located[int] | None = None
    tensor_parallel: Located[int] | None = None
    draft_tensor_parallel: Located[int] | None = None
    quantization: Located[str] | None = None
    draft_quantization: Located[str] | None = None
    dtype: Located[str] | None = None
    context_length: Located[int] | None = None
    revision: Located[str] | None = None
    draft_revision: Located[str] | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    speculative_config: Mapping[str, Located[object]] = field(default_factory=dict)
    environment: Mapping[str, Located[str]] = field(default_factory=dict)
    unknown: tuple[Located[str], ...] = ()
    problems: tuple[tuple[Location, str], ...] = ()
    unresolved: tuple[str, ...] = ()
    place: Location | None = None
    assumed: bool = False

    def at(self, label: str = "") -> Location:
        """The command as a whole, for what is missing from it."""
        if self.place is not None:
            return self.place.saying(label)
        return Location(role="launch", subject="command line", label=label)
