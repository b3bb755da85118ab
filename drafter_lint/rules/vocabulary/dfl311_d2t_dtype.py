"""A vocabulary map in another dtype than 64-bit integers.

## What it checks
The dtype of `d2t`, and for a floating-point one whether it can hold the offsets it is to hold.

## Why it bites
A half-precision copy of the whole checkpoint takes the map along and cannot hold it: BF16 rounds integers over 256, F16
those over 2048, and most draft tokens then mean another one. Even where nothing is lost, an engine that adds the map to
its indices gets floating-point ids, which no embedding takes. Other widths of integers are converted on loading.

## Fix
Store `d2t` as int64, from the run the drafter was trained in: what was rounded cannot be recovered.

## Limits
A value that is no integer at all is reported as header-malformed.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import EXACT, READERS, drafted_vocabulary
from drafter_lint.rules.vocabulary.tell import target_of, told
from drafter_lint.scope import Known


@rule("DFL311", "d2t-dtype", Outcome.SILENT)
def check(at: Known[Eagle]) -> Checks:
    """Other integers in passing, floats with what they lose."""
    drafted = drafted_vocabulary(at.drafter, target_of(at))
    tensor, offsets = (drafted.map.d2t_tensor, drafted.map.d2t) if drafted else (None, None)
    if drafted is None or tensor is None or not offsets or tensor.dtype == "I64":
        return
    exact, largest = EXACT.get(tensor.dtype), max(map(abs, offsets))
    lossy = exact is not None and largest >= exact
    says = f"; past {exact} it rounds, and the largest offset reads {largest}" if lossy else ""
    found = Found(
        message=f"d2t is {tensor.dtype}; maps are I64{says}",
        locations=(at.drafter.tensor_at("d2t", tensor.dtype),),
        measured={"dtype": tensor.dtype, "largest": largest, "exact": exact},
        evidence=READERS,
        fix=Fix("store d2t as int64" + (", from the run it was made in" if lossy else "")),
        outcome=Outcome.SILENT if lossy else Outcome.HYGIENE,
        confidence=Confidence.LIKELY if lossy else Confidence.CERTAIN,
    )
    yield told(at, "d2t-dtype", found)
