"""Padding, strides, dilations and kernels of any size."""

from __future__ import annotations

import itertools

import pytest

FAR = [2**31, 2**40, 2**61, 2**62 - 1, 2**63 - 1]


def ones(hotaru, *shape):
    return hotaru.ones(shape, requires_grad=True)


def outcome(f):
    """Result of f, or None for an error that says what was wrong."""
    try:
        return f()
    except (RuntimeError, ValueError, MemoryError):
        return None


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_convolutions_stay_inside(hotaru, dims, transposed):
    """Extreme values in each place, forward and backward."""
    name = f"conv_transpose{dims}d" if transposed else f"conv{dims}d"
    conv = getattr(hotaru.nn.functional, name)
    far = [1, 2**40, 2**61, 2**62, 2**63 - 1]
    for stride, padding, dilation in itertools.product(far, [0, *far[1:]], far):
        x, w = ones(hotaru, 1, 1, *[4] * dims), ones(hotaru, 1, 1, *[2] * dims)
        y = outcome(
            lambda x=x, w=w, s=stride, p=padding, d=dilation: conv(
                x, w, stride=s, padding=p, dilation=d
            )
        )
        if y is None:
            continue
        assert all(0 <= n <= 8 for n in y.shape[2:]), (stride, padding, dilation)
        y.sum().backward()
        # Each input meets each weight once at most.
        for grad in (x.grad, w.grad):
            assert grad.min() >= 0
            assert grad.sum() <= x.numel() * w.numel()


def test_steps_that_are_never_made(hotaru):
    """One output: however long the stride; one tap: whatever the dilation."""
    x = hotaru.arange(4.0).reshape(1, 1, 4)
    one = hotaru.ones(1, 1, 1)
    conv = hotaru.nn.functional.conv1d
    assert conv(x, one, stride=2**62).tolist() == [[[0]]]
    assert conv(x, one, dilation=2**62).tolist() == x.tolist()
    assert conv(x, hotaru.ones(1, 1, 2), stride=2**63 - 1).tolist() == [[[1]]]
    up = hotaru.nn.functional.conv_transpose1d
    assert up(x[..., 1:2], one, stride=2**62).tolist() == [[[1]]]
    with pytest.raises(RuntimeError):
        conv(x, one, padding=2**62)
    with pytest.raises(RuntimeError):
        conv(x, hotaru.ones(1, 1, 2), padding=2**61, dilation=2**62)


@pytest.mark.parametrize("k", FAR)
def test_pools_stay_inside(hotaru, k):
    x = ones(hotaru, 1, 1, 4, 4)
    f = hotaru.nn.functional
    for pool in (f.max_pool2d, f.avg_pool2d):
        for ceil_mode in (False, True):
            for padding in (0, k // 2):
                y = outcome(
                    lambda pool=pool, p=padding, c=ceil_mode: pool(
                        x, k, stride=k, padding=p, ceil_mode=c
                    )
                )
                assert y is None or y.numel() <= 16
    assert f.max_pool2d(x, 1, stride=2**39).shape == (1, 1, 1, 1)


def test_a_large_window_is_pooled_at_once(hotaru):
    """Taps in the padding are not visited one by one."""
    x = hotaru.arange(16.0).reshape(1, 1, 4, 4)
    k = 2**39
    pool = hotaru.nn.functional.max_pool2d
    y = pool(x, (1, k), stride=(1, k), padding=(0, k // 2))
    assert y.flatten().tolist() == [3, 7, 11, 15]
    y, at = pool(x, (1, k), stride=(1, k), padding=(0, k // 2), return_indices=True)
    assert at.flatten().tolist() == [3, 7, 11, 15]


def test_cropping_and_padding_beyond_everything(hotaru):
    pad = hotaru.nn.functional.pad
    x = hotaru.arange(5, dtype=hotaru.uint8)
    assert pad(x, (-(2**63), 2**63 - 1)).tolist() == [0] * 4
    assert pad(x, (-(2**62), 2**62)).tolist() == [0] * 5
    assert pad(x, (2**62, -(2**62))).tolist() == [0] * 5
    assert pad(x, (-2, 3), value=9).tolist() == [2, 3, 4, 9, 9, 9]
    y = hotaru.arange(5.0, requires_grad=True)
    pad(y, (-(2**62), 2**62)).sum().backward()
    assert y.grad.tolist() == [0] * 5
    for mode in ("reflect", "replicate", "circular"):
        with pytest.raises(RuntimeError):
            pad(hotaru.zeros(1, 1, 4), (2**62, 2**62), mode=mode)


def test_unfolding_stays_inside(hotaru):
    f = hotaru.nn.functional
    x = hotaru.zeros(1, 3, 4, 4)
    k = 2**29
    with pytest.raises(RuntimeError):
        f.unfold(x, k, padding=k)
    with pytest.raises(RuntimeError):
        f.fold(hotaru.zeros(1, 1, 1), (k, k), (k, k))
    assert f.unfold(x, 2, dilation=3, stride=2**29).shape == (1, 12, 1)


def test_padding_beside_an_empty_dimension_takes_no_memory(hotaru):
    x = hotaru.zeros(0, 1, 3)
    for mode in ("constant", "replicate"):
        y = hotaru.nn.functional.pad(x, (0, 2**40), mode=mode)
        assert y.shape == (0, 1, 3 + 2**40)
