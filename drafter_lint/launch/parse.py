"""The launch request of a command: the words, the engine's flag table, and the fields they fill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from drafter_lint.errors import UsageError
from drafter_lint.findings import Located, Location
from drafter_lint.launch import speculative
from drafter_lint.launch.arguments import Arguments, Given, walk
from drafter_lint.launch.command import Program, assignments, find_program, shell_script
from drafter_lint.launch.request import LaunchRequest, Option, Unresolved
from drafter_lint.launch.shell import split_command
from drafter_lint.launch.words import Line, Locate, Place, Span, masked, placeholders, plain

ENGINES = ("sglang", "vllm")
_NUMBERS = {
    "num_speculative_tokens",
    "num_steps",
    "topk",
    "num_draft_tokens",
    "tensor_parallel",
    "draft_tensor_parallel",
    "context_length",
}
_SPECULATIVE_FIELDS = {
    "method": "method",
    "model": "drafter",
    "num_speculative_tokens": "num_speculative_tokens",
    "draft_tensor_parallel_size": "draft_tensor_parallel",
    "quantization": "draft_quantization",
    "revision": "draft_revision",
}


@dataclass(slots=True)
class _Fields:
    texts: dict[str, Located[str]] = field(default_factory=dict)
    numbers: dict[str, Located[int]] = field(default_factory=dict)

    def drop(self, name: str) -> None:
        self.texts.pop(name, None)
        self.numbers.pop(name, None)


def parse_command(
    words: Sequence[str],
    *,
    engine: str | None = None,
    locate: Locate | None = None,
    place: Place | None = None,
    environment: Mapping[str, Located[str]] | None = None,
) -> LaunchRequest:
    """Understand a command, or an engine's flags alone, without judging them by version.

    Secrets (``--api-key``, ``HF_TOKEN=…``) are masked before anything is kept. A command inside a shell's ``-c`` is
    read in place of the shell's; the request's ``argv`` is then that command's.

    Args:
        words: a whole command with everything in front of it, or only the words behind the engine's program.
        engine: "sglang" or "vllm"; None to read it off the program.
        locate: the place of a word, by its index, when it stands in a file; without it places are in the command
            written on one line.
        place: the same for every part of a word, where that is known; the words are then no shell's ``-c``.
        environment: variables set elsewhere; those of the command itself win.

    Raises:
        UsageError: no engine is named and none is recognised, or the command starts another one.
    """
    words, program, locate = _unwrapped(words, locate)
    if engine is not None and engine not in ENGINES:
        raise UsageError(f"no launch commands are known for {engine!r}; known: {', '.join(ENGINES)}")
    if program is not None and engine is not None and program.engine != engine:
        raise UsageError(f"the command starts {program.engine}, not {engine}")
    named = program.engine if program is not None else engine
    if named is None:
        raise UsageError("the command starts neither sglang nor vllm; name the engine")
    line = Line(masked(words), locate, place)
    before, start = (program.before, program.start) if program is not None else _leading(words)
    variables = {
        name: line.located(Span(index, at, len(words[index]))) for index, name, at in assignments(words[:before])
    }
    return _request(line, engine=named, start=start, environment={**(environment or {}), **variables})


def _unwrapped(words: Sequence[str], locate: Locate | None) -> tuple[tuple[str, ...], Program | None, Locate | None]:
    words = tuple(words)
    program = find_program(words)
    script = shell_script(words) if program is None else None
    if script is None:
        return words, program, locate
    try:
        inner = split_command(words[script])
    except UsageError:
        return words, None, locate
    if (program := find_program(inner)) is None:
        return words, None, locate
    outside = tuple(words[index] for index, _, _ in assignments(words[:script]))
    combined = outside + inner
    shift = len(outside)
    program = Program(engine=program.engine, start=program.start + shift, before=program.before + shift)
    return combined, program, None if locate is None else (lambda _: locate(script))


def _leading(words: Sequence[str]) -> tuple[int, int]:
    count = 0
    while count < len(words) and assignments(words[count : count + 1]):
        count += 1
    return count, count + (words[count : count + 1] == ("--",))


def _request(line: Line, *, engine: str, start: int, environment: Mapping[str, Located[str]]) -> LaunchRequest:
    found = walk(line, engine=engine, start=start)
    fields = _Fields()
    options: dict[str, Option] = {}
    for item in found.given:
        option = _option(line, item)
        options[option.name] = option
        if item.flag.field and item.values and item.flag.name not in speculative.SHORTHAND and not item.keys:
            _fill(
                fields, found.problems, name=item.flag.field, value=Located(_text(line, item), option.at), engine=engine
            )
    config: dict[str, Located[object]] = {}
    if engine == "vllm":
        entries = speculative.entries(line, found.given, found.problems)
        options |= {option.name: option for option in speculative.options(line, entries)}
        config = speculative.mapping(line, entries)
        for key, value in config.items():
            if name := _SPECULATIVE_FIELDS.get(key.replace("-", "_")):
                _fill(fields, found.problems, name=name, value=value, engine=engine)
        config = {plain(key): Located(speculative.spelled(value.value), value.at) for key, value in config.items()}
    _positional(line, found, fields, engine=engine)
    gaps = [line.words[index][a:b] for index in range(len(line.words)) for a, b in placeholders(line.words[index])]
    return LaunchRequest(
        engine=engine,
        argv=tuple(map(plain, line.words)),
        method=fields.texts.get("method"),
        drafter=fields.texts.get("drafter"),
        target=fields.texts.get("target"),
        num_speculative_tokens=fields.numbers.get("num_speculative_tokens"),
        num_steps=fields.numbers.get("num_steps"),
        topk=fields.numbers.get("topk"),
        num_draft_tokens=fields.numbers.get("num_draft_tokens"),
        tensor_parallel=fields.numbers.get("tensor_parallel"),
        draft_tensor_parallel=fields.numbers.get("draft_tensor_parallel"),
        quantization=fields.texts.get("quantization"),
        draft_quantization=fields.texts.get("draft_quantization"),
        dtype=fields.texts.get("dtype"),
        context_length=fields.numbers.get("context_length"),
        revision=fields.texts.get("revision"),
        draft_revision=fields.texts.get("draft_revision"),
        options=options,
        speculative_config=config,
        environment=environment,
        unknown=tuple(found.unknown),
        problems=tuple(found.problems),
        unresolved=tuple(dict.fromkeys(gaps)),
    )


def _text(line: Line, item: Given) -> str | None:
    return " ".join(line.text(span) for span in item.values) if item.values else None


def _option(line: Line, item: Given) -> Option:
    value = _text(line, item)
    return Option(
        name=item.name,
        spelling=item.spelling,
        value=None if value is None else plain(value),
        at=line.at(item.values[0] if item.values else item.place),
        flag_at=line.at(item.place),
    )


def _positional(line: Line, found: Arguments, fields: _Fields, *, engine: str) -> None:
    """Take vLLM's model, which stands alone; every other lone word is refused (argparse, "unrecognized arguments")."""
    rest = found.positional
    if engine == "vllm" and rest and "target" not in fields.texts:
        first, *rest = rest
        _fill(fields, found.problems, name="target", value=Located(line.text(first), line.at(first)), engine=engine)
    found.problems += [(line.at(span), "no word on its own here") for span in rest if not placeholders(line.text(span))]


