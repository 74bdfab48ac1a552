"""Answers about themselves of tensors that answer operators.

Each kind is asked every question in answering_cases.py; what PyTorch 2.13 made
of them is in golden/ (see record_golden.py). What differs is listed there, by
reasons: the list is strict.
"""

from __future__ import annotations

import outcomes
import pytest

FAMILIES = ("answering",)


@pytest.fixture(scope="module", autouse=True)
def _one_process(hotaru):
    """A world of one process, which distributed tensors need."""
    yield
    if hotaru.distributed.is_initialized():
        hotaru.distributed.destroy_process_group()


def _differs() -> set:
    lines = outcomes.listed("answering_differs.txt")
    return {line for line in lines if not line.startswith("#")}


test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES, _differs())
test_records_are_current = outcomes.records_are_current(FAMILIES)
