"""Tangents of results that are made as views of tensors nobody else knows."""

from __future__ import annotations

import pytest

CASES = {
    "a reshape that copies": lambda T: lambda x: x.t().reshape(-1),
    "pieces that are no views": lambda T: lambda x: T.unsafe_split(x, 1)[1],
    "kron": lambda T: lambda x: T.kron(x, T.eye(2, dtype=x.dtype)),
    "shuffled": lambda T: lambda x: T.pixel_shuffle(x.view(4, 1, 1), 2),
    "complex": lambda T: lambda x: T.complex(x, 2 * x),
    "products": lambda T: lambda x: T.cartesian_prod(x[0], x[1]),
}


@pytest.mark.parametrize("name", CASES)
def test_linear_functions_carry_their_tangent(hotaru, name):
    function = CASES[name](hotaru)
    x = hotaru.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=hotaru.float64)
    t = x.sin()
    _, tangent = hotaru.func.jvp(function, (x,), (t,))
    assert hotaru.allclose(tangent, function(t))
