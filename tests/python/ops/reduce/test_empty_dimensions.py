"""Tensors with a dimension of size 0: values, gradients, graphs, refusals."""

from __future__ import annotations

import hotaru.nn.functional as F
import pytest

import hotaru as torch

INF = float("inf")


@pytest.mark.parametrize("shape", [(0, 4, 2, 2), (2, 0, 3, 3), (2, 4, 0, 3)])
def test_channel_shuffle_keeps_the_graph(shape):
    x = torch.randn(*shape, requires_grad=True)
    y = F.channel_shuffle(x, 2)
    assert y.requires_grad
    assert y.shape == x.shape
    y.sum().backward()
    assert x.grad.shape == x.shape


NORMS = [
    (2, (0, 3)),
    (2, (3, 0)),
    (1, (3, 0)),
    (1, (0, 3)),
    (INF, (0, 3)),
    (INF, (3, 0)),
    ("fro", (0, 3)),
    ("nuc", (3, 0)),
]


@pytest.mark.parametrize(("order", "shape"), NORMS)
def test_norms_of_matrices_without_elements(order, shape):
    x = torch.empty(shape, requires_grad=True)
    assert torch.linalg.matrix_norm(x, order).item() == 0
    assert torch.linalg.norm(x, order).item() == 0
    batch = torch.empty(2, *shape)
    kept = torch.linalg.matrix_norm(batch, order, keepdim=True)
    assert kept.tolist() == [[[0.0]], [[0.0]]]
    torch.linalg.matrix_norm(x, order).backward()
    assert x.grad.shape == shape


@pytest.mark.parametrize("order", [-1, -2, -INF])
def test_the_least_of_nothing_is_refused(order):
    shape = (0, 0)
    with pytest.raises((RuntimeError, IndexError)):
        torch.linalg.matrix_norm(torch.empty(shape), order)


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4), (2, 3, 0), (2, 3, 0, 4)])
def test_batch_norm(shape):
    x = torch.randn(*shape, requires_grad=True)
    w, b = (torch.ones(3, requires_grad=True) for _ in range(2))
    mean, var = torch.zeros(3), torch.ones(3)
    F.batch_norm(x, mean, var, w, b, training=True).sum().backward()
    assert x.grad.shape == shape
    assert w.grad.tolist() == [0, 0, 0]
    assert b.grad.tolist() == [0, 0, 0]
    assert mean.tolist() == [0, 0, 0]
    assert var.tolist() == [1, 1, 1]


@pytest.mark.parametrize(("reduction", "value"), [("mean", 0.0), ("sum", 0.0)])
def test_margin_losses_of_no_samples(reduction, value):
    x = torch.empty(0, 3, requires_grad=True)
    none = torch.empty(0, dtype=torch.long)
    for loss in (
        F.multi_margin_loss(x, none, reduction=reduction),
        F.multilabel_margin_loss(
            x, torch.empty(0, 3, dtype=torch.long), reduction=reduction
        ),
    ):
        assert loss.item() == value
        loss.backward()
    assert x.grad.shape == (0, 3)


@pytest.mark.parametrize("shape", [(0, 2, 3), (4, 0, 3)])
def test_ctc_of_nothing_is_refused(shape):
    steps, batch, _ = shape
    with pytest.raises(RuntimeError, match="log_probs tensor must not be empty"):
        F.ctc_loss(
            torch.zeros(shape),
            torch.ones(batch, 2, dtype=torch.long),
            torch.full((batch,), steps),
            torch.full((batch,), 2),
        )


TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


@pytest.mark.parametrize("dims", TRANSPOSED)
@pytest.mark.parametrize("weight", [(3, 4, 0), (3, 0, 2), (0, 4, 2)])
def test_transposed_convolutions_without_a_kernel(dims, weight):
    x = torch.zeros(2, 3, *[5] * dims)
    w = torch.ones(*weight[:2], *[weight[2]] * dims)
    with pytest.raises(RuntimeError):
        TRANSPOSED[dims](x, w)


def test_index_reduce_of_other_shapes():
    a = torch.zeros(2, 3)
    for source in (torch.zeros(2, 0), torch.zeros(2, 2)):
        with pytest.raises(RuntimeError, match="source tensor shape must match"):
            a.index_reduce(0, torch.arange(2), source, "prod")


@pytest.mark.parametrize("replacement", [True, False])
def test_draws_of_no_weights(replacement):
    for weights in (torch.empty(0), torch.empty(2, 0)):
        with pytest.raises(RuntimeError):
            torch.multinomial(weights, 1, replacement)
    assert torch.multinomial(torch.empty(0, 3), 2, replacement).shape == (0, 2)
    sampler = torch.utils.data.WeightedRandomSampler([], 2)
    with pytest.raises(RuntimeError):
        list(sampler)


@pytest.mark.parametrize("shape", [(1, 0, 3), (0, 2, 3), (0, 3)])
def test_circular_padding(shape):
    x = torch.ones(shape, requires_grad=True)
    y = F.pad(x, (1, 2), mode="circular")
    assert y.shape == (*shape[:-1], shape[-1] + 3)
    y.sum().backward()
    assert x.grad.shape == x.shape


def test_circular_padding_of_nothing():
    """To nothing, and no further."""
    x = torch.ones(1, 2, 3)
    assert F.pad(x[..., :0], (0, 0), mode="circular").shape == (1, 2, 0)
    assert F.pad(x, (-1, -2), mode="circular").shape == (1, 2, 0)
    with pytest.raises(RuntimeError, match="resulting in an empty dimension"):
        F.pad(x, (-2, -2), mode="circular")
    with pytest.raises(RuntimeError, match="wrapping around more than once"):
        F.pad(x[..., :0], (0, 1), mode="circular")


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 2), (3, 2)), ((3, 2), (0, 2)), ((3, 0), (2, 0)), ((0, 0), (0, 0))],
)
def test_distances_between_nothing_have_the_dtype_of_the_first(first, second):
    for dtype, other in (("float64", "float32"), ("float32", "float64")):
        x = torch.ones(first, dtype=getattr(torch, dtype))
        y = torch.ones(second, dtype=getattr(torch, other))
        got = torch.cdist(x, y)
        assert got.dtype == x.dtype
        assert got.equal(torch.zeros(first[0], second[0], dtype=x.dtype))
    with pytest.raises(RuntimeError, match="expected scalar type Double"):
        torch.cdist(torch.ones(1, 2).double(), torch.ones(1, 2))
