"""Cases of draws made of Gamma, Dirichlet, Poisson and binomial ones behind a
seed, and of their implicit gradients.
"""

from __future__ import annotations

from distributions_eval import cases
from distributions_tables import SHAPED, lines

# PyTorch draws Wishart matrices that are not singular again.
_ONCE = [row for row in SHAPED if "Wishart" not in row[1]]

CASES = cases(lines("draws", _ONCE, with_value=False))
