"""From a report's findings to changes: which file each fix belongs to, and which fixes are left to a person."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from drafter_lint.checkpoint.checkpoint import CONFIG
from drafter_lint.errors import Unavailable
from drafter_lint.findings import (
    AddArguments,
    Confidence,
    Edit,
    Finding,
    Fix,
    RemoveConfig,
    ReplaceArgument,
    SetConfig,
    SetTensor,
)
from drafter_lint.fixes.change import (
    CannotEdit,
    FileChange,
    Fixes,
    Left,
    Proposal,
    TensorChange,
    TextChange,
    text_diff,
)
from drafter_lint.fixes.config_text import decoded, edited
from drafter_lint.fixes.launch_text import LaunchDocument
from drafter_lint.fixes.tensor_file import tensor_change
from drafter_lint.renderers.advice import advice
from drafter_lint.report import Check, Report

_MAX_BYTES = 8 * 1024 * 1024
_OVERLAPS = "overlaps with another fix of the same value; run again after it"
_RECIPE = ".recipe.toml"


def plan_fixes(report: Report, *, unsafe: bool, root: Path, variables: Mapping[str, str] | None = None) -> Fixes:
    """What the fixes of a report change. Files are read; nothing is written.

    A fix is carried whole or not at all. Where two fixes want different things of the same words or the same value, the
    first one wins and the other is left.

    Args:
        report: its launch requests stand in files where :class:`~drafter_lint.findings.Location` has a ``file``.
        unsafe: also rewrite tensors, and carry out fixes of findings that are only possible.
        root: the folder that relative paths begin in.
        variables: what launch documents were told unknown variables are.
    """
    plan = _Plan(root=root, unsafe=unsafe, variables=variables or {})
    for check in report.checks:
        for finding in check.findings:
            if finding.fix is not None and finding.fix.edits:
                plan.take(check, finding, finding.fix)
    return plan.result()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A text file under change.

    Attributes:
        path: with every link resolved.
        shown: as the report names it.
        before: its bytes as read.
        launch: the document, of a file that holds commands.
        edits: of a configuration, in order.
        fixes: what is mended so far.
    """

    path: Path
    shown: str
    before: bytes
    launch: LaunchDocument | None = None
    edits: tuple[SetConfig | RemoveConfig, ...] = ()
    fixes: tuple[str, ...] = ()

    @property
    def after(self) -> bytes:
        """Its bytes with the fixes."""
        if self.launch is not None:
            return decoded(self.before)[0] + self.launch.text.encode()
        return edited(self.before, self.edits)

    def mended(self, fix: str) -> _Draft:
        """With one more fix to name."""
        return replace(self, fixes=tuple(dict.fromkeys((*self.fixes, fix))))


_Key = tuple[str, str]


