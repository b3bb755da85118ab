"""Launch commands in documents: the corpus in fixtures/launch, its laws on any text, and what stays out of reports."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from drafter_lint.findings import Located, Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.launch.files import Found, LaunchCommand, effort, find_commands, versions
from drafter_lint.launch.files.grammar import syntax
from mutations import BOUNDED, mutated

FOLDER = Path(__file__).parent.parent / "fixtures" / "launch"
DOCUMENTS = sorted(path for path in FOLDER.iterdir() if not path.name.endswith(".expect.toml"))
NAMES = (
    *("a.sh", "a.md", "a.rst", "a.yaml", "a.json", "a.py", "a.ipynb", "a.service", "Dockerfile", "compose.yml"),
    *("a.txt", "a", "a.sh.j2", "a.unknown"),
)
TEXTS = ("method", "drafter", "target")
NUMBERS = ("num_speculative_tokens", "num_steps", "topk", "num_draft_tokens", "tensor_parallel")


def shown(place: Location) -> str:
    """The characters under a place, with its line and column."""
    assert place.text is not None
    assert place.column is not None
    assert place.width is not None
    return f"{place.line}:{place.column} {place.text[place.column - 1 : place.column - 1 + place.width]}"


def described(found: Found) -> dict[str, Any]:
    """What a document holds, in the words of the sidecar files."""
    result: dict[str, Any] = {}
    if found.commands:
        result["command"] = [_command(command) for command in found.commands]
    if found.notes:
        result["note"] = [{"at": shown(note.at), "reason": note.reason} for note in found.notes]
    return result


def _command(command: LaunchCommand) -> dict[str, Any]:
    request = command.request
    entry: dict[str, Any] = {"engine": command.engine, "line": command.source.line}
    if command.version is not None:
        entry["version"] = [command.version.value, shown(command.version.at)]
    for name in TEXTS:
        value: Located[str] | None = getattr(request, name)
        if value is not None:
            entry[name] = [value.value, shown(value.at)]
    for name in NUMBERS:
        number: Located[int] | None = getattr(request, name)
        if number is not None:
            entry[name] = number.value
    if command.unresolved:
        entry["unresolved"] = list(command.unresolved)
    if command.lost:
        entry["lost"] = [shown(place) for place in command.lost]
    return entry


def places(found: Found) -> list[Location]:
    """Every place in what was found."""
    result = [note.at for note in found.notes]
    for command in found.commands:
        request = command.request
        result += [command.source, request.at(), *command.lost]
        result += [command.version.at] if command.version else []
        result += [place for option in request.options.values() for place in (option.at, option.flag_at)]
        result += [item.at for item in request.unknown]
        result += [place for place, _ in request.problems]
        result += [value.at for value in request.speculative_config.values()]
        result += [value.at for value in request.environment.values()]
        result += [value.at for name in (*TEXTS, *NUMBERS) if (value := getattr(request, name)) is not None]
    return result


def check_places(found: Found, text: str, file: str) -> None:
    """Every place is in the file, on the line it shows, and under characters that exist."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    for place in places(found):
        assert place.role == "launch"
        assert place.subject == place.file == file
        assert place.line is not None
        assert place.text is not None
        assert len(place.text) == len(lines[place.line - 1])
        assert place.column is not None
        assert place.width is not None
        assert place.column >= 1
        assert place.width >= 0
        assert place.column - 1 + place.width <= len(place.text)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_document(document: Path) -> None:
    expected = tomllib.loads(document.with_suffix(".expect.toml").read_text("utf-8"))
    text = document.read_text("utf-8")
    found = find_commands(text, file=document.name)
    assert described(found) == expected
    check_places(found, text, document.name)


def test_every_sidecar_has_a_document() -> None:
    assert len(DOCUMENTS) >= 40
    sidecars = {path.name.removesuffix(".expect.toml") for path in FOLDER.glob("*.expect.toml")}
    assert sidecars == {document.stem for document in DOCUMENTS}
    assert len({document.stem for document in DOCUMENTS}) == len(DOCUMENTS)


