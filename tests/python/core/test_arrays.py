"""Tensors from arrays, buffers, files and rows of numbers."""

from __future__ import annotations

import array
import ctypes
import decimal
import fractions
import gc
import io
import json
import mmap
import warnings
from pathlib import Path

import numpy as np
import pytest

import hotaru as torch


def test_frombuffer():
    memory = bytearray(8)
    x = torch.frombuffer(memory, dtype=torch.float32, requires_grad=True)
    assert x.requires_grad
    x.detach()[0] = 1.0
    assert memory[3] == 0x3F
    with pytest.raises(ValueError, match="does not implement Python buffer"):
        torch.frombuffer([1, 2], dtype=torch.float32)


def test_asarray_shares():
    x = torch.arange(3.0)
    assert torch.asarray(x) is x
    assert torch.asarray(x, copy=True).data_ptr() != x.data_ptr()
    assert torch.asarray(x.__dlpack__()).data_ptr() == x.data_ptr()
    numbers = array.array("f", [1, 2])
    shared = torch.asarray(numbers, copy=False)
    shared[0] = 5
    assert numbers[0] == 5
    with pytest.raises(ValueError, match="can't alias arbitrary sequence"):
        torch.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match=r"with dtype 'torch.float32' into"):
        torch.asarray(x, dtype=torch.float64, copy=False)


@pytest.mark.parametrize("value", [3.0, 3, True, 3j])
def test_arrays_without_dimensions_are_shared(value):
    for copy in (False, None):
        array = np.array(value)
        shared = torch.asarray(array, copy=copy)
        array[()] = 0
        assert shared.shape == ()
        assert shared.item() == 0
    array = np.array(value)
    own = torch.asarray(array, copy=True)
    array[()] = 0
    assert own.item() == value
    with pytest.raises(ValueError, match="can't alias tensor with dtype"):
        torch.asarray(np.array(value), dtype=torch.float16, copy=False)
    # A number of NumPy's has no memory to share.
    with pytest.raises(RuntimeError, match="can't alias NumPy scalars"):
        torch.asarray(np.array([value])[0], copy=False)


def test_asarray_and_history():
    y = torch.ones(2, requires_grad=True) * 2
    assert torch.asarray(y, requires_grad=False).grad_fn is None
    assert torch.asarray(y, requires_grad=True).grad_fn is not None


def test_vander():
    x = torch.tensor([1, 2, 3])
    assert torch.vander(x).tolist() == [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    assert torch.vander(x, 2, True).tolist() == [[1, 1], [1, 2], [1, 3]]
    assert torch.vander(torch.tensor([]), 0).shape == (0, 0)
    with pytest.raises(RuntimeError, match="must be a one-dimensional tensor"):
        torch.vander(torch.ones(2, 2))
    y = torch.tensor([2.0, 3.0], requires_grad=True)
    torch.vander(y, 3)[:, 0].sum().backward()
    assert y.grad.tolist() == [4.0, 6.0]
    ones = torch.ones(2)
    _, tangent = torch.func.jvp(torch.vander, (y.detach(),), (ones,))
    assert tangent.tolist() == [[1.0, 0.0], [1.0, 0.0]]


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_range():
    assert torch.range(0, 3).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert torch.range(3, 0, -2).tolist() == [3.0, 1.0]
    assert torch.range(0, 5, 2, dtype=torch.int64).tolist() == [0, 2, 4]
    with pytest.raises(RuntimeError, match="upper bound and lower bound"):
        torch.range(1, 0)


def test_check():
    torch._check(True)
    with pytest.raises(RuntimeError, match=r"^m$"):
        torch._check(False, lambda: "m")
    with pytest.raises(IndexError, match="Expected cond to be True"):
        torch._check_index(False)
    with pytest.raises(TypeError, match="cond must be a bool, but got <class"):
        torch._check(1)
    with pytest.raises(RuntimeError, match=r"^z$"):
        torch._check_tensor_all(torch.tensor([True, False]), lambda: "z")


def test_fill_diagonal():
    x = torch.zeros(7, 3).fill_diagonal_(1, wrap=True)
    assert x.nonzero().tolist() == [[0, 0], [1, 1], [2, 2], [4, 0], [5, 1], [6, 2]]
    assert torch.zeros(2, 3).t().fill_diagonal_(2).sum() == 4
    with pytest.raises(RuntimeError, match="must be of equal length"):
        torch.zeros(2, 3, 3).fill_diagonal_(1)


def test_map():
    x = torch.arange(3.0)
    assert x.map_(torch.ones(3), lambda a, b: a - b).tolist() == [-1, 0, 1]
    x.map2_(torch.ones(3), torch.tensor(2.0), lambda a, b, c: a + b * c)
    assert x.tolist() == [1, 2, 3]


def test_sizes():
    assert torch.Size(torch.tensor([2, 3])) == (2, 3)
    assert type(torch.Size([1]) * 2) is torch.Size
    with pytest.raises(TypeError, match=r"\(item 0 is 'Tensor'\)"):
        torch.Size(torch.ones(3))
    with pytest.raises(TypeError, match=r"\(item 1 is 'float'\)"):
        torch.Size([1, 1.5])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x: torch.movedim(x, (0, 0), (0, 1)),
            r"movedim: repeated dim in `source` \(\[0, 0\]\)",
        ),
        (
            lambda x: torch.diff(x, prepend=torch.ones(4, 1)),
            r"input.size\(0\) = 2, but got tensor.size\(0\) = 4",
        ),
        (
            lambda x: torch.hsplit(x, 2),
            "torch.hsplit attempted to split along dimension 1, but the size "
            "of the dimension 3 is not divisible by the split_size 2!",
        ),
        (
            lambda x: torch.neg(x, out=torch.empty(0, dtype=torch.float64)),
            "Found dtype Double but expected Float",
        ),
        (
            lambda x: torch.nonzero(x, out=torch.empty(0)),
            "Expected out tensor to have scalar type Long but got",
        ),
        (
            lambda x: x.index_fill_(0, torch.tensor([0]), 1j),
            "Converting complex Scalar to non-complex type is not supported",
        ),
        (
            lambda x: x[0].adjoint(),
            "tensor.adjoint.. is only supported on matrices or batches",
        ),
        (
            lambda x: torch.randint(5, -1, (2,)),
            "random_ expects 'from' to be less than 'to', but got from=5 >=",
        ),
    ],
)
def test_texts(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(torch.ones(2, 3))


def test_true_divide_by_numbers():
    x = torch.tensor([1, 2])
    assert torch.true_divide(x, 2).tolist() == [0.5, 1.0]
    assert torch.ones(2).true_divide_(2).tolist() == [0.5, 0.5]


def test_bernoulli_into_integers():
    out = torch.bernoulli(torch.tensor([0.0, 1.0]), out=torch.ones(2).int())
    assert out.tolist() == [0, 1]


def test_gradient_at_complex_distance():
    x = torch.tensor([0, 2j, 4j])
    assert torch.gradient(x, spacing=2j)[0].tolist() == [1, 1, 1]


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int16), ("b", ctypes.c_float))


