"""Products, softmax and normalisation on a CUDA device, as on the CPU."""

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
    """Compares results and gradients of a function on the CPU and on CUDA."""
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


# --- matrix products ---------------------------------------------------------

PRODUCTS = [
    ((3, 4), (4, 5)),
    ((1, 7), (7, 1)),
    ((33, 40), (40, 31)),
    ((64, 20), (20, 130)),
    ((2, 3, 5), (2, 5, 4)),
    ((2, 1, 3, 5), (3, 5, 4)),
    ((5,), (5,)),
    ((5,), (5, 3)),
    ((2, 3, 5), (5,)),
    ((4, 1200), (1200, 6)),
]


@pytest.mark.parametrize("dtype", FLOATS)
def test_matmul(hotaru, cuda, dtype):
    torch = hotaru
    torch.manual_seed(3)
    for a, b in PRODUCTS:
        x, y = draw(torch, *a, dtype=dtype), draw(torch, *b, dtype=dtype)
        both(torch, torch.matmul, x, y, scale=10)


@pytest.mark.parametrize("dtype", FLOATS)
def test_matmul_of_large_tiles(hotaru, cuda, dtype):
    torch = hotaru
    torch.manual_seed(4)
    for a, b in (
        ((45, 70, 40), (45, 40, 90)),  # many
        ((45, 70, 43), (43, 91)),
        ((258, 2100), (2100, 132)),  # split
    ):
        x, y = draw(torch, *a, dtype=dtype), draw(torch, *b, dtype=dtype)
        both(torch, torch.matmul, x, y, scale=100, grads=False)
        x, y = (x.transpose(-1, -2).contiguous(), y.transpose(-1, -2).contiguous())
        both(torch, lambda a, b: a.mT @ b.mT, x, y, scale=100, grads=False)


def test_matmul_of_views(hotaru, cuda):
    torch = hotaru
    torch.manual_seed(5)
    x, y = draw(torch, 12, 24, 9), draw(torch, 9, 24, 12)
    for f in (
        lambda a, b: a[::2, :, 1:] @ b[0, :8, ::2],
        lambda a, b: a.transpose(1, 2) @ b.permute(2, 1, 0)[:, :, :3],
        lambda a, b: a[:1].expand(3, 24, 9) @ b[:, :5, 0],
        lambda a, b: torch.bmm(a[:9], b[:, :9]),
        lambda a, b: torch.einsum("ijk,kjl->il", a, b),
        lambda a, b: torch.mv(a[0], b[:, 0, 0]),
    ):
        both(torch, f, x, y, scale=10)


def test_addmm(hotaru, cuda):
    torch = hotaru
    torch.manual_seed(6)
    x, y = draw(torch, 6, 9), draw(torch, 9, 5)
    for shape in ((6, 5), (5,), (6, 1), (1,)):
        c = draw(torch, *shape)
        both(torch, torch.addmm, c, x, y, scale=10)
        both(
            torch,
            lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=-2),
            c,
            x,
            y,
            scale=10,
        )
    nothing = torch.full((6, 5), math.nan)
    both(
        torch, lambda c, x, y: torch.addmm(c, x, y, beta=0), nothing, x, y, grads=False
    )
    b = draw(torch, 4, 6, 5)
    both(
        torch,
        lambda b, x, y: torch.baddbmm(b, x.expand(4, 6, 9), y.expand(4, 9, 5), alpha=3),
        b,
        x,
        y,
        scale=20,
    )


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8"])
def test_matmul_of_integers(hotaru, cuda, dtype):
    torch = hotaru
    torch.manual_seed(7)
    kind = getattr(torch, dtype)
    x = torch.randint(0, 100, (2, 7, 5)).to(kind)
    y = torch.randint(0, 100, (2, 5, 3)).to(kind)
    both(torch, torch.matmul, x, y)
    both(torch, lambda x, y: torch.addmm(y[0, 1], x[1], y[1], alpha=2, beta=3), x, y)


def test_matmul_of_nothing(hotaru, cuda):
    torch = hotaru
    for a, b in (
        ((0, 3), (3, 2)),
        ((2, 0), (0, 3)),
        ((2, 3), (3, 0)),
        ((0, 2, 3), (0, 3, 1)),
    ):
        both(torch, torch.matmul, torch.ones(a), torch.ones(b))
    both(torch, torch.addmm, torch.ones(3), torch.ones(2, 0), torch.ones(0, 3))


def test_matmul_gives_the_same_bits(hotaru, cuda):
    torch = hotaru
    torch.manual_seed(8)
    x, y = draw(torch, 40, 3000).cuda(), draw(torch, 3000, 50).cuda()
    assert torch.equal(x @ y, x @ y)


