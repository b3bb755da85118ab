"""A made release against a small profile: what agrees, is new, gone or changed, and what is written."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import release as script  # noqa: E402 - found through the line above
from extraction.flag_table import FlagTable  # noqa: E402 - same
from extraction.profile_text import ProfileText, with_release  # noqa: E402 - same
from extraction.trees import Release  # noqa: E402 - same

from drafter_lint.facts import engines, parse_profile, profile, version_of, worlds  # noqa: E402 - same

PROFILE = """\
# A comment that stays.
read = ["1.0", "2.0"]
run = []

[fact."methods.known"]
file = "config/speculative.py"
symbol = "SpeculativeMethod"
[[fact."methods.known".observed]]
first = "1.0"
last = "2.0"
[fact."methods.known".observed.value]
eagle = "1.0..2.0"
medusa = "1.0..1.0"
ngram = "1.0..2.0"

[fact."class.rope-types"]
file = "model_executor/layers/rotary_embedding.py"
symbol = "get_rope"
observed = [
  { first = "1.0", last = "2.0", value = ["default", "yarn"] }, # another that stays
]

[fact."loader.strict"]
file = "loader.py"
symbol = "Loader.load"
observed = [
  { first = "1.0", last = "1.0", value = false },
  { first = "2.0", last = "2.0", value = true },
]

[fact."share.head"]
file = "loader.py"
symbol = "Loader.share"
observed = [
  { first = "1.0", last = "2.0", value = "always" },
]
"""
FLAGS = """\
# Written by scripts/release.py from the argparse definitions of vllm; "seen" is left out where
# every release read has the spelling.
engine = "vllm"
read = ["1.0", "2.0"]

[flag]
"--new" = { kind = "value", seen = "2.0..2.0" }
"--seed" = { kind = "value" }
"""
CONFIG = """\
SpeculativeMethod = Literal[METHODS]
class SpeculativeConfig:
    '''What is asked for.'''
    method: SpeculativeMethod | None = None
    def hf_config_override(hf_config):
        return hf_config
"""
ROPE = """\
def get_rope(scaling_type):
    if scaling_type == "default": return 0
    elif scaling_type in TYPES: return 1
"""
LOADER = """\
class Loader:
    def load(self, weights):
        '''Words that are no code.'''
        return STRICT
    def share(self):
        return SHARE
"""


def make(folder: Path, version: str, **words: str) -> None:
    """A release of a made vLLM, unpacked where the script looks for it."""
    given = {"methods": '"eagle", "ngram"', "types": '["yarn"]', "strict": "False", "share": "1", "flag": ""} | words
    package = folder / f"vllm-{version}" / "vllm"
    texts = {
        "__init__.py": "",
        "envs.py": "VLLM_USE_V2_MODEL_RUNNER = None\n",
        "config/speculative.py": CONFIG.replace("METHODS", given["methods"]),
        "model_executor/layers/rotary_embedding.py": ROPE.replace("TYPES", given["types"]),
        "model_executor/models/registry.py": "",
        "transformers_utils/config.py": "",
        "loader.py": given.get("comment", "")
        + LOADER.replace("STRICT", given["strict"]).replace("SHARE", given["share"]),
        "engine/arg_utils.py": 'def add(parser):\n    parser.add_argument("--seed")\n' + given["flag"],
    }
    for name, text in texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, "utf-8")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with the two documents, and the two releases that were read."""
    for folder, text in (("engines", PROFILE), ("flags", FLAGS)):
        (tmp_path / "schemas" / folder).mkdir(parents=True)
        (tmp_path / "schemas" / folder / "vllm.toml").write_text(text, "utf-8")
    make(tmp_path, "1.0", methods='"eagle", "medusa", "ngram"')
    make(tmp_path, "2.0", strict="True", flag='    parser.add_argument("--new")\n')
    return tmp_path


def run(root: Path, *words: str) -> int:
    """The script in a checkout of its own."""
    return script.main(["vllm", *words, "--root", str(root), "--sources", str(root)])


def written(root: Path) -> str:
    """The profile as it stands."""
    return (root / "schemas" / "engines" / "vllm.toml").read_text("utf-8")


def test_what_agrees_is_new_gone_or_changed_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(root, "1.5", methods='"eagle", "dflash"', types='["yarn", "ntk"]', comment="# words\n", share="2")
    assert run(root, "1.5") == 1
    said = capsys.readouterr().out
    assert said.startswith("vllm 1.5, beside 1.0 and 2.0\nagrees: 1 values that syntax shows\n")
    assert "as on one side: 1\n  methods.known: medusa: as in 2.0\n" in said
    assert "new: 1\n  methods.known: dflash: there (1.0: not there, 2.0: not there)\n" in said
    assert "gone: 1\n  methods.known: ngram: not there (1.0: there, 2.0: there)\n" in said
    assert 'changed: 1\n  class.rope-types: ["default", "ntk", "yarn"]' in said
    assert "source unchanged: 1 facts (1 as in 1.0, 0 as in 2.0)\n" in said
    assert "read by hand: 1 facts\n  loader.py, Loader.share: changed since 1.0; changed before 2.0\n" in said
    assert written(root) == PROFILE


