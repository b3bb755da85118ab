"""The words of a command of any kind: what they start, through containers, shells and wrappers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drafter_lint.launch.command import find_program
from drafter_lint.launch.files.containers import RUNTIMES, Container, created, from_environment
from drafter_lint.launch.files.scan import Scan
from drafter_lint.launch.files.spoken import ASSIGNED, first_word, is_talk, passed_on, script_at, starts_engine
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.files.variables import Variables
from drafter_lint.launch.files.versions import image_engine
from drafter_lint.launch.flags import understood
from drafter_lint.launch.words import ASSIGNMENT, placeholders, plain

# Programs that hand one of their words to a shell somewhere else.
_REMOTE = {
    "ssh", "tmux", "screen", "srun", "su", "pdsh", "parallel-ssh", "kubectl", "mpirun", "watch", "xterm", "runuser",
    "timeout", "modal", "sbatch", "docker", "podman", "sudo", "nohup", "accelerate", "setsid", "bsub", "qsub",
}  # fmt: skip
_PREFIXED = re.compile(r"--sglang[-_]")
_SPECULATIVE = re.compile(r"--spec(?:ulative)?[-_](?:[a-z])")
_ENGINE_BY_FLAG = {"--speculative-config": "vllm", "--speculative-algorithm": "sglang"}
_OTHERS = re.compile(
    r"(?:^|[/\s.])(?:atom\.entrypoints|atom|tilert|trtllm-serve|trtllm|tensorrt_llm|llama-server|llama_cpp|tokenspeed|xllm"
    r"|lmdeploy|mlx_lm|text-generation-launcher|dynamo\.(?!sglang|vllm)\w+|bench\w*|\w*benchmark\w*)"
)
_SERVE = re.compile(r"(?:.*/)?(?:vllm|sglang)")
_MAX_DEPTH = 10


def read(
    scan: Scan, words: Sequence[Traced], variables: Variables, *, image: Traced | None, start: Traced | None = None
) -> None:
    """Find the engine's command in some words, and add it to the search.

    Args:
        scan: the search under way.
        words: the command's words, expanded.
        variables: what is set where it runs.
        image: the container image it runs in.
        start: the command as a whole, for its place; its first word by default.
    """
    texts = [word.text for word in words]
    if not texts or is_talk(texts):
        return
    start = words[0] if start is None else start
    script, program = script_at(texts), find_program(texts)
    runtime = next((index for index, text in enumerate(texts) if text.rpartition("/")[2] in RUNTIMES), None)
    if runtime is not None and (inside := created(words, runtime)) is not None:
        contained(scan, inside, variables=variables, start=start)
    elif script is not None and (program is None or script <= program.start):
        inner = variables.copy()
        inner.positional = list(words[script + 2 :])
        if script + 1 < len(words):
            inner.values["0"] = words[script + 1]
        for name, value in _prefixed_variables(words[:script], variables).items():
            inner.assign(name, value)
            inner.exported.add(name)
        read_script(scan, words[script], inner, image=image)
    elif program is not None:
        begin = program.before
        if begin and re.search(r"python[\d.]*$|\bpython", texts[begin - 1]) and texts[begin] == "-m":
            begin -= 1
        environment = _prefixed_variables(words[:begin], variables)
        written = words[program.before].written_extent() is not None
        where = words[begin] if written and not _stands_in(words[program.before], start) else start
        scan.add(words[begin:], engine=program.engine, start=where, environment=environment, image=image)
    elif (passed := passed_on(texts)) is not None:
        kept = _engine_flags(words[passed[1] :], engine=passed[0])
        scan.add(kept, engine=passed[0], start=start, environment=_prefixed_variables(words, variables), image=image)
    elif any(_PREFIXED.match(text) for text in texts):
        _wrapped(scan, words, variables, image=image, start=start)
    else:
        _quoted_or_open(scan, words, variables, image=image, start=start)


def contained(scan: Scan, container: Container, *, variables: Variables, start: Traced) -> None:
    """Find the engine's command a container runs."""
    inner = variables.fresh(container.environment)
    inner.exported = set(inner.values)
    image = None if container.pinned else container.image
    if flags := from_environment(container):
        scan.add(flags, engine="vllm", start=start, environment=container.environment, image=image)
        return
    texts = [word.text for word in container.words]
    if not texts:
        return
    if find_program(texts) or passed_on(texts) or script_at(texts) is not None:
        read(scan, container.words, inner, image=image, start=start)
        return
    names = [text.partition("=")[0].replace("_", "-") for text in texts]
    speculates = any(_SPECULATIVE.match(name) for name in names)
    engine = image_engine(container.image.text) if container.image is not None else None
    if container.own_entry and engine is not None and (speculates or _is_server(container.image, names)):
        scan.add(container.words, engine=engine, start=start, environment=container.environment, image=image)
    elif speculates and not any(_OTHERS.search(text) for text in texts[:4]):
        open_image = container.image is not None and placeholders(container.image.text)
        _not_named(scan, start, container.image.text if open_image and container.image else None)


def read_held(scan: Scan, words: Sequence[Traced], variables: Variables, *, image: Traced | None) -> None:
    """Words kept for another file to use: a command, flags with a wrapper's prefix, or flags without an engine."""
    if starts_engine(words) or any(_PREFIXED.match(word.text) for word in words):
        read(scan, words, variables, image=image, start=words[0])
    elif words[0].text.startswith("-") and any(_SPECULATIVE.match(word.text) for word in words):
        _not_named(scan, words[0], None)


