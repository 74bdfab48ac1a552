"""Connectionist temporal classification on a CUDA device, as on the CPU."""

from __future__ import annotations

import math

import pytest

# Steps, sequences, classes, labels: states beyond a block's threads, sequences
# beyond a launch's, classes beyond both, and of each as few as there can be.
SHAPES = (
    (5, 2, 4, 2),
    (1, 1, 1, 0),
    (40, 3, 300, 7),
    (300, 1, 4, 140),
    (3, 230, 3, 1),
    (12, 1, 5, 5),
)


def compare(t, cuda, f, x, **tolerance):
    """f(x) and its gradient on both devices."""
    found = []
    for device in ("cpu", cuda):
        own = x.detach().to(device).requires_grad_()
        out = f(own)
        weight = t.linspace(1, 2, out.numel(), dtype=x.dtype).to(device)
        (out.reshape(-1) * weight).sum().backward()
        found.append((out.detach(), own.grad))
    for want, got in zip(*found, strict=True):
        assert got.is_cuda
        assert got.dtype == want.dtype
        close = t.isclose(got.cpu(), want, equal_nan=True, **tolerance)
        assert close.all(), (got, want)


# The logarithms of 300 steps are sums of as many rounded terms, and gradients
# exponentials of two of them: 4 * 300 * 2**-24 and 2**-53.
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-12)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_losses_and_gradients(hotaru, cuda, shape, dtype, tolerance):
    t = hotaru
    steps, batch, classes, labels = shape
    t.manual_seed(sum(shape))
    x = t.randn(steps, batch, classes, dtype=getattr(t, dtype)).log_softmax(2)
    # Few classes: labels repeat, side by side and not, and blank is among them.
    targets = t.randint(0, min(classes, 6), (batch, labels))
    lengths = [steps - n % 2 if steps else 0 for n in range(batch)]
    label_lengths = [max(labels - n % 3, 0) for n in range(batch)]
    for reduction in ("none", "mean", "sum"):
        for blank, zero in ((0, True), (classes - 1, True), (0, False)):

            def f(x, blank=blank, zero=zero, reduction=reduction):
                return t.nn.functional.ctc_loss(
                    x,
                    targets.to(x.device),
                    lengths,
                    label_lengths,
                    blank=blank,
                    reduction=reduction,
                    zero_infinity=zero,
                )

            compare(t, cuda, f, x, rtol=tolerance, atol=tolerance)


def test_targets_in_a_row(hotaru, cuda):
    t = hotaru
    t.manual_seed(1)
    # A part of a larger tensor, which has to be laid out anew.
    x = t.randn(2, 8, 9, 5, dtype=t.float64).log_softmax(3)[1, ::2].transpose(0, 1)
    targets = t.tensor([1, 2, 2, 4, 1], dtype=t.int32)

    def f(x):
        return t.nn.functional.ctc_loss(
            x,
            targets.to(x.device),
            t.tensor([9, 8, 9, 7]),
            t.tensor([2, 0, 1, 2]),
            reduction="none",
        )

    compare(t, cuda, f, x, rtol=1e-12, atol=1e-12)


def test_logarithms_of_nothing_and_nan(hotaru, cuda):
    t = hotaru
    x = t.zeros(4, 3, 3, dtype=t.float64).log_softmax(2)
    x[1, 0, 1] = -math.inf
    x[:, 1] = -math.inf
    x[2, 2, 2] = math.nan
    for zero in (False, True):

        def f(x, zero=zero):
            return t.nn.functional.ctc_loss(
                x,
                t.tensor([[1, 2]] * 3, device=x.device),
                [4] * 3,
                [2] * 3,
                reduction="none",
                zero_infinity=zero,
            )

        compare(t, cuda, f, x, rtol=1e-12, atol=0)


def test_a_label_outside_the_classes_is_an_error(hotaru, cuda):
    t = hotaru
    x = t.randn(4, 2, 3, device=cuda).log_softmax(2)
    with pytest.raises(
        RuntimeError,
        match=r"ctc_loss: target 7 of sequence 1 is not in the label range "
        r"\[0, 3\)",
    ):
        t.nn.functional.ctc_loss(
            x, t.tensor([[1, 2], [7, 1]], device=cuda), [4, 4], [2, 2]
        ).item()
    assert (t.ones(2, device=cuda) + 1).tolist() == [2, 2]


def test_same_bits_each_time(hotaru, cuda):
    t = hotaru
    t.manual_seed(2)
    x = t.randn(30, 4, 6, device=cuda).log_softmax(2).requires_grad_()
    targets = t.randint(0, 6, (4, 9), device=cuda)
    results = [
        t.autograd.grad(t.nn.functional.ctc_loss(x, targets, [30] * 4, [9] * 4), x)[0]
        for _ in range(2)
    ]
    assert results[0].equal(results[1])
