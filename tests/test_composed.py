"""Commands in parts: whatever the words, a shell, the linter and a YAML reader get them back as they were meant."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from drafter_lint.launch import flag_releases, parse_command, split_command
from drafter_lint.launch.composed import Command, Part, has_flag, quoted, spelling
from drafter_lint.launch.typed import typed_parts

#: What shells and YAML take for their own, and letters of several kinds. No dollar: a variable of the user's stays one.
WORDS = st.text(""" '"\\`#;&|<>{}[]()*?!~=:,.-/%@^aZ09éü→日""", min_size=1, max_size=20)


def command(*parts: Part, engine: str = "vllm") -> Command:
    return Command(engine=engine, release=flag_releases(engine)[-1]).having(parts)


def part(name: str, value: str, kind: str = "flag") -> Part:
    return Part(kind=kind, name=name, value=value, why="a test")  # type: ignore[arg-type]  # one of the kinds


@settings(deadline=None)
@given(model=WORDS, variable=WORDS, name=WORDS, key=WORDS)
def test_any_words_come_back(model: str, variable: str, name: str, key: str) -> None:
    made = command(
        part("--model", f"./{model}", "model"),
        part("SOME_DIR", variable, "variable"),
        part("model", key, "key"),
        part("--served-model-name", f"x{name}"),
    )
    words = split_command(made.text)
    assert words == (f"SOME_DIR={variable}", *made.argv)
    assert words[1:4] == ("vllm", "serve", f"./{model}")
    assert json.loads(words[5]) == {"model": key}


@settings(deadline=None)
@given(value=WORDS, key=WORDS)
def test_any_values_come_back_from_the_file_of_flags(value: str, key: str) -> None:
    made = command(part("--model", "m/n", "model"), part("method", key, "key"), part("--served-model-name", value))
    read = YAML(typ="safe").load(made.config)
    assert str(read["served-model-name"]) == value
    assert json.loads(read["speculative-config"]) == {"method": key}


@pytest.mark.parametrize("value", ["yes", "null", "0x10", "1e3", "0.9", "12", "a: b", "# no", "it's", "true", "~", "-"])
def test_values_that_yaml_would_read_as_something_else(value: str) -> None:
    read = YAML(typ="safe").load(command(part("--chat-template", value)).config)
    assert str(read["chat-template"]) == value


def test_a_switch_several_values_and_a_short_flag_in_the_file() -> None:
    words = ("-tp", "2", "--enable-lora", "--no-enable-prefix-caching", "--served-model-name", "a", "b", "--port=8000")
    made = command(part("--model", "m/n", "model"), *typed_parts(words, engine="vllm"))
    assert YAML(typ="safe").load(made.config) == {
        "tensor-parallel-size": 2,
        "enable-lora": True,
        "no-enable-prefix-caching": True,
        "served-model-name": ["a", "b"],
        "port": 8000,
    }


def test_a_part_takes_the_place_of_the_one_of_its_name() -> None:
    made = command(part("method", "eagle", "key"), part("--port", "1"), part("X", "0", "variable"))
    changed = made.having([part("method", "eagle3", "key"), part("--seed", "2")]).without(["--port"])
    assert [item.name for item in changed.parts] == ["X", "method", "--seed"]
    assert changed.speculative == {"method": "eagle3"}
    assert changed.variables == {"X": "0"}


@pytest.mark.parametrize(
    ("engine", "name", "release", "expected"),
    [
        ("sglang", "--tp-size", "0.5.23", "--tp-size"),
        ("sglang", "--speculative-draft-window-size", "0.5.12.post1", "--speculative-draft-window-size"),
        ("sglang", "--no-flag-of-anybody", "0.5.23", "--no-flag-of-anybody"),
        ("vllm", "--spec-method", "0.8.5", "--spec-method"),
    ],
)
def test_a_flag_is_spelled_as_a_release_spells_it(engine: str, name: str, release: str, expected: str) -> None:
    assert spelling(engine, name, release) == expected


def test_which_release_has_a_flag() -> None:
    assert has_flag("sglang", "--speculative-draft-model-quantization", "0.5.7")
    assert not has_flag("sglang", "--speculative-draft-model-quantization", "0.5.6.post2")
    assert not has_flag("sglang", "--no-flag-of-anybody", "0.5.23")


def test_variables_of_a_shell_stay_variables() -> None:
    assert quoted("$MODEL/x") == '"$MODEL/x"'
    assert quoted('{"model": "${M}"}') == r'"{\"model\": \"${M}\"}"'
    assert quoted("5 $") == "'5 $'"


def test_what_is_typed_is_kept_word_for_word() -> None:
    words = ("A=1", "B=two words", "--lora-modules", "x=y", "z=w", "--made-up", "7", "--tp=2", "--spec-tokens", "4")
    parts = {item.name: item for item in typed_parts(words, engine="vllm")}
    assert parts["B"].value == "two words"
    assert parts["--lora-modules"].words == ("--lora-modules", "x=y", "z=w")
    assert parts["--made-up"].words == ("--made-up", "7")
    assert parts["num_speculative_tokens"].value == 4
    assert {item.origin for item in parts.values()} == {"given"}
    text = command(part("--model", "m/n", "model"), *parts.values()).text
    assert parse_command(split_command(text)).num_speculative_tokens