def flags_alone(
    scan: Scan, words: Sequence[Traced], *, engine: str | None, start: Traced, image: Traced | None
) -> None:
    """Engine flags without a program: a command if something next to them names the engine, else a note."""
    if engine is not None:
        scan.add(words, engine=engine, start=start, environment={}, image=image)
    else:
        _not_named(scan, start, None)


def read_script(scan: Scan, text: Traced, variables: Variables, *, image: Traced | None) -> None:
    """Search a script inside: a shell's ``-c``, ``eval``, a block of a YAML file."""
    if scan.depth >= _MAX_DEPTH or not re.search(r"vllm|sglang|--spec|\$", text.text, re.IGNORECASE):
        return
    from drafter_lint.launch.files import bash  # noqa: PLC0415 - the two read each other's contents

    text = text.retyped(plain(text.text))
    scan.depth += 1
    try:
        bash.search(scan, text, variables, image)
    finally:
        scan.depth -= 1


def read_heredoc(scan: Scan, text: Traced, variables: Variables, *, head: str, quoted: bool) -> None:
    """Search a document written inside a script."""
    if scan.depth >= _MAX_DEPTH:
        return
    from drafter_lint.launch.files import documents  # noqa: PLC0415 - the two read each other's contents

    inner = variables.fresh() if quoted else variables.copy()
    if not quoted:
        kept = [i for i in range(len(text)) if text.text[i] != "\\" or text.text[i + 1 : i + 2] not in {"$", "`", "\\"}]
        text = text.pick("".join(text.text[i] for i in kept), kept)
        inner.quotes_protect = False
    match = re.search(r"(?:>>?\s*|tee\s+(?:-a\s+)?)[\"']?([^\s\"'|;&]+)", head.replace("<<", " "))
    scan.depth += 1
    try:
        documents.search(scan, text, name=match[1] if match else "", variables=inner)
    finally:
        scan.depth -= 1


def _is_server(image: Traced | None, flags: Sequence[str]) -> bool:
    """True if an image's arguments look like a server's: a model, or a flag servers have."""
    official = image is not None and re.search(r"vllm-openai", image.text) is not None
    return official or "--model" in flags or "--model-path" in flags


def _engine_flags(words: Sequence[Traced], *, engine: str) -> list[Traced]:
    """Flags that are the engine's, with their values, out of those a wrapper takes."""
    kept: list[Traced] = []
    own = False
    for word in words:
        if word.text.startswith("-") and not word.text[1:2].isdigit():
            flag = word.text.partition("=")[0].partition(".")[0].replace("_", "-")
            own = len(understood(engine, flag)) == 1 or _SPECULATIVE.match(flag) is not None
        if own:
            kept.append(word)
    return kept


def _wrapped(scan: Scan, words: Sequence[Traced], variables: Variables, *, image: Traced | None, start: Traced) -> None:
    """``--sglang-…``: a trainer that passes the flag on without its prefix (slime, miles)."""
    kept: list[Traced] = []
    for index, word in enumerate(words):
        value = words[index + 1 : index + 2]
        if match := _PREFIXED.match(word.text):
            flag = "--" + word.text[match.end() :].partition("=")[0]
            if not understood("sglang", flag):
                continue  # the trainer's own
            kept += [joined([word.cut(0, 2), word.cut(match.end(), len(word))])]
            kept += [item for item in value if "=" not in word.text and not item.text.startswith("--")]
        elif word.text == "--hf-checkpoint" and value:
            kept += [Traced.stand_in("--model-path", word.extent()), *value]
    if any(_SPECULATIVE.match(word.text) for word in kept):
        scan.add(kept, engine="sglang", start=start, environment=_exported(variables), image=image)


def _quoted_or_open(
    scan: Scan, words: Sequence[Traced], variables: Variables, *, image: Traced | None, start: Traced
) -> None:
    """A command inside one word of a remote shell's, or a program nobody names."""
    texts = [word.text for word in words]
    if first_word(texts) in _REMOTE:
        for word in words[1:]:
            text = word.cut(len("--wrap="), len(word)) if word.text.startswith("--wrap=") else word
            if " " in text.text.strip() and re.search(r"vllm|sglang", text.text):
                read_script(scan, text, variables, image=image)
        return
    program = texts[len([text for text in texts if ASSIGNED.match(text)]) :]
    if (
        len(program) > 2
        and any(_SPECULATIVE.match(text) for text in program)
        and placeholders(program[0])
        and (program[1] == "serve" or program[1] == "-m" or program[1].startswith("-"))
        and not any(_OTHERS.search(text) for text in program[:4])
        and not (program[1] == "-m" and not placeholders(program[2]))
        and not program[0].endswith(".py")
    ):
        _not_named(scan, start, next(program[0][a:b] for a, b in placeholders(program[0])))


def _not_named(scan: Scan, start: Traced, gap: str | None) -> None:
    if gap is None:
        scan.note(start, "not checked: speculative flags, and nothing here names the engine")
        return
    match = re.search(r"[A-Za-z_][\w.]*", gap)
    advice = f"; pass --var {match[0]}=…" if match else ""
    scan.note(start, f"not checked: {gap} is unknown{advice}")


def _stands_in(word: Traced, whole: Traced) -> bool:
    inside, outside = word.written_extent(), whole.extent()
    return bool(inside and outside and outside[0] <= inside[0] < outside[1])


def _prefixed_variables(words: Sequence[Traced], variables: Variables) -> dict[str, Traced]:
    """The environment of a command: what was exported, and what is set in front of it."""
    found = _exported(variables)
    for word in words:
        if match := ASSIGNMENT.match(word.text):
            found[match[1]] = word.cut(match.end(), len(word))
    return found


def _exported(variables: Variables) -> dict[str, Traced]:
    return {name: variables.values[name] for name in sorted(variables.exported) if name in variables.values}
