"""Dtypes that are named and stored: integers of less than a byte, bits, pairs of
4-bit floats; and float8_e8m0fnu, which converts. Facts are PyTorch 2.13's.
"""

from __future__ import annotations

import copy
import io
import itertools
import pickle

import pytest

import hotaru as torch

UNSIGNED = tuple(f"uint{i}" for i in range(1, 8))
SIGNED = tuple(f"int{i}" for i in range(1, 8))
BITS = ("bits1x8", "bits2x4", "bits4x2", "bits8", "bits16")
PAIR = "float4_e2m1fn_x2"
SCALE = "float8_e8m0fnu"
STORED = (*UNSIGNED, *SIGNED, *BITS, PAIR)
ALL = (*STORED, SCALE)
each = pytest.mark.parametrize("name", ALL)
each_stored = pytest.mark.parametrize("name", STORED)


def dtype_of(name):
    return getattr(torch, name)


def made(name, count=4):
    """Elements whose bytes are 0, 1, 2 ..."""
    dtype = dtype_of(name)
    return torch.arange(count * dtype.itemsize, dtype=torch.uint8).view(dtype)


def data(tensor):
    """Bytes of the elements in order."""
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype)
    flat.copy_(tensor.reshape(-1))
    return flat.view(torch.uint8).tolist()


def elements(name, *places):
    """Bytes of these elements of made()."""
    size = dtype_of(name).itemsize
    return [size * place + i for place in places for i in range(size)]


@each
def test_facts(name):
    dtype = dtype_of(name)
    floating = name in (PAIR, SCALE)
    assert dtype.itemsize == (2 if name == "bits16" else 1)
    assert (dtype.is_floating_point, dtype.is_complex) == (floating, False)
    assert repr(dtype) == f"torch.{name}"
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert dtype.to_real() is dtype
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType"):
        dtype.to_complex()
    if name in BITS:
        for ask in (lambda: dtype.is_signed, made(name).is_signed):
            with pytest.raises(RuntimeError, match="Bits types are undefined"):
                ask()
        return
    assert dtype.is_signed == (name in SIGNED or name == PAIR)
    assert made(name).is_signed() == dtype.is_signed


def test_names_of_types():
    names = {
        "uint1": "UInt1",
        "int7": "Int7",
        "bits1x8": "Bits1x8",
        PAIR: "Float4_e2m1fn_x2",
        SCALE: "Float8_e8m0fnu",
    }
    for name, known in names.items():
        assert made(name).type() == f"torch.{known}Tensor"
    abbreviations = {
        "uint4": "uint4",
        "bits8": "b8x1",
        "bits1x8": "b1x8",
        PAIR: "f4e2m1fnx2",
        SCALE: "f8e8m0fnu",
    }
    assert {n: dtype_of(n).abbr for n in abbreviations} == abbreviations


@each
def test_factories_and_views(name):
    dtype = dtype_of(name)
    x = made(name)
    assert torch.empty(2, 3, dtype=dtype).shape == (2, 3)
    assert torch.empty(2, dtype=dtype, device="meta").dtype is dtype
    assert torch.tensor([], dtype=dtype).shape == (0,)
    for zeros in (
        torch.zeros(4, dtype=dtype),
        torch.zeros_like(x),
        x.new_zeros(4),
        made(name).zero_(),
    ):
        assert zeros.dtype is dtype
        assert set(data(zeros)) == {0}
    assert x.view(torch.uint8).tolist() == elements(name, 0, 1, 2, 3)
    assert x.view(torch.uint8).view(dtype).dtype is dtype
    assert x.element_size() == dtype.itemsize
    assert x.view(2, 2).t().stride() == (1, 2)
    shared = torch.frombuffer(bytearray(8), dtype=dtype)
    assert shared.numel() == 8 // dtype.itemsize
    x.untyped_storage().fill_(7)
    assert set(data(x)) == {7}


@each
def test_moves(name):
    x = made(name)
    whole = elements(name, 0, 1, 2, 3)
    assert data(x.clone()) == data(x.to(x.dtype)) == data(copy.deepcopy(x)) == whole
    assert data(x.view(2, 2).t().contiguous()) == elements(name, 0, 2, 1, 3)
    assert data(x.view(2, 2).t().reshape(-1)) == elements(name, 0, 2, 1, 3)
    gaps = torch.zeros(8, dtype=x.dtype)
    gaps[::2].copy_(x)
    assert data(gaps[::2]) == whole
    assert set(data(gaps[1::2])) == {0}
    gaps[0] = x[3]
    gaps[2:4] = x[:2]
    assert data(gaps[:4]) == elements(name, 3) + [0] * x.itemsize + elements(name, 0, 1)
    assert data(x[1:3]) == elements(name, 1, 2)
    assert data(torch.stack([x[2], x[0]])) == elements(name, 2, 0)
    assert data(torch.cat([x, x[:1]])) == [*whole, *elements(name, 0)]
    assert data(x.repeat(2)) == whole * 2
    assert data(x.expand(2, 4).contiguous()) == whole * 2
    assert data(x.roll(1)) == elements(name, 3, 0, 1, 2)
    assert data(torch.where(torch.tensor([True] * 4), x, x)) == whole
    assert [data(part) for part in x.split(3)] == [
        elements(name, 0, 1, 2),
        elements(name, 3),
    ]
    assert data(x[torch.tensor([3, 1])]) == elements(name, 3, 1)
    assert data(x[torch.tensor([True, False, True, False])]) == elements(name, 0, 2)
    assert data(x.index_select(0, torch.tensor([2]))) == elements(name, 2)