@dataclass(slots=True, kw_only=True)
class _Plan:
    root: Path
    unsafe: bool
    variables: Mapping[str, str]
    drafts: dict[_Key, _Draft] = field(default_factory=dict)
    hub: dict[_Key, Check] = field(default_factory=dict)
    tensors: dict[tuple[Path, str], TensorChange] = field(default_factory=dict)
    left: dict[Left, None] = field(default_factory=dict)

    def take(self, check: Check, finding: Finding, fix: Fix) -> None:
        """Carry a finding's fix, whole, or say why it is left."""
        drafts, tensors = dict(self.drafts), dict(self.tensors)
        try:
            self._allowed(finding)
            self._carry(check, finding, fix)
        except CannotEdit as reason:
            self.drafts, self.tensors = drafts, tensors
            typed = advice(fix, check.request.argv if check.request else ())
            self.left[Left(finding.code, finding.name, _where(check, fix), str(reason), typed)] = None

    def result(self) -> Fixes:
        """All of it, in the order of the findings."""
        changes: list[FileChange] = []
        proposals: list[Proposal] = []
        for key, draft in self.drafts.items():
            after = draft.after
            if after == draft.before:
                continue
            if key in self.hub:
                proposals.append(_proposal(draft, after, self.hub[key]))
            else:
                changes.append(
                    TextChange(path=draft.path, shown=draft.shown, before=draft.before, after=after, fixes=draft.fixes)
                )
        return Fixes(changes=(*changes, *self.tensors.values()), left=tuple(self.left), proposals=tuple(proposals))

    def _allowed(self, finding: Finding) -> None:
        if finding.confidence is Confidence.POSSIBLE and not self.unsafe:
            raise CannotEdit("the finding is only possible; --unsafe-fixes carries it out")

    def _carry(self, check: Check, finding: Finding, fix: Fix) -> None:
        line = f"{finding.code} {finding.name}: {advice(fix, check.request.argv if check.request else ())}"
        launch = [edit for edit in fix.edits if isinstance(edit, (ReplaceArgument, AddArguments))]
        config = [edit for edit in fix.edits if isinstance(edit, (SetConfig, RemoveConfig))]
        if launch:
            self._launch(check, launch, line)
        if config:
            self._config(check, config, line)
        for edit in fix.edits:
            if isinstance(edit, SetTensor):
                self._tensor(check, finding, edit, line)

    def _launch(self, check: Check, edits: list[ReplaceArgument | AddArguments], line: str) -> None:
        request = check.request
        if request is None or request.assumed or request.place is None or not request.place.file:
            raise CannotEdit("the command stands in no file")
        file = request.place.file
        real = self._launch_file(file)
        key = ("launch", str(real))
        draft = self.drafts.get(key) or self._opened_launch(real, file)
        if draft.launch is None:
            raise CannotEdit("the file holds no command")
        document = draft.launch.after(edits, line=request.place.line, argv=request.argv)
        self.drafts[key] = replace(draft, launch=document).mended(line)

    def _launch_file(self, file: str) -> Path:
        """Its own folder bounds a file that was named outside of ours."""
        path = Path(os.path.abspath(self.root / file))  # noqa: PTH100 - resolve() would follow the links to be judged
        root = Path(os.path.abspath(self.root))  # noqa: PTH100
        return within(path, root if path.is_relative_to(root) else path.parent)

    def _opened_launch(self, real: Path, file: str) -> _Draft:
        before = _read(real)
        document = LaunchDocument.read(decoded(before)[1], file=file, variables=self.variables)
        return _Draft(path=real, shown=file, before=before, launch=document)

    def _config(self, check: Check, edits: list[SetConfig | RemoveConfig], line: str) -> None:
        real = self._config_file(check) if check.drafter.path else None
        key = ("config", str(real)) if real else ("hub", check.drafter.shown)
        draft = self.drafts.get(key) or (_opened_config(check, real) if real else _hub_config(check))
        for edit in edits:
            if edit in draft.edits:
                continue
            if any(_overlap(edit.pointer, other.pointer) for other in draft.edits):
                raise CannotEdit(_OVERLAPS)
            draft = replace(draft, edits=(*draft.edits, edit))
        edited(draft.before, draft.edits)
        self.drafts[key] = draft.mended(line)
        if not real:
            self.hub[key] = check

    def _config_file(self, check: Check) -> Path:
        folder = self._folder(check)
        return within(folder / CONFIG, folder)

    def _tensor(self, check: Check, finding: Finding, edit: SetTensor, line: str) -> None:
        if finding.confidence is not Confidence.CERTAIN:
            raise CannotEdit("weights are rewritten only where the finding is certain")
        if not check.drafter.path:
            raise CannotEdit("the weights are in a repository; download it and check the folder")
        if not self.unsafe:
            raise CannotEdit("it rewrites a file of weights; --unsafe-fixes carries it out")
        folder = self._folder(check)
        tensor = check.recognition.drafter.checkpoint.tensors.get(edit.name) if check.recognition else None
        if tensor is None:
            raise CannotEdit(f"there is no tensor {edit.name}")
        real = within(folder / tensor.file, folder)
        made = tensor_change(edit, tensor, path=real, shown=_shown(check.drafter.path, tensor.file), fix=line)
        held = self.tensors.setdefault((real, edit.name), made)
        if held.after != made.after:
            raise CannotEdit(_OVERLAPS)

    def _folder(self, check: Check) -> Path:
        path = self.root / Path(check.drafter.path).expanduser()
        if path.name.endswith(_RECIPE):
            raise CannotEdit("the checkpoint is written as a recipe; there is no file of its own")
        return path if path.is_dir() else path.parent


