"""How a case of the operator tests, one Python expression, is evaluated."""

from __future__ import annotations

import math

from outcomes import tensor, values


def cases(*tables: list[str]) -> dict:
    """Expressions by their own text; see `expression` for what they may use."""
    return {text: expression(text) for table in tables for text in table}


def expression(text: str):
    """A case that evaluates `text`.

    The text may use these names:

    T       the library
    x(2, 3) fixed float32 numbers of that shape, start= chooses which ones
    d(2, 3) the same in float64
    t([..]) T.tensor
    l(2, 3) 0, 1, 2 ... as int64 of that shape
    bag     T.embedding_bag without what it returns beside the result
    op(f)   the operator of that name, where the library has no function for it
    hole    float32 [2, 4] with NaN, infinity and equal elements
    grad    see below
    """

    def run(lib):
        def x(*shape, start=0, dtype=None):
            return tensor(lib, *shape, start=start, dtype=dtype or lib.float32)

        def d(*shape, start=0):
            return x(*shape, start=start, dtype=lib.float64)

        def numbers(*shape):
            return lib.arange(math.prod(shape)).reshape(shape)

        nan, inf = math.nan, math.inf
        hole = lib.tensor([[1.0, nan, -inf, 1.0], [2.0, 2.0, 0.0, inf]])
        scope = {"T": lib, "x": x, "d": d, "t": lib.tensor, "l": numbers}
        scope |= {"hole": hole, "nan": nan, "inf": inf, "F": lib.nn.functional}
        aten = getattr(lib.ops, "aten", lib.ops)
        scope["op"] = lambda name: getattr(aten, name)
        scope["bag"] = lambda *args: lib.embedding_bag(*args)[0]
        scope["grad"] = lambda f, *inputs: gradients(lib, f, inputs)
        scope["grad2"] = lambda f, *inputs: second_gradients(lib, f, inputs)
        return eval(text, scope)

    return run


def _weighted_sum(lib, result):
    """A scalar that depends differently on every floating element."""
    results = result if isinstance(result, (tuple, list)) else [result]
    total = None
    for i, out in enumerate(results):
        if out.grad_fn is None:
            continue
        weight = lib.tensor(values(max(out.numel(), 1), start=5 + i))
        weight = weight[: out.numel()].reshape(out.shape).to(out.dtype)
        part = (out * weight).sum()
        total = part if total is None else total + part
    return total


def gradients(lib, f, inputs):
    """The result of f, its node's name and the gradients of the inputs."""
    inputs = [t.requires_grad_() for t in inputs]
    result = f(*inputs)
    first = result[0] if isinstance(result, (tuple, list)) else result
    total = _weighted_sum(lib, result)
    found = lib.autograd.grad(total, inputs, allow_unused=True)
    return [result, first.grad_fn.name(), list(found)]


def second_gradients(lib, f, inputs):
    """Gradients of the gradients' weighted sum."""
    inputs = [t.requires_grad_() for t in inputs]
    total = _weighted_sum(lib, f(*inputs))
    first = lib.autograd.grad(total, inputs, create_graph=True)
    total = _weighted_sum(lib, first)
    return list(lib.autograd.grad(total, inputs, allow_unused=True))
