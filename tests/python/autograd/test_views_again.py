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
