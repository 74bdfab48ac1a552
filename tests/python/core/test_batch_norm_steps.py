"""Batch normalisation in steps is that of the whole batch."""

from __future__ import annotations

import hotaru.nn.functional as F
import pytest

import hotaru as torch

EPS = 1e-3


def _close(a, b) -> None:
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("sizes", [(3, 3), (1, 5)])
@pytest.mark.parametrize("affine", [True, False])
def test_steps_over_parts(sizes, affine):
    torch.manual_seed(1)
    x = torch.randn(6, 4, 5, dtype=torch.float64)
    weight, bias = torch.randn(2, 4, dtype=torch.float64) if affine else [None] * 2
    leaves = [t.clone().requires_grad_() for t in (x, weight, bias) if t is not None]
    running = [torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)]
    kept = [t.clone() for t in running]
    wanted = torch.nn.functional.batch_norm(
        leaves[0], *running, *(leaves[1:] or [None, None]), True, 0.2, EPS
    )
    grad_out = torch.randn_like(x)
    gradients = torch.autograd.grad(wanted, leaves, grad_out)

    parts, grads = x.split(sizes), grad_out.split(sizes)
    stats = [torch.batch_norm_stats(part, EPS) for part in parts]
    means, invstds = (torch.stack(each) for each in zip(*stats))
    counts = torch.tensor([part.numel() // 4 for part in parts])
    if sizes[0] == sizes[1]:
        mean, invstd = torch.batch_norm_gather_stats(
            parts[0], means, invstds, *kept, 0.2, EPS, int(counts[0])
        )
    else:
        mean, invstd = torch.batch_norm_gather_stats_with_counts(
            parts[0], means, invstds, *kept, 0.2, EPS, counts
        )
    found = [
        torch.batch_norm_elemt(part, weight, bias, mean, invstd, EPS) for part in parts
    ]
    _close(torch.cat(found), wanted.detach())
    _close(kept, running)

    sums = [
        torch.batch_norm_backward_reduce(
            g, part, mean, invstd, weight, True, affine, affine
        )
        for g, part in zip(grads, parts)
    ]
    dy, xmu = (sum(s[i] for s in sums) for i in (0, 1))
    inputs = [
        torch.batch_norm_backward_elemt(g, part, mean, invstd, weight, dy, xmu, counts)
        for g, part in zip(grads, parts)
    ]
    _close(torch.cat(inputs), gradients[0])
    if affine:
        _close(sum(s[2] for s in sums), gradients[1])
        _close(sum(s[3] for s in sums), gradients[2])
    else:
        assert sums[0][2] is sums[0][3] is None


def test_norms_of_sparse_tensors():
    x = torch.tensor([[3.0, 0], [0, 4]])
    for kept in (x.to_sparse(), x.to_sparse_csr()):
        assert torch.native_norm(kept) == 5
        assert torch.native_norm(kept, 1, [0, 1]) == 7
    twice = torch.sparse_coo_tensor([[0, 0], [0, 0]], [3.0, 4.0], (1, 1))
    assert torch.native_norm(twice) == 7
    with pytest.raises(RuntimeError, match="only supports full reductions"):
        torch.native_norm(x.to_sparse(), 1, [0])
    with pytest.raises(RuntimeError, match="not support keepdim=True"):
        torch.native_norm(x.to_sparse(), 2, [0, 1], True)
    with pytest.raises(NotImplementedError, match=r"linalg\.vector_norm"):
        torch.native_norm(x)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize(
    "norm",
    [
        lambda x: F.batch_norm(x, None, None, training=True),
        F.instance_norm,
        lambda x: F.batch_norm(x[0].t(), None, None, training=True),
        lambda x: F.batch_norm(x, x.mean((0, 2)), x.var((0, 2))),
    ],
)
def test_values_far_from_zero_keep_their_digits(norm, offset):
    """Within half a unit of the mean, which is a float32, in deviations."""
    x = (torch.arange(1000.0, dtype=torch.float64) / 16 + offset)[None, None]
    assert torch.equal(x.float().double(), x)
    unit = torch.tensor(offset + 31.0).float()
    unit = (torch.nextafter(unit, unit + 1) - unit).item()
    most = 0.6 * unit / x.std().item() + 1e-6
    assert (norm(x.float()).double() - norm(x)).abs().max() < most


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_statistics_of_groups_have_derivatives(groups):
    torch.manual_seed(0)
    x = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, dtype=torch.float64, requires_grad=True)

    def statistics(x):
        return torch.native_group_norm(x, weight, None, 3, 4, 5, groups, EPS)

    for kept in ([1], [2], [0, 1, 2]):

        def f(x, kept=kept):
            found = statistics(x)
            return tuple(found[i] for i in kept)

        assert torch.autograd.gradcheck(f, (x,), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(f, (x,))
    low = torch.randn(3, 4, 5).bfloat16().requires_grad_()
    mean = torch.native_group_norm(low, None, None, 3, 4, 5, groups, EPS)[1]
    mean.sum().backward()
    assert low.grad.dtype == torch.bfloat16
    assert (low.grad == torch.tensor(groups / 20).bfloat16()).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("create_graph", [False, True])
def test_fixed_statistics_leave_gradients_to_the_weights(dtype, create_graph):
    """Whatever the values are: infinite ones change no gradient of theirs."""
    x = torch.ones(3, 2, 4, dtype=dtype)
    x[0, 0, 1], x[1, 0, 2], x[2, 1, 3] = float("inf"), -1e38, float("nan")
    x.requires_grad_()
    weight = torch.tensor([2.0, 3.0], dtype=dtype)
    y = F.batch_norm(x, torch.zeros(2, dtype=dtype), torch.ones(2, dtype=dtype), weight)
    (grad,) = torch.autograd.grad(y.sum(), x, create_graph=create_graph)
    torch.testing.assert_close(
        grad.detach(), weight[:, None].expand(3, 2, 4), rtol=1e-4, atol=0
    )
