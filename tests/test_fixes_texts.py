"""Edits inside texts: what reading them then gives is exactly what was meant, and every other character stays."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drafter_lint.findings import AddArguments, RemoveConfig, ReplaceArgument, SetConfig
from drafter_lint.fixes.change import CannotEdit
from drafter_lint.fixes.config_text import BOM, edited, replaced
from drafter_lint.fixes.launch_text import LaunchDocument, alike
from drafter_lint.launch.files import find_commands

FOLDER = Path(__file__).parent.parent / "fixtures" / "launch"
DOCUMENTS = sorted(path for path in FOLDER.iterdir() if not path.name.endswith(".expect.toml"))

keys = st.one_of(st.sampled_from(["a", "b", "text_config", "a/b", "a~b", "", "-", "0", "é"]), st.text(max_size=4))
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)
documents = st.dictionaries(keys, values, max_size=5)


@st.composite
def texts(draw: st.DrawFn, document: dict[str, Any]) -> str:
    """A document as somebody may have written it."""
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    colon = draw(st.sampled_from([": ", ":", " : "]))
    comma = "," if indent is not None else draw(st.sampled_from([", ", ",", " ,"]))
    text = json.dumps(document, indent=indent, separators=(comma, colon), ensure_ascii=draw(st.booleans()))
    before, after = draw(st.sampled_from(["", " ", "\n"])), draw(st.sampled_from(["", "\n", "\n\n", "  "]))
    return (before + text + after).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def escaped(key: str) -> str:
    """A key as part of a pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def pointers(node: Any, above: str = "") -> list[str]:
    """Every place in a document, its own left out."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    found: list[str] = []
    for key, value in items:
        place = f"{above}/{escaped(str(key))}"
        found += [place, *pointers(value, place)]
    return found


def parent(root: Any, pointer: str) -> tuple[Any, Any]:
    """What holds the value at a pointer, and its key there."""
    *above, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    node = root
    for token in above:
        node = node[int(token)] if isinstance(node, list) else node.setdefault(token, {})
    return node, int(last) if isinstance(node, list) and last != "-" else last


def strict(text: str) -> Any:
    """A document without duplicate keys, as its pairs, so that the order of keys counts."""

    def pairs(found: list[tuple[str, Any]]) -> Any:
        assert len({key for key, _ in found}) == len(found)
        return {"pairs": found}

    return json.loads(text, object_pairs_hook=pairs)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_set_value_is_all_that_changes(data: st.DataObject) -> None:
    document = data.draw(documents)
    text = data.draw(texts(document))
    places = pointers(document)
    objects = ["", *(place for place in places if isinstance(_value(document, place), dict))]
    lists = [place for place in places if isinstance(_value(document, place), list)]
    fresh = st.tuples(st.sampled_from(objects), st.lists(keys, min_size=1, max_size=3)).map(
        lambda pair: pair[0] + "".join(f"/{escaped(key)}" for key in pair[1])
    )
    choices = [fresh]
    choices += [st.sampled_from(places)] if places else []
    choices += [st.sampled_from(lists).map(lambda place: f"{place}/-")] if lists else []
    pointer, value = data.draw(st.one_of(choices)), data.draw(values)
    wanted = json.loads(json.dumps(document))
    try:
        holder, key = parent(wanted, pointer)
        if isinstance(holder, list) and key == "-":
            holder.append(value)
        else:
            holder[key] = value
    except (TypeError, ValueError, IndexError, AttributeError):  # through a value that holds nothing
        with pytest.raises(CannotEdit):
            replaced(text, SetConfig(pointer, value))
        return
    made = replaced(text, SetConfig(pointer, value))
    after = made.of(text)
    assert strict(after) == strict(json.dumps(wanted))
    assert after.startswith(text[: made.start])
    assert after.endswith(text[made.end :])
    if pointer in places:  # no more than the value itself
        assert json.loads(text[made.start : made.end]) == _value(document, pointer)
    else:  # something is put in; what goes away is blank
        assert not text[made.start : made.end].strip()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_removed_value_is_all_that_goes(data: st.DataObject) -> None:
    document = data.draw(documents.filter(bool))
    text = data.draw(texts(document))
    pointer = data.draw(st.sampled_from(pointers(document)))
    made = replaced(text, RemoveConfig(pointer))
    wanted = json.loads(json.dumps(document))
    holder, key = parent(wanted, pointer)
    del holder[key]
    assert strict(made.of(text)) == strict(json.dumps(wanted))
    assert made.text == ""


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_marks_and_line_ends_stay(data: st.DataObject) -> None:
    document = data.draw(documents)
    text = data.draw(texts(document))
    if "\r\n" in text or "\n" not in text.strip():
        mark = data.draw(st.sampled_from([b"", BOM]))
        after = edited(mark + text.encode(), [SetConfig("/new/one", {"x": [1, 2]})])
        assert after.startswith(BOM) == bool(mark)
        assert after.count(b"\n") - after.count(b"\r\n") == text.count("\n") - text.count("\r\n")
        assert json.loads(after.removeprefix(BOM)) == {
            **document,
            "new": {**new, "one": {"x": [1, 2]}} if isinstance(new := document.get("new", {}), dict) else new,
        }


def _value(root: Any, pointer: str) -> Any:
    holder, key = parent(root, pointer)
    return holder[key]


WRITTEN = """{
  "architectures": ["LlamaForCausalLMEagle3"],
  "eagle_config": {},
  "ids": [
    1,
    2
  ],
  "hidden_size":   64,
  "rope_scaling": null
}
"""


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        (SetConfig("/hidden_size", 128), "64", "128"),
        (SetConfig("/architectures", ["A", "B"]), '["LlamaForCausalLMEagle3"]', '["A", "B"]'),
        (SetConfig("/ids", [2, 4, 5]), "    1,\n    2\n", "    2,\n    4,\n    5\n"),
        (SetConfig("/ids/-", 3), "    2\n", "    2,\n    3\n"),
        (SetConfig("/eagle_config/a", value=True), "{},", '{\n    "a": true\n  },'),
        (SetConfig("/new", 1.5), "null\n", 'null,\n  "new": 1.5\n'),
        (SetConfig("/x/y", "é"), "null\n", 'null,\n  "x": {\n    "y": "\\u00e9"\n  }\n'),
        (RemoveConfig("/hidden_size"), '  "hidden_size":   64,\n', ""),
        (RemoveConfig("/rope_scaling"), ',\n  "rope_scaling": null', ""),
        (RemoveConfig("/ids/1"), ",\n    2", ""),
        (RemoveConfig("/architectures/0"), '["LlamaForCausalLMEagle3"]', "[]"),
    ],
)
def test_the_hand_of_the_file_is_kept(edit: SetConfig | RemoveConfig, before: str, after: str) -> None:
    assert WRITTEN.count(before) == 1
    assert edited(WRITTEN.encode(), [edit]).decode() == WRITTEN.replace(before, after)


@pytest.mark.parametrize(
    ("text", "edit", "told"),
    [
        ('{"a": 1,}', SetConfig("/a", 2), "no JSON object"),
        ("[1]", SetConfig("/0", 2), "no JSON object"),
        ('{"a": 1} x', SetConfig("/a", 2), "no JSON object"),
        ('{"a": 1, "a": 2}', RemoveConfig("/a"), "twice"),
        ('{"a": 1}', RemoveConfig("/b"), "not in the file"),
        ('{"a": null}', SetConfig("/a/b", 2), "leads nowhere"),
        ('{"a": [1]}', SetConfig("/a/7", 2), "leads nowhere"),
        ('{"a": 1}', SetConfig("", 2), "no place"),
        ('{"a": 1}', SetConfig("/a", float("inf")), "cannot be written"),
    ],
)
def test_what_cannot_be_edited_is_told(text: str, edit: SetConfig | RemoveConfig, told: str) -> None:
    with pytest.raises(CannotEdit, match=told):
        edited(text.encode(), [edit])


def test_a_file_in_another_encoding_is_left() -> None:
    with pytest.raises(CannotEdit, match="UTF-8"):
        edited('{"a": "é"}'.encode("latin-1"), [SetConfig("/a", 2)])


def test_the_last_of_two_keys_is_the_one_that_is_set() -> None:
    assert edited(b'{"a": 1, "a": 2}', [SetConfig("/a", 3)]) == b'{"a": 1, "a": 3}'


def commands(document: Path) -> list[tuple[LaunchDocument, int]]:
    """Every command of a document."""
    made = LaunchDocument.read(document.read_text("utf-8"), file=document.name, variables={})
    return [(made, number) for number in range(len(made.commands))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_document_changes_but_under_the_word(document: Path) -> None:
    expected = tomllib.loads(document.with_suffix(".expect.toml").read_text("utf-8"))
    found = commands(document)
    assert len(found) == len(expected.get("command", []))
    for made, number in found:
        words = made.commands[number]
        flags = [i for i, word in enumerate(words.argv[:-1]) if word == "--speculative-algorithm"]
        for index in (flag + 1 for flag in flags):
            old = words.argv[index]
            try:
                after = made.after([ReplaceArgument(index, "NGRAM")], line=words.line, argv=words.checked)
            except CannotEdit:
                continue
            ends = [at for at in range(len(made.text)) if made.text.startswith(old, at)]
            assert after.text in {made.text[:at] + "NGRAM" + made.text[at + len(old) :] for at in ends}
            again = find_commands(after.text, file=document.name).commands
            assert again[number].request.argv == (*words.argv[:index], "NGRAM", *words.argv[index + 1 :])


@pytest.mark.parametrize(
    "document", [path for path in DOCUMENTS if "founding" in path.name], ids=lambda path: path.name
)
def test_words_are_added_to_every_kind_of_document(document: Path) -> None:
    ((made, _),) = commands(document)
    words = made.commands[0]
    more = ("--speculative-accept-threshold-acc", "0.9")
    after = made.after([AddArguments(more)], line=words.line, argv=words.checked)
    (again,) = find_commands(after.text, file=document.name).commands
    argv = again.request.argv
    assert [word for word in argv if word not in more] == list(words.checked)
    assert [word for word in argv if word in more] == list(more)
    old = made.text.split("\n")
    assert all(line in after.text for line in old if words.checked[-1] not in line)


TWICE = """METHOD=EAGLE
python -m sglang.launch_server --model-path a/b --speculative-algorithm $METHOD --port 1
python -m sglang.launch_server --model-path c/d --speculative-algorithm $METHOD --port 2
python -m sglang.launch_server --model-path e/f --speculative-algorithm EAGLE --port 3
"""


def test_a_word_that_serves_two_commands_is_left() -> None:
    made = LaunchDocument.read(TWICE, file="a.sh", variables={})
    assert [words.argv[-3] for words in made.commands] == ["EAGLE"] * 3
    for words in made.commands[:2]:
        with pytest.raises(CannotEdit, match="not beyond doubt"):
            made.after([ReplaceArgument(6, "EAGLE3")], line=words.line, argv=words.checked)
    third = made.commands[2]
    after = made.after([ReplaceArgument(6, "EAGLE3")], line=third.line, argv=third.checked)
    assert after.text == TWICE.replace("algorithm EAGLE ", "algorithm EAGLE3 ")


def test_nothing_is_added_to_the_default_of_a_variable() -> None:
    text = "vllm serve a/b --speculative-config.method=mtp --port ${PORT:-8000}\n"
    made = LaunchDocument.read(text, file="a.sh", variables={})
    (words,) = made.commands
    after = made.after([AddArguments(("--seed", "7"))], line=words.line, argv=words.checked)
    assert after.text == "vllm serve a/b --speculative-config.method=mtp --seed 7 --port ${PORT:-8000}\n"


def test_fixes_of_one_command_add_up_and_the_first_wins() -> None:
    made = LaunchDocument.read(TWICE, file="a.sh", variables={})
    words = made.commands[2]
    place: dict[str, Any] = {"line": words.line, "argv": words.checked}
    after = made.after([AddArguments(("--speculative-num-steps", "3")), AddArguments(("--tp", "2"))], **place)
    after = after.after([ReplaceArgument(6, "EAGLE3")], **place)
    assert after.text.endswith("EAGLE3 --port 3 --speculative-num-steps 3 --tp 2\n")
    assert after.after([ReplaceArgument(6, "EAGLE3")], **place) == after
    for edit in (ReplaceArgument(6, "NGRAM"), AddArguments(("--speculative-num-steps", "5"))):
        with pytest.raises(CannotEdit, match="overlaps"):
            after.after([edit], **place)


def test_a_command_that_is_no_longer_there_is_left() -> None:
    made = LaunchDocument.read(TWICE, file="a.sh", variables={})
    words = made.commands[2]
    with pytest.raises(CannotEdit, match="as it was checked"):
        made.after([ReplaceArgument(6, "EAGLE3")], line=words.line, argv=(*words.checked, "--tp"))


@pytest.mark.parametrize(
    ("file", "text", "count"),
    [
        ("a.sh", """vllm serve a/b --speculative-config '{"method":"eagle", "m":"c/d"}'\n""", ', "n":3'),
        (
            "b.sh",
            """vllm serve a/b --speculative-config "{\\"method\\": \\"eagle\\", \\"m\\": \\"c/d\\"}" --port 1\n""",
            ', \\"n\\": 3',
        ),
        ("c.yaml", "model: a/b\nspeculative_config:\n  method: eagle\n  m: c/d\nport: 1\n", "\n  n: 3"),
        (
            "d.py",
            'from vllm import LLM\nLLM(model="a/b", speculative_config={"method": "eagle", "m": "c/d"})\n',
            ', "n": 3',
        ),
    ],
)
def test_json_inside_quotes_changes_by_its_members(file: str, text: str, count: str) -> None:
    count = count.replace("n", "num_speculative_tokens", 1)
    text = re.sub(r"\bm\b", "model", text)
    made = LaunchDocument.read(text, file=file, variables={})
    (words,) = made.commands
    index = next(i for i, word in enumerate(words.argv) if word.startswith("{"))
    value = json.dumps({**json.loads(words.argv[index]), "method": "eagle3", "num_speculative_tokens": 3})
    changed = made.after([ReplaceArgument(index, value)], line=words.line, argv=words.checked)
    assert changed.text == re.sub(r'c/d(\\?"|)', lambda found: found[0] + count, text.replace("eagle", "eagle3"))
    assert alike(changed.commands[0].argv[index], value)
