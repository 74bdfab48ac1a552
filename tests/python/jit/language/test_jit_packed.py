"""Packed sequences in compiled code."""

# TorchScript knows the old spellings, and they are what is tested.
# ruff: noqa: UP006, UP035

from typing import List

import pytest
from hotaru.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
)

import hotaru as torch
from hotaru import Tensor


@pytest.mark.parametrize("batch_first", [False, True])
def test_there_and_back(batch_first):
    def f(x: Tensor, lengths: Tensor, batch_first: bool, ordered: bool):
        packed = pack_padded_sequence(x, lengths, batch_first, ordered)
        padded, back = pad_packed_sequence(packed, batch_first, total_length=5)
        return packed.data, packed.unsorted_indices, padded, back

    x = torch.arange(24.0).view(4, 3, 2)
    for lengths, ordered in (([4, 2, 1], True), ([2, 4, 1], False)):
        shape = x.transpose(0, 1) if batch_first else x
        given = (shape, torch.tensor(lengths), batch_first, ordered)
        for got, wanted in zip(torch.jit.script(f)(*given), f(*given), strict=True):
            assert (got is None) == (wanted is None)
            assert wanted is None or torch.equal(got, wanted)


def test_lists_and_packed_results():
    def f(parts: List[Tensor]) -> PackedSequence:
        return pack_sequence(parts, enforce_sorted=False)

    parts = [torch.ones(1, 2), torch.ones(3, 2) * 2]
    got, wanted = torch.jit.script(f)(parts), f(parts)
    assert isinstance(got, PackedSequence)
    for mine, theirs in zip(got, wanted, strict=True):
        assert torch.equal(mine, theirs)
