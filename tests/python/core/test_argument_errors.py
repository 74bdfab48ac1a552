"""Calls that fit no signature: PyTorch's words for what was given instead."""

from __future__ import annotations

import re

import numpy
import pytest

import hotaru as torch

COMBINATION = "{}() received an invalid combination of arguments - got ({}), "
WRONG = "      didn't match because some of the arguments have invalid types: ({})"


def combination(name: str, got: str, *lines: str) -> str:
    text = COMBINATION.format(name, got) + "but expected one of:\n"
    return text + "".join(line + "\n" for line in lines)


BINARY = (
    " * (Tensor input, Tensor other, *, Tensor out = None)",
    " * (Tensor input, Number other, *, Tensor out = None)",
)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        # Tensor and number are signatures of their own ...
        ("torch.eq(a, 's')", combination("eq", "Tensor, str", *BINARY)),
        ("torch.fmod(a, [1])", combination("fmod", "Tensor, list", *BINARY)),
        ("torch.eq(a)", combination("eq", "Tensor", *BINARY)),
        ("torch.eq(a, foo=1)", combination("eq", "Tensor, foo=int", *BINARY)),
        (
            "a.fill_('s')",
            combination(
                "fill_",
                "str",
                " * (Tensor value)",
                WRONG.format("!str!"),
                " * (Number value)",
                WRONG.format("!str!"),
            ),
        ),
        (
            "a.masked_fill(a > 0, (1,))",
            combination(
                "masked_fill",
                "Tensor, tuple",
                " * (Tensor mask, Tensor value)",
                WRONG.format("Tensor, !tuple of (int,)!"),
                " * (Tensor mask, Number value)",
                WRONG.format("Tensor, !tuple of (int,)!"),
            ),
        ),
        (
            "a.pow(foo=1)",
            combination(
                "pow",
                "foo=int, ",
                " * (Tensor exponent)",
                "      didn't match because some of the keywords were incorrect: foo",
                " * (Number exponent)",
                "      didn't match because some of the keywords were incorrect: foo",
            ),
        ),
        (
            "torch.pow(2, 's')",
            combination(
                "pow",
                "int, str",
                " * (Tensor input, Tensor exponent, *, Tensor out = None)",
                " * (Number self, Tensor exponent, *, Tensor out = None)",
                " * (Tensor input, Number exponent, *, Tensor out = None)",
            ),
        ),
        (
            "a.max('s')",
            combination(
                "max",
                "str",
                " * ()",
                WRONG.format("!str!"),
                " * (Tensor other)",
                WRONG.format("!str!"),
                " * (int dim, bool keepdim = False)",
            ),
        ),
        # ... but where a number stands for a tensor, and where the count of
        # arguments leaves one signature.
        ("a.add('s')", "add(): argument 'other' (position 1) must be Tensor, not str"),
        (
            "torch.add(1, 's')",
            "add(): argument 'other' (position 2) must be Tensor, not str",
        ),
        (
            "torch.div(a, 's')",
            "div(): argument 'other' (position 2) must be Tensor, not str",
        ),
        (
            "torch.median(a, 's')",
            "median(): argument 'dim' (position 2) must be int, not str",
        ),
        (
            "torch.randn('s')",
            "randn(): argument 'size' (position 1) must be tuple of ints, not str",
        ),
        (
            "torch.cat([a, 1])",
            "expected Tensor as element 1 in argument 0, but got int",
        ),
        (
            "a.expand(('s', 2))",
            "expand(): argument 'size' (position 1) must be tuple of ints, but "
            "found element of type str at pos 0",
        ),
        (
            "a.expand((2, 's'))",
            "expand(): argument 'size' failed to unpack the object at pos 2 with "
            'error "type must be tuple of ints,but got str"',
        ),
        (
            "a.expand(2, 's')",
            "expand(): argument 'size' failed to unpack the object at pos 2 with "
            'error "type must be tuple of ints,but got str"',
        ),
        (
            "torch.mul()",
            'mul() missing 2 required positional argument: "input", "other"',
        ),
        ("torch.relu()", 'relu() missing 1 required positional arguments: "input"'),
        ("a.clone(1)", "clone() takes 0 positional arguments but 1 was given"),
        ("a.mul(1, 2)", "mul() takes 1 positional argument but 2 were given"),
        ("a.relu(1)", "TensorBase.relu() takes no arguments (1 given)"),
        ("a.size('s')", "size(): argument 'dim' (position 1) must be int, not str"),
        (
            "a.equal(1)",
            "equal(): argument 'other' (position 1) must be Tensor, not int",
        ),
        ("torch.tensor()", 'tensor() missing 1 required positional arguments: "data"'),
        (
            "torch.tensor(foo=2)",
            'tensor() missing 1 required positional arguments: "data"',
        ),
        ("torch.tensor(1, 2)", "tensor() takes 1 positional argument but 2 were given"),
        (
            "torch.tensor(1, torch.float32, 'cpu')",
            "tensor() takes 1 positional argument but 3 were given",
        ),
        ("torch.tensor(1, foo=2)", "tensor() got an unexpected keyword argument 'foo'"),
        ("torch.tensor(1, data=2)", "tensor() got multiple values for argument 'data'"),
        (
            "torch.tensor(1, dtype=3)",
            "tensor(): argument 'dtype' must be torch.dtype, not int",
        ),
        (
            "torch.tensor(1, device=3.5)",
            "tensor(): argument 'device' must be torch.device, not float",
        ),
        (
            "torch.tensor(1, requires_grad=3)",
            "tensor(): argument 'requires_grad' must be bool, not int",
        ),
        (
            "torch.tensor(1, pin_memory='yes')",
            "tensor(): argument 'pin_memory' must be bool, not str",
        ),
        (
            "torch.tensor(None, dtype=torch.float32)",
            "must be real number, not NoneType",
        ),
        ("torch.tensor({}, dtype=torch.float64)", "must be real number, not dict"),
        (
            "torch.tensor(..., dtype=torch.int32)",
            "'ellipsis' object cannot be interpreted as an integer",
        ),
        (
            "torch.tensor([None], dtype=torch.int64)",
            "'NoneType' object cannot be interpreted as an integer",
        ),
        (
            "torch.tensor([[None]], dtype=torch.complex64)",
            "must be real number, not NoneType",
        ),
        ("torch.from_numpy(None)", "expected np.ndarray (got NoneType)"),
        (
            "torch.iinfo(1)",
            "iinfo(): argument 'type' (position 1) must be torch.dtype, not int",
        ),
    ],
)
def test_words_of_pytorch(call, text):
    with pytest.raises(TypeError) as raised:
        eval(call, {"torch": torch, "a": torch.ones(2)})
    assert str(raised.value) == text


