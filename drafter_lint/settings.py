"""The settings as they may be written: what the keys are, what they mean, and what is wrong with them.

The models stand at the border: they say what a file may hold and are the source of its JSON Schema. Everything behind
them is plain.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, WithJsonSchema

from drafter_lint.drafters import Word
from drafter_lint.errors import UsageError
from drafter_lint.findings import JsonValue, whole_line
from drafter_lint.reference import normalise
from drafter_lint.settings_file import SettingsFile
from drafter_lint.suppressions import EngineRange, Suppression, rule_code

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_DRAFT = "http://json-schema.org/draft-07/schema#"
_ID = "https://json.schemastore.org/drafter-lint.json"


class _Table(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=lambda name: name.replace("_", "-"), title=None
    )


class PairTable(_Table):
    """A drafter and its target, checked by `drafter-lint check` without arguments."""

    drafter: Text | None = Field(None, description="The drafter; may be left out if `launch` names it.")
    target: Text | None = Field(None, description="The target; if left out, the one the drafter or `launch` names.")
    engines: list[Text] = Field([], description="`sglang`, `vllm==0.33.0`, …; if empty, the `engines` of the file.")
    launch: Text | None = Field(None, description="A launch command, or the file that holds it.")
    trained_on: list[Annotated[int, Field(ge=0)] | Word] | None = Field(
        None,
        description="What is known of the drafter's training and no file says: boundaries, `[2, 30, 58]`, or words, "
        '`["norm-before-residual"]`.',
    )
    flags: list[str] = Field([], description='The engine\'s flags: `["--speculative-algorithm", "EAGLE3"]`.')


class SuppressTable(_Table):
    """A finding somebody has taken responsibility for; it counts no more, and is listed with its reason."""

    code: Text = Field(description="The rule, by code or by name: `DFL706`, `window-short`.")
    reason: Text = Field(description="Why it is suppressed; it is shown wherever the finding would be.")
    drafter: Text | None = Field(None, description="Only for drafters whose name fits this glob.")
    target: Text | None = Field(None, description="Only for targets whose name fits this glob.")
    engine: Text | None = Field(None, description="Only for this engine, or these versions: `sglang>=0.5.9,<0.5.13`.")
    # Without a type: an editor sees a date of TOML as text, validate-pyproject as a date.
    until: Annotated[date, Field(strict=False), WithJsonSchema({"format": "date"})] | None = Field(
        None, description="The last day on which it holds; afterwards it is itself a finding."
    )


class SettingsTable(_Table):
    """Settings of drafter-lint: `drafter-lint.toml`, or `[tool.drafter-lint]` of pyproject.toml."""

    engines: list[Text] = Field([], description="What to check against: `sglang`, `vllm==0.33.0`, …; as --engine.")
    fail_on: Literal["refuses", "silent", "slow", "hygiene", "never"] | None = Field(
        None, description="From which outcome on a run fails; as --fail-on."
    )
    select: list[Text] = Field([], description="Only these rules: `DFL401`, `DFL4`, `eagle3-run-as-eagle`.")
    ignore: list[Text] = Field([], description="All rules but these.")
    min_confidence: Literal["certain", "likely", "possible"] | None = Field(
        None, description="Leave out findings that are less sure; as --min-confidence."
    )
    offline: bool = Field(False, description="Read nothing but local files and caches.")
    fingerprint: bool = Field(
        True, description="Compare a few rows of the drafter's embedding with the target's; as --no-fingerprint."
    )
    timeout: Annotated[float, Field(ge=0.1)] | None = Field(
        None, description="Seconds all requests to one repository may take together."
    )
    aliases: dict[str, Text | list[Text]] = Field(
        {}, description="Further aliases: a spelling to a repository, or to all it may mean."
    )
    pair: list[PairTable] = Field([], description="The pairs checked by `drafter-lint check` without arguments.")
    suppress: list[SuppressTable] = Field([], description="Findings that do not count, each with a reason.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a settings file says, checked.

    Attributes:
        file: where it is written.
        table: the values; what is not written is empty or None.
        aliases: normalised spelling to ids.
        suppressions: in the order written.
    """

    file: SettingsFile
    table: SettingsTable
    aliases: Mapping[str, tuple[str, ...]]
    suppressions: tuple[Suppression, ...]


