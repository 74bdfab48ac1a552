"""`repr()` of tensors, equal to PyTorch's to the character."""

from __future__ import annotations

import math

import numpy as np
import pytest

#: PyTorch whose printing is the measure; older ones differ in corners.
ORACLE = (2, 13)
CASES_PER_DTYPE = 30

INTS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-40, 1e30, 1.5)
EDGES = (1000.0, 1.0, 1e8, 1e-4, 100000001.0, 99999.5, 0.5, 2.5, 0.00015)


@pytest.fixture(autouse=True)
def default_options(request):
    """Leaves no test's print options behind."""
    yield
    for name in ("hotaru", "oracle"):
        if name in request.fixturenames:
            request.getfixturevalue(name).set_printoptions(profile="default")


def floats(rng: np.random.Generator, count: int) -> np.ndarray:
    """float64 values of one of the kinds that printing tells apart."""
    values = rng.standard_normal(count)
    kind = rng.integers(8)
    if kind == 1:
        values = np.round(values * 100)
    elif kind == 2:
        values *= 10.0 ** rng.integers(-12, 13, count)
    elif kind == 3:
        values *= 10.0 ** rng.integers(-6, 9)
    elif kind == 4:
        values = np.zeros(count)
    elif kind == 5:
        values = rng.choice(EDGES, count)
    elif kind == 6:
        values = rng.integers(-80, 81, count) / 16
    elif kind == 7:
        values = np.round(values) * 10.0 ** rng.integers(0, 20)
    if count and rng.random() < 0.4:
        values[rng.integers(count, size=2)] = rng.choice(SPECIAL, 2)
    return values


def array(rng: np.random.Generator, dtype: str, shape: tuple) -> np.ndarray:
    """Random values; bfloat16 comes as float32."""
    count = math.prod(shape)
    if dtype == "bool":
        values = rng.integers(0, 2, count).astype(bool)
    elif dtype in INTS:
        info = np.iinfo(dtype)
        low, high = ((info.min, info.max), (0, 99), (-9, 120))[rng.integers(3)]
        values = rng.integers(max(low, info.min), high, count, endpoint=True)
        values = values.astype(dtype)
    else:
        values = floats(rng, count)
        if dtype in COMPLEX:
            values = values + 0j
            values.imag = floats(rng, count)
        with np.errstate(over="ignore", under="ignore"):
            values = values.astype("float32" if dtype == "bfloat16" else dtype)
    return values.reshape(shape)


def random_shape(rng: np.random.Generator) -> tuple:
    longest = (0, 60, 12, 6, 4)
    ndim = int(rng.integers(len(longest)))
    shape = [int(n) for n in rng.integers(1, longest[ndim] + 1, ndim)]
    if shape and rng.random() < 0.1:
        shape[rng.integers(ndim)] = 0
    elif shape and rng.random() < 0.2:
        shape[rng.integers(ndim)] *= 20
    return tuple(shape)


def random_options(rng: np.random.Generator) -> dict:
    options = {}
    if rng.random() < 0.3:
        options["precision"] = int(rng.choice([0, 1, 2, 6, 17]))
    if rng.random() < 0.4:
        options["threshold"] = float(rng.choice([0, 5, 50, math.inf]))
    if rng.random() < 0.3:
        options["edgeitems"] = int(rng.choice([0, 1, 2, 5]))
    if rng.random() < 0.3:
        options["linewidth"] = int(rng.choice([10, 40, 79, 120]))
    if rng.random() < 0.3:
        options["sci_mode"] = bool(rng.integers(2))
    return options


def tensor(library, values: np.ndarray, dtype: str, view: str):
    """The same tensor in hotaru or PyTorch."""
    out = library.from_numpy(values).to(getattr(library, dtype))
    if view == "transposed" and out.dim() > 1:
        return out.transpose(0, 1)
    if view == "every other" and out.dim() > 0:
        return out[::2]
    if view == "expanded":
        return out.unsqueeze(0).expand(3, *out.shape)
    return out