def test_a_tensor_is_no_number_where_it_may_be_a_tensor():
    """Else clamp(max=float64) of an integer would promote as for a number."""
    one = torch.tensor(1, dtype=torch.uint8)
    number = torch.tensor(3.0, dtype=torch.float64)
    ints = torch.ones(2, dtype=torch.int32)
    assert ints.clamp(max=number).dtype == torch.float64
    assert one.clamp(one, torch.tensor(3)).dtype == torch.int64
    assert ints.clamp(max=3.0).dtype == torch.float32


def test_signatures_with_tensors_come_before_those_with_numbers():
    def kinds(schema: str) -> list[str]:
        text = schema.partition("(")[2].partition(" ->")[0]
        arguments = text.split(", ")
        return [re.search(r"Tensor|Scalar(?!Type)|\w+|\*", a)[0] for a in arguments]

    for name in dir(torch._C.ops):
        schemas = torch._C._op_schemas(name)
        for i, first in enumerate(schemas):
            for second in schemas[i + 1 :]:
                a, b = kinds(first), kinds(second)
                differ = {(x, y) for x, y in zip(a, b) if x != y}
                assert len(a) != len(b) or differ != {("Scalar", "Tensor")}, (
                    first,
                    second,
                )


class Emptying:
    """An element of a list that empties the list when it is read."""

    def __init__(self, of: list) -> None:
        self.of = of

    def __index__(self) -> int:
        self.of.clear()
        return 1


def test_calls_that_name_a_parameter_twice_or_none():
    a = torch.ones(2)
    for call in (
        lambda: a.max(dim=0, axis=0),
        lambda: torch.max(a, dim=0, axis=0),
        lambda: torch.sum(input=a, self=a, x=a),
        lambda: a.eq(other=a, x2=a),
        lambda: torch.Tensor.add(),
        lambda: torch.Tensor.eq(other=a),
        lambda: torch.Tensor.view(),
        lambda: torch.Tensor.relu(),
    ):
        with pytest.raises(TypeError):
            call()


def test_elements_that_change_their_list():
    sizes: list = []
    sizes += [Emptying(sizes), "s"]
    for call in (torch.zeros, torch.ones(2).expand, torch.ones(2).view):
        sizes[:] = [Emptying(sizes), "s"]
        with pytest.raises((TypeError, RuntimeError)):
            call(sizes)