# Where the wrong word stands: read off the documents by eye.
FOUNDING = {
    "shell-founding-mistake.sh": (7, 27),
    "compose-founding-mistake.yaml": (9, 31),
    "kubernetes-founding-mistake.yaml": (20, 15),
    "founding-mistake.Dockerfile": (8, 29),
    "python-founding-mistake.py": (12, 32),
    "markdown-founding-mistake.md": (7, 27),
}


def test_founding_mistake_has_a_document_of_every_kind() -> None:
    assert {path.name for path in FOLDER.glob("*founding-mistake.[!e]*")} == set(FOUNDING)


@pytest.mark.parametrize("name", FOUNDING)
def test_founding_mistake_is_seen_under_its_word(name: str) -> None:
    document = FOLDER / name
    lines = document.read_text("utf-8").split("\n")
    (command,) = find_commands("\n".join(lines), file=document.name).commands
    method = command.request.method
    assert method is not None
    assert method.value == "EAGLE"
    place = method.at
    assert (place.file, place.line, place.column, place.width) == (name, *FOUNDING[name], len("EAGLE"))
    line, column = FOUNDING[name]
    assert place.text == lines[line - 1]
    assert lines[line - 1][column - 1 :].startswith("EAGLE")
    assert command.request.drafter is not None
    assert command.request.drafter.value == "lightseekorg/kimi-k2.5-eagle3"


def test_variables_fill_what_the_document_leaves_open() -> None:
    text = 'vllm serve "$MODEL" --tensor-parallel-size ${TP:-8} --speculative-config "{\\"method\\":\\"$METHOD\\"}"\n'
    (command,) = find_commands(text, file="a.sh").commands
    assert command.unresolved == ("$MODEL", "$METHOD")
    given_ = {"MODEL": "acme/lark", "TP": "2", "METHOD": "mtp"}
    (command,) = find_commands(text, file="a.sh", variables=given_).commands
    request = command.request
    assert command.unresolved == ()
    assert request.target is not None
    assert (request.target.value, shown(request.target.at)) == ("acme/lark", "1:13 $MODEL")
    assert request.tensor_parallel is not None
    assert request.tensor_parallel.value == 2
    assert request.method is not None
    assert request.method.value == "mtp"


def test_a_value_set_in_the_document_beats_a_given_one() -> None:
    text = "MODEL=acme/lark\nvllm serve $MODEL\n"
    (command,) = find_commands(text, file="a.sh", variables={"MODEL": "acme/other"}).commands
    assert command.request.target is not None
    assert command.request.target.value == "acme/lark"


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("lmsysorg/sglang:v0.5.9-cu126", "0.5.9"),
        ("lmsysorg/sglang:v0.5.9-rocm630-mi30x", "0.5.9"),
        ("mirror.example/hub/lmsysorg/sglang:v0.5.8.post1", "0.5.8.post1"),
        ("lmsysorg/sglang:v0.5.10rc1-cu130", "0.5.10rc1"),
        ("lmsysorg/sglang:nightly-dev-20260101-0123abcd", None),
        ("lmsysorg/sglang:latest", None),
        ("lmsysorg/sglang:glm5", None),
        ("lmsysorg/sglang:kimi-k3", None),
        ("lmsysorg/sglang:v0.5.9-fix", None),
        ("registry.example/team/sglang:v0.5.9-fix", None),
        ("registry.example/team/sglang:v0.5.9", None),
        ("lmsysorg/sglang@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0", None),
        ("quay.io/ascend/vllm-ascend:v0.13.0rc3", None),
        ("lmsysorg/sglang", None),
    ],
)
def test_version_from_an_image(image: str, version: str | None) -> None:
    text = f"docker run --gpus all {image} python3 -m sglang.launch_server --model-path acme/lark\n"
    (command,) = find_commands(text, file="a.sh").commands
    assert (command.version.value if command.version else None) == version


