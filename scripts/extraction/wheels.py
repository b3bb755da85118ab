"""Where releases come from: a folder of unpacked ones, a wheel, or the package index."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from extraction.trees import Release

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "build" / "releases"


def release(engine: str, version: str, *, given: Path | None, sources: Path) -> Release:
    """A release, unpacked if it is not yet: ``sources/<engine>-<version>/<engine>``.

    Args:
        engine: the name of its package.
        version: as the index writes it.
        given: a wheel or an unpacked folder, None to look among the sources and else to download it.
        sources: the folder where unpacked releases are kept.

    Raises:
        SystemExit: there is no such package in what was given, or it cannot be downloaded.
    """
    if given and given.is_dir():
        found = next((path for path in (given / engine, given) if (path / "__init__.py").is_file()), None)
        if found is None:
            raise SystemExit(f"{given} holds no package {engine}")
        return Release(version, found)
    folder = sources / f"{engine}-{version}"
    if given or not folder.is_dir():
        with tempfile.TemporaryDirectory() as scratch:
            unpack(given or download(engine, version, Path(scratch)), engine, folder)
    return Release(version, folder / engine)


def present(engine: str, version: str, sources: Path) -> Release | None:
    """A release that is among the sources, None if it is not."""
    package = sources / f"{engine}-{version}" / engine
    return Release(version, package) if package.is_dir() else None


def download(engine: str, version: str, folder: Path) -> Path:
    """The release's wheel, without what it depends on.

    Raises:
        SystemExit: pip found none.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    if subprocess.run([*command, f"{engine}=={version}"], check=False).returncode:
        raise SystemExit(f"no wheel of {engine} {version}")
    return next(iter(folder.glob("*.whl")))


def unpack(wheel: Path, engine: str, folder: Path) -> None:
    """The Python files of the engine's own package, and nothing else of the wheel."""
    with zipfile.ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if name.startswith(f"{engine}/") and name.endswith(".py")]
        packed.extractall(folder, names)
    if not names:
        raise SystemExit(f"{wheel} holds no package {engine}")