@each
def test_files(name, tmp_path):
    x = made(name)
    whole = data(x)
    for kind in ({}, {"_use_new_zipfile_serialization": False}):
        buffer = io.BytesIO()
        torch.save({"x": x, "part": x[1:]}, buffer, **kind)
        buffer.seek(0)
        again = torch.load(buffer)
        assert again["x"].dtype is x.dtype
        assert data(again["x"]) == whole
        assert data(again["part"]) == whole[x.itemsize :]
    assert data(pickle.loads(pickle.dumps(x))) == whole
    holder = torch.nn.Module()
    holder.register_buffer("x", x)
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(holder), buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer).x
    assert (loaded.dtype, data(loaded)) == (x.dtype, whole)


def test_safetensors():
    from hotaru import weights

    pair = made(PAIR, 6).view(2, 3)
    scale = torch.tensor([0.5, 2.0]).to(torch.float8_e8m0fnu)
    stored = weights.save({"a": pair, "e": scale})
    # As the format's own library writes it: 4-bit floats are counted singly.
    assert b'"e":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[0,2]},' in stored
    assert b'"a":{"dtype":"F4","shape":[2,6],"data_offsets":[2,8]}' in stored
    again = weights.load(stored)
    assert (again["a"].dtype, again["a"].shape) == (pair.dtype, (2, 3))
    assert data(again["a"]) == data(pair)
    assert again["e"].tolist() == [0.5, 2.0]
    with pytest.raises(TypeError, match=r"torch\.uint4, which safetensors does not"):
        weights.save({"x": made("uint4")})
    with pytest.raises(ValueError, match=r"'x' of torch\.float4.* no dimension"):
        weights.save({"x": made(PAIR)[0]})


@each
def test_dlpack(name):
    x = made(name)
    if name in BITS:
        with pytest.raises(BufferError, match="Bit types are not supported"):
            x.__dlpack__()
        return
    shared = torch.from_dlpack(x)
    # A byte's integers, as PyTorch lends them.
    kinds = dict.fromkeys(UNSIGNED, torch.uint8) | dict.fromkeys(SIGNED, torch.int8)
    assert shared.dtype is kinds.get(name, x.dtype)
    assert shared.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("name", ["e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"])
def test_dlpack_of_older_floats(name):
    x = torch.ones(3).to(dtype_of(f"float8_{name}"))
    shared = torch.from_dlpack(x)
    assert (shared.dtype, shared.tolist()) == (x.dtype, [1, 1, 1])


def test_printing():
    # PyTorch prints pairs by their bytes, and refuses the rest.
    assert repr(made(PAIR)) == f"tensor([0., 1., 2., 3.], dtype=torch.{PAIR})"
    assert repr(made("uint4")) == "tensor([0, 1, 2, 3], dtype=torch.uint4)"
    assert repr(made("bits16", 2)) == "tensor([256, 770], dtype=torch.bits16)"
    for name in ALL:
        assert repr(torch.empty(0, dtype=dtype_of(name))) == (
            f"tensor([], dtype=torch.{name})"
        )
    scales = torch.tensor([1.0, 0.5, 8.0]).to(torch.float8_e8m0fnu)
    assert repr(scales) == f"tensor([1.0000, 0.5000, 8.0000], dtype=torch.{SCALE})"


@each_stored
def test_what_is_not_computed(name):
    x, dtype = made(name), dtype_of(name)
    known = x.type().removeprefix("torch.").removesuffix("Tensor")
    for program in (
        lambda: x + x,
        lambda: x * x,
        lambda: x < x,
        lambda: -x,
        x.sum,
        x.sort,
        x.exp,
        lambda: x.view(2, 2) @ x.view(2, 2),
        lambda: torch.ones(2, dtype=dtype),
        lambda: torch.full((2,), 0, dtype=dtype),
        lambda: made(name).fill_(0),
        lambda: torch.arange(3, dtype=dtype),
        lambda: torch.rand(3, dtype=dtype),
        x.float,
        x.long,
        lambda: x.to(torch.complex64),
        lambda: x.to(torch.float8_e8m0fnu),
        lambda: torch.ones(2).to(dtype),
        lambda: torch.ones(2, dtype=torch.int64).to(dtype),
        lambda: torch.zeros(4).copy_(x),
        x[0].item,
        lambda: bool(x[0]),
    ):
        with pytest.raises(NotImplementedError, match=f"not implemented for '{known}'"):
            program()
    for program in (x.tolist, lambda: torch.tensor([1], dtype=dtype)):
        with pytest.raises(RuntimeError, match="invalid type"):
            program()
    with pytest.raises(TypeError, match="Got unsupported ScalarType"):
        x.numpy()
    # Without elements there is nothing to convert.
    assert torch.empty(0).to(dtype).dtype is dtype


