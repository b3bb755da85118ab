"""An engine's release as a document names it: an official image's tag, or a pinned requirement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from drafter_lint.findings import Located
from drafter_lint.launch.files.scan import Scan
from drafter_lint.launch.files.traced import Traced

# Images whose tags are the engine's own release numbers, with or without a registry's mirror in front.
_OFFICIAL = re.compile(
    r"(?:[\w.:-]+/)*(?:(?P<vllm>vllm/vllm-openai(?:-(?:rocm|cpu|xpu|tpu))?)|(?P<sglang>lmsysorg/sglang))"
    r":v?(?P<version>\d+(?:\.\d+){1,2}(?:\.?post\d+|rc\d+)?)(?P<suffix>(?:-[\w.]+)*)"
)
# What a suffix may add without changing the release: the toolkit, the machine, the system underneath.
_SUFFIX = re.compile(
    r"(?:-(?:cu\d+\w*|cuda\d*|rocm\d*\w*|mi\d+\w*|amd64|arm64|x86_64|aarch64|ubuntu\d+|runtime|slim|cann[\d.]*\w*"
    r"|npu|xeon|cpu|gb?\d00|h\d00|a\d+|blackwell|srt|openai|base|all))*"
)
_PIN = re.compile(
    r"(?<![\w./-])(?P<engine>vllm|sglang)(?:\[[\w, -]*\])?[ ]?={2,3}[ ]?v?"
    r"(?P<version>\d+(?:\.\d+)+(?:\.?post\d+|rc\d+)?)(?![\w.+*-])"
)
_IMAGE_HINT = re.compile(r"(?:^|[/_-])(vllm|sglang|sgl)(?=$|[/:@_-])", re.IGNORECASE)


def image_engine(image: str) -> str | None:
    """The engine an image's name speaks of, None if it speaks of none or of a plugin."""
    name = image.partition("@")[0]
    match = _IMAGE_HINT.search(name)
    return None if match is None else "vllm" if match[1].lower() == "vllm" else "sglang"


def of_image(image: Traced, engine: str, scan: Scan) -> Located[str] | None:
    """The release an official image's tag names."""
    match = _OFFICIAL.fullmatch(image.text.strip("\"'"))
    if match is None or match[engine] is None or not _SUFFIX.fullmatch(match["suffix"]):
        return None
    shift = len(image.text) - len(image.text.lstrip("\"'"))
    start, end = match.span("version")
    return Located(match["version"], scan.places.location(image.cut(start + shift, end + shift), image))


def of_document(engine: str, scan: Scan) -> Located[str] | None:
    """The one release the whole document pins or pulls; None if it names several or none.

    An image that runs another command of the document says nothing of this one.
    """
    images = {item.image.written_extent() for item in scan.candidates if item.image is not None}
    taken = [extent for extent in images if extent is not None]
    for expression in (_PIN, _OFFICIAL):
        found = [
            match
            for match in _mentions(expression, engine, scan.text)
            if not any(start <= match.start("version") < end for start, end in taken)
        ]
        if found:
            agree = len({match["version"] for match in found}) == 1
            return Located(found[0]["version"], scan.places.at(*found[0].span("version"))) if agree else None
    return None


def _mentions(expression: re.Pattern[str], engine: str, text: str) -> Iterator[re.Match[str]]:
    for match in expression.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].lstrip()
        commented = line.startswith(("#", "//", ";")) and not line.startswith(('#   "', "# dependencies"))
        if expression is _PIN:
            if match["engine"] == engine and not commented:
                yield match
        elif match[engine] and not commented and _SUFFIX.fullmatch(match["suffix"]):
            yield match
