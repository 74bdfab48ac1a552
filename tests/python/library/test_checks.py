"""Operators that check, and those that tell sizes, by PyTorch's names."""

import copy
import pickle

import pytest

import hotaru as torch

aten = torch.ops.aten


@pytest.mark.parametrize("good", [1, 2.5, True, 1j])
def test_a_number_that_is_asserted(good):
    token = torch.ones(1)
    assert aten._assert_scalar(good, "no") is None
    found = aten._functional_assert_scalar(good, "no", token)
    assert torch.equal(found, token)
    with pytest.raises(RuntimeError, match=r"^no$"):
        aten._assert_scalar.default(0, "no")
    with pytest.raises(RuntimeError, match=r"^no$"):
        aten._functional_assert_scalar(0.0, "no", token)


def test_all_and_any_of_booleans():
    for values in ([], [True], [True, False], [False]):
        mask = torch.tensor(values, dtype=torch.bool)
        assert aten._is_all_true(mask).item() is all(values)
        assert aten._is_any_true(mask).item() is any(values)
    for op in (aten._is_all_true, aten._is_any_true):
        with pytest.raises(RuntimeError, match="bool"):
            op(torch.ones(2))


_TOP = 2**63 - 1


@pytest.mark.parametrize(
    ("name", "size", "bounds", "error"),
    [
        ("sym_constrain_range", 5, {}, None),
        ("sym_constrain_range", -5, {}, None),
        ("sym_constrain_range", 5, {"min": 5, "max": 5}, None),
        (
            "sym_constrain_range",
            5,
            {"min": 6},
            f"Invalid value range for 5 between [6, {_TOP}].",
        ),
        (
            "sym_constrain_range",
            5,
            {"min": 6, "max": 4},
            "Max must be greater than or equal to min. Got min=6 max=4",
        ),
        ("sym_constrain_range_for_size", 5, {}, None),
        ("sym_constrain_range_for_size", 3, {"max": 3}, None),
        (
            "sym_constrain_range_for_size",
            1,
            {"max": 1},
            "Max value to constrain_range_for_size must be greater than 2. got: 1",
        ),
        (
            "sym_constrain_range_for_size",
            -1,
            {},
            f"Invalid value range for -1 between [0, {_TOP}].",
        ),
        (
            "sym_constrain_range_for_size",
            3,
            {"min": 5, "max": 4},
            "Max must be greater than or equal to min. Got min=5 max=4",
        ),
    ],
)
def test_bounds_of_a_size(name, size, bounds, error):
    token = torch.ones(1)
    both = {"min": None, "max": None, **bounds}.values()
    calls = (
        lambda: getattr(torch, name)(size, **bounds),
        lambda: getattr(aten, name).default(size, **bounds),
        lambda: getattr(aten, f"_functional_{name}")(size, *both, token),
    )
    for call in calls:
        if error is None:
            assert call() in (None, token)
            continue
        with pytest.raises(RuntimeError) as raised:
            call()
        assert str(raised.value) == error


def test_sizes_as_numbers():
    x = torch.zeros(2, 3)[:, 1:]
    assert aten.sym_size(x) == [2, 2]
    assert aten.sym_size.int(x, -1) == 2
    assert aten.sym_stride(x) == [3, 1]
    assert aten.sym_stride.int(x, 0) == 3
    assert aten.sym_numel(x) == 4
    assert aten.sym_storage_offset(x) == 1
    assert copy.deepcopy(aten.sym_size.int) is aten.sym_size.int
    assert pickle.loads(pickle.dumps(aten.sym_stride.int)) is aten.sym_stride.int
    assert str(aten.sym_size.int) == "aten.sym_size.int"
    assert aten.sym_size.int.name() == "aten::sym_size.int"
    with pytest.raises(IndexError, match=r"range of \[-2, 1\], but got 2"):
        aten.sym_size.int(x, 2)
    with pytest.raises(IndexError, match="specified as 0 but tensor has no dim"):
        aten.sym_stride.int(torch.tensor(1.0), 0)


def test_what_writes_into_its_tensor():
    x = torch.zeros(2, 2)
    assert aten.fill_diagonal_(x, 3.0) is x
    assert x.tolist() == [[3, 0], [0, 3]]


def test_products_of_groups():
    a, b = torch.randn(2, 3, 8).bfloat16(), torch.randn(2, 8, 4).bfloat16()
    assert torch.equal(aten._grouped_mm(a, b), torch._grouped_mm(a, b))
