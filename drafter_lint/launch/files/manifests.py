"""YAML and JSON documents: services, containers, lists of arguments, engine settings, and documents inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from drafter_lint.launch.files import commands, containers, data, engine_keys, spoken
from drafter_lint.launch.files.data import Items, Leaf, Table, Value
from drafter_lint.launch.files.expand import interpolated
from drafter_lint.launch.files.scan import Scan
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.files.variables import Variables
from drafter_lint.launch.files.versions import image_engine

_ENGINE = re.compile(r"(?:^|[_.\-/ ])(vllm|sglang)(?:$|[_.\-/ ]|(?=[A-Z]))", re.IGNORECASE)
_SECTION = re.compile(
    r"^(?:sglang|vllm)?[_-]?(?:(?:engine|server|serve|backend)[_-]?)?(?:config|args|arguments|parameters|params|kwargs)$"
    r"|^(?:sglang|vllm|prefill|decode|aggregated|agg|server)$",
    re.IGNORECASE,
)
_ARGUMENTS = re.compile(r"args|arguments|command|cmd|flags|options|entrypoint", re.IGNORECASE)
_RESULT = re.compile(r"throughput|latency|ttft|tpot|accept_?len|completed|duration", re.IGNORECASE)
_KUBERNETES = re.compile(r"\$\$|\$\(([A-Za-z_][\w.-]*)\)")
# gpustack appends these words to its own command, behind the model (gpustack, worker/backends/vllm.py and sglang.py).
_GPUSTACK = "backend_parameters"
_INSIDE = re.compile(r"vllm|sglang|--spec|speculative[-_]", re.IGNORECASE)
_SPECULATIVE = re.compile(r"--spec(?:ulative)?[-_]\w+")


@dataclass(frozen=True, slots=True)
class _Around:
    """What the tables above a value say: the image, the engine, the model, and the keys on the way."""

    image: Traced | None = None
    engine: str | None = None
    keys: tuple[str, ...] = ()
    model: Traced | None = None
    results: bool = False

    def under(self, key: str) -> _Around:
        match = _ENGINE.search(key)
        return replace(self, keys=(*self.keys, key), engine=match[1].lower() if match else self.engine)


@dataclass(slots=True)
class _Manifest:
    scan: Scan
    variables: Variables
    json: bool
    shared: dict[str, Traced]


def search(scan: Scan, text: Traced, *, variables: Variables, json: bool) -> None:
    """Find the commands of a YAML or JSON stream."""
    documents = list(data.load(text, scan.effort))
    if not documents and (match := _SPECULATIVE.search(text.text)):
        scan.note(text.cut(*match.span()), "not checked: this is no YAML or JSON that can be read")
    settings: dict[str, list[Traced]] = {}
    for document in documents:
        _environments(document, settings)
    shared = {name: values[0] for name, values in settings.items() if len({value.text for value in values}) == 1}
    for document in documents:
        _value(_Manifest(scan, variables, json, shared), document, _Around())


def _environments(value: Value, found: dict[str, list[Traced]]) -> None:
    if isinstance(value, Items):
        for item in value.items:
            _environments(item, found)
    elif isinstance(value, Table):
        for name, setting in _environment(value).items():
            found.setdefault(name, []).append(setting)
        for _, item in value.entries:
            _environments(item, found)


def _value(manifest: _Manifest, value: Value, around: _Around) -> None:
    if isinstance(value, Table):
        _table(manifest, value, around)
    elif isinstance(value, Items):
        words = [item.text for item in value.items if isinstance(item, Leaf)]
        if len(words) == len(value.items) and _is_command(words):
            _arguments(manifest, words, around, _Words(value))
            return
        for item in value.items:
            _value(manifest, item, around)
    elif value.kind == "text" and _INSIDE.search(value.text.text):
        _text(manifest, value.text, around)


@dataclass(frozen=True, slots=True)
class _Words:
    """Where words come from: the node, for its place."""

    node: Value

    @property
    def start(self) -> Traced:
        """The first text of the node that is written somewhere."""
        return _first(self.node)


def _table(manifest: _Manifest, table: Table, around: _Around) -> None:
    around = _described(table, around)
    taken: set[str] = set()
    services = table.get("services")
    if isinstance(services, Table):
        for _, service in services.entries:
            if isinstance(service, Table):
                _service(manifest, service, around)
        taken.add("services")
    module, arguments = table.text("module"), table.get("args")
    if module is not None and isinstance(arguments, Items):
        words = [Traced.stand_in("python"), Traced.stand_in("-m"), module, *_texts(arguments)]
        commands.read(manifest.scan, words, manifest.variables, image=around.image, start=module)
        taken |= {"module", "args"}
    elif _is_container(table):
        _container(manifest, table, around)
        taken |= {"command", "args", "entrypoint", "env", "environment", "image"}
    elif _settings(manifest, table, around):
        return
    for key, value in table.entries:
        if key.text not in taken:
            _value(manifest, value, around.under(key.text))


def _described(table: Table, around: _Around) -> _Around:
    image = _image(table, manifest_image=around.image)
    engine = around.engine
    for name in ("engine", "backend", "framework", "runtime", "inference_engine", "modelFormat"):
        named = table.get(name)
        text = named.text("name") if isinstance(named, Table) else named.text if isinstance(named, Leaf) else None
        if text is not None and (match := _ENGINE.search(text.text)):
            engine = match[1].lower()
    parameters = table.get("parameters")
    model = parameters.text("model") if isinstance(parameters, Table) else around.model
    if table.get(_GPUSTACK) is not None:
        model = table.text("huggingface_repo_id", "model_scope_model_id", "local_path")
    results = around.results or any(_RESULT.search(key.text) for key, _ in table.entries)
    return replace(around, image=image, engine=engine, model=model, results=results)


def _image(table: Table, *, manifest_image: Traced | None) -> Traced | None:
    image = table.get("image", "imageName", "container_image", "docker_image")
    if isinstance(image, Leaf):
        return image.text
    if isinstance(image, Table) and (repository := image.text("repository", "name")) is not None:
        registry, tag = image.text("registry"), image.text("tag")
        parts = [registry, Traced.stand_in("/")] if registry is not None and registry.text else []
        return joined([*parts, repository, *([Traced.stand_in(":"), tag] if tag is not None else [])])
    return manifest_image


def _is_container(table: Table) -> bool:
    keys = {key.text for key, _ in table.entries}
    own = keys & {"command", "args", "entrypoint"}
    return bool(own) and bool(keys & {"image", "name", "env", "environment", "ports", "resources", "volumeMounts"})


def _service(manifest: _Manifest, table: Table, around: _Around) -> None:
    """One compose service: no shell reads its command, and ``$`` is compose's own."""
    known = manifest.variables.fresh()
    known.quotes_protect = False
    image = table.text("image")
    environment = {name: interpolated(value, known) for name, value in _environment(table).items()}
    entry, command = table.get("entrypoint"), table.get("command")
    first = _split(entry, known)
    words = [*first, *_split(command, known)]
    container = containers.Container(
        image=around.image if image is None else interpolated(image, known),
        words=words,
        environment=environment,
        own_entry=not first,
    )
    if words or environment:
        start = _first(entry if first else command) if words else next(iter(environment.values()))
        commands.contained(manifest.scan, container, variables=known, start=start)
    for key, value in table.entries:
        if key.text not in {"image", "entrypoint", "command", "environment"}:
            _value(manifest, value, around.under(key.text))


