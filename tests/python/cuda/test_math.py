"""Matrix products, softmax, normalisation and random draws on a CUDA device.

What the CPU gives is the measure, but for draws: those are PyTorch's on a GPU
of 132 processors with 2048 threads each, as an H200 has them.
"""

from __future__ import annotations

import math

import pytest

FLOATS = ("float32", "float64", "float16", "bfloat16")
# Relative and absolute error against the CPU.
TOLERANCE = {
    "float32": (2e-5, 2e-5),
    "float64": (1e-12, 1e-12),
    "float16": (2e-3, 2e-3),
    "bfloat16": (2e-2, 2e-2),
}


def close(torch, got, expected, scale=1):
    """Checks a CUDA tensor against the CPU's."""
    assert got.device.type == "cuda"
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    name = str(expected.dtype).split(".")[-1]
    rtol, atol = (scale * e for e in TOLERANCE.get(name, (0, 0)))
    assert torch.allclose(
        got.cpu().double(), expected.double(), rtol=rtol, atol=atol, equal_nan=True
    ), f"{got.cpu()} is not {expected}"


def both(torch, f, *tensors, scale=1, grads=True):
    """f on the CPU and on CUDA, results and gradients compared."""
    results = []
    for device in ("cpu", "cuda"):
        own = [
            t.to(device).detach().requires_grad_(grads and t.is_floating_point())
            for t in tensors
        ]
        out = f(*own)
        found = [out]
        if grads and out.requires_grad:
            torch.manual_seed(5)
            weight = torch.randn(out.shape).to(out.dtype).to(device)
            (out * weight).sum().backward()
            found += [t.grad for t in own if t.grad is not None]
        results.append([t.detach() for t in found])
    for got, expected in zip(results[1], results[0], strict=True):
        close(torch, got, expected, scale)


def draw(torch, *shape, dtype="float32"):
    """Numbers on the CPU."""
    return torch.randn(*shape).to(getattr(torch, dtype))


# --- softmax -----------------------------------------------------------------

SHAPES = [
    ((3, 7), 1),
    ((3, 7), 0),
    ((1,), 0),
    ((5, 1), 1),
    ((2, 3, 40), 1),
    ((4, 300), -1),
    ((2, 4096), -1),
    ((1, 5003), -1),
    ((600, 70), 0),
    ((2, 1500, 3), 1),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(hotaru, cuda, name, dtype):
    torch = hotaru
    torch.manual_seed(1)
    for shape, dim in SHAPES:
        x = draw(torch, *shape, dtype=dtype)
        both(torch, lambda t, dim=dim: getattr(torch, name)(t, dim), x)


def test_softmax_of_views(hotaru, cuda):
    torch = hotaru
    torch.manual_seed(2)
    x = draw(torch, 6, 9, 34)
    for view in (
        lambda t: t[::2, 1:, 3:].softmax(2),
        lambda t: t.transpose(0, 2).softmax(1),
        lambda t: t[:, :, ::2].log_softmax(2),
        lambda t: t.permute(1, 2, 0).softmax(0).transpose(0, 1),
        lambda t: t[0, 0, 0].softmax(0),
        lambda t: t[:1].expand(5, 9, 34).log_softmax(0),
    ):
        both(torch, view, x)


def test_softmax_of_nothing(hotaru, cuda):
    torch = hotaru
    for shape in ((0, 3), (3, 0), (0,)):
        assert torch.softmax(torch.empty(shape, device="cuda"), 0).shape == shape


def test_softmax_of_extremes(hotaru, cuda):
    torch = hotaru
    inf, nan = math.inf, math.nan
    for row in (
        [-inf, 0.0, 1.0],
        [-inf] * 3,
        [inf, 0.0, 1.0],
        [nan, 0.0, 1.0],
        [1e30, -1e30, 3.0],
        [88.0, 89.0, -100.0],
        [-inf] * 700 + [1.0, 2.0],
    ):
        x = torch.tensor([row, list(reversed(row))])
        for name in ("softmax", "log_softmax"):
            both(torch, lambda t, name=name: getattr(t, name)(1), x, grads=False)


def test_softmax_refuses_integers(hotaru, cuda):
    torch = hotaru
    with pytest.raises(RuntimeError, match="not implemented for 'Int'"):
        torch.softmax(torch.zeros(3, dtype=torch.int32, device=cuda), 0)
