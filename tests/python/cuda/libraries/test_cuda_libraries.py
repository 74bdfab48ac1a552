"""NVIDIA's libraries: found, named, called with what they should compute.

No test here runs them: stand-ins that hold what they are given against the
libraries' rules take their place (`HOTARU_CUDA_LIBRARIES=soft`).
"""

import os
import subprocess
import sys

import pytest
from stand_ins import run_program

import hotaru as torch

PRELUDE = """
F = torch.nn.functional


def close(on_gpu, on_cpu, dtype):
    short = dtype in (torch.float16, torch.bfloat16)
    near = dict(rtol=1e-2, atol=1e-2) if short else dict(rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(on_gpu.cpu(), on_cpu, **near)
"""


@pytest.fixture
def with_libraries(cuda):
    """Runs a program whose libraries are the stand-ins."""

    def run(program, name="cuBLASLt"):
        return run_program(name, PRELUDE + program)

    return run


def test_products_are_the_librarys(with_libraries):
    ran = with_libraries("""
for name in "float32 float64 float16 bfloat16 complex64 complex128".split():
    dtype = getattr(torch, name)
    def made(*shape):
        x = torch.randn(*shape).to(dtype)
        return x, x.cuda()
    (a, A), (b, B), (c, C), (r, R) = made(5, 7), made(7, 6), made(5, 6), made(6)
    (t, T), (s, S) = made(3, 7, 5), made(3, 7, 6)
    cases = [
        lambda a, b, c, r, t, s: a @ b,
        lambda a, b, c, r, t, s: a @ b.t().contiguous().t(),
        lambda a, b, c, r, t, s: a.t().contiguous().t() @ b,
        lambda a, b, c, r, t, s: torch.addmm(c, a, b, beta=2, alpha=0.5),
        lambda a, b, c, r, t, s: torch.addmm(r, a, b),
        lambda a, b, c, r, t, s: torch.addmm(r, a[:1], b, beta=3),
        lambda a, b, c, r, t, s: a[0] @ b,
        lambda a, b, c, r, t, s: a @ b[:, :1],
        lambda a, b, c, r, t, s: a[:, 1:5] @ b[1:5, 2:],
        lambda a, b, c, r, t, s: F.linear(a, b.t(), r),
        lambda a, b, c, r, t, s: t.transpose(1, 2) @ s,
        lambda a, b, c, r, t, s: a.expand(3, 5, 7) @ s,
        lambda a, b, c, r, t, s: torch.baddbmm(c, t.mT, s, beta=0.5),
    ]
    for case in cases:
        got, count = counted(lambda: case(A, B, C, R, T, S))
        close(got, case(a, b, c, r, t, s), dtype)
        assert count == 1, (name, count)
print("good")
""")
    assert ran.stdout == "good\n", ran.stderr


def test_what_it_cannot_take_is_our_own(with_libraries):
    ran = with_libraries("""
a, b = torch.randn(8, 8), torch.randn(8, 9)
A, B, dtype = a.cuda(), b.cuda(), torch.float32
empty = lambda a, b: a[:, :0] @ b[:0]
got, count = counted(lambda: empty(A, B))
close(got, empty(a, b), dtype)
assert count == 0
i = torch.arange(12).view(3, 4)
got, count = counted(lambda: i.cuda() @ i.t().cuda())
assert got.cpu().equal(i @ i.t()) and count == 0
print("good")
""")
    assert ran.stdout == "good\n", ran.stderr


def test_what_it_cannot_read_or_end_is_done_around_it(with_libraries):
    ran = with_libraries("""
for name in "float32 float64 float16 bfloat16".split():
    dtype = getattr(torch, name)
    a, b = torch.randn(8, 8).to(dtype), torch.randn(8, 9).to(dtype)
    A, B = a.cuda(), b.cuda()
    cases = [
        lambda a, b: a[::2, ::2] @ b[::2, ::3],
        lambda a, b: a[:1, :1].expand(8, 8) @ b,
        lambda a, b: a @ b[:1, :1].expand(8, 9),
        lambda a, b: torch.addmm(b[0], a, b, beta=2, alpha=0.5),
        lambda a, b: a[None, :, ::2].expand(3, 8, 4) @ b[::2],
    ]
    for case in cases:
        got, count = counted(lambda: case(A, B))
        close(got, case(a, b), dtype)
        assert count == 1, (name, count)
    # In a graph the library's sums go through what it has no epilogue for.
    for f in (torch.tanh, torch.sigmoid, F.gelu, F.silu):
        net = lambda x, w, r: f(F.linear(x, w.mT, r))
        graph = torch.cuda.CUDAGraph()

        def made():
            with torch.no_grad(), torch.cuda.graph(graph):
                out = net(A, B, B[0])
            graph.replay()
            return out

        out, count = counted(made)
        close(out, net(a, b, b[0]), dtype)
        assert count == 1, (f, name, count)
print("good")
""")
    assert ran.stdout == "good\n", ran.stderr


@pytest.mark.parametrize(
    ("choice", "reason"),
    [("none", "HOTARU_CUDA_LIBRARIES is none"), ("", "GPU in software")],
)
def test_why_a_library_is_not_used(with_libraries, choice, reason):
    program = """
import hotaru as torch
print(torch.ones(2, 2, device="cuda") @ torch.ones(2, 2, device="cuda"))
print([l["why_not"] for l in torch._C._cuda_libraries()])
"""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=dict(os.environ, HOTARU_CUDA_LIBRARIES=choice),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not ran.stderr
    if choice or torch._C._cuda_in_software():
        assert reason in ran.stdout


