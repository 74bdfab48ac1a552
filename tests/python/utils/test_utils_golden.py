"""torch.utils against outcomes recorded from PyTorch 2.13."""

from __future__ import annotations

import outcomes

FAMILIES = ("utils_profiler", "utils_pytree")

test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES)
test_records_are_current = outcomes.records_are_current(FAMILIES)
