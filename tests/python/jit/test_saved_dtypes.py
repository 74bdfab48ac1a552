"""Archives hold tensors of every dtype; complex numbers in scripts."""

import io
import math
import zipfile

import pytest

import hotaru as torch

# The names of storages' classes, as PyTorch's reader of archives knows them.
STORAGES = {
    torch.uint8: "ByteStorage",
    torch.int8: "CharStorage",
    torch.int16: "ShortStorage",
    torch.int32: "IntStorage",
    torch.int64: "LongStorage",
    torch.uint16: "UInt16Storage",
    torch.uint32: "UInt32Storage",
    torch.uint64: "UInt64Storage",
    torch.bool: "BoolStorage",
    torch.float16: "HalfStorage",
    torch.bfloat16: "BFloat16Storage",
    torch.float32: "FloatStorage",
    torch.float64: "DoubleStorage",
    torch.complex32: "ComplexHalfStorage",
    torch.complex64: "ComplexFloatStorage",
    torch.complex128: "ComplexDoubleStorage",
    torch.float8_e4m3fn: "Float8_e4m3fnStorage",
    torch.float8_e5m2: "Float8_e5m2Storage",
    torch.float8_e4m3fnuz: "Float8_e4m3fnuzStorage",
    torch.float8_e5m2fnuz: "Float8_e5m2fnuzStorage",
}


def saved(scripted):
    """The archive, and the module or function that it gives back."""
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    archive = zipfile.ZipFile(io.BytesIO(buffer.getvalue()))
    buffer.seek(0)
    return archive, torch.jit.load(buffer)


@pytest.mark.parametrize("dtype", STORAGES, ids=str)
def test_buffers(dtype):
    class Holder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            numbers = torch.arange(7).to(dtype)
            self.register_buffer("numbers", numbers)
            self.register_buffer("turned", numbers[1:].view(2, 3).t())

        def forward(self):
            return self.turned

    module = Holder()
    archive, again = saved(torch.jit.script(module))
    (name,) = (n for n in archive.namelist() if n.endswith("data.pkl"))
    assert STORAGES[dtype].encode() in archive.read(name)
    turned = again()
    assert turned.dtype == dtype
    assert turned.stride() == (1, 3)
    assert turned.tolist() == module.turned.tolist()
    assert turned.untyped_storage().data_ptr() == again.numbers.data_ptr()


# Parts of complex numbers at their edges.
PARTS = [0.0, -0.0, 1.5, -2.0, 1e30, math.inf, -math.inf, math.nan]


def bits(number):
    """The number as text that tells zeros apart."""
    return f"{number.real!r} {number.imag!r}"


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("real", PARTS)
@pytest.mark.parametrize("imaginary", PARTS)
def test_complex_attributes(real, imaginary, frozen):
    """Frozen, they are constants of the code."""
    number = complex(real, imaginary)

    class Holder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.number = number

        def forward(self):
            return self.number, [self.number, 1j]

    module = torch.jit.script(Holder().eval())
    _, again = saved(torch.jit.freeze(module) if frozen else module)
    alone, (listed, unit) = again()
    assert bits(alone) == bits(number)
    assert bits(listed) == bits(number)
    assert unit == 1j


def test_complex_literals():
    @torch.jit.script
    def scaled(x: torch.Tensor, a: float):
        z = x * (1.5 + 2j) - 3j
        return z, complex(a, -2.0), -1j, (2 - 0.5j) * a, {1j: 2.0}

    _, again = saved(scaled)
    x = torch.ones(2)
    z, *numbers = again(x, 2.0)
    expected, *others = scaled(x, 2.0)
    assert torch.equal(z, expected)
    assert numbers == others == [2 - 2j, -1j, 4 - 1j, {1j: 2.0}]


NUMBERS = {"int": 3, "float": -1.5, "complex": 2 - 0.5j}
OPERATORS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "**": lambda x, y: x**y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("other", NUMBERS)
def test_complex_arithmetic(operator, other):
    """Results have one type, so that they are items of a list."""
    source = (
        f"def f(x: complex, y: {other}):\n"
        f"    return [x {operator} y, y {operator} x, x {operator} x]\n"
    )
    x, y = NUMBERS["complex"], NUMBERS[other]
    compute = OPERATORS[operator]
    expected = [compute(x, y), compute(y, x), compute(x, x)]
    results = torch.jit.CompilationUnit(source).f(x, y)
    assert [type(r) for r in results] == [type(e) for e in expected]
    assert results == pytest.approx(expected, rel=1e-14)


def test_complex_powers_of_zero():
    unit = torch.jit.CompilationUnit(
        "def f(x: complex, y: complex):\n    return x ** y\n"
    )
    assert unit.f(0j, 0j) == 1
    assert unit.f(0j, 2 + 0j) == 0
    with pytest.raises(RuntimeError, match="negative or complex power"):
        unit.f(0j, 1j)