def test_tf32_has_one_state_with_three_names():
    matmul = torch.backends.cuda.matmul
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high")
        assert matmul.allow_tf32
        assert matmul.fp32_precision == "tf32"
        matmul.fp32_precision = "ieee"
        with pytest.raises(RuntimeError, match="mix of the legacy and new APIs"):
            _ = matmul.allow_tf32  # two ways said two things, as in PyTorch
        matmul.allow_tf32 = True
        assert matmul.fp32_precision == "tf32"
    finally:
        torch.set_float32_matmul_precision(before)
        matmul.fp32_precision = "none"
    assert not matmul.allow_tf32


CONVOLUTIONS = """
shapes = [
    ((2, 4, 9), (6, 2, 3), dict(stride=2, padding=1, groups=2)),
    ((2, 4, 9, 8), (6, 4, 3, 2), dict(stride=(1, 2), padding=(1, 0),
                                      dilation=(2, 1))),
    ((1, 3, 5, 6, 7), (4, 3, 2, 3, 3), dict(padding=1)),
]


def convolved(dtype, shape, kernel, arguments, place):
    torch.manual_seed(1)
    made = [torch.randn(s).to(dtype) for s in (shape, kernel, kernel[:1])]
    x, w, b = (t.to(place).requires_grad_() for t in made)
    y = [F.conv1d, F.conv2d, F.conv3d][len(shape) - 3](x, w, b, **arguments)
    y.backward(torch.randn(y.shape).to(dtype).to(place))
    return y.detach(), x.grad, w.grad, b.grad
"""


def test_convolutions_are_the_librarys(with_libraries):
    ran = with_libraries(
        CONVOLUTIONS
        + """
for name in "float32 float64 float16 bfloat16".split():
    dtype = getattr(torch, name)
    for case in shapes:
        want = convolved(dtype, *case, torch.float64)
        got, count = counted(lambda: convolved(dtype, *case, "cuda"))
        # y is rounded before and after the bias is added; the bias's gradient
        # are at most 70 numbers about 1, summed in float.
        double = dtype == torch.float64
        eps = torch.finfo(dtype).eps
        atol = 1e-11 if double else 70 * 70 * 2.0**-24 + 20 * eps
        for g, w in zip(got, want):
            torch.testing.assert_close(
                g.cpu().double(), w, rtol=eps, atol=atol
            )
        assert count == 3, (name, count)
print("good")
""",
        name="cuDNN",
    )
    assert ran.stdout == "good\n", ran.stderr


def test_convolutions_of_channels_last_are_taken_as_they_lie(with_libraries):
    ran = with_libraries(
        CONVOLUTIONS
        + """
lasts = library.hotaru_softgpu_convolutions_last
lasts.restype = ctypes.c_long
torch.manual_seed(0)
for form, f in (
    (torch.channels_last, F.conv2d),
    (torch.channels_last_3d, F.conv3d),
    (torch.channels_last, F.conv_transpose2d),
):
    dims = 3 if f is F.conv3d else 2
    x = torch.randn(2, 4, *[9, 8, 7][:dims])
    w = torch.randn(4, 4, *[3, 2, 2][:dims])
    b = torch.randn(4)
    for lasting in ((0,), (1,), (0, 1)):
        for dtype in (torch.float32, torch.float16):
            made = [t.to("cuda", dtype) for t in (x, w, b)]
            for i in lasting:
                made[i] = made[i].contiguous(memory_format=form)
            before = lasts()
            leaves = [t.requires_grad_() for t in made]
            (y, *grads), count = counted(lambda: (
                y := f(*leaves, padding=1),
                *torch.autograd.grad((y * y).sum(), leaves),
            ))
            assert (count, lasts() - before) == (3, 3)
            assert y.is_contiguous(memory_format=form)
            double = [t.detach().double().cpu().requires_grad_()
                      for t in made]
            want = f(*double, padding=1)
            wants = torch.autograd.grad((want * want).sum(), double)
            for g, v in zip((y, *grads), (want, *wants)):
                torch.testing.assert_close(
                    g.detach().cpu().double(), v.detach(), rtol=0,
                    atol=8 * float(v.abs().max()) * torch.finfo(dtype).eps)
# Not of double, and not without the library.
x, w = (t.double().cuda().contiguous(memory_format=torch.channels_last)
        for t in (torch.randn(2, 4, 9, 8), torch.randn(4, 4, 3, 2)))
before = lasts()
assert F.conv2d(x, w).is_contiguous(memory_format=torch.channels_last)
with torch.backends.cudnn.flags(enabled=False):
    y = F.conv2d(x.float(), w.float())
assert y.is_contiguous(memory_format=torch.channels_last)
assert lasts() == before
print("good")
""",
        name="cuDNN",
    )
    assert ran.stdout == "good\n", ran.stderr


def test_kernels_of_convolution_are_chosen_by_what_is_permitted(with_libraries):
    ran = with_libraries(
        CONVOLUTIONS
        + """
cudnn = torch.backends.cudnn
want = convolved(torch.float32, *shapes[1], "cpu")


def counts(**flags):
    with cudnn.flags(**{"enabled": True, **flags}):
        got, first = counted(
            lambda: convolved(torch.float32, *shapes[1], "cuda"))
        close(got[0], want[0], torch.float32)
        return first, counted(
            lambda: convolved(torch.float32, *shapes[1], "cuda"))[1]


print(counts(enabled=False))
print(counts())
print(counts(benchmark=True))
print(counts(benchmark=True, allow_tf32=False, deterministic=True))
""",
        name="cuDNN",
    )
    # One of four kernels can't be made ready. Three that are left are run
    # three times each, of three operations, and each operation once more.
    assert ran.stdout.split("\n")[:4] == ["(0, 0)", "(3, 3)", "(30, 3)", "(3, 3)"], (
        ran.stderr
    )