def test_nothing_is_written_while_something_is_left_to_read(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(root, "1.5", share="2")
    assert run(root, "1.5", "--write") == 1
    assert "nothing is written: 1 facts are left to read" in capsys.readouterr().out
    assert written(root) == PROFILE
    assert run(root, "1.5", "--write", "--holds", "share.head") == 0
    assert 'read = ["1.0", "1.5", "2.0"]' in written(root)


def test_only_the_lines_that_change_are_written(root: Path) -> None:
    make(root, "1.5", methods='"eagle", "dflash"', types='["yarn", "ntk"]', strict="True")
    assert run(root, "1.5", "--write") == 0
    after = written(root)
    removed = [line for line in PROFILE.splitlines() if line not in after.splitlines()]
    assert removed == [
        'read = ["1.0", "2.0"]',
        'ngram = "1.0..2.0"',
        '  { first = "1.0", last = "2.0", value = ["default", "yarn"] }, # another that stays',
        '  { first = "2.0", last = "2.0", value = true },',
    ]
    known = parse_profile("vllm", after)
    (world,) = worlds(known, version_of("1.5"))
    assert world.knowledge == "observed"
    assert world.flag("loader.strict")
    assert world.table("methods.known") == {
        "dflash": "1.5..1.5",
        "eagle": "1.0..2.0",
        "medusa": "1.0..1.0",
        "ngram": "1.0..1.0; 2.0..2.0",
    }
    assert world.names("class.rope-types") == ("default", "ntk", "yarn")
    assert [row.value for row in known.observations["class.rope-types"]] == [
        ("default", "yarn"),
        ("default", "ntk", "yarn"),
        ("default", "yarn"),
    ]


def test_a_release_newer_than_all_reaches_on(root: Path) -> None:
    make(root, "3.0", strict="True", flag='    parser.add_argument("--newer")\n')
    assert run(root, "3.0", "--write") == 0
    (world,) = worlds(parse_profile("vllm", written(root)), version_of("3.0"))
    assert (world.knowledge, world.flag("loader.strict"), world.text("share.head")) == ("observed", True, "always")
    table = FlagTable.parsed((root / "schemas" / "flags" / "vllm.toml").read_text("utf-8"))
    assert table.spellings("3.0") == {"--seed", "--newer"}
    assert table.spellings("2.0") == {"--seed", "--new"}


def test_a_wheel_is_unpacked_without_being_imported(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(root / "made", "1.5")
    wheel = root / "vllm-1.5-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for path in sorted((root / "made" / "vllm-1.5").rglob("*.py")):
            packed.write(path, path.relative_to(root / "made" / "vllm-1.5"))
        packed.writestr("vllm/_C.abi3.so", "raise SystemExit")
    assert run(root, "1.5", str(wheel)) == 0
    assert "read by hand: 0 facts" in capsys.readouterr().out
    assert not (root / "vllm-1.5" / "vllm" / "_C.abi3.so").exists()


def test_the_difference_of_a_place_is_shown(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(root, "1.5", share="2")
    assert run(root, "1.5", "--diff", "share.head") == 0
    said = capsys.readouterr().out
    assert said.startswith("--- 1.0 loader.py Loader.share\n+++ 1.5 loader.py Loader.share\n")
    assert "-    return 1\n+    return 2\n" in said
    with pytest.raises(SystemExit, match="no fact called"):
        run(root, "1.5", "--diff", "nobody.wrote-this")


def test_the_audit_tells_values_and_places_that_are_wrong(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "--audit") == 0
    wrong = PROFILE.replace('medusa = "1.0..1.0"', 'medusa = "1.0..2.0"').replace("Loader.share", "Loader.shares")
    (root / "schemas" / "engines" / "vllm.toml").write_text(wrong, "utf-8")
    assert run(root, "--audit") == 1
    said = capsys.readouterr().out
    assert "2.0: 2 disagreements\n  methods.known medusa: shown None, written ''\n" in said
    assert "  share.head: no Loader.shares in loader.py\n" in said


def test_a_hash_leaves_comments_docstrings_and_layout_alone(tmp_path: Path) -> None:
    texts = ("def f(x):\n    '''Says.'''\n    return x  # why\n", "def f(x): return x\n", "def f(x): return -x\n")
    for index, text in enumerate(texts):
        (tmp_path / f"{index}.py").write_text(text, "utf-8")
    one, other, third = (Release("1.0", tmp_path).digest(f"{index}.py", "f") for index in range(3))
    assert one is not None
    assert (one == other, one == third) == (True, False)


def test_a_member_of_a_base_in_the_same_module_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class A:\n    def f(self): return 1\nclass B(A):\n    x = 1\n", "utf-8")
    release = Release("1.0", tmp_path)
    assert release.digest("a.py", "B.f") == release.digest("a.py", "A.f") != release.digest("a.py", "B.x")
    assert release.digest("a.py", "B.g") is release.digest("b.py", "B") is None


@pytest.mark.parametrize(
    ("row", "value", "after"),
    [
        ("1.0..3.0", "", "1.0..3.0"),
        ("1.0..3.0", None, "1.0..1.0; 3.0..3.0"),
        ("1.0..1.0", "", "1.0..2.0"),
        ("a 1.0..1.0; b 3.0..3.0", "b", "a 1.0..1.0; b 2.0..3.0"),
        ("", "x", "x 2.0..2.0"),
    ],
)
def test_a_timeline_with_one_more_release(row: str, value: str | None, after: str) -> None:
    assert with_release(row, "2.0", value, ["1.0", "3.0"]) == after


def test_what_cannot_be_parted_in_place_is_left_to_the_hand() -> None:
    with pytest.raises(ValueError, match=r"add 1\.5 by hand"):
        ProfileText(PROFILE).part("methods.known", ("1.0", "2.0"), at="1.5", around=("1.0", "2.0"), value=[])


@pytest.mark.parametrize("engine", engines())
def test_the_shipped_flag_tables_are_written_as_the_script_writes_them(engine: str) -> None:
    text = (ROOT / "schemas" / "flags" / f"{engine}.toml").read_text("utf-8")
    table = FlagTable.parsed(text)
    assert table.text() == text
    assert tuple(map(version_of, table.releases)) == profile(engine).read