def _container(manifest: _Manifest, table: Table, around: _Around) -> None:
    """One Kubernetes container: ``$(VAR)`` comes from its own environment."""
    environment = _environment(table)
    known = manifest.variables.fresh(environment)
    command, arguments = table.get("command", "entrypoint"), table.get("args")
    first = _split(command)
    words = [_filled(word, known) for word in (*first, *_split(arguments))]
    environment = {name: _filled(value, known) for name, value in environment.items()}
    if not words:
        return
    image = _image(table, manifest_image=around.image)
    container = containers.Container(image=image, words=words, environment=environment, own_entry=not first)
    start = _first(command if first else arguments)
    named = image is not None and image_engine(image.text) is not None
    if not named and around.engine is not None and not spoken.starts_engine(words) and _speculates(words):
        commands.flags_alone(manifest.scan, words, engine=around.engine, start=start, image=image)
    else:
        commands.contained(manifest.scan, container, variables=manifest.variables, start=start)


def _environment(table: Table) -> dict[str, Traced]:
    found: dict[str, Traced] = {}
    for key in ("env", "environment", "envs"):
        value = table.get(key)
        if isinstance(value, Table):
            found |= {
                name.text: item.text for name, item in value.entries if isinstance(item, Leaf) and item.kind != "null"
            }
        for item in data.sequence(value):
            if isinstance(item, Table) and (name := item.text("name")) and (setting := item.text("value")):
                found[name.text] = setting
            elif isinstance(item, Leaf) and "=" in item.text.text:
                name_end = item.text.text.index("=")
                found[item.text.text[:name_end]] = item.text.cut(name_end + 1, len(item.text))
    return found


def _split(value: Value | None, compose: Variables | None = None) -> list[Traced]:
    """The words of a command that is a list, or one text cut as a shell would; compose puts variables in first."""
    if isinstance(value, Leaf):
        text = value.text if compose is None else interpolated(value.text, compose)
        return spoken.plain(text) if value.kind != "null" else []
    words = _texts(value) if isinstance(value, Items) else []
    return words if compose is None else [interpolated(word, compose) for word in words]