def _fill(
    fields: _Fields,
    problems: list[tuple[Location, str]],
    *,
    name: str,
    value: Located[object] | Located[str | None],
    engine: str,
) -> None:
    """Set one field; the last value counts, also when it cannot be read."""
    fields.drop(name)
    raw = value.value
    if isinstance(raw, Unresolved) or (isinstance(raw, str) and placeholders(raw)):
        return
    # vLLM's optional arguments read "None" and "" as not given (vllm 0.33.0, engine/arg_utils.py, optional_type).
    if raw is None or (engine == "vllm" and raw in ("", "None") and name != "tensor_parallel"):
        return
    if name not in _NUMBERS:
        if isinstance(raw, str):
            fields.texts[name] = Located(plain(raw), value.at)
        else:
            problems.append((value.at, "text"))
        return
    if name == "context_length" and engine == "vllm" and raw in ("auto", "-1"):
        return
    number = _integer(raw, human=name == "context_length" and engine == "vllm")
    if number is None:
        problems.append((value.at, "an integer"))
    else:
        fields.numbers[name] = Located(number, value.at)


def _integer(raw: object, *, human: bool) -> int | None:
    if isinstance(raw, str):
        if human:
            return speculative.human_integer(raw)
        try:
            return int(raw)
        except ValueError:
            return None
    if isinstance(raw, float) and raw.is_integer():
        return int(raw)
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None
