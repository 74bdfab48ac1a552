"""t_, transpose_, squeeze_, unsqueeze_ and as_strided_ with gradients.

PyTorch 2.13 computed the values.
"""

from __future__ import annotations

import pytest


@pytest.fixture
def leaf(hotaru):
    return hotaru.arange(6.0).reshape(2, 3).requires_grad_()


def test_a_result_is_turned(hotaru, leaf):
    y = leaf * 2
    y.t_()
    assert y.shape == (3, 2)
    assert not y.is_leaf
    (y * hotaru.arange(6.0).reshape(3, 2)).sum().backward()
    assert leaf.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


def test_a_view_stays_one(leaf):
    row = (leaf * 2)[0]
    row.unsqueeze_(0)
    assert row.shape == (1, 3)
    (row**2).sum().backward()
    assert leaf.grad.tolist() == [[0, 8, 16], [0, 0, 0]]


def test_other_views_are_written_through(hotaru, leaf):
    y = leaf * 2
    flat = y.view(6)
    y.t_()
    flat.mul_(3)
    (y * hotaru.arange(6.0).reshape(3, 2)).sum().backward()
    assert y.tolist() == [[0, 18], [6, 24], [12, 30]]
    assert leaf.grad.tolist() == [[0, 12, 24], [6, 18, 30]]


def test_strides_of_ones_own(hotaru):
    x = hotaru.arange(6.0).requires_grad_()
    y = x * 2
    y.as_strided_((2, 2), (1, 2))
    (y * hotaru.tensor([[1.0, 2], [3, 4]])).sum().backward()
    assert x.grad.tolist() == [2, 6, 4, 8, 0, 0]


def test_leaves_are_refused_where_gradients_are_recorded(hotaru, leaf):
    text = "a view of a leaf Variable that requires grad"
    with pytest.raises(RuntimeError, match=text):
        leaf.t_()
    with pytest.raises(RuntimeError, match=text):
        leaf[0].unsqueeze_(0)
    with hotaru.no_grad():
        leaf.t_()
    (leaf * leaf).sum().backward()
    assert leaf.grad.tolist() == [[0, 6], [2, 8], [4, 10]]


def test_what_was_saved_is_missed(leaf):
    y = leaf * 2
    z = y * y
    y.t_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_versions_and_names(hotaru):
    x = hotaru.arange(6.0).reshape(2, 3)
    before = x._version
    x.t_()
    x.swapaxes_(0, 1)
    x.swapdims_(0, 1)
    assert x._version == before + 3
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    "make", ["polar(x, x)", "roll(x, 1)", "rot90(x, 3)", "complex(x, x)"]
)
def test_results_made_as_views_are_results(hotaru, make):
    """Their making's own tensors are nobody's leaves."""
    x = hotaru.rand(2, 3, requires_grad=True)
    y = eval(f"torch.{make}", {"torch": hotaru, "x": x})
    y.diagonal().fill_(0)
    y[0].mul_(2)
    assert not y.is_leaf
    if make != "polar(x, x)":  # whose gradient reads the result
        y.abs().sum().backward()
        assert x.grad.shape == (2, 3)