@pytest.mark.parametrize(
    ("pins", "version"),
    [
        ("pip install vllm==0.9.2", "0.9.2"),
        ("uv pip install 'vllm[flashinfer]==0.11.2' --torch-backend=auto", "0.11.2"),
        ("pip install vllm==0.9.2\npip install vllm==0.10.2", None),
        ("# pip install vllm==0.9.2", None),
        ("pip install vllm>=0.9.2", None),
        ("pip install my-vllm==0.9.2", None),
        ("pip install vllm==0.9.*", None),
    ],
)
def test_version_from_a_pin(pins: str, version: str | None) -> None:
    (command,) = find_commands(f"{pins}\nvllm serve acme/lark\n", file="a.sh").commands
    assert (command.version.value if command.version else None) == version


def test_secrets_are_in_no_place_and_no_request() -> None:
    text = "HF_TOKEN=hf_abcdefghijklmnopqrst vllm serve acme/lark --api-key verysecret --tensor-parallel-size 2\n"
    found = find_commands(text, file="a.sh")
    assert len(found.commands) == 1
    assert "verysecret" not in repr(found)
    assert "abcdefghijklmnopqrst" not in repr(found)


def test_carriage_returns_do_not_move_places() -> None:
    text = "vllm serve acme/lark \\\r\n  --speculative-config.method mtp\r\n"
    (command,) = find_commands(text, file="a.sh").commands
    assert command.request.method is not None
    assert shown(command.request.method.at) == "2:31 mtp"


def test_other_alphabets_do_not_move_places() -> None:
    text = "# Тест Ω 模型 🦆\necho 'é'; vllm serve acme/lark --speculative-config '{\"method\": \"mtp\"}'  # ö\n"
    (command,) = find_commands(text, file="a.sh").commands
    assert command.request.method is not None
    line = text.split("\n")[1]
    assert shown(command.request.method.at) == f"2:{line.index('mtp') + 1} mtp"


def test_a_command_without_speculation_says_so() -> None:
    (command,) = find_commands("vllm serve acme/lark\n", file="a.sh").commands
    assert not command.speculates
    (command,) = find_commands("vllm serve acme/lark --speculative-config.method mtp\n", file="a.sh").commands
    assert command.speculates
    (command,) = find_commands("vllm serve acme/lark\n--speculative-config.method mtp\n", file="a.sh").commands
    assert command.lost
    assert command.speculates


def test_places_of_arguments_count_from_the_request() -> None:
    text = (FOLDER / "shell-founding-mistake.sh").read_text("utf-8")
    (command,) = find_commands(text, file="a.sh").commands
    request: LaunchRequest = command.request
    assert request.method is not None
    assert request.method.at.argument is not None
    assert request.argv[request.method.at.argument] == "EAGLE"


