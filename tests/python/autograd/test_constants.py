"""Arguments that there is no derivative by: named, never forgotten."""

import pytest
from hotaru.nn import functional as F

import hotaru as torch
from hotaru.autograd import forward_ad

CLASSES = torch.tensor([0, 1])
ONES, EYE = torch.ones(2), torch.eye(2)

# Function that PyTorch's error names, and the argument: calls of that one.
NAMED = {
    "binary_cross_entropy weight": (
        lambda p: F.binary_cross_entropy(ONES * 0.3, ONES, weight=p)
    ),
    "nll_loss_forward weight": (lambda p: F.nll_loss(EYE, CLASSES, weight=p)),
    "nll_loss_forward weight of cross entropy": (
        lambda p: F.cross_entropy(EYE, CLASSES, weight=p)
    ),
    "nll_loss2d_forward weight": (
        lambda p: F.nll_loss(
            torch.ones(1, 2, 2, 2), torch.zeros(1, 2, 2).long(), weight=p
        )
    ),
    "soft_margin_loss target": lambda p: F.soft_margin_loss(ONES, p),
    "native_batch_norm running_mean": (lambda p: F.batch_norm(EYE, p, torch.ones(2))),
    "native_batch_norm running_var": (lambda p: F.batch_norm(EYE, torch.ones(2), p)),
    "native_batch_norm running_mean in training": (
        lambda p: F.batch_norm(EYE, p, torch.ones(2), training=True)
    ),
    "native_batch_norm running_mean of instances": (
        lambda p: F.instance_norm(
            torch.ones(1, 2, 3), p, torch.ones(2), use_input_stats=False
        )
    ),
    "fake_quantize_per_channel_affine_cachemask scale": (
        lambda p: torch.fake_quantize_per_channel_affine(
            EYE, p, torch.zeros(2).int(), 0, 0, 255
        )
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_derivatives_by_constants_are_refused(name):
    function, argument = name.split()[:2]
    call = NAMED[name]
    text = (
        f"The function '{function}' is not differentiable with respect to "
        f"argument '{argument}'"
    )
    with pytest.raises(RuntimeError, match=text):
        call(torch.full((2,), 0.5, requires_grad=True))
    with torch.no_grad():
        call(torch.full((2,), 0.5, requires_grad=True))
    call(torch.full((2,), 0.5))
    if "fake" in name:
        return
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match=text):
        call(forward_ad.make_dual(torch.full((2,), 0.5), torch.ones(2)))


NOT_WRITTEN = {
    "aten::bincount": lambda p: torch.bincount(CLASSES, p[0]),
    "aten::histogram": lambda p: torch.histogram(p[0], 3)[0],
    "aten::histogram by weight": (lambda p: torch.histogram(ONES, 3, weight=p[0])[0]),
    "aten::histogram by edges": (
        lambda p: torch.histogram(p[0], torch.tensor([0.0, 1.0]))[0]
    ),
    "aten::_histogramdd_from_bin_cts": (lambda p: torch.histogramdd(p, [2, 2])[0]),
    "aten::_histogramdd_from_bin_tensors": (
        lambda p: torch.histogramdd(p, [torch.tensor([0.0, 1.0])] * 2)[0]
    ),
    "aten::linalg_ldl_factor_ex": lambda p: torch.linalg.ldl_factor(p)[0],
    "'geqrf'": lambda p: torch.geqrf(p)[0],
    "'geqrf' by tau": lambda p: torch.geqrf(p)[1],
}


@pytest.mark.parametrize("name", NOT_WRITTEN)
def test_derivatives_that_nobody_wrote_have_nodes(name):
    """The result wants a gradient, as in PyTorch, and the pass says why not."""
    p = torch.eye(2, requires_grad=True)
    result = NOT_WRITTEN[name](p)
    assert result.requires_grad
    text = f"derivative for {name.split()[0]} is not implemented"
    with pytest.raises((RuntimeError, NotImplementedError), match=text):
        result.sum().backward()


def test_binary_cross_entropy_with_logits_by_its_weights():
    torch.manual_seed(0)
    x, t = torch.randn(3, 4).double(), torch.rand(3, 4).double()
    w = torch.rand(4, dtype=torch.float64, requires_grad=True)
    p = torch.rand(4, dtype=torch.float64, requires_grad=True)
    for reduction in ("mean", "sum", "none"):

        def loss(w, p, reduction=reduction):
            return F.binary_cross_entropy_with_logits(
                x, t, w, pos_weight=p, reduction=reduction
            )

        assert torch.autograd.gradcheck(loss, (w, p))
        assert torch.autograd.gradgradcheck(loss, (w, p))
    one = torch.func.grad(
        lambda p: F.binary_cross_entropy_with_logits(ONES, ONES, pos_weight=p)
    )(ONES)
    assert torch.allclose(one, torch.full((2,), 0.15663))


@pytest.mark.parametrize("function", [torch.quantile, torch.nanquantile])
def test_quantiles_by_their_place(function):
    x = torch.tensor([1.0, 2.0, 4.0, 9.0], dtype=torch.float64)
    q = torch.tensor([0.2, 0.6], dtype=torch.float64, requires_grad=True)
    function(x, q).sum().backward()
    assert torch.allclose(q.grad, torch.tensor([3.0, 6.0]).double())
    for how in ("lower", "nearest", "midpoint"):
        found = function(x, q, interpolation=how).sum()
        assert not (found.requires_grad and torch.autograd.grad(found, q)[0].any())


def test_draws_by_chances():
    p = torch.full((2, 3), 0.5, requires_grad=True)
    torch.zeros(2, 3).bernoulli_(p).sum().backward()
    assert p.grad.tolist() == [[0.0] * 3] * 2
