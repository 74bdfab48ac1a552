"""Dtypes that are stored and converted: float8, complex32, wide unsigned.

Numbers were recorded from PyTorch 2.13.
"""

from __future__ import annotations

import math

import pytest

import hotaru as torch

VALUES = [
    1.0,
    -2.5,
    0.1,
    300.0,
    1e9,
    math.inf,
    -math.inf,
    math.nan,
    -0.0,
    1e-9,
    449.0,
    60000.0,
    0.0017,
]
CODES = {
    "float8_e5m2": [60, 193, 46, 93, 124, 124, 252, 127, 128, 0, 95, 123, 23],
    "float8_e4m3fn": [56, 194, 29, 121, 126, 126, 254, 127, 128, 0, 126, 126, 1],
    "float8_e5m2fnuz": [64, 197, 50, 97, 128, 128, 128, 128, 0, 0, 99, 127, 27],
    "float8_e4m3fnuz": [64, 202, 37, 128, 128, 128, 128, 128, 0, 0, 128, 128, 2],
}
UNSIGNED = ("uint16", "uint32", "uint64")
RARE = (*CODES, *UNSIGNED, "complex32")


@pytest.mark.parametrize("name", CODES)
def test_float8_codes(name):
    x = torch.tensor(VALUES).to(getattr(torch, name))
    assert x.view(torch.uint8).tolist() == CODES[name]


@pytest.mark.parametrize("name", CODES)
def test_every_float8_comes_back(name):
    dtype = getattr(torch, name)
    codes = torch.arange(256, dtype=torch.uint8)
    values = codes.view(dtype).float()
    back = values.to(dtype).view(torch.uint8)
    number = ~values.isnan()
    assert torch.equal(back[number], codes[number])
    limits = torch.finfo(dtype)
    finite = values[values.isfinite()]
    assert (finite.max().item(), finite.min().item()) == (limits.max, limits.min)


@pytest.mark.parametrize(
    ("name", "wrapped", "cut"),
    [
        ("uint16", [0, 1, 65535, 4464, 0], [0, 1, 65535, 0]),
        ("uint32", [0, 1, 4294967295, 70000, 0], [0, 1, 4294967295, 3 * 10**9]),
        ("uint64", [0, 1, 2**64 - 1, 70000, 2**40], [0, 1, 2**64 - 1, 3 * 10**9]),
    ],
)
def test_unsigned_conversions(name, wrapped, cut):
    dtype = getattr(torch, name)
    assert torch.tensor([0, 1, -1, 70000, 2**40]).to(dtype).tolist() == wrapped
    assert torch.tensor([0.0, 1.5, -1.0, 3e9]).to(dtype).tolist() == cut
    assert torch.tensor([1, 2]).to(dtype).half().tolist() == [1.0, 2.0]


def test_uint64_beyond_int64():
    x = torch.tensor([2**64 - 1, 2**63], dtype=torch.uint64)
    assert x.tolist() == [2**64 - 1, 2**63]
    assert x[0].item() == 2**64 - 1
    assert x.double().tolist() == [2.0**64, 2.0**63]
    assert x.to(torch.int64).tolist() == [-1, -(2**63)]
    assert repr(x) == (
        "tensor([18446744073709551615,  9223372036854775808], dtype=torch.uint64)"
    )


def test_complex32():
    x = torch.tensor([1 + 2j, 0.1 - 1e6j]).to(torch.complex32)
    assert repr(x) == "tensor([1.0000+2.j, 0.1000-infj], dtype=torch.complex32)"
    parts = torch.view_as_real(x)
    assert parts.dtype == torch.float16
    assert parts[0].tolist() == [1.0, 2.0]
    assert x[0].item() == 1 + 2j
    assert torch.float16.to_complex() is torch.complex32


