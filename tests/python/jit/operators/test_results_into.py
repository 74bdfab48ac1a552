"""`out=` in compiled code: what eager `out=` takes, refuses and gives."""

from __future__ import annotations

import itertools

import pytest

import hotaru as torch

PROGRAMS = (
    "torch.add(a, b, out=o)",
    "torch.mm(a, b, out=o)",
    "torch.exp(a, out=o)",
    "torch.cat([a, b], out=o)",
    "torch.sum(a, dim=[0], out=o)",
    "torch.cumsum(a, 0, out=o)",
    "torch.eq(a, b, out=o)",
    "torch.zeros([2, 2], out=o)",
    "torch.full([3], 7, out=o)",
    "torch.div(a, b, out=o)",
    "torch.sign(a, out=o)",
)
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64)


def outcome(function, a, b, out):
    try:
        result = function(a, b, out)
    except (RuntimeError, TypeError) as error:
        return [line for line in str(error).split("\n") if line.strip()][-1]
    assert result is out or result.data_ptr() == out.data_ptr()
    return result.dtype, result.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_written_as_eager_writes_them(program):
    source = f"def f(a: Tensor, b: Tensor, o: Tensor):\n    return {program}\n"
    names = {"torch": torch, "Tensor": torch.Tensor}
    exec(source, names)
    eager, compiled = names["f"], torch.jit.CompilationUnit(source).f
    for dtype, given in itertools.product(DTYPES, (torch.float32, torch.int64)):
        for grad in {False, given == torch.float32}:
            a = torch.ones(2, 2, dtype=given, requires_grad=grad)
            b = torch.full((2, 2), 2, dtype=given)
            wanted = outcome(eager, a, b, torch.zeros(2, 2, dtype=dtype))
            found = outcome(compiled, a, b, torch.zeros(2, 2, dtype=dtype))
            if isinstance(wanted, str):
                assert found.endswith(wanted), (dtype, given, grad)
            else:
                assert found == wanted, (dtype, given, grad)
