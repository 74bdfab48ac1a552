"""Sampling by a grid: pictures of many channels are turned, so that a pixel's
channels are neighbours; those of few are not. Both ways say the same.
"""

import hotaru.nn.functional as F
import pytest

import hotaru as torch


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("nowhere", [False, True])
@pytest.mark.parametrize("out", [(12, 14), (70, 3)])
def test_many_channels_as_few(mode, padding, nowhere, out):
    torch.manual_seed(0)
    x = torch.randn(3, 9, 9, 11)
    grid = torch.rand(3, *out, 2) * 2.6 - 1.3
    if nowhere:
        grid[0, 3, 2, 1], grid[2, 0, 0, 0] = float("nan"), float("inf")
    g = torch.randn(3, 9, *out)

    def found(channels):
        a = x[:, channels].clone().requires_grad_()
        b = grid.clone().requires_grad_()
        y = F.grid_sample(a, b, mode, padding, align_corners=False)
        return y.detach(), *torch.autograd.grad(y, (a, b), g[:, channels])

    parts = [found(slice(c, c + 3)) for c in (0, 3, 6)]
    y, gx, ggrid = found(slice(0, 9))
    close = {"equal_nan": True, "rtol": 1e-5, "atol": 1e-5}
    assert torch.allclose(y, torch.cat([p[0] for p in parts], 1), **close)
    assert torch.allclose(gx, torch.cat([p[1] for p in parts], 1), **close)
    # Sums of 4 or 16 taps of 9 channels, some hundred in size.
    close["atol"] = 1e-3
    assert torch.allclose(ggrid, sum(p[2] for p in parts), **close)
    if padding == "zeros":
        assert ggrid.isnan().any() == (nowhere and mode != "nearest")


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("mode", "dims"), [("bilinear", 2), ("nearest", 2), ("bicubic", 2), ("bilinear", 3)]
)
def test_recorded_passes_at_points_that_lie_nowhere(mode, dims, padding, align):
    """Gradients are the same whether the pass is recorded or not."""
    torch.manual_seed(0)
    x = torch.randn(1, 2, *[4] * dims, dtype=torch.float64)
    x.requires_grad_()
    inf, nan = float("inf"), float("nan")
    for far in (inf, -inf, nan, 1e30, 3e9):
        points = torch.rand(1, *[1] * (dims - 1), 4, dims).double()
        points[..., 0, 0] = far
        points[..., 1, dims - 1] = far
        points[..., 2, :] = far
        points.requires_grad_()
        y = F.grid_sample(x, points, mode, padding, align)
        wanted, recorded = (
            torch.autograd.grad(
                y.sum(), (x, points), create_graph=create, retain_graph=True
            )
            for create in (False, True)
        )
        for a, b in zip(recorded, wanted):
            torch.testing.assert_close(a, b, equal_nan=True)
        second = torch.autograd.grad(
            recorded[1][..., 3, :].sum(), x, allow_unused=True
        )[0]
        assert second is None or second.isfinite().all()


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_recorded_passes_beside_infinite_elements(mode):
    """Points outside take nothing of the picture's first element."""
    x = torch.ones(1, 1, 3, 3, dtype=torch.float64)
    x[0, 0, 0, 0] = float("inf")
    x.requires_grad_()
    points = torch.tensor([0.99, 0.99, 5.0, 5.0], dtype=torch.float64)
    points = points.reshape(1, 2, 1, 2).requires_grad_()
    y = F.grid_sample(x, points, mode, "zeros", False)
    for create in (False, True):
        (grad,) = torch.autograd.grad(
            y.sum(), points, create_graph=create, retain_graph=True
        )
        assert grad.isfinite().all()
