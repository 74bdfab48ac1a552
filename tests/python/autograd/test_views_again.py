"""Views done again from another base, and the switch of that name."""

from __future__ import annotations

import threading

import pytest

import hotaru as torch

VIEWS = {
    "transpose": lambda x: x.t(),
    "select": lambda x: x[1],
    "slice": lambda x: x[1:, 1:3],
    "expand": lambda x: x[:1].expand(5, 4),
    "chain": lambda x: x.unsqueeze(-1).transpose(0, 1)[2],
    "unfold": lambda x: x.unfold(1, 3, 1),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("offset", [0, 5])
def test_there_and_back(view, offset):
    base = torch.arange(24.0)[offset : offset + 12].view(3, 4).detach()
    out = view(base)
    assert out._base is base
    other = base.clone()
    again = torch.empty(40)[offset : offset + 12].view(3, 4).detach()
    again.copy_(base * 2)
    assert torch.equal(out._view_func(again), view(again))
    assert out._view_func(again).stride() == out.stride()
    if offset:  # laid out otherwise
        assert out._view_func(other) is None
    assert torch.equal(out._view_func_unsafe(other), out)
    assert out._view_func_unsafe(other)._base is other
    alias = out.detach()
    found = out._rev_view_func_unsafe(alias)
    assert torch.equal(found, base)
    assert found.storage_offset() == base.storage_offset()
    assert found._is_view()


def test_complex_parts():
    pairs = torch.arange(12.0).view(3, 2, 2).clone()
    out = torch.view_as_complex(pairs)
    other = pairs + 1
    assert torch.equal(out._view_func(other), torch.view_as_complex(other))
    alias = out.detach()
    assert torch.equal(out._rev_view_func_unsafe(alias), pairs)
    values = torch.view_as_complex(pairs).clone()
    real = torch.view_as_real(values)[..., 1]
    other = values * 2
    assert torch.equal(real._view_func(other), other.imag)
    assert torch.equal(real._rev_view_func_unsafe(real.detach()), values)


def test_gradients_reach_the_new_base():
    view = torch.zeros(3, 4)[1:, ::2]
    base = torch.arange(12.0).view(3, 4).requires_grad_()
    view._view_func(base).pow(2).sum().backward()
    want = torch.zeros(3, 4)
    want[1:, ::2] = 2 * base.detach()[1:, ::2]
    assert torch.equal(base.grad, want)


def test_what_is_no_view():
    x = torch.zeros(2, 2)
    assert x._view_func(torch.ones(2, 2)) is None
    assert x._view_func_unsafe(torch.ones(2, 2)) is None
    with pytest.raises(RuntimeError, match=r"No _rev_view_func\(\) found"):
        x._rev_view_func_unsafe(torch.ones(2, 2))
    view = x.t()
    assert view._view_func(torch.ones(3, 2)) is None
    assert view._view_func(torch.ones(2, 2).double()) is None
    with pytest.raises(RuntimeError):
        view._view_func_unsafe(torch.ones(1))
    with pytest.raises(NotImplementedError, match="visitor"):
        view._view_func(x, symint_visitor_fn=lambda n: n)


def test_the_switch_is_of_a_thread_and_comes_back():
    track = torch.autograd._force_original_view_tracking
    enabled = torch.autograd.is_view_replay_enabled
    assert not enabled()
    seen = []
    with track(True):
        assert enabled()
        thread = threading.Thread(target=lambda: seen.append(enabled()))
        thread.start()
        thread.join()
        with track(False):
            assert not enabled()
        assert enabled()
    assert seen == [False]
    assert not enabled()

    @track(True)
    def inside():
        return enabled()

    assert not enabled()
    assert inside()
    track(True)
    assert enabled()
    track(False)


def test_second_derivatives_of_windows_by_slices():
    """The tangent may begin within its memory."""
    x = torch.arange(4.0, dtype=torch.float64)
    directions = torch.eye(4, dtype=torch.float64)
    for direction in directions:
        _, tangent = torch.func.jvp(lambda x: x.unfold(0, 2, 1), (x,), (direction,))
        assert torch.equal(tangent, direction.clone().unfold(0, 2, 1))
    x.requires_grad_()
    g = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(x.unfold(0, 2, 1), x, g, create_graph=True)
    weights = torch.arange(12.0, dtype=torch.float64)[6:10]
    (second,) = torch.autograd.grad(first, g, weights)
    assert torch.equal(second, weights.clone().unfold(0, 2, 1))


@pytest.mark.parametrize("name", ["eq_", "ne_", "lt_", "le_", "gt_", "ge_"])
def test_comparisons_in_place_have_no_slope(name):
    """Values that are overwritten have no part in the result any more."""
    x = torch.tensor([1.5, -2.0], requires_grad=True)
    for other, node in ((0, "Backward0"), (torch.zeros(2), "Backward1")):
        y = x * 2
        getattr(y, name)(other)
        assert y.grad_fn.name() == name[:2].title() + node
        (g,) = torch.autograd.grad(y.sum(), x)
        assert g.tolist() == [0, 0]
        y = x * 2
        getattr(y[1:], name)(0)
        (g,) = torch.autograd.grad(y.sum(), x)
        assert g.tolist() == [2, 0]
    y = getattr(torch.ones(2), name)(x)
    assert y.requires_grad
    (g,) = torch.autograd.grad(y.sum(), x)
    assert g.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="leaf Variable"):
        getattr(x, name)(1)
    _, tangent = torch.func.jvp(
        lambda x: getattr(x * 2, name)(0), (x.detach(),), (x.detach(),)
    )
    assert tangent.tolist() == [0, 0]


def test_logic_in_place_has_no_slope():
    x = torch.tensor([1.5, 0.0], requires_grad=True)
    for write in (
        lambda y: y.logical_and_(torch.ones(2)),
        lambda y: y.logical_or_(torch.zeros(2)),
        lambda y: y.logical_xor_(torch.ones(2)),
        lambda y: y.logical_not_(),
    ):
        (g,) = torch.autograd.grad(write(x * 2).sum(), x)
        assert g.tolist() == [0, 0]


def test_polar_by_its_radius():
    """Also of a radius that is 0, or negative."""
    radius = torch.tensor([-1.0, 0, 2], dtype=torch.float64)
    angle = torch.tensor(0.3, dtype=torch.float64)
    radius.requires_grad_()
    z = torch.polar(radius, angle.expand(3))
    (g,) = torch.autograd.grad(z.real.sum(), radius)
    torch.testing.assert_close(g, angle.cos().expand(3))
