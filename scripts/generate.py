"""Write every document that follows from models, rules, facts and real runs; with ``--check``, only compare.

python scripts/generate.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

from drafter_lint.api import Job, run
from drafter_lint.facts import engines, profile
from drafter_lint.pages import FAMILIES, HOWS, engine_facts
from drafter_lint.renderers import render
from drafter_lint.renderers.comparison_models import ComparisonModel
from drafter_lint.renderers.inspection_models import InspectionModel
from drafter_lint.renderers.json_models import schema, schema_of
from drafter_lint.renderers.launches_models import LaunchesModel
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.survey_record import schema as record_schema
from drafter_lint.rules import all_rules
from drafter_lint.settings import PairTable, SettingsTable, SuppressTable
from drafter_lint.settings import schema as settings_schema

ROOT = Path(__file__).resolve().parent.parent
DRAFTER = "fixtures/recipes/lightseekorg--kimi-k2.5-eagle3.recipe.toml"
TARGET = "fixtures/targets/moonshotai--Kimi-K2.5.recipe.toml"
WIDTH = 100


def documents() -> Mapping[Path, str]:
    """Every generated document, by where it belongs."""
    made = {
        "schemas/report.schema.json": json.dumps(schema(), indent=2) + "\n",
        "schemas/survey.schema.json": json.dumps(record_schema(), indent=2) + "\n",
        "schemas/settings.schema.json": json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n",
    }
    for name, model in (("comparison", ComparisonModel), ("inspection", InspectionModel), ("launch", LaunchesModel)):
        made[f"schemas/{name}.schema.json"] = json.dumps(schema_of(model), indent=2) + "\n"
    for name in ("README.md", "docs/rules.md", "docs/engines.md", "docs/settings.md"):
        made[name] = refreshed((ROOT / name).read_text("utf-8"))
    return {ROOT / name: text for name, text in made.items()}


def refreshed(text: str) -> str:
    """A document with everything between its markers made anew.

    Raises:
        ValueError: a marker has no end, or nobody knows what belongs there.
    """
    makers = {"check": a_check, "rules": rule_table, "engines": engine_table, "settings": settings_table}
    for name, make in makers.items():
        start, end = f"<!-- generated: {name} -->\n", f"<!-- end: {name} -->\n"
        if start not in text:
            continue
        before, _, rest = text.partition(start)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{start.strip()} has no end")
        text = f"{before}{start}{make()}{end}{after}"
    return text


def a_check() -> str:
    """The founding mistake: the command, and what it really prints."""
    flags = ("--speculative-algorithm", "EAGLE")
    words = (DRAFTER, "--target", TARGET, "--engine", "sglang==0.5.10.post1")
    with chdir(ROOT):  # so that where the checkout lies changes no line break
        report = run(Job(drafter=DRAFTER, target=TARGET, engines=(words[-1],), flags=flags))
    said = render(report, "text", Style(width=WIDTH))
    command = (
        f"drafter-lint check {words[0]} \\\n    --target {words[2]} \\\n    --engine {words[4]} -- {' '.join(flags)}"
    )
    return f"```console\n$ {command}\n{said}```\n"


def rule_table() -> str:
    """Every rule in a table."""
    rows = [
        f"| {rule.code} | `{rule.name}` | {rule.outcome.value} | {FAMILIES[rule.family]} | {rule.title} |"
        for rule in all_rules()
    ]
    head = "| code | name | outcome | looks at | what it finds |\n| --- | --- | --- | --- | --- |\n"
    return head + "\n".join(rows) + "\n"


def engine_table() -> str:
    """What is known of each engine, and every fact with the releases it was seen in."""
    parts = []
    for name in engines():
        known = profile(name)
        counts = engine_facts(known)
        by = counts["by"]
        hows = ", ".join(f"{by[how]} {how}" for how in HOWS) if isinstance(by, dict) else ""
        parts.append(
            f"## {name} {known.oldest} to {known.newest}\n\n"
            f"Read: {', '.join(map(str, known.read))}.\n\nRun: {', '.join(map(str, known.run)) or 'none'}.\n\n"
            f"{counts['facts']} facts in {counts['observations']} observations ({hows}).\n\n"
            "| fact | seen in | value | where |\n| --- | --- | --- | --- |\n"
        )
        for key, rows in sorted(known.observations.items()):
            for row in rows:
                span = str(row.first) if row.first == row.last else f"{row.first} to {row.last}"
                where = ", ".join(part for part in (row.file, row.symbol) if part)
                parts.append(f"| `{key}` | {span} | {_value(row.value)} | {where} |\n")
        parts.append("\n")
    return "".join(parts)


def settings_table() -> str:
    """Every key of the settings."""
    parts = []
    for title, model in (("", SettingsTable), ("[[pair]]", PairTable), ("[[suppress]]", SuppressTable)):
        parts.append(f"## `{title}`\n\n" if title else "")
        parts.append("| key | holds |\n| --- | --- |\n")
        for field in model.model_fields.values():
            needed = "; needed" if field.is_required() else ""
            parts.append(f"| `{field.alias}` | {field.description}{needed} |\n".replace(".; needed", "; needed."))
        parts.append("\n")
    return "".join(parts)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"{len(value)} names"
    if isinstance(value, Mapping):
        return f"{len(value)} pairs"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def main() -> int:
    """Write, or compare."""
    stale = [path for path, text in documents().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(path.relative_to(ROOT))
    if "--check" in sys.argv[1:]:
        return 1 if stale else 0
    for path, text in documents().items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
