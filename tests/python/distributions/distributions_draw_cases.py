"""Cases of draws behind a seed, and of their gradients."""

from __future__ import annotations

from distributions_eval import cases
from distributions_tables import DRAWN, WITHOUT_MODE, lines

CASES = cases(lines("draws", DRAWN, WITHOUT_MODE, with_value=False))