def test_linear_layer(hotaru, cuda):
    """The layer that PyTorch's users print first on a GPU."""
    torch = hotaru
    torch.manual_seed(0)
    layer = torch.nn.Linear(2, 2).to("cuda")
    out = layer(torch.tensor([0.1, 0.2], device="cuda"))
    assert "[-0.1970,  0.0273]" in str(out)
    assert "device='cuda:0'" in str(out)


def test_train_linear(hotaru, cuda):
    torch = hotaru
    torch.manual_seed(9)
    x, w, b = draw(torch, 20, 33), draw(torch, 65, 33), draw(torch, 65)
    for f in (torch.relu, torch.sigmoid, torch.tanh, torch.nn.functional.gelu):
        both(
            torch,
            lambda x, w, b, f=f: f(torch.nn.functional.linear(x, w, b)),
            x,
            w,
            b,
            scale=20,
        )


# --- normalisation -----------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_layer_norm(hotaru, cuda, dtype):
    torch = hotaru
    torch.manual_seed(10)
    for rows, columns in ((3, 7), (1, 1), (5, 64), (40, 33), (2, 4100), (2, 9000)):
        x = draw(torch, rows, columns, dtype=dtype) * 3 + 1
        w, b = (draw(torch, columns, dtype=dtype), draw(torch, columns, dtype=dtype))
        if columns > 1:
            both(
                torch,
                lambda x, w, b: torch.layer_norm(x, w.shape, w, b),
                x,
                w,
                b,
                scale=20,
            )
        both(torch, lambda x: torch.layer_norm(x, x.shape[1:], eps=1e-3), x, scale=20)


def test_layer_norm_of_many_rows(hotaru, cuda):
    torch = hotaru
    torch.manual_seed(11)
    x, w, b = draw(torch, 5, 700, 6), draw(torch, 6), draw(torch, 6)
    f = torch.layer_norm
    both(torch, lambda x, w, b: f(x, (6,), w, b), x, w, b, scale=20)
    x = x + 1000  # the mean is large beside the deviation
    both(torch, lambda x: f(x, (700, 6), eps=0), x, scale=100, grads=False)


def test_layer_norm_of_nothing(hotaru, cuda):
    torch = hotaru
    for shape, last in (((0, 3), (3,)), ((2, 0), (0,))):
        out = torch.layer_norm(torch.ones(shape, device="cuda"), last)
        assert out.shape == shape


@pytest.mark.parametrize("dtype", FLOATS)
def test_group_norm(hotaru, cuda, dtype):
    torch = hotaru
    torch.manual_seed(12)
    for shape, groups in (((2, 6, 5), 3), ((3, 4, 2, 3), 4), ((2, 8, 400), 2)):
        x = draw(torch, *shape, dtype=dtype)
        w = draw(torch, shape[1], dtype=dtype)
        both(
            torch,
            lambda x, w, b, groups=groups: torch.group_norm(x, groups, w, b),
            x,
            w,
            w * 2,
            scale=30,
        )
        both(torch, lambda x: torch.nn.functional.instance_norm(x), x, scale=30)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(hotaru, cuda, dtype, training):
    torch = hotaru
    torch.manual_seed(13)
    for shape in ((9, 5), (4, 3, 7), (3, 5, 4, 6), (700, 40), (2, 3, 5000)):
        x = draw(torch, *shape, dtype=dtype) * 2 + 1
        w = draw(torch, shape[1], dtype=dtype)

        def f(x, w, b):
            mean = torch.zeros(x.shape[1], dtype=x.dtype, device=x.device)
            var = torch.ones_like(mean) * 2
            out = torch.batch_norm(x, w, b, mean, var, training, 0.3, 1e-5, False)
            # Running values have no gradients and are compared by their sum.
            return out + (mean + var).reshape([-1] + [1] * (x.dim() - 2))

        both(torch, f, x, w, w * 2, scale=40)


def test_batch_norm_of_mixed_dtypes(hotaru, cuda):
    """16-bit elements beside parameters of 32 bits."""
    torch = hotaru
    torch.manual_seed(14)
    x, w = draw(torch, 6, 4, 10, dtype="float16"), draw(torch, 4)
    both(
        torch,
        lambda x, w: torch.batch_norm(
            x, w, w, torch.zeros_like(w), torch.ones_like(w), True, 0.1, 1e-5, False
        ),
        x,
        w,
        scale=5,
    )
    both(torch, lambda x, w: torch.group_norm(x, 2, w, w), x, w, scale=5)


def test_rms_norm(hotaru, cuda):
    torch = hotaru
    torch.manual_seed(15)
    if not hasattr(torch.nn.functional, "rms_norm"):
        pytest.skip("no rms_norm")
    x, w = draw(torch, 5, 33), draw(torch, 33)
    both(torch, lambda x, w: torch.nn.functional.rms_norm(x, (33,), w), x, w, scale=10)
