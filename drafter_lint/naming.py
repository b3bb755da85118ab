"""What an engine is to be given for a checkpoint, and what has to be done before a command can be typed."""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines.command import Wanted
from drafter_lint.launch.composed import Command
from drafter_lint.launch.words import masked
from drafter_lint.sources.local import LocalSource

_FILES = (".json", ".safetensors")


def given_name(files: Checkpoint) -> str:
    """A repository, or a folder; never an alias, a page's address or a single file."""
    reference = files.reference
    if reference.kind == "hub":
        return f"./{_local(files)}/{reference.subfolder}" if reference.subfolder else reference.name
    folder = reference.name.rpartition("/")[0] or "." if reference.name.endswith(_FILES) else reference.name
    # vLLM takes a name with a dot and without a slash for a class to import.
    return f"./{folder}" if isinstance(files.source, LocalSource) and "/" not in folder else folder


def beforehand(flags: tuple[str, ...], wanted: Wanted, command: Command) -> Iterator[str]:
    """What has to be done before a command is typed.

    Args:
        flags: the user's own.
        wanted: the pair.
        command: as it is printed.
    """
    revision = wanted.drafter_revision
    if revision and not wanted.inside and not any(part.value == revision for part in command.parts):
        yield f"no flag of this release names the drafter's revision: give the folder of a copy of {revision}"
    if masked(flags) != flags:
        yield "what looks like a secret is masked here: write it in again"
    for files in dict.fromkeys((wanted.drafter.checkpoint, wanted.target.checkpoint)):
        folder, name = files.reference.subfolder, files.reference.name
        if folder:
            yield (
                "an engine opens no folder inside a repository; fetch it first: "
                f"hf download {name} --include '{folder}/*' --local-dir {_local(files)}"
            )


def _local(files: Checkpoint) -> str:
    return files.reference.name.rpartition("/")[2]