def _exporters() -> dict:
    """Objects that lend their memory, with strides and without, of elements
    that tensors have and others.
    """
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    read_only = numbers.copy()
    read_only.flags.writeable = False
    return {
        "ctypes": (ctypes.c_int * 3)(5, 6, 7),
        "ctypes matrix": ((ctypes.c_short * 2) * 2)((1, 2), (3, 4)),
        "ctypes bool": (ctypes.c_bool * 2)(True, False),
        "ctypes chars": (ctypes.c_char * 2)(b"a", b"b"),
        "ctypes number": ctypes.c_double(2.5),
        "ctypes structure": Pair(1, 2),
        "ctypes empty": (ctypes.c_int * 0)(),
        "array": array.array("d", [1, 2]),
        "bytearray": bytearray(8),
        "bytes": b"abcd",
        "memoryview": memoryview(bytearray(8)).cast("h"),
        "memoryview matrix": memoryview(bytearray(8)).cast("B", (2, 4)),
        "memoryview gaps": memoryview(bytearray(8))[::2],
        "mmap": mmap.mmap(-1, 16),
        "matrix": numbers,
        "columns": np.asfortranarray(numbers),
        "backwards": numbers[::-1],
        "read-only": read_only,
        "nothing": np.zeros((0, 3)),
        "number": np.array(2.5),
        "whole": np.array(1),
        "flag": np.array(True),
        "swapped": np.array([1, 2], dtype=">i4"),
        "objects": np.array([1, 2], dtype=object),
        "texts": np.array(["a"]),
        "times": np.array(["2020"], dtype="M8[D]"),
        "records": np.zeros(2, dtype="i4,f4"),
        "long doubles": np.zeros(2, dtype=np.longdouble),
        "float32": np.float32(1),
        "float16": np.float16(1),
        "complex64": np.complex64(1),
        "int64": np.int64(1),
        "uint8": np.uint8(1),
        "bool": np.bool_(True),
        "text": np.str_("ab"),
        "letters": np.bytes_(b"ab"),
        "time": np.datetime64("2020"),
        "difference": np.timedelta64(3, "D"),
        "void": np.void(b"abc"),
        "record": np.zeros(1, dtype="i4,f4")[0],
        "long double": np.longdouble(1),
    }


