"""`reduction=` of the losses: what it may be, and an old name of "mean"."""

import warnings

import pytest

import hotaru as torch

F = torch.nn.functional
X = torch.linspace(0.1, 0.9, 6).view(2, 3)
Y = torch.linspace(0.2, 0.8, 6).view(2, 3)
T = torch.tensor([0, 2])
LOSSES = {
    "mse_loss": (X, Y),
    "l1_loss": (X, Y),
    "smooth_l1_loss": (X, Y),
    "huber_loss": (X, Y),
    "binary_cross_entropy": (X, Y),
    "binary_cross_entropy_with_logits": (X, Y),
    "kl_div": (X, Y),
    "soft_margin_loss": (X, Y),
    "hinge_embedding_loss": (X, Y),
    "cross_entropy": (X, T),
    "nll_loss": (X, T),
    "multi_margin_loss": (X, T),
    "multilabel_margin_loss": (X, torch.tensor([[0, -1, 1], [1, 2, -1]])),
    "margin_ranking_loss": (X, Y, X * Y),
    "triplet_margin_loss": (X, Y, X * Y),
    "cosine_embedding_loss": (X, Y, torch.ones(2)),
}
STRICT = {
    "poisson_nll_loss": (X, Y),
    "gaussian_nll_loss": (X, Y, X),
    "multilabel_soft_margin_loss": (X, Y),
    "triplet_margin_with_distance_loss": (X, Y, X * Y),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_old_name_of_mean_is_a_mean_and_warns(name):
    loss, args = getattr(F, name), LOSSES[name]
    with pytest.warns(UserWarning, match=r"elementwise_mean. is deprecated"):
        old = loss(*args, reduction="elementwise_mean")
    assert old.shape == ()
    assert old == loss(*args, reduction="mean")


@pytest.mark.parametrize("name", STRICT)
def test_some_losses_never_had_the_old_name(name):
    with pytest.raises(ValueError, match="elementwise_mean is not"):
        getattr(F, name)(*STRICT[name], reduction="elementwise_mean")


@pytest.mark.parametrize("name", LOSSES | STRICT)
@pytest.mark.parametrize("reduction", ["x", "MEAN", "", ["mean"], 1, None])
def test_anything_else_is_refused(name, reduction):
    with pytest.raises(ValueError, match=r"not .*valid"):
        getattr(F, name)(*(LOSSES | STRICT)[name], reduction=reduction)


def test_scripts_of_losses_know_the_old_name():
    loss = torch.jit.script(torch.nn.MSELoss(reduction="elementwise_mean"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert loss(X, Y) == F.mse_loss(X, Y)
