# ruff: noqa: E501  (a case is one line)
"""Names that the cases of nested tensors begin with."""

from __future__ import annotations

import re

from core_scope import case

NAMES = """
import re, warnings; warnings.simplefilter("ignore")  # it says that it is new
F, nest, J, NT = torch.nn.functional, torch.nested, torch.jagged, torch.nested.nested_tensor
def name(text):
    return re.sub(r"grad_fn=<[^>]*>", "grad_fn", re.sub(r"j\\d+", "j", str(text)))
def s(t):
    if isinstance(t, (tuple, list)):
        return [s(e) for e in t]
    if isinstance(t, torch.Tensor) and t.is_nested:
        return [str(t.layout), str(t.dtype), t.dim(), t.is_contiguous(), [e.detach() for e in t.unbind()]]
    return t
def g(f, *leaves):
    out = f(*leaves)
    outs = out.unbind() if out.is_nested else [out]
    loss = sum((o * torch.linspace(-1, 2, o.numel(), dtype=o.dtype).view(o.shape)).sum() for o in outs)
    loss.backward()
    return [leaf.grad.unbind() if leaf.grad.is_nested else leaf.grad for leaf in leaves]
a, b = x(2, 3), x(4, 3, start=6)
"""

STRIDED = """
n, e = NT([a, b]), NT([])
t = n.transpose(1, 2)
leaf = NT([a, b], requires_grad=True)
deep = NT([x(2, 2, 3), x(2, 4, 3)])
"""

JAGGED = """
n, leaf = NT([a, b], layout=J), NT([a, b], layout=J, requires_grad=True)
t = n.transpose(1, 2)
holes = nest.nested_tensor_from_jagged(x(8, 3), torch.tensor([0, 3, 6]), lengths=torch.tensor([2, 1]))
deep = nest.nested_tensor_from_jagged(x(8, 3, 2), torch.tensor([0, 2, 8]))
"""


def cases(names: str, *texts: str) -> dict:
    """Cases by their own text, one a line."""
    lines = [line for text in texts for line in text.strip().splitlines()]
    return {line: _numberless(case(NAMES + names + line)) for line in lines}


def _numberless(run):
    """Nested ints are numbered as they are made: errors without the numbers."""

    def of(lib):
        try:
            return run(lib)
        except Exception as error:
            text = re.sub(r"\bj\d+", "j", str(error))
            text = text.partition("' backend.")[0]
            raise type(error)(text) from None

    return of
