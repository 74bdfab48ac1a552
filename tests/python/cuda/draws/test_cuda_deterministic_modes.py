"""`use_deterministic_algorithms` on CUDA: what it refuses, and new memory."""

from __future__ import annotations

import warnings

import pytest
from hotaru.nn import functional as F

import hotaru as torch

DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.complex128,
    torch.int64,
    torch.uint8,
    torch.int8,
    torch.bool,
]

# --- what has no order -------------------------------------------------------


def grid_sample(dims):
    x = torch.randn(1, 1, *[4] * dims)
    grid = torch.rand(1, *[3] * dims, dims)
    return lambda x: F.grid_sample(x, grid.to(x), align_corners=False), x


def operator(name):
    """The registry's, which autograd knows."""
    return torch._C._operator(f"torchvision::{name}")


def of_regions(name, *sizes):
    rois = torch.tensor([[0.0, 1, 1, 6, 6]])
    x = torch.randn(1, 8, 8, 8)

    def f(x):
        out = operator(name)(x, rois.to(x), 0.5, 2, 2, *sizes)
        return out if isinstance(out, torch.Tensor) else out[0]

    return f, x


def deform():
    weight, offset = torch.randn(2, 3, 3, 3), torch.randn(1, 18, 6, 6)
    mask, bias = torch.ones(1, 9, 6, 6), torch.zeros(2)
    return lambda x: operator("deform_conv2d")(
        x,
        weight.to(x),
        offset.to(x),
        mask.to(x),
        bias.to(x),
        1,
        1,
        0,
        0,
        1,
        1,
        1,
        1,
        True,
    ), torch.randn(1, 3, 8, 8)


REFUSED = {
    "grid_sampler_2d_backward_cuda": lambda: grid_sample(2),
    "grid_sampler_3d_backward_cuda": lambda: grid_sample(3),
    "roi_align_backward_kernel": lambda: of_regions("roi_align", 2, False),
    "ps_roi_align_backward_kernel": lambda: of_regions("ps_roi_align", 2),
    "roi_pool_backward_kernel": lambda: of_regions("roi_pool"),
    "ps_roi_pool_backward_kernel": lambda: of_regions("ps_roi_pool"),
    "compute_grad_input": deform,
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(deterministic, name):
    f, x = REFUSED[name]()

    def gradient(device):
        leaf = x.detach().to(device).requires_grad_()
        return torch.autograd.grad(f(leaf).sum(), leaf)[0]

    torch.use_deterministic_algorithms(True)
    want = gradient("cpu")
    with pytest.raises(RuntimeError) as error:
        gradient("cuda")
    assert str(error.value).startswith(
        f"{name} does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'. You can turn off "
        "determinism just for this operation, or you can use the "
        "'warn_only=True' option"
    )
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(
        UserWarning,
        match=f"^{name} does not have a determ.*"
        r"\(True, warn_only=True\)'",
    ):
        got = gradient("cuda")
    assert torch.allclose(got.cpu(), want, atol=1e-5)
    torch.use_deterministic_algorithms(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient("cuda")


def test_the_gradient_of_a_grid_alone_has_an_order(deterministic):
    x = torch.randn(1, 2, 4, 4)
    grid = torch.rand(1, 3, 3, 2).cuda().requires_grad_()
    out = F.grid_sample(x.cuda(), grid, align_corners=False)
    torch.autograd.grad(out.sum(), grid)


def test_refused_on_every_device(deterministic, cuda):
    for device in ("cpu", cuda):
        x = torch.zeros(4, device=device)
        at = torch.tensor([1, 1], device=device)
        with pytest.raises(RuntimeError, match=r"^put_ does not have"):
            x.put_(at, torch.ones(2, device=device))
        with pytest.raises(RuntimeError, match=r"^max_unpooling2d_forward_out"):
            F.max_unpool2d(
                torch.zeros(1, 1, 1, device=device),
                torch.zeros(1, 1, 1, dtype=torch.int64, device=device),
                2,
            )


# --- memory and modes --------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_new_memory_is_filled(deterministic, cuda, dtype):
    x = torch.zeros(3, 4, dtype=dtype, device=cuda)
    made = [
        torch.empty(3, 4, dtype=dtype, device=cuda),
        torch.empty_like(x),
        x.new_empty(5),
        torch.empty_strided((3, 2), (1, 5), dtype=dtype, device=cuda),
        torch.empty_permuted((2, 3), (1, 0), dtype=dtype, device=cuda),
    ]
    kept = x.resize_(40)
    assert not kept[:12].any()
    for filled in (*made, kept[12:]):
        if dtype.is_floating_point or dtype.is_complex:
            assert filled.isnan().all()
        elif dtype == torch.bool:
            assert filled.all()
        else:
            assert (filled == torch.iinfo(dtype).max).all()


def test_memory_is_left_alone_when_told(deterministic, cuda):
    torch.utils.deterministic.fill_uninitialized_memory = False
    highest = torch.iinfo(torch.int32).max
    kept = torch.full((1000,), 7, dtype=torch.int32, device=cuda)
    address = kept.data_ptr()
    del kept
    again = torch.empty(1000, dtype=torch.int32, device=cuda)
    assert again.data_ptr() == address
    assert (again != highest).all()


def test_debug_modes(deterministic):
    f, x = grid_sample(2)

    def gradient():
        leaf = x.cuda().requires_grad_()
        torch.autograd.grad(f(leaf).sum(), leaf)

    torch.set_deterministic_debug_mode("error")
    assert torch.get_deterministic_debug_mode() == 2
    with pytest.raises(RuntimeError, match="grid_sampler_2d_backward_cuda"):
        gradient()
    torch.set_deterministic_debug_mode(1)
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    with pytest.warns(UserWarning, match="grid_sampler_2d_backward_cuda"):
        gradient()
    torch.set_deterministic_debug_mode("default")
    assert not torch.are_deterministic_algorithms_enabled()
    gradient()
