"""Statements that tests/compare_bits.py computes beside bench/sweep_list.py, and their
inputs.
"""

from __future__ import annotations

import torch

DISTRIBUTIONS = [
    *("uniform_(-1, 2)", "normal_(1, 3)", "exponential_(0.5)", "cauchy_()"),
    *("log_normal_()", "geometric_(0.2)", "bernoulli_(0.3)", "random_()"),
    *("random_(-7, 9)", "random_(1000)"),
]
DRAWS = [
    *(f"out.{x}" for x in DISTRIBUTIONS),
    *("torch.randperm(1000)", "torch.randint(-5, 5, (1000,))", "torch.rand(1003)"),
    *("torch.randn(1003)", "torch.rand(67, dtype=torch.float64)"),
    *("torch.randn(67, dtype=torch.float64)", "torch.randn(67, dtype=torch.float16)"),
    *("torch.randint(0, 2**62, (1003,))", "torch.multinomial(p, 3)"),
    *("torch.multinomial(p, 30, replacement=True)", "torch.poisson(p * 9)"),
    *(
        "torch.bernoulli(unit)",
        "torch._standard_gamma(p)",
        "torch.binomial(p * 9, unit)",
    ),
    *("F.dropout(f, 0.3)", "F.alpha_dropout(f, 0.3)", "F.rrelu(f, training=True)"),
    *("torch.default_generator.get_state()", "torch.nn.init.trunc_normal_(out)"),
]
RECURRENT = [
    f"torch.{name}({operands})"
    for name, operands in {
        "lstm": "steps, (state, state), lstm, True, 1, 0.0, False, False, False",
        "gru": "steps, state, gru, True, 1, 0.0, False, False, False",
        "rnn_tanh": "steps, state, rnn, True, 1, 0.0, False, False, False",
        "rnn_relu": "steps, state, rnn, True, 1, 0.0, False, False, False",
    }.items()
]
KINDS = ["float32", "float64", "float16", "bfloat16", "bool", "uint8", "int8"]
KINDS += ["int16", "int32", "int64", "uint16", "uint32", "uint64", "complex64"]
UNARY = [
    *("abs", "ceil", "floor", "round", "trunc", "frac", "sign", "signbit", "neg"),
    *("exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "tanh"),
    *("sigmoid", "erf", "expm1", "log1p", "isnan", "isinf", "nan_to_num", "lgamma"),
    *("digamma", "asin", "atan", "sinh", "asinh", "square", "logical_not"),
]
TWO = ["maximum", "minimum", "fmax", "fmin", "fmod", "remainder", "atan2", "hypot"]
TWO += ["copysign", "nextafter", "floor_divide", "div", "mul", "add", "pow", "lt"]
REDUCED = ["sum()", "amax()", "amin()", "argmax()", "prod()", "sort().indices"]
REDUCED += ["sort().values", "unique()", "topk(5).values", "mean()", "nansum()"]
SPECIALS = [
    *(f"strange.to(torch.{kind})" for kind in KINDS),
    *(f"torch.{x}(strange)" for x in UNARY),
    *(f"torch.{x}(strange[:, None], strange)" for x in TWO),
    *(f"strange.{x}" for x in REDUCED),
    *("strange // 3", "strange % 3", "-strange // 3", "-strange % 3"),
    *("F.softmax(strange, 0)", "strange.tolist()", "strange.histc(10)"),
    *("torch.bucketize(strange, edges)", "F.relu(strange)", "strange.clamp(-1, 1)"),
]
WHOLE = [
    *("i.float()", "i.sum()", "i.prod()", "i.cumsum(1)", "i << 3", "i >> 1"),
    *("torch.gcd(i, i + 3)", "torch.lcm(i, i + 3)", "i ** 3", "i / 7", "i // 7"),
    *(
        "i % -7",
        "torch.fmod(i, -7)",
        "i @ i.t()",
        "i.bincount() if i.dim() == 1 else 0",
    ),
    *("i.to(torch.uint8)", "i.to(torch.int8)", "(i - 5).to(torch.uint8)"),
    *(
        "(i - 5).to(torch.int8).float()",
        "i.mean(dtype=torch.float64)",
        "i.float().std()",
    ),
]
QUANTIZED = [
    "torch.quantize_per_tensor(f.float(), 0.1, 5, torch.quint8).int_repr()",
    "torch.quantize_per_tensor(f.float(), 0.1, 5, torch.qint8).int_repr()",
    "torch.fake_quantize_per_tensor_affine(f, 0.1, 5, 0, 255)",
    "f.to(torch.float8_e4m3fn).float()",
    "f.to(torch.float8_e5m2).float()",
]

#: Statements whose right result is nothing, and what comes out is its rounding.
CANCELLED = {"torch.cross(three, three, dim=1)"}

#: Families whose results have none, or whose operands are written to.
WITHOUT_GRADIENTS = {"writes and draws", "draws", "specials", "whole", "quantized"}


def families() -> dict[str, list[str]]:
    """Statements by family."""
    return {
        "draws": DRAWS,
        "recurrent": RECURRENT,
        "specials": SPECIALS,
        "whole": WHOLE,
        "quantized": QUANTIZED,
    }


def exact(shape, dtype: torch.dtype) -> torch.Tensor:
    """Sums of three draws of whole numbers, of about a normal distribution, which
    no machine rounds in another way.
    """
    if not dtype.is_floating_point:
        return torch.randint(-24, 25, tuple(shape)).to(dtype)
    # They have 52 bits; the rounding to the type makes the rest.
    drawn = sum(torch.randint(-(2**50), 2**50, tuple(shape)) for _ in range(3))
    return (drawn.double() * 2.0**-50).to(dtype)


def drawn_like(tensor: torch.Tensor) -> torch.Tensor:
    """Gradients to start from: not ones, the sums of which come to nothing behind
    a softmax or a normalization.
    """
    if tensor.dtype.is_complex:
        parts = (exact(tensor.shape, torch.float64) for _ in range(2))
        return torch.complex(*parts).to(tensor.dtype)
    return exact(tensor.shape, tensor.dtype)


def strange(dtype: torch.dtype) -> torch.Tensor:
    """Numbers at the ends of types, between whole numbers, and none at all."""
    if not dtype.is_floating_point:
        ends = [torch.iinfo(dtype).min, torch.iinfo(dtype).max]
        some = [0, 1, -1, 7, -8, 127, 128, 255, 256, 65537]
        return torch.tensor([*some, *ends]).to(dtype)
    powers = (-1074, -149, -126, -24, -14, 7, 8, 15, 16, 31, 32, 53, 63, 64)
    some = [0.0, 0.3, 0.5, 0.75, 1.5, 2.5, 126.5, 254.7, 3e9, 1e10, 1e30, 65504.0]
    some += [float("inf"), *(2.0**power for power in powers)]
    numbers = [*some, *(-x for x in some), float("nan")]
    return torch.tensor(numbers, dtype=torch.float64).to(dtype)


def operands(names: dict, name: str) -> dict:
    """The operands of a size with their floats drawn anew, of a type."""
    dtype = getattr(torch, name)
    torch.manual_seed(0)
    out = dict(names)
    for key, value in names.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            out[key] = exact(value.shape, dtype)
    f, g, a = out["f"], out["g"], out["a"]
    floating = dtype.is_floating_point
    few = (a.double() * 16).round() / 16  # so that its products are exact
    one = torch.eye(len(a), dtype=torch.float64) * len(a)
    small = names["small"].shape[0]
    return out | {
        "p": f.abs() + (0.125 if floating else 1),
        "unit": torch.randint(1, 2**23, f.shape).double().mul(2.0**-23).to(dtype)
        if floating
        else torch.ones_like(f),
        "ones": torch.ones(len(f)).to(dtype),
        "signs": f.sign() + (f == 0).to(dtype),
        "mask": f > 0,
        "h": f.to(torch.float16),
        "bf": f.to(torch.bfloat16),
        "z": torch.complex(f.float(), g.float()),
        "i": out["i"].to(torch.int64 if floating else dtype),
        "spd": (few @ few.t() + one).to(dtype),
        "tri": (few.triu() + one).to(dtype),
        "small": (few[:small, :small] / 64).to(dtype),
        "row": f[0].clone(),
        "col": f[:, :1].clone(),
        "grid": exact(names["grid"].shape, dtype),
        "window": (torch.arange(64).double() / 64).to(dtype),
        "edges": (torch.arange(-96, 97).double() / 32).to(dtype).unique(),
        "frames": -exact(names["frames"].shape, dtype).abs(),
        "many": [exact(row.shape, dtype) for row in names["many"]],
        "strange": strange(dtype),
        "steps": exact((3, 5, 9), dtype),
        "state": exact((1, 3, 11), dtype)[:, :1].expand(1, 5, 11).contiguous(),
        "lstm": [exact(s, dtype) for s in ((44, 9), (44, 11), (44,), (44,))],
        "gru": [exact(s, dtype) for s in ((33, 9), (33, 11), (33,), (33,))],
        "rnn": [exact(s, dtype) for s in ((11, 9), (11, 11), (11,), (11,))],
    }