def within(path: Path, folder: Path) -> Path:
    """The file a path leads to, every link resolved.

    Raises:
        CannotEdit: there is no such file, or a link leads out of the folder.
    """
    try:
        real, around = path.resolve(strict=True), folder.resolve(strict=True)
    except (OSError, RuntimeError):
        raise CannotEdit("there is no such file") from None
    if not real.is_relative_to(around):
        raise CannotEdit("the file is a link that leads out of its folder")
    if not real.is_file():
        raise CannotEdit("it is no regular file")
    return real


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise CannotEdit(f"the file cannot be read: {error.strerror}") from error
    if len(data) > _MAX_BYTES:
        raise CannotEdit(f"the file has more than {_MAX_BYTES} bytes")
    return data


def _opened_config(check: Check, real: Path) -> _Draft:
    return _Draft(path=real, shown=_shown(check.drafter.path, CONFIG), before=_read(real))


def _hub_config(check: Check) -> _Draft:
    """The configuration of a repository, as it was read for the check."""
    checkpoint = check.recognition.drafter.checkpoint if check.recognition else None
    if checkpoint is None:
        raise CannotEdit("the drafter could not be read")
    try:
        before = checkpoint.source.read(CONFIG)
    except Unavailable as error:
        raise CannotEdit(str(error)) from error
    folder = checkpoint.reference.subfolder
    file = f"{folder}/{CONFIG}" if folder else CONFIG
    return _Draft(path=Path(file), shown=file, before=before)


def _proposal(draft: _Draft, after: bytes, check: Check) -> Proposal:
    subject, file = check.drafter, draft.shown
    local = subject.name.replace("/", "--")
    patch = f"{local}.diff"
    message = "; ".join(fix.partition(":")[0] for fix in draft.fixes)
    revision = ("--revision", subject.commit) if subject.commit else ()
    commands = (
        ("hf", "download", subject.name, file, *revision, "--local-dir", local),
        ("patch", "-d", local, "-p1", "-i", f"../{patch}"),
        ("hf", "upload", subject.name, f"{local}/{file}", file, "--create-pr", "--commit-message", message),
    )
    return Proposal(
        repository=subject.name,
        commit=subject.commit,
        file=file,
        diff=text_diff(file, draft.before, after),
        commands=tuple(map(shlex.join, commands)),
        patch_file=patch,
        fixes=draft.fixes,
    )


def _where(check: Check, fix: Fix) -> str:
    return ", ".join(dict.fromkeys(filter(None, _files(check, fix.edits))))


def _files(check: Check, edits: tuple[Edit, ...]) -> Iterator[str]:
    for edit in edits:
        if isinstance(edit, (ReplaceArgument, AddArguments)):
            yield check.request.place.file if check.request and check.request.place else ""
        elif isinstance(edit, (SetConfig, RemoveConfig)):
            yield _shown(check.drafter.path or check.drafter.name, CONFIG)
        else:
            yield check.drafter.path or check.drafter.name


def _shown(path: str, file: str) -> str:
    """A file of a checkpoint as the report names the checkpoint."""
    folder = path.replace("\\", "/").rstrip("/")
    if folder.endswith((".json", ".safetensors", _RECIPE)):
        folder = folder.rpartition("/")[0]
    return f"{folder}/{file}" if folder not in ("", ".") else file


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