def _texts(value: Items) -> list[Traced]:
    return [item.text if isinstance(item, Leaf) else data.to_json(item) for item in value.items]


def _filled(word: Traced, known: Variables) -> Traced:
    """``$(VAR)`` put in where the container's environment has it; ``$$(`` is a dollar."""
    parts: list[Traced] = []
    position = 0
    for match in _KUBERNETES.finditer(word.text):
        parts.append(word.cut(position, match.start()))
        whole = word.cut(*match.span())
        value = known.value(match[1]) if match[1] else None
        if match[1] is None:
            following = word.text[match.end() : match.end() + 1]
            parts.append(whole.cut(0, 1) if following == "(" else whole)
        else:
            parts.append(whole if value is None else value.standing_at(whole.extent()))
        position = match.end()
    return joined([*parts, word.cut(position, len(word))])


def _is_command(words: Sequence[Traced]) -> bool:
    return len(words) > 1 and (_speculates(words) or spoken.starts_engine(words))


def _speculates(words: Sequence[Traced]) -> bool:
    return any(_SPECULATIVE.match(word.text) for word in words)


def _arguments(manifest: _Manifest, words: list[Traced], around: _Around, source: _Words) -> None:
    """A list of words that belongs to no container."""
    if spoken.starts_engine(words):
        commands.read(manifest.scan, words, manifest.variables, image=around.image, start=source.start)
        return
    engine = image_engine(around.image.text) if around.image is not None else None
    if around.keys[-1:] == (_GPUSTACK,) and around.model is not None:
        flag = "--model" if around.engine == "vllm" else "--model-path"
        words = [Traced.stand_in(flag), around.model, *(part for word in words for part in _halves(word))]
    commands.flags_alone(manifest.scan, words, engine=engine or around.engine, start=source.start, image=around.image)


def _halves(word: Traced) -> list[Traced]:
    """``--flag value`` in one text as two words."""
    match = re.match(r"--[\w.-]+\s+(?=\S)", word.text)
    return [word.cut(0, len(match[0].rstrip())), word.cut(match.end(), len(word))] if match else [word]


def _settings(manifest: _Manifest, table: Table, around: _Around) -> bool:
    """An engine's flags as keys; True if the table was one."""
    section = bool(around.keys) and _SECTION.match(around.keys[-1]) is not None
    engine = engine_keys.speculative_engine(table)
    if engine_keys.foreign(table):
        return False
    if engine is None:
        named = (
            around.engine
            if section and any(_SECTION.match(key) and _ENGINE.search(key) for key in around.keys)
            else None
        )
        plain = named is not None and _is_settings(table, named)
        if not plain:
            return False
        engine = named
    elif around.results or (manifest.json and not section and around.keys):
        return False
    if engine is None:
        return False
    words = engine_keys.words(table, engine=engine)
    if not words:
        return False
    if around.model is not None and around.keys and around.keys[-1] == "engine_args" and table.get("model") is None:
        words = [Traced.stand_in("--model"), around.model, *words]  # LocalAI names the model next to the section
    commands.flags_alone(manifest.scan, words, engine=engine, start=table.entries[0][0], image=around.image)
    return True


def _is_settings(table: Table, engine: str) -> bool:
    """True for a section of which several keys are the engine's flags."""
    scalars = [key for key, value in table.entries if not isinstance(value, Table)]
    known = [key for key in scalars if engine_keys.words(Table(((key, Leaf(key)),)), engine=engine)]
    return len(known) >= 2 and len(known) * 2 >= len(scalars)


def _text(manifest: _Manifest, text: Traced, around: _Around) -> None:
    """A text that may be a script, a document, or a line of arguments."""
    key = around.keys[-1] if around.keys else ""
    words = spoken.plain(text) if "\n" not in text.text.strip() or _ARGUMENTS.search(key) else []
    if words and words[0].text.startswith("-") and _speculates(words):
        _arguments(manifest, words, around, _Words(Leaf(text)))
        return
    from drafter_lint.launch.files import documents  # noqa: PLC0415 - the two read each other's contents

    if "\n" in text.text.strip() or spoken.starts_engine(words or spoken.plain(text)):
        inner = manifest.variables.copy()
        for name, value in manifest.shared.items():
            inner.values.setdefault(name, value)
        kind = documents.kind_of(key, text.text) if "\n" in text.text.strip() else "shell"
        if kind == "shell":
            commands.read_script(manifest.scan, text, inner, image=around.image)
        elif manifest.scan.depth < 6:
            manifest.scan.depth += 1
            documents.search(manifest.scan, text, name=key, variables=inner)
            manifest.scan.depth -= 1


def _first(value: Value | None) -> Traced:
    if isinstance(value, Leaf):
        return value.text.strip()
    if isinstance(value, Items) and value.items:
        return _first(value.items[0])
    if isinstance(value, Table) and value.entries:
        return value.entries[0][0]
    return Traced("", ())