@pytest.mark.parametrize("dtype", ["bool", *INTS, *FLOATS, *COMPLEX])
def test_repr_equals_pytorch(hotaru, oracle, dtype):
    version = tuple(int(part) for part in oracle.__version__.split(".")[:2])
    if version < ORACLE:
        pytest.skip(f"needs PyTorch {ORACLE}, found {oracle.__version__}")
    for case in range(CASES_PER_DTYPE):
        rng = np.random.default_rng([case, *dtype.encode()])
        values = array(rng, dtype, random_shape(rng))
        view = rng.choice(["plain", "transposed", "every other", "expanded"])
        options = random_options(rng)
        texts = []
        for library in (hotaru, oracle):
            library.set_printoptions(profile="default")
            library.set_printoptions(**options)
            texts.append(repr(tensor(library, values, dtype, view)))
        where = f"case {case}: {values.shape}, {view}, {options}"
        assert texts[0] == texts[1], where


GOLDEN = [
    (lambda t: t.tensor([1.0, -2.0, 10.0]), "tensor([ 1., -2., 10.])"),
    (lambda t: t.tensor([1, 1001.0]), "tensor([1.0000e+00, 1.0010e+03])"),
    (
        lambda t: t.tensor([math.nan, -math.inf, 1.5]),
        "tensor([   nan,   -inf, 1.5000])",
    ),
    (lambda t: t.tensor([[True, False]]), "tensor([[ True, False]])"),
    (lambda t: t.tensor(3.14159), "tensor(3.1416)"),
    (lambda t: t.tensor([1 + 2j, -0.5 - 1j]), "tensor([ 1.0000+2.j, -0.5000-1.j])"),
    (lambda t: t.zeros(0, 3), "tensor([], size=(0, 3))"),
    (lambda t: t.zeros(0, dtype=t.int64), "tensor([], dtype=torch.int64)"),
    (
        lambda t: t.arange(6).reshape(2, 3).t(),
        "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])",
    ),
    (lambda t: t.arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    (lambda t: t.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
    (
        lambda t: t.ones(1, requires_grad=True) + 1,
        "tensor([2.], grad_fn=<AddBackward0>)",
    ),
    (
        lambda t: t.ones(2, 2, dtype=t.float64, requires_grad=True) + 1,
        "tensor([[2., 2.],\n        [2., 2.]], dtype=torch.float64, "
        "grad_fn=<AddBackward0>)",
    ),
    (
        lambda t: t.nn.Parameter(t.ones(2)),
        "Parameter containing:\ntensor([1., 1.], requires_grad=True)",
    ),
]


@pytest.mark.parametrize(("make", "text"), GOLDEN, ids=range(len(GOLDEN)))
def test_golden_text(hotaru, make, text):
    value = make(hotaru)
    assert repr(value) == text
    assert str(value) == text


def test_profiles(hotaru):
    hotaru.set_printoptions(profile="short")
    assert repr(hotaru.tensor([0.125])) == "tensor([0.12])"
    assert repr(hotaru.arange(2000)).count(",") == 4
    hotaru.set_printoptions(profile="full")
    assert "..." not in repr(hotaru.arange(2000))
    hotaru.set_printoptions(profile="default")
    assert repr(hotaru.tensor([0.125])) == "tensor([0.1250])"


def test_sci_mode_is_reset_by_every_call(hotaru):
    hotaru.set_printoptions(sci_mode=True)
    assert repr(hotaru.tensor([1.0])) == "tensor([1.0000e+00])"
    hotaru.set_printoptions(precision=4)
    assert repr(hotaru.tensor([1.0])) == "tensor([1.])"


def test_a_node_is_printed_without_its_namespace(hotaru):
    a = hotaru.ones(2, requires_grad=True) * 1
    a[0] = 2
    assert repr(a) == "tensor([2., 1.], grad_fn=<CopySlices>)"


def test_several_tensors_among_results_are_a_tuple(hotaru):
    assert type(hotaru.histogramdd(hotaru.rand(4, 2), [2, 2]).bin_edges) is tuple
    assert type(hotaru.unbind(hotaru.ones(2))) is tuple


def test_options_for_a_while(hotaru):
    from hotaru._tensor_str import PRINT_OPTS, printoptions

    x = hotaru.tensor([1.23456])
    hotaru.set_printoptions(precision=3, sci_mode=True)
    before = hotaru.get_printoptions()
    with printoptions(precision=2):
        assert repr(x) == "tensor([1.23])"
        with printoptions(profile="full"):
            assert PRINT_OPTS.threshold == math.inf
        assert PRINT_OPTS.precision == 2
    assert hotaru.get_printoptions() == before
    with pytest.raises(KeyError), printoptions(edgeitems=1):
        raise KeyError
    with pytest.raises(TypeError), printoptions(nonesuch=1):
        pass
    assert hotaru.get_printoptions() == before
