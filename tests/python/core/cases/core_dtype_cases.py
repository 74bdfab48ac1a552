# ruff: noqa: E501  (a case is one line)
"""Cases of dtypes: promotion, numbers, overflow, and what an operator takes."""

from __future__ import annotations

import operator

from core_scope import DTYPES, Table, cases, dtype_table, pairs

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "lt": operator.lt,
    "ge": operator.ge,
    "eq": operator.eq,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
IN_PLACE = {
    "iadd": operator.iadd,
    "isub": operator.isub,
    "imul": operator.imul,
    "itruediv": operator.itruediv,
    "ifloordiv": operator.ifloordiv,
    "imod": operator.imod,
    "ipow": operator.ipow,
    "iand": operator.iand,
}
NAMED = [
    "maximum",
    "minimum",
    "fmod",
    "atan2",
    "logical_and",
    "logical_or",
    "xlogy",
    "hypot",
    "remainder",
    "true_divide",
    "floor_divide",
    "eq",
    "ne",
    "gt",
    "le",
    "result_type",
    "where3",
    "copysign",
    "logaddexp",
]
UNARY = [
    "abs",
    "neg",
    "sign",
    "sqrt",
    "rsqrt",
    "square",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "sigmoid",
    "relu",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "reciprocal",
    "logical_not",
    "bitwise_not",
    "isnan",
    "isinf",
    "isfinite",
    "positive",
    "conj",
    "real",
    "imag",
    "angle",
    "sgn",
    "signbit",
    "clone",
    "zeros_like",
    "ones_like",
    "nan_to_num",
    "deg2rad",
    "lgamma",
    "digamma",
    "erfinv",
    "sinc",
    "logit",
    "isreal",
    "conj_physical",
    "resolve_conj",
    "absolute",
    "negative",
]
NUMBERS = (True, 3, -2, 2.5, 1 + 2j)


def filled(shape, value):
    def make(lib, name):
        return lib.full(shape, value, dtype=getattr(lib, name))

    return make


def number(lib, value):
    return value


def binary_table(function, row_shape, column_shape):
    def run(lib):
        return dtype_table(
            lib, function, filled(row_shape, 1), filled(column_shape, 2), DTYPES, DTYPES
        )

    return run


def number_table(function, reverse, shape=(2,)):
    def run(lib):
        def apply(a, b):
            return function(b, a) if reverse else function(a, b)

        return dtype_table(lib, apply, filled(shape, 1), number, DTYPES, NUMBERS)

    return run


def named(name):
    def run(lib):
        if name == "where3":
            ones = lib.ones(2, dtype=lib.bool)
            return binary_table(lambda a, b: lib.where(ones, a, b), (2,), (2,))(lib)
        if name == "result_type":
            table = Table()
            for a, b in pairs():
                one, two = filled((2,), 1)(lib, a), filled((), 1)(lib, b)
                table.errors.append(str(lib.result_type(one, two)).split(".")[-1])
            return table.errors
        return binary_table(getattr(lib, name), (2,), (2,))(lib)

    return run


def unary(name):
    def run(lib):
        return Table().rows(
            lambda method, d: (
                getattr(filled((2,), 1)(lib, d), name + method)()
                if hasattr(lib.Tensor, name + method)
                else getattr(lib, name)(filled((2,), 1)(lib, d))
            ),
            ("", "_"),
            DTYPES,
        )

    return run


# Corner values of each dtype, as they stand in a list.
def _corners(name):
    if name == "bool":
        return [True, False, True, False]
    if name.startswith("complex"):
        return [1 + 2j, -0.5j, 2.0, 0.25 - 3j]
    if "float" in name:
        return [1.5, -2.25, 0.125, 3.0]
    if name == "uint8":
        return [1, 2, 255, 100]
    bits = int(name[3:])
    return [1, -2, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]


_OTHER = {"bool": [True, True, False, False]}