def test_parsers_are_imported_only_when_a_document_needs_them() -> None:
    program = (
        "import sys; from drafter_lint.launch.files import find_commands; find_commands('no engine', file='a.sh');"
        "print(sorted({'tree_sitter', 'tree_sitter_bash', 'ruamel.yaml'} & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"


def test_a_document_that_doubles_itself_ends() -> None:
    doubling = "x=vllm\n" + "x=$x$x\n" * 40 + "vllm serve $x --speculative-config.method mtp\n"
    assert find_commands(doubling, file="a.sh").commands
    aliases = "a0: &a0 [vllm]\n" + "".join(
        f"a{index}: &a{index} [{', '.join([f'*a{index - 1}'] * 9)}]\n" for index in range(1, 12)
    )
    find_commands(aliases, file="a.yaml")


FRAGMENTS = st.sampled_from(
    [
        *("vllm serve acme/lark ", "python3 -m sglang.launch_server ", "--speculative-config ", "--tp 8 ", "\\\n"),
        *("--speculative-algorithm EAGLE3 ", "# ", "\n", "$X ", "${X:-", "}", '"', "'", "`", "$(", ")", "(("),
        *("<<EOF\n", "EOF\n", "if x; then ", "fi\n", "case $x in a) ", ";; esac\n", "for i in a b; do ", "done\n"),
        *("f() { ", "X=(", "X+=(", '"${X[@]}" ', "docker run ", "-e A=b ", "vllm/vllm-openai:v0.9.2 ", "bash -c "),
        *("```bash\n", "```\n", "services:\n", "  a:\n", "    command: ", "    args: [", "]", "- ", ": ", "&a ", "*a "),
        *("<<: *a\n", "speculative_config: ", '{"method": "mtp"}', "FROM ", "CMD [", "RUN ", "[Service]\nExecStart="),
        *("LLM(", "speculative_config={", "method='mtp'", "def f():\n    ", "\t", "\r\n", "\x00", "\u2028", "é", "🦆"),
        *("{{ .X }}", "<your model>", "\U000c2a70"),
    ]
)
DOCUMENT = st.one_of(st.text(max_size=200), st.lists(FRAGMENTS, max_size=40).map("".join))
QUIET = settings(
    max_examples=150, derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@QUIET
@given(text=DOCUMENT, name=st.sampled_from(NAMES))
@example(text="vllm serve ${X:-${X:-${X:-", name="a.sh")
@example(text="--spec: &a [*a]", name="a.yaml")
@example(text="vllm serve \ud800 --speculative-config.method mtp", name="a.sh")
def test_any_text_is_read_without_an_error_and_places_lie_inside(text: str, name: str) -> None:
    document = text + "\n# vllm"
    check_places(find_commands(document, file=name), document, name)


@BOUNDED
@given(data=st.data())
def test_mutations_of_the_corpus_are_read(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(DOCUMENTS))
    text = data.draw(mutated(document.read_text("utf-8")))
    check_places(find_commands(text, file=document.name), text, document.name)


@pytest.mark.parametrize("quoted", ['\'{"method": "mtp", "num_speculative_tokens": $N}\'', '"{\\"a\\": \\$N}"'])
def test_a_dollar_no_shell_replaces_is_no_variable(quoted: str) -> None:
    (command,) = find_commands(f"N=3\nvllm serve acme/lark --speculative-config {quoted}\n", file="a.sh").commands
    assert command.unresolved == ()
    assert command.request.num_speculative_tokens is None
    ((place, expected),) = command.request.problems
    assert shown(place)[:2] == "2:"
    assert expected.startswith("JSON (Expecting value")
    assert "$N" in command.request.argv[-1]


def test_a_name_in_single_quotes_is_that_name() -> None:
    text = "vllm serve '$MODEL' --tensor-parallel-size $TP --speculative-config '{\"model\": \"${D}\"}'\n"
    (command,) = find_commands(text, file="a.sh").commands
    assert command.unresolved == ("$TP",)
    assert command.request.target is not None
    assert command.request.drafter is not None
    assert (command.request.target.value, command.request.drafter.value) == ("$MODEL", "${D}")
    assert command.request.speculative_config["model"].value == "${D}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bash -c 'vllm serve acme/lark --speculative-config.num_speculative_tokens $N'\n", "a.sh"),
        ('cat > x.sh <<E\nvllm serve acme/lark --speculative-config \'{"method": "$N"}\'\nE\n', "a.sh"),
        (
            'services:\n  a:\n    image: x\n    command: vllm serve a --speculative-config \'{"method":"$N"}\'\n',
            "a.yaml",
        ),
        ('vllm serve acme/lark --speculative-config \'{"method": "${{ env.N }}"}\'\n', "a.sh"),
        ('name: x\nargs: vllm serve acme/lark --speculative-config \'{"method":"$(N)"}\'\n', "a.yaml"),
    ],
)
def test_a_dollar_somebody_else_replaces_stays_a_variable(text: str, name: str) -> None:
    (command,) = find_commands(text, file=name).commands
    assert [gap.strip("${}() ").removeprefix("env.") for gap in command.unresolved] == ["N"]


