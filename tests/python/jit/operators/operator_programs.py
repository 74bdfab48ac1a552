"""Runs a program three ways: by Python, compiled and traced."""

from __future__ import annotations

import math


def tensor_of(torch, spec: dict):
    """The tensor that a record describes."""
    dtype, shape = getattr(torch, spec["dtype"]), spec["shape"]
    count = math.prod(shape)
    if "values" in spec:
        values = spec["values"]
        if dtype.is_complex:
            values = [complex(*values[i : i + 2]) for i in range(0, len(values), 2)]
        x = torch.tensor(values, dtype=dtype).view(shape)
    elif count == 0:
        x = torch.zeros(shape, dtype=dtype)
    else:
        low, high = spec["bounds"]
        real = torch.linspace(0, 40, count * 2 if dtype.is_complex else count)
        real = (real.sin() + 1) / 2 * (high - low) + low
        if dtype.is_complex:
            x = torch.view_as_complex(real.view(-1, 2)).to(dtype).view(shape)
        elif dtype.is_floating_point:
            x = real.to(dtype).view(shape)
        else:
            x = real.round().to(dtype).view(shape)
    if "stride" in spec:
        y = torch.empty_strided(shape, spec["stride"], dtype=dtype)
        return y.copy_(x)
    return x


def copies_of(value):
    """The same with copies of its tensors."""
    if hasattr(value, "untyped_storage"):
        return value.detach().clone()
    if type(value) in (tuple, list):
        return type(value)(copies_of(v) for v in value)
    if type(value) is dict:
        return {k: copies_of(v) for k, v in value.items()}
    return value


def same(torch, a, b) -> bool:
    """True for the same structure, geometry and bits, any nan for any nan."""
    if isinstance(a, torch.Tensor):
        if not isinstance(b, torch.Tensor):
            return False
        if (a.dtype, a.shape, a.layout) != (b.dtype, b.shape, b.layout):
            return False
        if a.layout != torch.strided:
            a, b = a.to_dense(), b.to_dense()
        if a.is_complex():
            a = torch.view_as_real(a.resolve_conj())
            b = torch.view_as_real(b.resolve_conj())
        if a.is_floating_point():
            return torch.equal(a.isnan(), b.isnan()) and torch.equal(
                a.nan_to_num(), b.nan_to_num()
            )
        return torch.equal(a, b)
    if isinstance(a, (tuple, list)):
        return (
            isinstance(b, (tuple, list))
            and len(a) == len(b)
            and all(same(torch, x, y) for x, y in zip(a, b))
        )
    if isinstance(a, float) and a != a:
        return isinstance(b, float) and b != b
    return type(a) is type(b) and a == b


def _first_line(error: BaseException) -> str:
    lines = [x for x in str(error).splitlines() if x.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])[:160]}"


def outcomes(torch, source: str, specs) -> tuple[str, str] | None:
    """("", "") if the compiled and the traced program do what Python does,
    else "differs" or the error; None if Python refuses.
    """

    def run(function):
        inputs = [tensor_of(torch, s) for s in specs]
        torch.manual_seed(0)
        return function(*inputs), inputs

    names = {"torch": torch, "Tensor": torch.Tensor}
    names["__name__"] = "program"
    exec(compile(source, "<program>", "exec"), names)  # the record's own text
    eager = names["f"]
    try:
        want = run(eager)
        again = run(eager)
    except Exception:
        return None
    if not same(torch, want, again):
        return None
    found = []
    for way in (compiled, traced):
        try:
            got = run(way(torch, source, eager, specs))
            found.append("" if same(torch, want, got) else "differs")
        except Exception as error:
            found.append(_first_line(error))
    return found[0], found[1]


def compiled(torch, source: str, eager, specs):
    return _unit(torch, torch.Tensor, source).f


def _unit(torch, Tensor, source: str):
    """The text's functions, which name both `torch` and `Tensor`."""
    return torch.jit.CompilationUnit(source)


def traced(torch, source: str, eager, specs):
    inputs = tuple(tensor_of(torch, s) for s in specs)
    torch.manual_seed(0)
    return torch.jit.trace(eager, inputs, check_trace=False)
