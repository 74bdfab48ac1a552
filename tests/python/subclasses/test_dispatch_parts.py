"""Operators that are taken apart for modes give what they give whole."""

from __future__ import annotations

from itertools import product

import pytest
from hotaru.utils._python_dispatch import TorchDispatchMode

import hotaru as torch

F = torch.nn.functional


class Passing(TorchDispatchMode):
    """Calls what it is asked for."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def check(function, *inputs) -> None:
    """Values, shapes and gradients are those without a mode."""
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    wanted = [x for x in inputs if x.requires_grad]

    def run():
        found = function(*inputs)
        loss = found.nan_to_num().square().sum()
        return found, torch.autograd.grad(loss, wanted)

    want, slopes = run()
    with Passing():
        found, got = run()
    assert found.shape == want.shape
    close = {"rtol": 1e-3, "atol": 1e-4, "equal_nan": True}
    torch.testing.assert_close(found, want, **close)
    torch.testing.assert_close(got, slopes, **close)


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4)])
def test_quantiles(name, shape):
    x = torch.randn(shape)
    if shape:
        x.view(-1)[1] = float("nan")
    ways = ("linear", "lower", "higher", "nearest", "midpoint")
    for dim, keepdim, way in product(
        [None, *range(-len(shape), len(shape))], (False, True), ways
    ):
        check(
            lambda x, dim=dim, keepdim=keepdim, way=way: getattr(torch, name)(
                x, 0.3, dim, keepdim, interpolation=way
            ),
            x,
        )


@pytest.mark.parametrize("n", range(-4, 9))
def test_powers_of_matrices(n):
    x = torch.randn(2, 3, 3, dtype=torch.float64) + 3 * torch.eye(3).double()
    with Passing():
        found = torch.linalg.matrix_power(x, n)
    torch.testing.assert_close(found, torch.linalg.matrix_power(x, n))


EQUATIONS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
    "...ij,...j->...i": [(2, 3, 4), (2, 4)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "ij,kj,il->kl": [(2, 3), (4, 3), (2, 5)],
    "ij->ji": [(2, 3)],
    "ab,cd->abcd": [(2, 3), (4, 5)],
    "bij,jk": [(2, 3, 4), (4, 5)],
    "i...,i...->...": [(3, 2), (3, 2)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 5)],
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_sums_of_products(equation):
    given = map(torch.randn, EQUATIONS[equation])
    check(lambda *given: torch.einsum(equation, *given), *given)


LEFT = [(3,), (4, 3), (2, 4, 3), (2, 2, 4, 3)]
RIGHT = [(3,), (3, 5), (2, 3, 5), (2, 2, 3, 5), (1, 3, 5)]


@pytest.mark.parametrize(("a", "b"), list(product(LEFT, RIGHT)))
def test_products_of_matrices(a, b):
    check(torch.matmul, torch.randn(a), torch.randn(b))


@pytest.mark.parametrize("padding", ["same", "valid", 0, 1, (1, 2)])
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.filterwarnings("ignore:Using padding='same'")
def test_convolutions(padding, size):
    x, weight = torch.randn(2, 2, 7, 8), torch.randn(4, 2, size, size)
    check(
        lambda x, weight, bias: F.conv2d(x, weight, bias, padding=padding),
        x,
        weight,
        torch.randn(4),
    )


@pytest.mark.parametrize(
    "options",
    [
        {"stride": 2, "padding": 1, "output_padding": 1},
        {"groups": 2},
        {"stride": 2, "dilation": 2, "output_padding": 1},
    ],
)
def test_transposed_convolutions(options):
    check(
        lambda x, weight: F.conv_transpose2d(x, weight, **options),
        torch.randn(2, 4, 5, 5),
        torch.randn(4, 2, 3, 3),
    )


@pytest.mark.parametrize("shape", [(2, 4, 8), (2, 3, 4, 8)])
@pytest.mark.parametrize("mask", [None, "bool", "float", "causal"])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention(shape, mask, scale):
    given = {"scale": scale, "is_causal": mask == "causal"}
    if mask == "bool":
        given["attn_mask"] = torch.rand(4, 4) > 0.2
        given["attn_mask"][:, 0] = True
    elif mask == "float":
        given["attn_mask"] = torch.randn(4, 4)
    check(
        lambda *qkv: F.scaled_dot_product_attention(*qkv, **given),
        *(torch.randn(shape) for _ in range(3)),
    )
