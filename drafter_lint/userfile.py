"""Text files of the user's own, such as settings, lists and recipes: read to a bound, and TOML made of them."""

from __future__ import annotations

import tomllib
from pathlib import Path

#: The longest that was ever seen has 40 kB; TOML takes some fifteen times its size in memory.
MAX_BYTES = 4_000_000


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no UTF-8, or over the bound; says so in words.
    """
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"has more than {MAX_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"is no UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}") from error


def parse_toml(text: str) -> dict[str, object]:
    """A TOML document.

    Raises:
        ValueError: it is none; says so in words, with line and column where they are known.
    """
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested far deeper than it may be") from error
