"""Makes the helper modules beside the tests importable by name, which import-mode=importlib does not; and the kit."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# Last, so that an installed wheel is what is tested and not the checkout beside the kit.
sys.path.append(str(Path(__file__).parents[1]))
