"""Names of `collate` that libraries build collating functions of."""

from __future__ import annotations

import numpy
import pytest
from hotaru.utils.data import default_collate, default_convert
from hotaru.utils.data._utils import collate

import hotaru as torch

TEXTS = ("<U3", "|S2", "|O")
NUMBERS = ("<f4", "|b1", "<i8", "<M8[ns]")


def test_dtypes_of_no_numbers_are_known_by_their_names():
    find = collate.np_str_obj_array_pattern.search
    assert all(map(find, TEXTS))
    assert not any(map(find, NUMBERS))


@pytest.mark.parametrize("name", TEXTS)
def test_arrays_of_texts_make_no_batch(name):
    array = numpy.zeros(2, dtype=name)
    text = collate.default_collate_err_msg_format.format(array.dtype)
    for function in (default_collate, collate.collate_numpy_array_fn):
        with pytest.raises(TypeError) as caught:
            function([array, array])
        assert str(caught.value) == text
    assert default_convert(array) is array


def test_functions_of_numpys_types():
    rows = [numpy.arange(2.0), numpy.arange(2.0) + 1]
    batch = collate.collate_numpy_array_fn(
        rows, collate_fn_map=collate.default_collate_fn_map
    )
    assert batch.tolist() == default_collate(rows).tolist() == [[0, 1], [1, 2]]
    numbers = [numpy.int16(3), numpy.int16(4)]
    batch = collate.collate_numpy_scalar_fn(numbers)
    assert batch.dtype == default_collate(numbers).dtype == torch.int16
    assert batch.tolist() == [3, 4]


def test_a_table_without_tensors_makes_lists_of_arrays():
    table = {torch.Tensor: lambda batch, *, collate_fn_map=None: batch}
    batch = collate.collate([numpy.ones(1)] * 2, collate_fn_map=table)
    assert [x.tolist() for x in batch] == [[1.0], [1.0]]
