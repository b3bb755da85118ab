"""The hooks: .pre-commit-hooks.yaml, and the real pre-commit in a scratch repository."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import launch_repository as repository
from drafter_lint.launch.files import documents
from drafter_lint.recipe import Recipe

ROOT = repository.ROOT
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in YAML(typ="safe").load(MANIFEST.read_text("utf-8"))}
#: What pre-commit's clone needs to build the wheel.
_BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "drafter_lint", "schemas", MANIFEST.name)

Run = Callable[..., tuple[int, str]]

needs_pre_commit = pytest.mark.skipif(
    not (importlib.util.find_spec("pre_commit") and shutil.which("git")), reason="pre-commit or git is not installed"
)


def test_scan_is_given_what_it_opens_in_a_folder_and_scripts_without_a_suffix() -> None:
    files = re.compile(HOOKS["drafter-lint"]["files"])
    names = [f"deploy/a.{suffix}" for suffix in documents._BY_SUFFIX]
    names += ["Dockerfile", "docker/Dockerfile.gpu", "Containerfile", "a.Dockerfile", "serve.SH", "helm/x.yaml.tpl"]
    assert [name for name in names if not documents.is_document(Path(name).name)] == []
    assert [name for name in [*names, "bin/serve", "serve"] if not files.search(name)] == []
    others = ["a.rs", "a.toml", "src/a.c", "model.safetensors", "a.yaml.orig", "sh.cfg", ".gitignore", "a.pyc"]
    assert [name for name in others if documents.is_document(name) or files.search(name)] == []


def test_a_checkpoint_is_its_own_files_and_no_others() -> None:
    files = re.compile(HOOKS["drafter-lint-checkpoint"]["files"])
    read = ["config.json", "model.safetensors", "model-00001-of-00002.safetensors", "model.safetensors.index.json"]
    assert [name for name in read if not files.search(name)] == []
    others = ["old/config.json", "generation_config.json", "README.md", "pytorch_model.bin", "model.safetensors.bak"]
    assert [name for name in others if files.search(name)] == []


def test_the_example_in_the_documentation_uses_hooks_there_are() -> None:
    example = YAML(typ="safe").load((ROOT / "docs" / "ci" / "pre-commit-config.yaml").read_text("utf-8"))
    assert {hook["id"] for hook in example["repos"][0]["hooks"]} == HOOKS.keys()


@needs_pre_commit
def test_pre_commit_accepts_the_manifest() -> None:
    done = subprocess.run([sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)], check=False)
    assert done.returncode == 0


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of a user who has no settings of git's, no Hub and an empty cache of pre-commit's."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON", "HF_"))}
    who = {
        f"GIT_{role}_{part}": "someone@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
    }
    return kept | who | {
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(home / "pre-commit"), "HF_HOME": str(home / "hf"), "HF_ENDPOINT": repository.NO_HUB,
    }  # fmt: skip


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> tuple[Path, str]:
    """This work tree as a repository that hooks can be taken from, and its commit."""
    repository.need_package_index()
    folder = tmp_path_factory.mktemp("published")
    for name in _BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "as it is"]):
        subprocess.run(["git", *words], cwd=folder, env=environment, check=True)
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=folder, env=environment, text=True)
    return folder, commit.strip()


@pytest.fixture
def user(tmp_path: Path, environment: dict[str, str]) -> Path:
    """The repository of somebody who uses the hooks."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, env=environment, check=True)
    return tmp_path


@pytest.fixture
def commit(user: Path, published: tuple[Path, str], environment: dict[str, str]) -> Run:
    """Stages everything and runs one hook on it: the exit code, and what pre-commit prints."""

    def run(hook: str, *args: str) -> tuple[int, str]:
        own = f", args: [{', '.join(args)}]" if args else ""
        where = f"repo: {published[0].as_posix()}, rev: {published[1]}"
        text = f"repos: [{{{where}, hooks: [{{id: {hook}, verbose: true{own}}}]}}]\n"
        (user / ".pre-commit-config.yaml").write_text(text, "utf-8")
        subprocess.run(["git", "add", "--all"], cwd=user, env=environment, check=True)
        words = [sys.executable, "-m", "pre_commit", "run", "--color", "never"]
        done = subprocess.run(
            words, cwd=user, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert "Traceback" not in done.stdout, done.stdout
        return done.returncode, done.stdout

    return run


@needs_pre_commit
@pytest.mark.slow
class TestInARepository:
    """One environment, built once, serves them all."""

    def test_a_launch_file(self, user: Path, commit: Run) -> None:
        repository.models(user)
        repository.launch(user, "EAGLE")
        (user / "notes.md").write_text("Nothing is started here.\n", "utf-8")
        (user / "other.rs").write_text("not even text of ours: \u00e9\n", "latin-1")
        code, said = commit("drafter-lint")
        assert code == 1, said
        assert "exit code: 1" in said
        assert "serve.sh:{}:{}".format(*repository.MISTAKE) in said
        assert "DFL401" in said
        repository.launch(user, "EAGLE3")
        code, said = commit("drafter-lint")
        assert code == 0, said
        assert "loads    yes" in said

    def test_without_a_network_a_commit_goes_through(self, user: Path, commit: Run) -> None:
        repository.launch_from_hub(user)
        code, said = commit("drafter-lint")
        assert code == 0, said
        assert "hub-unreachable" in said
        code, said = commit("drafter-lint", "--offline", "--allow-unknown")
        assert code == 0, said
        code, said = commit("drafter-lint", "--offline")
        assert code == 1, said
        assert "exit code: 3" in said

    def test_files_without_a_command(self, user: Path, commit: Run) -> None:
        (user / "notes.md").write_text("Nothing is started here.\n", "utf-8")
        code, said = commit("drafter-lint")
        assert code == 0, said
        assert "nothing to check" in said

    def test_a_model_repository(self, user: Path, commit: Run) -> None:
        Recipe.parse((repository.SMALL / "eagle3-llama.recipe.toml").read_text("utf-8")).write(user)
        code, said = commit("drafter-lint-checkpoint")
        assert code == 0, said
        config = user / "config.json"
        whole = config.read_text("utf-8")
        config.write_text(whole[:-2], "utf-8")
        code, said = commit("drafter-lint-checkpoint")
        assert code == 1, said
        assert "config-not-json" in said
        config.write_text(whole.replace('"hidden_size": 64', '"hidden_size": 96'), "utf-8")
        code, said = commit("drafter-lint-checkpoint")
        assert code == 1, said
        assert "shape-against-config" in said

    def test_the_pairs_of_the_settings(self, user: Path, commit: Run) -> None:
        repository.models(user)
        repository.settings(user, "EAGLE")
        code, said = commit("drafter-lint-pairs")
        assert code == 1, said
        assert "DFL401" in said
        repository.settings(user, "EAGLE3")
        code, said = commit("drafter-lint-pairs")
        assert code == 0, said