DOORS = {
    "tensor": torch.tensor,
    "as_tensor": torch.as_tensor,
    "asarray": lambda x: torch.asarray(x, dtype=torch.float32),
    "from_numpy": torch.from_numpy,
    "frombuffer": lambda x: torch.frombuffer(x, dtype=torch.uint8),
    "Tensor": torch.Tensor,
    "index": lambda x: torch.arange(9)[x],
    "assign": lambda x: torch.arange(9).__setitem__(x, 1),
    "value": lambda x: torch.zeros(2, 3).__setitem__(0, x),
    "compare": lambda x: torch.zeros(2, 3) == x,
}


def _made(door, value) -> str:
    """The result's shape and sum, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = DOORS[door](value)
        except Exception as error:
            return type(error).__name__
    if not isinstance(made, torch.Tensor):
        return repr(made)
    if door in ("Tensor", "frombuffer"):  # of what memory held, too
        return str(tuple(made.shape))
    return f"{tuple(made.shape)} {made.to(torch.complex64).sum().item():.4g}"


# Results of PyTorch 2.13 for them, a row a door.
EXPECTED = json.loads((Path(__file__).parents[1] / "golden/exporters.json").read_text())


# Where the results are others on purpose: numbers of numpy are numbers, letters
# and records are none, and what is no index says so.
DIFFERS = {
    ("ctypes chars", "Tensor"): "TypeError",
    ("mmap", "Tensor"): "TypeError",
    ("void", "Tensor"): "TypeError",
    ("record", "Tensor"): "TypeError",
    ("text", "index"): "TypeError",
    ("text", "assign"): "TypeError",
    ("difference", "index"): "IndexError",
    ("difference", "assign"): "IndexError",
    ("float32", "value"): "None",
    ("float16", "value"): "None",
    ("complex64", "value"): "None",
    ("bool", "value"): "None",
    ("long double", "value"): "None",
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", _exporters())
def test_every_exporter_through_every_door(name, door):
    expected = DIFFERS.get((name, door), EXPECTED[door][name])
    assert _made(door, _exporters()[name]) == expected


@pytest.mark.parametrize("name", ["ctypes", "array", "matrix", "number"])
def test_shared_memory_outlives_its_owner(name):
    door = torch.asarray if name == "array" else torch.as_tensor
    owner = _exporters()[name]
    if name in ("ctypes", "array"):
        kind = {"ctypes": torch.int32, "array": torch.float64}[name]
        shared = torch.frombuffer(owner, dtype=kind)
    else:
        shared = door(owner)
    before = shared.tolist()
    shared += 1
    again = np.asarray(owner).tolist()
    assert again == (np.asarray(before) + 1).tolist()
    del owner
    gc.collect()
    assert shared.tolist() == again


@pytest.mark.parametrize("flags", ["simple", "writable", "strided"])
def test_tensors_lend_what_is_asked_for(flags):
    rows = torch.arange(6.0).reshape(2, 3)
    if flags == "strided":
        assert memoryview(rows.t()).tolist() == rows.t().tolist()
    elif flags == "simple":
        assert bytes(memoryview(rows)) == rows.numpy().tobytes()
        with pytest.raises(BufferError, match="not in a row"):
            io.BytesIO().write(rows.t())
    else:
        io.BytesIO(bytes(24)).readinto(rows)
        assert rows.sum().item() == 0
        with pytest.raises(TypeError, match="read-write bytes-like"):
            io.BytesIO(bytes(24)).readinto(rows.t())


def test_asarray_keeps_the_history_that_nobody_spoke_of():
    leaf = torch.ones(2, requires_grad=True)
    result = leaf * 2
    for x in (leaf, result):
        with pytest.warns(UserWarning, match="unspecified requires_grad"):
            assert torch.asarray(x) is x
        with pytest.warns(UserWarning, match="unspecified requires_grad"):
            assert torch.asarray(x, dtype=torch.float64).grad_fn is not None
        with pytest.warns(UserWarning, match="unspecified requires_grad"):
            assert torch.asarray(x, copy=True).requires_grad
        with torch.no_grad(), pytest.warns(UserWarning, match="unspecified"):
            assert torch.asarray(x, dtype=torch.float64).requires_grad
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert torch.asarray(x, requires_grad=True) is x
            assert not torch.asarray(x, requires_grad=False).requires_grad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = torch.ones(2)
        assert torch.asarray(plain) is plain
        assert not torch.asarray([1.0]).requires_grad
        assert torch.asarray([1.0], requires_grad=True).requires_grad


class _Lent:
    """An array that only DLPack reads."""

    def __init__(self, source: torch.Tensor) -> None:
        self.source = source

    def __dlpack__(self, **options):
        return self.source.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.source.__dlpack_device__()


def test_arrays_of_dlpack_are_data():
    source = torch.tensor([[1, 2], [3, 4]], dtype=torch.int16)
    made = torch.tensor(_Lent(source))
    assert made.dtype == torch.int16
    assert made.tolist() == [[1, 2], [3, 4]]
    made.zero_()
    assert source[1, 1] == 4
    other = torch.tensor(_Lent(source), dtype=torch.float32, requires_grad=True)
    assert other.requires_grad
    assert other.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert torch.tensor(_Lent(source), device="meta").is_meta
    same = torch.tensor(_Lent(source), dtype=torch.int16).add_(1)
    assert same.sum() == source.sum() + 4
    assert torch.ones(1).new_tensor(_Lent(source)).dtype == torch.float32
    with pytest.raises(RuntimeError, match="Could not infer dtype of _Lent"):
        torch.tensor([_Lent(source), _Lent(source)])
    with pytest.raises(RuntimeError, match="Could not infer dtype of type"):
        torch.tensor(_Lent)


def test_other_numbers_of_a_dtype_that_is_given():
    half, three = fractions.Fraction(1, 2), np.array(3)
    made = torch.tensor([half, decimal.Decimal("2.5")], dtype=torch.float32)
    assert made.tolist() == [0.5, 2.5]
    assert torch.tensor(half, dtype=torch.complex64).item() == 0.5
    assert torch.tensor([[three]], dtype=torch.int8).tolist() == [[3]]
    with pytest.raises(RuntimeError, match="Could not infer dtype of Fraction"):
        torch.tensor([half])
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        torch.tensor(half, dtype=torch.int64)


TWO = np.array(2)
SIZED = {
    "ones": lambda *n: torch.ones(*n),
    "zeros": lambda *n: torch.zeros(*n),
    "empty": lambda *n: torch.empty(*n),
    "rand": lambda *n: torch.rand(*n),
    "randn": lambda *n: torch.randn(*n),
    "new_zeros": lambda *n: torch.ones(1).new_zeros(*n),
    "new_empty": lambda *n: torch.ones(1).new_empty(*n),
    "view": lambda *n: torch.ones(2 ** len(n)).view(*n),
    "reshape": lambda *n: torch.ones(2 ** len(n)).reshape(*n),
    "expand": lambda *n: torch.ones(1).expand(*n),
    "repeat": lambda *n: torch.ones(1).repeat(*n),
    "tile": lambda *n: torch.ones(1).tile(*n),
}


@pytest.mark.parametrize("name", SIZED)
def test_arrays_without_dimensions_are_sizes(name):
    make = SIZED[name]
    assert make(TWO).shape == make((TWO,)).shape == (2,)
    assert make(TWO, 2).shape == make(2, TWO).shape == make(TWO, TWO).shape
    assert make(TWO, 2).shape == (2, 2)
    for wrong in (np.array([2]), np.array([2, 2]), np.array(2.0)):
        with pytest.raises(TypeError):
            make(wrong)
    with pytest.raises(TypeError):
        make(np.array(True))


def test_permute_by_an_array_without_dimensions():
    assert torch.ones(3).permute(np.array(0)).shape == (3,)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("make", [torch.from_numpy, torch.as_tensor, torch.tensor])
def test_strides_that_are_no_elements(make, count):
    rows = np.zeros(count, dtype="i1,f4")
    with pytest.raises(ValueError, match="strides not a multiple of the elem"):
        make(rows["f1"])
    turned = np.arange(3.0 * count).reshape(count, 3)[::-1]
    if count == 1:  # it lies in a row, and np.ascontiguousarray leaves it so
        assert make(turned).tolist() == [[0.0, 1.0, 2.0]]
        assert make(turned[:, 0]).tolist() == [0.0]
    else:
        with pytest.raises(ValueError, match="At least one stride in the giv"):
            make(turned)
    assert make(rows[:0]["f1"]).tolist() == []
    assert make(np.zeros((), dtype="i1,f4")["f1"]).tolist() == 0.0
    assert make(np.ones((count, 0))[::-1]).shape == (count, 0)


@pytest.mark.parametrize(
    ("array_dtype", "dtype", "wanted"),
    [
        ("int64", "float32", "float64"),
        ("int32", "int64", "float64"),
        ("uint16", "float16", "float32"),
        ("int16", "float64", "float64"),
        ("int8", "float16", "float16"),
        ("bool", "int8", "float32"),
        ("float32", "float16", "float32"),
    ],
)
def test_arrays_are_divided_in_the_floats_of_numpy(array_dtype, dtype, wanted):
    numpy = pytest.importorskip("numpy")
    found = numpy.array([1, 0, 1], dtype=array_dtype) / torch.tensor(
        [4, 2, 1], dtype=getattr(torch, dtype)
    )
    assert found.dtype is getattr(torch, wanted)
    assert found.tolist() == [0.25, 0.0, 1.0]
