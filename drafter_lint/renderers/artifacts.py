"""Which file of the checkout a finding stands in, for readers that know nothing but files.

A command on our own command line and a repository of the Hub have no file in the checkout. Then the finding is put
where the pair is named, or at the drafter's folder, or, if there is neither, at a stand-in: a relative path that names
the repository and never a revision, because GitHub rejects a result without a file and any scheme but ``file``, and
follows a finding by its path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drafter_lint.findings import Finding, Located, Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.report import Check, Subject

_HUB = "huggingface.co"
_CONFIG = "config.json"
#: A reference to one of these files means the folder around it; a recipe is a checkpoint in one file.
_FILES = (".json", ".safetensors")
_RECIPE = ".recipe.toml"


@dataclass(frozen=True, slots=True)
class Place:
    """A file, and what is to be seen in it.

    Attributes:
        path: with forward slashes, relative if it was typed so.
        local: False for the stand-in of a repository of the Hub.
        at: the place inside it, None for the file as a whole.
    """

    path: str
    local: bool
    at: Location | None = None

    @property
    def line(self) -> int:
        """1-based; 1 for the file as a whole."""
        return (self.at.line if self.at else None) or 1


def place_of(at: Location, check: Check) -> Place | None:
    """Where a location stands, None on our own command line."""
    if at.role == "launch":
        return Place(_tidy(at.file), local=True, at=at) if at.file else None
    subject = {"drafter": check.drafter, "target": check.target}.get(at.role)
    return _inside(subject, at.file, at) if subject else None


def primary(finding: Finding, check: Check) -> Place:
    """The one file a finding is shown in."""
    places = [place for at in finding.locations if (place := place_of(at, check))]
    local = next((place for place in places if place.local), None)
    if local:
        return local
    role = finding.locations[0].role if finding.locations else "drafter"
    if check.request and (named := _named(check.request, role)):
        return named
    if check.drafter.path:
        return _inside(check.drafter, _CONFIG)
    return places[0] if places else _inside(check.drafter, _CONFIG)


def _named(request: LaunchRequest, role: str) -> Place | None:
    """Where the launch file names the side a finding is about, else the method, else anything."""
    wanted = {"drafter": request.drafter, "target": request.target}.get(role)
    given: Iterator[Located[str] | None] = iter((wanted, request.method, request.drafter, request.target))
    for located in given:
        if located and located.at.file:
            return Place(_tidy(located.at.file), local=True, at=located.at)
    option = next((option for option in request.options.values() if option.at.file), None)
    return Place(_tidy(option.at.file), local=True, at=option.at) if option else None


def _inside(subject: Subject, file: str, at: Location | None = None) -> Place:
    file = file or _CONFIG
    if not subject.path:
        return Place(f"{_HUB}/{subject.name}/{file}", local=False, at=at)
    folder = _tidy(subject.path)
    if folder.endswith(_RECIPE):
        return Place(folder, local=True)
    if folder.endswith(_FILES):
        folder = folder.rpartition("/")[0]
    return Place(f"{folder}/{file}" if folder not in ("", ".") else file, local=True, at=at)


def _tidy(path: str) -> str:
    forward = path.replace("\\", "/")
    while forward.startswith("./"):
        forward = forward[2:].lstrip("/")
    return forward.rstrip("/") or "."
