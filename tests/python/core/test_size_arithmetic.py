"""`torch.Size` beside what knows + and * itself: lists, arrays, own types."""

from __future__ import annotations

from operator import add

import numpy as np
import pytest


class Own(list):
    """A list that answers from the right."""

    def __radd__(self, other):
        return ("sum", tuple(other))

    def __rmul__(self, other):
        return ("product", tuple(other))


def test_a_list_takes_a_size_in_place(hotaru):
    taken = [1]
    taken += hotaru.Size([2, 3])
    assert taken == [1, 2, 3]
    with pytest.raises(TypeError, match="can only concatenate list"):
        add([1], hotaru.Size([2, 3]))
    with pytest.raises(TypeError, match="unsupported operand"):
        1.5 + hotaru.Size([2, 3])


def test_arrays_compute_with_the_numbers_of_a_size(hotaru):
    size = hotaru.Size([2, 3])
    for array in (np.array([4, 5]), np.array(4), np.array([0.5, 1.5])):
        numbers = np.array([2, 3])
        for found, wanted in (
            (size + array, numbers + array),
            (array + size, numbers + array),
            (size - array, numbers - array),
            (size * array, numbers * array),
            (array * size, numbers * array),
        ):
            assert type(found) is np.ndarray
            np.testing.assert_array_equal(found, wanted)
    assert (size + np.int64(1)).tolist() == [3, 4]


def test_a_size_times_a_number_is_a_size(hotaru):
    size = hotaru.Size([2, 3])
    for times in (2, np.int64(2), hotaru.tensor(2)):
        assert type(size * times) is hotaru.Size
        assert size * times == (2, 3, 2, 3)
    assert 2 * size == hotaru.Size([2, 3, 2, 3])
    for times in (1.5, np.float32(2), None, "a", [1], (1,), size):
        with pytest.raises(TypeError):
            size * times


def test_an_operand_on_the_right_answers_itself(hotaru):
    size = hotaru.Size([2, 3])
    assert size + Own() == ("sum", (2, 3))
    assert size * Own() == ("product", (2, 3))
    for other in ([1], 1, None, "a", object(), hotaru.tensor([1])):
        message = rf"can only concatenate tuple \(not {type(other).__name__}\)"
        with pytest.raises(TypeError, match=message):
            size + other


def test_tuples_join_on_both_sides(hotaru):
    size = hotaru.Size([2, 3])
    for joined in (add(size, (4,)), size + hotaru.Size([4])):
        assert type(joined) is hotaru.Size
        assert joined == (2, 3, 4)
    assert type(add((4,), size)) is hotaru.Size
    assert add((4,), size) == (4, 2, 3)
    with pytest.raises(TypeError):
        add(size, ("a",))