def test_pairs_are_compared_by_their_bytes():
    x = made(PAIR)
    assert (x == made(PAIR)).all()
    assert (x != x.flip(0)).all()
    assert not x.isnan().any()
    torch.testing.assert_close(x, made(PAIR))
    with pytest.raises(NotImplementedError, match="eq_cpu"):
        made("uint4") == made("uint4")  # noqa: B015


@each
def test_limits_and_gradients(name):
    dtype = dtype_of(name)
    with pytest.raises(TypeError, match="requires an integer input type"):
        torch.iinfo(dtype)
    if name != SCALE:
        with pytest.raises(TypeError, match="requires a floating point input type"):
            torch.finfo(dtype)
    if name in (PAIR, SCALE):
        assert torch.empty(2, dtype=dtype, requires_grad=True).requires_grad
        text = "couldn't find storage object"
    else:
        with pytest.raises(RuntimeError, match="floating point"):
            torch.empty(2, dtype=dtype, requires_grad=True)
        text = "only floating-point types are supported"
    with pytest.raises(TypeError, match=text):
        torch.set_default_dtype(dtype)


def promoted(a, b):
    try:
        return torch.promote_types(dtype_of(a), dtype_of(b))
    except RuntimeError as error:
        return str(error)


def test_promotion():
    others = ("float32", "int64", "bool", "complex64", "uint16")
    for name, other in itertools.product(ALL, others):
        found = promoted(name, other)
        assert type(found) is type(promoted(other, name))
        if name in UNSIGNED and other == "float32":
            assert found is torch.float32
        elif name == PAIR and other == "uint16":
            assert found is dtype_of(PAIR)
        else:
            kind = "from" if name in BITS else "for"
            assert found.startswith(f"Promotion {kind} ")
    for name in ALL:
        assert promoted(name, name) is dtype_of(name)
    assert torch.result_type(made("uint4"), 1) is torch.uint4
    assert torch.result_type(made("uint4"), 1.5) is torch.float32
    with pytest.raises(RuntimeError, match="not supported"):
        torch.result_type(made("int4"), 1.5)


@each
def test_can_cast(name):
    dtype = dtype_of(name)
    kinds = (torch.complex64, torch.float32, torch.int64, torch.bool, torch.int3)
    assert [torch.can_cast(kind, dtype) for kind in kinds] == [False, *[True] * 4]
    floating = name in (PAIR, SCALE)
    assert [torch.can_cast(dtype, kind) for kind in kinds] == [
        True,
        True,
        not floating,
        False,
        True,
    ]


# Codes that PyTorch makes of each: it rounds by the fraction's bits, the sign is lost.
SCALES = {
    -1.0: 127,
    0.0: 0,
    1e-40: 0,
    6e-39: 1,
    8.9e-39: 1,
    1e-38: 1,
    0.75: 127,
    1.5: 128,
    2.999: 128,
    3.0: 129,
    6.0: 130,
    1.6e38: 254,
    2.6e38: 255,
    3.4e38: 255,
    float("inf"): 255,
    float("nan"): 255,
}


def test_scales():
    codes = torch.tensor(list(SCALES)).to(torch.float8_e8m0fnu)
    assert codes.view(torch.uint8).tolist() == list(SCALES.values())
    every = torch.arange(256, dtype=torch.uint8).view(torch.float8_e8m0fnu)
    values = every.float()
    assert values[:255].tolist() == [2.0 ** (i - 127) for i in range(255)]
    assert values[255].isnan()
    assert torch.equal(
        values[1:255].to(every.dtype).view(torch.uint8), every[1:255].view(torch.uint8)
    )
    for dtype in (torch.float64, torch.bfloat16, torch.complex64, torch.float8_e5m2):
        ones = torch.ones(3, dtype=torch.float32).to(dtype).to(every.dtype)
        assert ones.view(torch.uint8).tolist() == [127] * 3
        assert ones.to(dtype).float().tolist() == [1] * 3
    x = torch.tensor([4.0, 0.25], dtype=torch.float8_e8m0fnu)
    assert (x[0].item(), x.tolist(), float(x[1])) == (4.0, [4, 0.25], 0.25)
    assert (x * x).float().tolist() == [16, 0.0625]
    assert (x == torch.tensor([4.0, 1.0]).to(x.dtype)).tolist() == [True, False]
    assert torch.full((2,), 2.0, dtype=x.dtype).tolist() == [2, 2]
    limits = torch.finfo(x.dtype)
    assert (limits.bits, limits.eps, limits.max) == (8, 1, 2.0**127)
    assert limits.min == limits.tiny == limits.smallest_normal == 2.0**-127
    with pytest.raises(NotImplementedError, match="not implemented for 'Float8_e8m0"):
        x + x