def values_of(operation):
    """The operation's values, for equal dtypes and with a Python number."""

    def run(lib):
        found = {}
        for name in DTYPES:
            dtype = getattr(lib, name)
            a = lib.tensor(_corners(name), dtype=dtype)
            b = lib.tensor(_OTHER.get(name, [3, 2, 5, 1]), dtype=dtype)
            for label, other in (("tensor", b), ("number", 3), ("float", 0.5)):
                try:
                    found[f"{name} {label}"] = operation(a, other).tolist()
                except Exception as error:
                    found[f"{name} {label}"] = type(error).__name__
        return found

    return run


def casts(source):
    """Values of a dtype cast to every other one."""

    def run(lib):
        values = _corners(source)
        if "float" in source:
            values = [1.5, -2.75, 100.5, 0.0, float("inf"), float("nan"), 65519.0]
            values = values[:4]
        t = lib.tensor(values, dtype=getattr(lib, source))
        return {d: t.to(getattr(lib, d)) for d in DTYPES}

    return run


_TEXTS = """
tensor([1, 2]) // 0
tensor([1, 2]) % 0
tensor([5, -5, 7]) // tensor([2, 2, -2])
tensor([5, -5, 7]) % tensor([3, 3, -3])
torch.fmod(tensor([5, -5, 7]), tensor([3, 3, -3]))
torch.fmod(tensor([1]), 0)
torch.div(tensor([7, -7]), 2, rounding_mode='trunc')
torch.div(tensor([7, -7]), 2, rounding_mode='floor')
torch.div(tensor([7., -7.]), 2, rounding_mode='trunc')
torch.div(tensor([7., -7.]), 2, rounding_mode='floor')
torch.div(tensor([7]), 0, rounding_mode='trunc')
torch.div(tensor([7., -7., 0.]), 0, rounding_mode='floor')
torch.div(tensor([7]), 2, rounding_mode='up')
tensor([7., -7., 0.]) // 0
tensor([7., -7., 0.]) % 0.
tensor([5.5, -5.5]) // 2
tensor([5.5, -5.5]) % 2
tensor([5.5, -5.5]) % -2
tensor([5.5, -5.5]) // -2.
tensor([inf, -inf, 1., nan]) % 3
tensor([inf, -inf, 1., nan]) // 3
tensor([1., -1.]) % inf
tensor([1., -1.]) // inf
tensor([-128], dtype=torch.int8) // -1
tensor([250], dtype=torch.uint8) + 10
tensor([250], dtype=torch.uint8) * 3
tensor([100], dtype=torch.int8) + tensor([100], dtype=torch.int8)
tensor([2**31 - 1], dtype=torch.int32) + 1
tensor([2**63 - 1]) + 1
tensor([0], dtype=torch.uint8) - 1
-tensor([1], dtype=torch.uint8)
-tensor([-128], dtype=torch.int8)
abs(tensor([-128], dtype=torch.int8))
tensor([1], dtype=torch.uint8) + 300
tensor([1], dtype=torch.uint8) + (-1)
tensor([1], dtype=torch.int8) + 2**40
tensor([1]) + 2**70
tensor(2**70)
tensor([1.]) + 2**70
tensor([1, 2]) ** -1
tensor([1, 2]) ** tensor([-1, 2])
tensor([2, -1, 1, 0]) ** tensor([-1, -1, -2, -1])
tensor([2., -8., 0., -0.]) ** (1/3)
tensor([2., -8., 0., -0.]) ** -1
tensor([2., -8., 0., -0.]) ** 0
tensor([2., -8., 0., -0.]) ** 2
tensor([2., -8., 0., -0.]) ** 3
tensor([2., -8., 0., -0.]) ** -2
tensor([2., -8., 0., -0.]) ** 0.5
tensor([2., 8., 0., inf]) ** -0.5
tensor([nan, inf, -inf, 1.]) ** 0
1 ** tensor([nan, inf, 2.])
2 ** tensor([1, 2, 3])
2 ** tensor([1., 2., -1.])
0 ** tensor([0, 1])
0. ** tensor([0., 1., -1.])
(-2.) ** tensor([2., 3., 0.5])
2.5 ** tensor([1, 2])
(1+1j) ** tensor([1., 2.])
tensor([1+1j]) ** 2
tensor([1+1j]) ** 0.5
tensor([1+1j]) ** 0
tensor([0j]) ** 0
tensor([1+1j]) ** -1
torch.pow(2, tensor([1, 2]))
torch.pow(tensor([2]), tensor([3]), out=torch.empty(1))
torch.pow(2., 3.)
tensor([3], dtype=torch.uint8) ** 6
tensor([-3], dtype=torch.int8) ** 5
tensor([1, 2]) + True
tensor([True]) + True
tensor([True]) + 1
tensor([True]) + 1.5
tensor([True]) + 1j
tensor([True, False]) * tensor([True, True])
tensor([True]) - tensor([True])
tensor([True]) - 1
tensor([True]) - True
1 - tensor([True])
True - tensor([True])
-tensor([True])
~tensor([True, False])
~tensor([1, 2])
~tensor([1.])
tensor([True]) / tensor([True])
tensor([True]) // tensor([True])
tensor([True]) % tensor([True])
tensor([True]) ** tensor([True])
tensor([True]).sign()
tensor([True]).abs()
+tensor([True])
abs(tensor([1+1j, -2j]))
tensor([1+1j]) < tensor([2+1j])
tensor([1+1j]) < 1
tensor([1+1j]) == 1+1j
tensor([1+1j]) % 2
tensor([1+1j]) // 2
tensor([1+1j]).floor()
torch.maximum(tensor([1j]), tensor([1j]))
tensor([1, 2]).add_(1.5)
tensor([1, 2]).mul_(tensor([1.5, 2]))
tensor([1, 2]).div_(2)
tensor([1, 2]).add_(1j)
tensor([1., 2.]).add_(1j)
tensor([True]).add_(1)
tensor([True]).mul_(tensor([True]))
tensor([1, 2]).pow_(2)
tensor([1, 2]).pow_(0.5)
tensor([1., 2.]).pow_(tensor([1, 2]))
tensor([1, 2], dtype=torch.int8).add_(tensor([1, 2]))
tensor([1, 2]).sqrt_()
tensor([1., 2.]).eq_(tensor([1., 3.]))
tensor([1, 2]).lt_(2)
tensor([1., 2.]).add_(torch.ones(3, 2))
tensor([1., 2.]).add_(torch.ones(2, 1))
torch.ones(3, 2).add_(tensor([1., 2.]))
torch.ones(2).expand(3, 2).add_(1)
tensor([1., 2.]).add(1, alpha=2)
tensor([1, 2]).add(1, alpha=2.5)
tensor([1, 2]).add(tensor([1, 1]), alpha=2.5)
tensor([1., 2.]).add(1, alpha=1j)
tensor([1., 2.]).sub(tensor([1, 1]), alpha=3)
tensor([True]).add(tensor([True]), alpha=2)
tensor([1, 2]).add(1, alpha=True)
tensor([True]).add(True, alpha=True)
tensor([1, 2], dtype=torch.uint8).add(tensor([1, 2], dtype=torch.uint8), alpha=300)
torch.addcmul(tensor([1]), tensor([1]), tensor([1]), value=float('-inf'))
torch.addcmul(tensor([1]).byte(), tensor([1]).byte(), tensor([1]).byte(), value=300)
torch.nn.functional.threshold(tensor([1]).byte(), float('inf'), -1)
torch.nn.functional.threshold(tensor([1.]).half(), 1e30, 0)
torch.nn.functional.hardtanh(tensor([1]), float('inf'), float('inf'))
torch.where(tensor([True]), tensor([1]).byte(), 300)
torch.nn.functional.threshold(tensor([1.]).half(), 1, 1e30)
torch.full((2,), 1e30, dtype=torch.float16)
torch.lerp(tensor([1.]), tensor([1]), 0.5)
torch.lerp(tensor([]), tensor([], dtype=torch.float64), tensor([]))
torch.lerp(tensor([1.]), tensor([2.]), tensor([1], dtype=torch.int32))
torch.lerp(tensor([1.]), tensor([2.]), tensor(1, dtype=torch.int32))
tensor([1.]).lerp_(tensor([1]), 0.5)
tensor([1]).lerp(tensor([1.]), 0.5)
torch.heaviside(tensor([1.]), tensor([1]))
torch.heaviside(tensor([]), tensor([], dtype=torch.float64))
torch.cross(torch.ones(3), torch.ones(3, dtype=torch.bool), dim=0)
torch.trapezoid(tensor([True, False]))
torch.trapezoid(tensor([1, 2]), dx=True)
torch.trapezoid(tensor([], dtype=torch.bool))
tensor(1.).unflatten(0, ())
torch.rsub(tensor([1., 2.]), 3)
torch.rsub(tensor([1, 2]), tensor([4, 5]), alpha=2)
torch.add(tensor([1.]), tensor([2.]), out=torch.empty(1))
torch.add(tensor([1.]), tensor([2.]), out=torch.empty(1, dtype=torch.float64))
torch.add(tensor([1.]), tensor([2.]), out=torch.empty(1, dtype=torch.int64))
torch.add(tensor([1.]), 2, out=torch.empty(0))
o = torch.empty(0); torch.mul(x(2, 3), 2, out=o); o
1 + tensor(2)
1.5 + tensor(2)
tensor(2) + tensor([1.5])
tensor(2.5) + tensor([1])
tensor(2.5, dtype=torch.float64) + tensor([1.])
tensor(2.5, dtype=torch.float64) + tensor([1])
tensor(1j) + tensor([1.], dtype=torch.float64)
tensor(1j) + tensor([1])
1j + tensor([1.], dtype=torch.bfloat16)
1j + tensor([1.], dtype=torch.float64)
1j + tensor([1])
tensor(300) + tensor([1], dtype=torch.uint8)
tensor(300.5) + tensor([1.], dtype=torch.float16)
tensor([1], dtype=torch.uint8) + tensor([1], dtype=torch.int8)
tensor([1.], dtype=torch.float16) + tensor([1.], dtype=torch.bfloat16)
torch.result_type(tensor([1]), 1.0)
torch.result_type(1, 2.5)
torch.result_type(tensor(1), True)
torch.result_type(True, 1j)
torch.can_cast(torch.float32, torch.int64)
torch.can_cast(torch.int64, torch.float16)
torch.can_cast(torch.complex64, torch.float64)
torch.can_cast(torch.int64, torch.bool)
torch.promote_types(torch.int8, torch.uint8)
torch.promote_types(torch.float16, torch.complex128)
torch.promote_types('a', torch.int8)
tensor([1, 2]) & 3
tensor([1, 2]) | True
tensor([True]) ^ tensor([1])
tensor([1.]) & 1
tensor([1, 2]) << 2
tensor([1, 2]) >> tensor([1, 1])
1 << tensor([1, 2])
tensor([1.5]) << 2
tensor([-5]) >> 1
torch.bitwise_left_shift(tensor([1, 2]), 3)
tensor([1, 2]) == 'a'
tensor([1, 2]) != None
tensor([1, 2]) == [1, 2]
tensor([1, 2]) + 'a'
'a' + tensor([1, 2])
tensor([1, 2]) + [1, 2]
[1, 2] + tensor([1, 2])
tensor([1, 2]) + None
tensor([1, 2]) < 'a'
tensor([1, 2]) < None
tensor([1, 2]) / 'a'
tensor([1, 2]) % 'a'
tensor([1, 2]) // 'a'
tensor([1, 2]) ** 'a'
tensor([1, 2]) @ 'a'
tensor([1, 2]) & 'a'
tensor([1, 2]) - {}
t = tensor([1, 2]); t += 'a'
t = tensor([1, 2]); t += 1.5
t = tensor([1, 2]); t /= 2
t = tensor([1, 2]); t //= 2; t
t = tensor([5, 6]); t %= 4; t
t = tensor([5., 6.]); t **= 2; t
t = tensor([5, 6]); t **= 2; t
t = tensor([5, 6]); t &= 4; t
t = tensor([5, 6]); t |= 1; t
t = tensor([5, 6]); t ^= 1; t
t = tensor([5, 6]); t <<= 1; t
t = tensor([5, 6]); t >>= 1; t
t = tensor([5, 6]); u = t; t += 1; u
1 / tensor([1, 2, 0])
1 // tensor([2, 3])
7 % tensor([2, 3])
7.5 % tensor([2., 3.])
-7 // tensor([2., 3.])
2 - tensor([1., 3.])
True & tensor([True, False])
1 | tensor([2, 4])
3 ^ tensor([2, 4])
divmod(tensor([5]), 2)
round(tensor([1.256]), 2)
abs(tensor([-1.5]))
tensor([1., 2.]) < tensor([2, 1])
tensor([2**53 + 1]) == tensor([2.**53])
tensor([2**62 + 1]) == 2.0**62
tensor([1], dtype=torch.uint8) == -1
tensor([1], dtype=torch.uint8) == 257
tensor([1], dtype=torch.uint8) < 257
tensor([1.5]) == tensor([1])
tensor([1]) < 1.5
tensor([0.1]) == 0.1
tensor([0.1], dtype=torch.float16) == 0.1
tensor([0.1], dtype=torch.float64) == 0.1
tensor([16777217]) == tensor([16777216.])
tensor(nan) == tensor(nan)
tensor([nan]) != nan
torch.eq(1, tensor([1]))
torch.add(1, tensor([1]))
torch.add(1, 2)
torch.mul(2.5, tensor([2]))
torch.sub(5, tensor([2]))
torch.div(5, tensor([2]))
torch.maximum(tensor([1., nan]), tensor([nan, 2.]))
torch.minimum(tensor([1., nan]), tensor([nan, 2.]))
torch.fmax(tensor([1., nan]), tensor([nan, 2.]))
torch.fmin(tensor([1., nan]), tensor([nan, 2.]))
torch.maximum(tensor([1]), 2)
tensor([1.]).float().dtype, tensor([1]).double().dtype, tensor([1]).half().dtype
tensor([1.9, -1.9]).int(), tensor([1.9]).long(), tensor([0., 0.5]).bool()
tensor([1.9, -1.9]).short(), tensor([1]).char(), tensor([300]).byte(), tensor([1]).bfloat16()
tensor([1+2j]).real, tensor([1+2j]).imag
tensor([1+2j]).float()
tensor([1.]).cfloat(), tensor([1.]).cdouble()
tensor([1.]).to(torch.int32), tensor([1.]).to(dtype=torch.int32)
tensor([1.]).to('cpu', torch.int32), tensor([1.]).to(tensor([1]))
tensor([1.]).type(torch.int64), tensor([1.]).type('torch.DoubleTensor'), tensor([1.]).type()
tensor([1.]).type_as(tensor([1]))
tensor([1.]).to(float), tensor([1.]).to(int), tensor([1.]).to(bool)
t = tensor([1.]); (t.to(torch.float32) is t, t.to('cpu') is t, t.to(torch.float32, copy=True) is t, t.cpu() is t, t.float() is t)
tensor([1.]).to('int32')
tensor([1.]).to(3.5)
tensor([1.]).to()
tensor([1.]).to(None)
tensor([1.]).to(torch.float64, foo=1)
tensor([70000.]).half()
tensor([1e39], dtype=torch.float64).float()
tensor([1, 2]).is_floating_point(), tensor([1.]).is_floating_point(), tensor([1j]).is_complex(), tensor([1], dtype=torch.uint8).is_signed()
torch.is_floating_point(tensor([1.])), torch.is_complex(tensor([1.])), torch.is_tensor(1)
[getattr(torch, d).itemsize for d in 'bool uint8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128'.split()]
[getattr(torch, d).is_signed for d in 'bool uint8 int16 float16 complex64'.split()]
repr(torch.float32), str(torch.int64), repr(torch.bool), repr(torch.half), repr(torch.cfloat)
torch.float is torch.float32, torch.long is torch.int64, torch.double is torch.float64
torch.float32 == torch.float, torch.float32 != torch.float64, hash(torch.float32) == hash(torch.float)
torch.float32 == 'float32'
torch.float32 < torch.float64
torch.dtype('float32')
torch.dtype()
isinstance(torch.float32, torch.dtype), isinstance(1, torch.dtype)
copy.deepcopy(torch.float32) is torch.float32, copy.copy(torch.int8) is torch.int8
pickle.loads(pickle.dumps(torch.float64)) is torch.float64
torch.float32.to_complex(), torch.float64.to_complex(), torch.complex64.to_real(), torch.int32.to_real()
torch.int32.to_complex()
{torch.float32: 1}[torch.float]
repr(torch.finfo(torch.float32)), repr(torch.finfo(torch.bfloat16)), repr(torch.finfo(torch.float16))
repr(torch.finfo()), repr(torch.finfo(torch.float64))
torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max, torch.finfo(torch.float64).tiny, torch.finfo(torch.bfloat16).min, torch.finfo(torch.float32).smallest_normal
torch.finfo(torch.float32).bits, torch.finfo(torch.float16).resolution, torch.finfo(torch.float32).dtype
torch.finfo(torch.complex64).bits, torch.finfo(torch.complex128).dtype
torch.finfo(torch.int32)
torch.finfo('float32')
torch.finfo(1)
repr(torch.iinfo(torch.int32)), repr(torch.iinfo(torch.uint8)), repr(torch.iinfo(torch.int8))
torch.iinfo(torch.int64).max, torch.iinfo(torch.int16).min, torch.iinfo(torch.uint8).bits, torch.iinfo(torch.int32).dtype
torch.iinfo(torch.float32)
torch.iinfo(torch.bool)
torch.iinfo()
torch.finfo(torch.float32) == torch.finfo(torch.float32)
torch.get_default_dtype()
torch.set_default_dtype(torch.float64); r = [tensor(1.5), tensor([1]) / 2, torch.zeros(1), tensor(1j), torch.arange(1.), tensor([1]) + 0.5, tensor([1.5], dtype=torch.float32) + 1.5]; torch.set_default_dtype(torch.float32)
torch.set_default_dtype(torch.int32)
torch.set_default_dtype('float32')
torch.set_default_dtype(torch.complex64)
""".strip().splitlines()

CASES = cases(_TEXTS)
for _name, _f in {**BINARY, **IN_PLACE}.items():
    CASES[f"dtypes: {_name}, vectors"] = binary_table(_f, (2,), (2,))
    CASES[f"dtypes: {_name}, vector with 0-d"] = binary_table(_f, (2,), ())
    CASES[f"dtypes: {_name}, with number"] = number_table(_f, False)
for _name, _f in BINARY.items():
    CASES[f"dtypes: {_name}, number first"] = number_table(_f, True)
    CASES[f"dtypes: {_name}, 0-d with number"] = number_table(_f, False, ())
    CASES[f"values: {_name}"] = values_of(_f)
for _name in NAMED:
    CASES[f"dtypes: {_name}"] = named(_name)
for _name in UNARY:
    CASES[f"dtypes: {_name}()"] = unary(_name)
for _name in DTYPES:
    CASES[f"casts from {_name}"] = casts(_name)