@pytest.mark.parametrize("name", RARE)
def test_copies_and_shapes(name):
    dtype = getattr(torch, name)
    x = torch.tensor([[1, 2, 3], [4, 5, 6]]).to(dtype)
    for made in (x.clone(), x.t().contiguous().t(), torch.cat([x, x])[:2]):
        assert made.dtype == dtype
        assert made.tolist() == x.tolist()
    assert torch.zeros(2, dtype=dtype).tolist() == [0, 0]
    assert torch.full((2,), 3, dtype=dtype).tolist() == [3, 3]
    assert torch.tensor([1, 2], dtype=dtype).tolist() == [1, 2]
    long = torch.arange(2000).remainder(7)
    assert torch.equal(long.to(dtype).to(torch.float32), long.float())
    assert torch.equal(long[::2].to(dtype).to(torch.int64), long[::2])


@pytest.mark.parametrize("name", RARE)
def test_what_is_computed(name):
    x = torch.tensor([3, 4]).to(getattr(torch, name))
    y = torch.tensor([3, 5]).to(x.dtype)
    assert (x == y).tolist() == [True, False]
    assert (x != y).tolist() == [False, True]
    product = x * torch.tensor([2, 2]).to(x.dtype)
    assert product.dtype == x.dtype
    assert product.tolist() == [6, 8]


@pytest.mark.parametrize("name", RARE)
def test_kinds_of_numbers(name):
    dtype = getattr(torch, name)
    numbers = [1.0, 0.0] if name in UNSIGNED else [1.0, math.inf, math.nan]
    x = torch.tensor(numbers).to(dtype)
    wide = x.to(torch.complex64 if dtype.is_complex else torch.float64)
    for ask in (torch.isinf, torch.isnan, torch.isfinite):
        assert ask(x).tolist() == ask(wide).tolist()
    if name in UNSIGNED:
        assert torch.signbit(x).tolist() == [False, False]


@pytest.mark.parametrize("name", [*UNSIGNED, "float8_e5m2"])
def test_what_is_not_computed(name):
    x = torch.tensor([3, 4]).to(getattr(torch, name))
    with pytest.raises(NotImplementedError, match="not implemented for '"):
        x + x


def test_promotion():
    assert torch.promote_types(torch.uint16, torch.float16) is torch.float16
    assert torch.promote_types(torch.complex32, torch.int8) is torch.complex32
    assert torch.promote_types(torch.complex32, torch.bfloat16) is (torch.complex64)
    text = "Promotion for uint16, uint32, uint64 types is not supported"
    with pytest.raises(RuntimeError, match=f"{text}, .* UInt16 and Int"):
        torch.promote_types(torch.uint16, torch.int32)
    with pytest.raises(RuntimeError, match="Promotion for Float8 Types is not"):
        torch.promote_types(torch.float8_e5m2, torch.float32)


def test_limits_and_names():
    assert torch.iinfo(torch.uint64).max == 2**64 - 1
    assert torch.iinfo(torch.uint16).min == 0
    assert torch.empty(1, dtype=torch.uint32).type() == "torch.UInt32Tensor"
    assert torch.empty(1).chalf().type() == "torch.ComplexHalfTensor"


@pytest.mark.parametrize("name", UNSIGNED)
def test_numpy(name):
    numpy = pytest.importorskip("numpy")
    array = numpy.array([1, 2], dtype=name)
    x = torch.from_numpy(array)
    x[0] = 5
    assert array.tolist() == [5, 2]
    assert x.numpy().dtype == array.dtype


@pytest.mark.parametrize("name", [*UNSIGNED, "complex32"])
def test_dlpack(name):
    x = torch.tensor([1, 2]).to(getattr(torch, name))
    shared = torch.from_dlpack(x)
    assert shared.dtype == x.dtype
    assert shared.data_ptr() == x.data_ptr()


def test_dlpack_of_no_memory():
    with pytest.raises(BufferError, match="Cannot pack tensors on meta"):
        torch.ones(2, device="meta").__dlpack__()


def test_draws():
    torch.manual_seed(0)
    drawn = torch.randint(0, 50, (6,), dtype=torch.uint16)
    assert drawn.tolist() == [44, 39, 33, 10, 13, 29]
    torch.manual_seed(0)
    parts = torch.view_as_real(torch.randn(3, dtype=torch.complex32))
    assert parts[0].tolist() == [1.08984375, -0.20751953125]
    with pytest.raises(RuntimeError, match="to - 1 is out of bounds for short"):
        torch.randint(0, 2**17, (2,), dtype=torch.uint16)