def test_only_factories_take_requires_grad_and_only_a_bool():
    a = torch.ones(2)
    assert torch.ones(2, requires_grad=True).requires_grad
    for call in (
        lambda: torch.mean(a, requires_grad=True),
        lambda: a.cos_(requires_grad=True),
        lambda: torch.mean(a, memory_format=torch.contiguous_format),
        lambda: torch.ones(2, requires_grad=a),
        lambda: torch.ones(2, requires_grad=1),
    ):
        with pytest.raises(TypeError):
            call()


class _Array:
    def __array__(self, *args, **options):
        return numpy.array([0, 1])


@pytest.mark.parametrize("data", [None, [None], _Array, {}, [[{}]]])
@pytest.mark.parametrize("make", [torch.tensor, torch.as_tensor, torch.asarray])
def test_what_is_no_data(data, make):
    leaf = data
    while isinstance(leaf, list):
        leaf = leaf[0]
    with pytest.raises(RuntimeError) as raised:
        make(data)
    assert str(raised.value) == (f"Could not infer dtype of {type(leaf).__name__}")


@pytest.mark.parametrize("part", [_Array(), 1.5, object(), {0: 1}, _Array])
@pytest.mark.parametrize("index", ["part", "(part, 0)", "(0, part)"])
def test_what_is_no_index(part, index):
    x = torch.ones(3, 3)
    places = eval(index, {"part": part})
    text = (
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
        f"Variables are valid indices (got {type(part).__name__})"
    )
    for call in (lambda: x[places], lambda: x.__setitem__(places, 1)):
        with pytest.raises(IndexError) as raised:
            call()
        assert str(raised.value) == text


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        ("x.cumsum_(0, dtype=torch.float64)", RuntimeError, "Bad in-place"),
        ("x.cumprod_(0, dtype=torch.int32)", RuntimeError, "should match"),
        ("i.cumsum_(0, dtype=torch.float32)", RuntimeError, "dtype int and"),
        (
            "n.index_reduce_(0, i[:1], x[:1], 'mean')",
            RuntimeError,
            "self.shape = [] source.shape = [1]",
        ),
        (
            "x[:1].index_reduce(0, i[:1], n, 'prod')",
            RuntimeError,
            "self.shape = [1] source.shape = []",
        ),
        ("F.cosine_similarity(x, x, 0, -1.)", RuntimeError, "got: -1"),
        ("F.cosine_similarity(x, x, 0, nan)", RuntimeError, "got: nan"),
        ("F.batch_norm(y, x, None, training=True)", ValueError, "neither"),
        (
            "torch.native_batch_norm(y, None, None, None, x, False, 0.1, 1.0)",
            ValueError,
            "neither be None",
        ),
        ("F.instance_norm(y[None], None, x)", ValueError, "neither be None"),
        ("torch.Generator('meta')", RuntimeError, "META device type not an"),
        ("torch.Generator(device='meta')", RuntimeError, "accelerator"),
    ],
)
def test_arguments_that_do_not_go_together(call, error, text):
    names = {"torch": torch, "F": torch.nn.functional, "nan": float("nan")}
    names["x"], names["y"] = torch.ones(3), torch.ones(4, 3)
    names["i"] = torch.zeros(3, dtype=torch.int32)
    names["n"] = torch.tensor(2.0)
    with pytest.raises(error, match=re.escape(text)):
        eval(call, names)
    assert names["x"].tolist() == [1, 1, 1]


def test_running_sums_in_their_own_dtype():
    x = torch.tensor([1, 2, 3], dtype=torch.int32)
    assert x.clone().cumsum_(0, dtype=torch.int32).tolist() == [1, 3, 6]
    assert x.clone().cumprod_(0).tolist() == [1, 2, 6]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.bool])
@pytest.mark.parametrize("other", [torch.float16, torch.float32])
def test_integers_beside_floats_are_floats(dtype, other):
    a, b = torch.tensor([1, 0]).to(dtype), torch.tensor([1.5, 2]).to(other)
    b.requires_grad_()
    for x, y in ((a, b), (b, a), (a[0], b)):
        got = torch.logaddexp2(x, y)
        wanted = torch.logaddexp2(x.to(other), y.to(other))
        assert got.dtype == other
        assert torch.equal(got, wanted)
        (slope,) = torch.autograd.grad(got.sum(), b)
        assert slope.dtype == other
    with pytest.raises(NotImplementedError, match="logaddexp2_cpu"):
        torch.logaddexp2(a, a)


def test_gradients_of_new_tensors_may_be_left_open():
    x = torch.zeros(2, requires_grad=None)
    y = torch.rand_like(x, requires_grad=None)
    assert not x.requires_grad
    assert not y.requires_grad
    with pytest.raises(TypeError, match="must be bool"):
        torch.zeros(2, requires_grad=1)