# Text made to be slow, by what it repeats: in a script, in a page, in a program, in a manifest.
SLOW = [
    *(
        ("a.sh", unit)
        for unit in ("x=(", ")", "))", "|", "x=$x$x vllm\n", 'x+=("${x[@]}" vllm)\n', "x $(vllm\n", '"$(')
    ),
    *(
        ("a.sh", unit)
        for unit in ("if x; then vllm serve $x; fi\n", "for i in 1 2 3; do vllm serve $i; ", "vllm serve a\n")
    ),
    *(("a.sh", unit) for unit in ("cat <<E\nvllm serve a\n", "((\\\nx=(:-[[ ", ">a f() ", "vllm serve a\n--spec-a\n")),
    *(("a.yaml", unit) for unit in ("[", "{", "- vllm serve a\n", "---\na: b\n", "a: &a [*a]\n")),
    *(
        ("a.md", unit)
        for unit in ("```bash\nvllm serve a\n```\n", "```yaml\na: vllm\n```\n", "> ~~~\n> vllm serve a\n> ~~~\n")
    ),
    *(
        ("a.py", unit)
        for unit in ("x += x\n", "x = [*x, *x]\n", "x = {'a': x, 'b': x}\n", "LLM('a')\n", "if x: LLM(x)\n")
    ),
]


def _repeated(name: str, unit: str, size: int) -> str:
    first = "x = ['vllm']\n" if name == "a.py" else ""
    return first + unit * (size // len(unit)) + "\n# vllm --speculative-config\n"


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What documents read from now on ask for, in units of effort."""
    total = {"units": 0, "calls": 0}
    real = effort.Effort.spend

    def counted(self: effort.Effort, units: int) -> None:
        real(self, units)
        total["units"] += units
        total["calls"] += 1

    monkeypatch.setattr(effort.Effort, "spend", counted)
    return total


@pytest.mark.parametrize(("name", "unit"), SLOW)
def test_a_text_made_to_be_slow_asks_for_bounded_work(
    name: str, unit: str, spent: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "_BASE", 100_000)  # the law is the same, and the test quicker
    text = _repeated(name, unit, 24_000)
    check_places(find_commands(text, file=name), text, name)
    assert 0 < spent["units"] <= effort.allowed(len(text))
    assert spent["calls"] < 60_000


def test_documents_of_people_ask_for_a_hundredth_of_what_they_may(spent: dict[str, int]) -> None:
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        spent["units"] = 0
        find_commands(text, file=document.name)
        assert spent["units"] < effort.allowed(len(text)) // 100, document.name


@pytest.mark.parametrize("unit", ["x=(", ")", "|", "))/x[", "'vllm", ">a f() ", "((\\\nx=(:-[[ "])
def test_the_grammar_is_not_given_what_it_is_slow_at(unit: str) -> None:
    parsed = syntax((unit * 64_000)[:64_000], effort.Effort(64_000))
    assert parsed is None
    assert syntax((unit * 4_000)[:4_000], effort.Effort(4_000)) is not None


def test_a_long_script_of_people_is_parsed_whole() -> None:
    script = "".join((path.read_text("utf-8")) + "\n" for path in sorted(FOLDER.glob("shell-*.sh"))) * 6
    shown = "".join(character if character.isascii() else "x" for character in script)
    assert len(shown) > 30_000
    assert syntax(shown, effort.Effort(len(shown))) is not None


def test_a_script_too_tangled_to_be_parsed_is_read_line_by_line_and_said_so() -> None:
    text = "vllm serve acme/lark --speculative-config.method mtp\n" + "x=(" * 20_000
    found = find_commands(text, file="a.sh")
    assert [command.source.line for command in found.commands] == [1]
    found = find_commands("\n" + text, file="a.sh")
    assert [note.reason for note in found.notes] == [
        "not checked: this script is nested too deep or no shell; only its lines were read"
    ]


def test_pins_are_looked_for_once_and_not_for_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    real = versions._mentions

    def noted(expression: re.Pattern[str], engine: str, text: str) -> Iterator[re.Match[str]]:
        looked.append(engine)
        return real(expression, engine, text)

    monkeypatch.setattr(versions, "_mentions", noted)
    text = "".join(f"vllm serve acme/lark-{index}\n" for index in range(500))
    assert len(find_commands(text, file="a.sh").commands) == 500
    assert looked == ["vllm", "vllm"]
