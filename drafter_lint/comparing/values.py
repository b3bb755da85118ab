"""Values as they are shown side by side: whole where they are short, their ends where they are long."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

_LONGEST = 60
_LISTED = 8


def shown(value: object) -> str:
    """A value of config.json in one line."""
    if isinstance(value, list) and len(value) > _LISTED:
        return shown_list(value)
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def shown_list(values: Sequence[object]) -> str:
    """``[0, 1, 2, … 32000]``: the first three and how many there are."""
    return f"[{', '.join(map(shown, values[:3]))}, … {len(values)} in all]"


def shown_object(value: Mapping[str, object]) -> str:
    """An object by its method or type, and how much there is in it."""
    name = next((value[key] for key in ("quant_method", "quant_algo", "model_type", "AutoModel") if key in value), None)
    fields = f"{len(value)} field{'' if len(value) == 1 else 's'}"
    return f"{shown(name)} ({fields})" if name is not None else fields


def same(left: object, right: object) -> bool:
    """Equal as JSON values: 1 and 1.0 are, 1 and true are not."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right
