"""Makes the helper modules beside the tests importable by name, which import-mode=importlib does not."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
