"""Fourier transforms by cuFFT, where our own kernel would take several passes.

A stand-in takes the library's place (`HOTARU_CUDA_LIBRARIES=soft`): it insists
on steps, types, alignment and rooms, writes over what it makes real numbers of,
and gives NaN for imaginary parts that should be 0.
"""

from stand_ins import passes_with

# 2,048 floats and 1,024 doubles fit into a block; 67 is too large a factor for
# a pass of its own.
PRELUDE = """
F = torch.fft
plans = library.hotaru_softgpu_fft_plans
torch.manual_seed(3)


def check(count, f, x, **how):
    kept = x.cuda()
    got, found = counted(lambda: f(kept, **how))
    assert found == count, (found, count)
    assert kept.cpu().equal(x), "the source was written to"
    want = f(x.to(torch.complex128 if x.is_complex() else torch.float64), **how)
    assert got.shape == want.shape
    # Each output is a sum of n numbers times roots; FFTs' errors are below
    # 4 log2(n) eps of its norm (N. Higham, Accuracy and stability, 24.1).
    far = (got.cpu() - want).abs().max() / want.abs().max()
    assert far <= 60 * torch.finfo(got.dtype).eps, (far, got.dtype)


def made(dtype, *shape):
    x = torch.randn(*shape, dtype=torch.float64)
    if dtype.is_complex:
        x = torch.complex(x, torch.randn(*shape, dtype=torch.float64))
    return x.to(dtype)


real = (torch.float32, torch.float64)
complex = (torch.complex64, torch.complex128)
"""


passes = passes_with("cuFFT", PRELUDE)


def test_transforms_of_complex_lines(passes):
    passes("""
for dtype in complex:
    for n in (2 * 67, 71, 3000):
        x = made(dtype, 3, n)
        for norm in ("backward", "forward", "ortho"):
            check(1, F.fft, x, norm=norm)
            check(1, F.ifft, x, norm=norm)
        check(1, F.fft, x[1])
        check(1, F.fft, x.mT.contiguous(), dim=0)
        check(1, F.ifft, made(dtype, 2, n, 3)[..., 1], dim=1)
""")


def test_transforms_of_and_to_real_lines(passes):
    passes("""
for dtype in real:
    for n in (2 * 67, 71, 3000, 3125):
        for norm in ("backward", "ortho"):
            check(1, F.rfft, made(dtype, 3, n), norm=norm)
            # Imaginary parts of the first and the last number do not count.
            half = made(dtype.to_complex(), 3, n // 2 + 1)
            check(1, F.irfft, half, n=n, norm=norm)
            check(1, F.hfft, half, n=n, norm=norm)
            # All points: the library's half, and its conjugates.
            check(1, F.fft, made(dtype, 3, n), norm=norm)
        check(1, F.rfft, made(dtype, n, 3), dim=0)
        check(1, F.fft, made(dtype, n, 3), dim=0)
        check(1, F.irfft, made(dtype.to_complex(), n // 2 + 1, 3), n=n, dim=0)
        check(1, F.ihfft, made(dtype, 3, n))
""")


def test_what_is_outside_of_a_batch(passes):
    passes("""
for dtype in complex:
    x = made(dtype, 3, 71, 4)
    check(3, F.fft, x, dim=1)  # a call for each of the three
    check(3, F.ifft, x, dim=1)
    check(0, F.fft, made(dtype, 9, 71, 10), dim=1)  # nine would be many
    check(3 + 1, F.fftn, made(dtype, 3, 71, 73), dim=(1, 2))
    check(3, F.irfft, made(dtype, 3, 36, 4), n=71, dim=1)
for dtype in real:
    check(3, F.rfft, made(dtype, 3, 72, 4)[:, :71], dim=1)
    check(3, F.fft, made(dtype, 3, 72, 4)[:, :71], dim=1)
x = made(torch.complex64, 4, 71)
check(1, F.fft, x[::2])
y = x.cuda()
z = torch.fft.fft(y.expand(2, 4, 71))
assert z[0].equal(z[1])
""")


def test_what_it_cannot_take_is_our_own(passes):
    passes("""
x = made(torch.complex64, 3, 142)
check(0, F.fft, x[:, ::71].expand(3, 2))  # in a block
check(0, F.fft, made(torch.complex64, 2, 2048))
check(1, F.fft, made(torch.complex128, 2, 2048))
check(0, F.rfft, made(torch.float32, 400))
odd = made(torch.float32, 3 * 71 + 1).cuda()[1:]  # begins where no pair does
before = calls()
got = F.rfft(odd.view(3, 71))
torch.cuda.synchronize()
assert calls() == before
assert (got.cpu() - F.rfft(odd.cpu().view(3, 71))).abs().max() < 1e-4
for shape in ((0, 71), (71, 0)):
    x = torch.zeros(*shape, dtype=torch.complex64)
    assert F.fft(x.cuda(), dim=shape.index(71)).shape == shape
""")


def test_plans_are_kept_and_bounded(passes):
    passes("""
lengths = [n for n in range(67, 700) if n % 67 == 0 or n % 71 == 0][:15]
for n in lengths:
    for batch in range(1, 6):
        F.fft(torch.ones(batch, n, dtype=torch.complex64, device="cuda"))
torch.cuda.synchronize()
assert len(lengths) * 5 > 64 and plans() == 64, plans()
before = plans()
for _ in range(3):
    check(1, F.fft, torch.ones(5, lengths[-1], dtype=torch.complex64))
assert plans() == before
""")


def test_how_many_plans_are_kept_can_be_said(passes):
    passes("""
cache = torch.backends.cuda.cufft_plan_cache
assert (cache.size, cache.max_size, cache[0].max_size) == (0, 64, 64)
lines = [torch.randn(67 * n, device="cuda") for n in range(1, 6)]
for x in lines:
    F.fft(x.to(torch.complex64))
assert (cache.size, plans()) == (5, 5)
F.fft(lines[0].to(torch.complex64))
cache.max_size = 2  # those that were used last
assert (cache.size, cache["cuda:0"].size, plans()) == (2, 2, 2)
for n, kept in ((0, 2), (4, 2), (3, 2)):
    F.fft(lines[n].to(torch.complex64))
    assert (cache.size, plans()) == (kept, 2)
cache.clear()
assert (cache.size, cache.max_size, plans()) == (0, 2, 0)
cache.max_size = 0
check(1, F.fft, made(torch.complex64, 67))
cache[0].max_size = 3
for set_to, name, text in (
    (-1, "max_size", "must be non-negative, but got -1"),
    (5, "size", ".size is a read-only property"),
):
    try:
        setattr(cache, name, set_to)
    except RuntimeError as error:
        assert text in str(error), error
    else:
        raise AssertionError(name)
try:
    cache[7]
except RuntimeError as error:
    count = torch.cuda.device_count()
    assert f"expected 0 <= device index < {count}," in str(error)
else:
    raise AssertionError
""")


def test_gradients_go_through_the_librarys_transforms(passes):
    passes("""
for f, x in ((F.rfft, made(torch.float64, 2, 71)),
             (lambda x: F.irfft(x, 71), made(torch.complex128, 2, 36)),
             (F.ifft, made(torch.complex128, 2, 71))):
    grads = []
    for place in ("cpu", "cuda"):
        leaf = x.to(place, copy=True).requires_grad_()
        (f(leaf) * torch.arange(f(leaf).size(-1), device=place)).abs(
        ).square().sum().backward()
        grads.append(leaf.grad.cpu())
    far = (grads[1] - grads[0]).abs().max() / grads[0].abs().max()
    assert far < 1e-12, far
""")
