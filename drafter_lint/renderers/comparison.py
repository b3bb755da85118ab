"""Two checkpoints side by side: what matters to speculation first, each difference with the reason why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby

from drafter_lint.comparing import Comparison, Difference, Group
from drafter_lint.comparing.model import Value
from drafter_lint.findings import Location
from drafter_lint.renderers.advice import citations
from drafter_lint.renderers.ink import cells, clean, paint, plain, plural, wrapped
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.summary import spent
from drafter_lint.report import Cost, Subject

_COLORS = {Group.DECIDES: "red", Group.CHANGES: "yellow", Group.UNKNOWN: "cyan", Group.NOTHING: "dim"}
_WORD = 6
_NAME = 18
_HANG = " " * 6
#: Tensors told in one group: where every width differs, so does every tensor.
_TENSORS = 4


def render(subjects: tuple[Subject, Subject], found: Comparison, cost: Cost, style: Style) -> str:
    """The screen."""
    return plain(_lines(subjects, found, cost, style), style)


def as_json(subjects: tuple[Subject, Subject], found: Comparison, cost: Cost, style: Style) -> str:
    """One JSON object in the shape of schemas/comparison.schema.json."""
    from drafter_lint.renderers import comparison_models as models  # noqa: PLC0415 - brings pydantic
    from drafter_lint.renderers.document import plain as json_value  # noqa: PLC0415
    from drafter_lint.renderers.json_models import CostModel, EvidenceModel, ToolModel, dumped  # noqa: PLC0415
    from drafter_lint.renderers.json_text import written  # noqa: PLC0415
    from drafter_lint.renderers.tool_version import tool_version  # noqa: PLC0415

    def side(item: Subject) -> models.SideModel:
        return models.SideModel(spelling=item.spelling, name=item.name, commit=item.commit, title=item.title)

    def place(at: Location | None) -> models.PlaceModel | None:
        if at is None:
            return None
        return models.PlaceModel(
            file=at.file or None, line=at.line, column=at.column, pointer=at.pointer, tensor=at.tensor
        )

    def said(value: Value) -> models.SaidModel:
        return models.SaidModel(text=value.text, value=json_value(value.raw), at=place(value.at))

    model = models.ComparisonModel(
        tool=ToolModel(name="drafter-lint", version=tool_version()),
        compared_as=found.of,
        a=side(subjects[0]),
        b=side(subjects[1]),
        conclusion=found.conclusion,
        same=models.SameModel(fields=found.same_fields, tensors=found.same_tensors),
        differences=tuple(
            models.DifferenceModel(
                group=item.group.value,
                kind=item.kind,
                name=item.name,
                count=item.count,
                a=said(item.a),
                b=said(item.b),
                why=item.why,
                says=item.says,
                evidence=tuple(EvidenceModel(**asdict(evidence)) for evidence in item.evidence),
            )
            for item in found.differences
        ),
        not_compared=found.not_compared,
        io=CostModel.of(cost),
    )
    return written(dumped(model), style)


def _lines(subjects: tuple[Subject, Subject], found: Comparison, cost: Cost, style: Style) -> Iterator[str]:
    if not style.quiet:
        for name, subject in zip("AB", subjects, strict=True):
            yield from wrapped(subject.shown, style, first=f" {name:<{_WORD}}", rest=" " * (_WORD + 1))
            yield from wrapped(subject.title, style, first=" " * (_WORD + 1), rest=" " * (_WORD + 1))
        if found.conclusion:
            yield from wrapped(found.conclusion, style, first=f" {'so':<{_WORD}}", rest=" " * (_WORD + 1))
        yield from wrapped(_counted(found), style, first=f" {'same':<{_WORD}}", rest=" " * (_WORD + 1))
    for group in Group:
        if differences := found.group(group):
            yield ""
            yield paint(group.heading, style, _COLORS[group], "bold")
            yield from _group(differences, style)
    if found.not_compared:
        yield ""
    for reason in found.not_compared:
        yield from wrapped(reason, style, first=" ! ", rest="   ")
    if (said := spent(cost)) and not style.quiet:
        yield f" {', '.join(said)}"


def _counted(found: Comparison) -> str:
    differ = len(found.differences)
    apart = "nothing differs" if not differ else f"{plural(differ, 'thing')} {'differs' if differ == 1 else 'differ'}"
    return f"{plural(found.same_fields, 'field')} and {plural(found.same_tensors, 'tensor')}; {apart}"


def _group(differences: Sequence[Difference], style: Style) -> Iterator[str]:
    """Those that share a reason stand together above it."""
    tensors = 0
    left_out = 0
    for _, same in groupby(differences, key=lambda item: (item.why, item.says)):
        rows = list(same)
        shown = []
        for item in rows:
            tensors += item.kind == "tensor"
            if item.kind == "tensor" and tensors > _TENSORS and not style.verbose:
                left_out += item.count
            else:
                shown.append(item)
        for item in shown:
            yield from _row(item, style)
        if shown:
            yield from _because(shown[0], style)
    if left_out:
        yield f"  {plural(left_out, 'more tensor')} (-v names them)"


def _row(item: Difference, style: Style) -> Iterator[str]:
    name, a, b = clean(item.name), f"A {clean(item.a.text)}", f"B {clean(item.b.text)}"
    head = f"  {name:<{_NAME}}"
    line = f"{head}  {a}   {b}"
    if cells(line) <= style.width:
        yield paint(head, style, "bold") + line[len(head) :]
        return
    yield paint(f"  {name}", style, "bold")
    for side in (a, b):
        yield from wrapped(side, style, first=" " * 4, rest=_HANG)


def _because(item: Difference, style: Style) -> Iterator[str]:
    yield from wrapped(item.why, style, first=_HANG, rest=_HANG)
    if item.group is Group.DECIDES or item.kind == "meaning" or style.verbose:
        for said in item.says:
            yield from wrapped(said, style, first=f"{_HANG}- ", rest=f"{_HANG}  ")
    if style.verbose:
        for cited in citations(item.evidence):
            yield from wrapped(cited, style, first=f"{_HANG}= ", rest=f"{_HANG}  ")
