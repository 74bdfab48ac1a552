"""Tensors of subclasses survive copies, files and workers as in PyTorch.

What PyTorch 2.13 makes of the cases in subclass_copies_cases.py is in golden/
(see record_golden.py); what differs is listed there, by reasons, strictly.
"""

from __future__ import annotations

import outcomes

FAMILIES = ("subclass_copies",)


def _differs() -> set:
    lines = outcomes.listed("subclass_copies_differs.txt")
    return {line for line in lines if not line.startswith("#")}


test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES, _differs())
test_records_are_current = outcomes.records_are_current(FAMILIES)