def understood(file: SettingsFile) -> Settings:
    """The settings of a file.

    Raises:
        UsageError: a key is not known, or a value is not what it should be; names the file and the line.
    """
    try:
        table = SettingsTable.model_validate(dict(file.table))
    except ValidationError as error:
        raise UsageError(_said(error, file)) from error
    for index, pair in enumerate(table.pair):
        if pair.drafter is None and pair.launch is None:
            raise UsageError(
                f"{file.path}:{file.line(('pair', index, ''))}: a pair names a drafter, or a launch command"
            )
        if pair.launch is not None and pair.flags:
            raise UsageError(
                f"{file.path}:{file.line(('pair', index, 'flags'))}: flags and launch both say what is started"
            )
    aliases = {normalise(name): tuple([ids] if isinstance(ids, str) else ids) for name, ids in table.aliases.items()}
    found = tuple(_suppression(item, index, file) for index, item in enumerate(table.suppress))
    return Settings(file=file, table=table, aliases=aliases, suppressions=found)


def _suppression(table: SuppressTable, index: int, file: SettingsFile) -> Suppression:
    code = rule_code(table.code)
    if code is None:
        from drafter_lint.pages import nearest_rules  # noqa: PLC0415 - only met by a mistake

        line = file.line(("suppress", index, "code"))
        raise UsageError(f"{file.path}:{line}: no rule called {table.code!r}{nearest_rules(table.code)}")
    try:
        engine = EngineRange.parse(table.engine) if table.engine else None
    except UsageError as error:
        raise UsageError(f"{file.path}:{file.line(('suppress', index, 'engine'))}: {error}") from error
    return Suppression(
        code=code,
        reason=table.reason,
        at=whole_line(file.path.as_posix(), file.text, file.line(("suppress", index, "code"))),
        drafter=table.drafter,
        target=table.target,
        engine=engine,
        until=table.until,
    )


def _said(error: ValidationError, file: SettingsFile) -> str:
    """The first mistake in one line, with the nearest key for one that is not known."""
    errors = error.errors(include_url=False)
    first = errors[0]
    # Behind the key pydantic names the branches of a union.
    keys: list[str | int] = [key for key in first["loc"] if not str(key).startswith(("constrained-", "list["))]
    shown = ".".join(str(key) for key in keys if isinstance(key, str))
    place = f"{file.path}:{file.line(keys)}"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    if first["type"] == "extra_forbidden":
        known = _keys(keys[:-1])
        near = difflib.get_close_matches(str(keys[-1]), known, n=1, cutoff=0.5)
        hint = f"nearest: {near[0]}" if near else f"there are {', '.join(known)}"
        return f"{place}: unknown key {shown!r}; {hint}{more}"
    if first["type"] == "missing":
        return f"{place}: {shown!r} is missing{more}"
    said = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{place}: {shown}: {said[:1].lower()}{said[1:]}{more}"


def _keys(keys: Sequence[str | int]) -> list[str]:
    """The keys a table may have."""
    model: type[BaseModel] = SettingsTable
    for key in keys:
        if isinstance(key, str) and (field := model.model_fields.get(key.replace("-", "_"))):
            inner = [item for item in get_args(field.annotation) if isinstance(item, type)]
            model = next((item for item in inner if issubclass(item, BaseModel)), model)
    return [str(field.alias) for field in model.model_fields.values()]


def schema(tool: str = "drafter-lint") -> dict[str, JsonValue]:
    """The JSON Schema of the settings, as validate-pyproject asks for it.

    Raises:
        KeyError: ``tool`` is another tool.
    """
    if tool != "drafter-lint":
        raise KeyError(tool)
    made: dict[str, JsonValue] = SettingsTable.model_json_schema(ref_template="#/definitions/{model}")
    definitions = made.pop("$defs", {})
    plain = _without_nulls({**made, "title": "drafter-lint settings", "definitions": definitions})
    if not isinstance(plain, dict):
        raise TypeError("a schema is a table")
    return {"$schema": _DRAFT, "$id": _ID, **plain}


def _without_nulls(value: JsonValue) -> JsonValue:
    """A schema for TOML, which has no null: ``anyOf [x, null]`` is x, and a default of null is none."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    made: dict[str, JsonValue] = {
        key: _without_nulls(item) for key, item in value.items() if not (key == "default" and item is None)
    }
    choices = made.get("anyOf")
    if isinstance(choices, list):
        kept = [item for item in choices if item != {"type": "null"}]
        if len(kept) == 1 and isinstance(kept[0], dict):
            del made["anyOf"]
            made = {**kept[0], **made}
        else:
            made["anyOf"] = kept
    return made
