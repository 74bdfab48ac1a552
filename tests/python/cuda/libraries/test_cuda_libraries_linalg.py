"""Factorisations of large matrices by cuSOLVER: what they promise is what our
own kernels promise.

Stand-ins take the library's place (`HOTARU_CUDA_LIBRARIES=soft`): they compute
in double and insist on sizes, rooms and types.
"""

import os
import subprocess
import sys

from stand_ins import passes_with

PRELUDE = """
L = torch.linalg
torch.manual_seed(3)
names = "float32 float64 complex64 complex128".split()


def eps(x):
    return torch.finfo(x.dtype).eps


def near(x, y, size):
    # Backward errors are some n eps of the largest number (N. Higham, Accuracy
    # and stability, 19.3 and 28.6); n is at most 160 here.
    assert x.shape == y.shape and x.dtype == y.dtype, (x.shape, y.shape)
    assert float((x - y).abs().max()) <= size * 160 * eps(y)


def of_library(count, f):
    out, found = counted(f)
    assert found == count, (found, count)
    return tuple(t.cpu() for t in out) if isinstance(out, tuple) else out.cpu()


def made(name, *shape):
    # The transposed of a part: neither rows nor columns are neighbours.
    big = torch.randn(*shape[:-2], shape[-1] + 3, 2 * shape[-2])
    if name.startswith("complex"):
        big = torch.complex(big, torch.randn(big.shape))
    x = big.to(getattr(torch, name))[..., 3:, ::2].mT
    assert x.shape == shape and not x.is_contiguous()
    return x
"""


passes = passes_with("cuSOLVER", PRELUDE)


def test_qr(passes):
    passes("""
for name in names:
    for shape in ((2, 130, 150), (150, 130), (1, 140, 140)):
        a = made(name, *shape)
        size, most = float(a.abs().max()), max(shape[-2:])
        batch = 2 if shape[0] == 2 else 1
        for mode in ("reduced", "complete"):
            # Reflections, then their product, of each matrix.
            q, r = of_library(2 * batch, lambda: L.qr(a.cuda(), mode=mode))
            near(q @ r, a, size * 15)
            near(q.mH @ q, torch.eye(q.size(-1), dtype=a.dtype).expand(
                q.mH.shape[:-1] + q.shape[-1:]), 1)
            assert r.tril(-1).count_nonzero() == 0
            near(r, L.qr(a, mode=mode)[1], size * 15 * 15)  # LAPACK's signs
        packed, tau = of_library(batch, lambda: torch.geqrf(a.cuda()))
        near(packed, torch.geqrf(a)[0], size * 15 * 15)
        near(tau, torch.geqrf(a)[1], 15)
        tall = packed[..., : min(shape[-2:])]
        got = of_library(
            batch, lambda: L.householder_product(tall.cuda(), tau.cuda()))
        near(got, L.householder_product(tall, tau), 1)
        few = tau[..., :5]
        got = of_library(
            batch, lambda: L.householder_product(tall.cuda(), few.cuda()))
        near(got, L.householder_product(tall, few), 1)
""")


def test_lu_and_what_solves_with_it(passes):
    passes("""
for name in names:
    for shape in ((2, 130, 150), (150, 130), (1, 140, 140)):
        a = made(name, *shape)
        batch = 2 if shape[0] == 2 else 1
        lu, pivots, info = of_library(
            batch, lambda: L.lu_factor_ex(a.cuda()))
        want, rows, _ = L.lu_factor_ex(a)
        assert pivots.dtype == torch.int32 and pivots.equal(rows)
        assert info.count_nonzero() == 0 and info.dtype == torch.int32
        P, low, up = torch.lu_unpack(lu, pivots)
        near(P @ low @ up, a, 30)
    a, b = made(name, 2, 140, 140), made(name, 2, 140, 3)
    A, B = a.cuda(), b.cuda()
    x = of_library(2, lambda: L.solve(A, B))
    near(a @ x, b, 15 * float(x.abs().max()))
    sign, log = of_library(2, lambda: L.slogdet(A))
    near(sign, L.slogdet(a)[0], 15)
    near(log, L.slogdet(a)[1], 400)
    # Without exchanges it is our own kernel, whose pivots say so.
    good = a[0] + 100 * torch.eye(140, dtype=a.dtype)
    lu, pivots = of_library(0, lambda: L.lu_factor(good.cuda(), pivot=False))
    assert pivots.tolist() == list(range(1, 141))
""")


def test_cholesky(passes):
    passes("""
for name in names:
    a = made(name, 3, 140, 140)
    a = a @ a.mH + torch.eye(140, dtype=a.dtype)
    size = float(a.abs().max())
    low = of_library(3, lambda: L.cholesky(a.cuda()))
    near(low @ low.mH, a, size)
    assert low.triu(1).count_nonzero() == 0
    up = of_library(3, lambda: L.cholesky(a.cuda(), upper=True))
    near(up, low.mH, size)
    # Only the lower triangle is read.
    spoiled = a.tril() + torch.full_like(a, float("nan")).triu(1)
    assert of_library(3, lambda: L.cholesky(spoiled.cuda())).equal(low)
""")


def test_eigenvalues_of_hermitian_matrices(passes):
    passes("""
for name in names:
    a = made(name, 2, 140, 140)
    a = a + a.mH
    size = float(a.abs().max()) * 15
    for triangle in "LU":
        half = a.tril() if triangle == "L" else a.triu()
        w, v = of_library(2, lambda: L.eigh(half.cuda(), triangle))
        near(w, L.eigvalsh(a), size)
        assert (w[..., 1:] >= w[..., :-1]).all()
        near(a @ v, v * w[..., None, :], size)
        near(v.mH @ v, torch.eye(140, dtype=a.dtype).expand(a.shape), 1)
        got = of_library(2, lambda: L.eigvalsh(half.cuda(), triangle))
        near(got, w, size)
""")


def test_singular_values(passes):
    passes("""
for name in names:
    for shape in ((2, 130, 150), (150, 130), (1, 140, 140), (300, 130)):
        a = made(name, *shape)
        a[..., :, 7] = a[..., :, 8]  # the least one is 0
        a[..., 7, :] = a[..., 8, :]
        batch = 2 if shape[0] == 2 else 1
        k, size = min(shape[-2:]), 2 * L.matrix_norm(a, 2).max().item()
        want = L.svdvals(a)
        for full in (False, True):
            u, s, vh = of_library(batch, lambda: L.svd(a.cuda(), full))
            near(s, want, size)
            assert (s[..., 1:] <= s[..., :-1]).all() and (s >= 0).all()
            near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, size)
            for x in (u.mH @ u, vh @ vh.mH):
                near(x, torch.eye(x.size(-1), dtype=a.dtype).expand(x.shape), 1)
            assert u.size(-1) == (shape[-2] if full else k)
            assert vh.size(-2) == (shape[-1] if full else k)
        near(of_library(batch, lambda: L.svdvals(a.cuda())), want, size)
""")


def test_eigenvalues_of_any_matrix(passes):
    passes("""
for name in names:
    a = made(name, 2, 140, 140)
    size = 15 * float(a.abs().max())
    w, v = of_library(2, lambda: L.eig(a.cuda()))
    near(a.to(v.dtype) @ v, v * w[..., None, :], size)
    near(v.abs().square().sum(-2), torch.ones_like(w).abs(), 1)
    near(w.sum(-1), a.to(w.dtype).diagonal(dim1=-2, dim2=-1).sum(-1), size)
    assert of_library(2, lambda: L.eigvals(a.cuda())).equal(w)
    if not a.is_complex():  # pairs are pairs to the bit
        def sorted_parts(x):
            return sorted(map(lambda z: (z.real, z.imag), x.tolist()))
        assert sorted_parts(w[0]) == sorted_parts(w[0].conj())
        assert (w.imag == 0).any() and (w.imag != 0).any()
        assert (v.imag.abs().sum(-2)[w.imag == 0] == 0).all()
""")


def test_matrices_that_fail(passes):
    # Infos and texts are those of our own kernels, the CPU's.
    passes("""
def text(f):
    try:
        f()
        torch.cuda.synchronize()
    except RuntimeError as error:
        return type(error).__name__, str(error)
    return None

a = torch.randn(2, 130, 130, dtype=torch.float64)
singular, indefinite = a.clone(), a @ a.mT + torch.eye(130, dtype=a.dtype)
singular[1, :, 40] = 0
singular[1, 40, :] = 0
indefinite[1, 77, 77] = -1
nan, inf = a + a.mT, a.clone()
nan[1, 70, 3] = float("nan")
inf[0, 70, 3] = float("inf")
info = of_library(2, lambda: L.lu_factor_ex(singular.cuda()).info)
assert info.equal(L.lu_factor_ex(singular).info) and info[1] > 0
info = of_library(2, lambda: L.cholesky_ex(indefinite.cuda()).info)
assert info.tolist() == [0, 78]
for f, x in (
    (L.lu_factor, singular), (L.inv, singular), (L.cholesky, indefinite),
    (L.eigh, nan), (L.eigvalsh, nan), (L.svd, nan), (L.svdvals, inf),
    (L.eig, inf), (L.eigvals, nan),
):
    on_cpu, on_gpu = text(lambda: f(x)), text(lambda: f(x.cuda()))
    assert on_cpu and on_gpu[0] == on_cpu[0], (f, on_cpu, on_gpu)
    assert on_gpu[1].startswith(on_cpu[1]), (f, on_cpu, on_gpu)
""")


def test_what_the_library_fails_at_is_our_own(passes):
    # The stand-in does not converge for what begins with this number.
    passes("""
a = torch.randn(2, 130, 130, dtype=torch.float64)
a[1, 0, 0] = 12345
h = a + a.mT
h[1, 0, 0] = 12345
w, v = of_library(2, lambda: L.eigh(h.cuda()))
near(w, L.eigvalsh(h), 12345)
near(h @ v, v * w[..., None, :], 12345)
u, s, vh = of_library(2, lambda: L.svd(a.cuda()))
near(s, L.svdvals(a), 12345)
near((u * s[..., None, :]) @ vh, a, 2 * 12345)
w, v = of_library(2, lambda: L.eig(a.cuda()))
near(a.to(v.dtype) @ v, v * w[..., None, :], 12345)
""")


def test_small_and_many_matrices_are_our_own(passes):
    passes("""
small = torch.randn(127, 400)
A = small.cuda()
near(of_library(0, lambda: torch.geqrf(A)[0]), torch.geqrf(small)[0], 4000)
small = torch.randn(2, 30, 30)
A = small.cuda()
for f in (L.qr, L.svd, L.eigh, L.eig, L.lu_factor):
    of_library(0, lambda: f(A))
many = torch.randn(9, 128, 128)
of_library(0, lambda: L.lu_factor(many.cuda()))
of_library(8, lambda: L.lu_factor(many[:8].cuda()))
for shape in ((0, 200, 200), (2, 0, 200), (200, 0), (0, 0)):
    a = torch.zeros(shape)
    for f in (L.qr, L.svd, L.lu_factor):
        got = of_library(0, lambda: tuple(f(a.cuda())))
        assert [t.shape for t in got] == [t.shape for t in f(a)]
a = torch.zeros(0, 200, 200)
assert of_library(0, lambda: tuple(L.eigh(a.cuda())))[0].shape == (0, 200)
""")


def test_gradients_go_through_the_librarys_results(passes):
    passes("""
a = torch.randn(130, 130, dtype=torch.float64)
for f in (lambda x: L.eigh(x + x.mT)[0].square().sum(), L.slogdet,
          lambda x: L.svdvals(x).square().sum(), lambda x: L.qr(x)[1].sum()):
    grads = []
    for place in ("cpu", "cuda"):
        x = a.to(place, copy=True).requires_grad_()
        y = f(x)
        (y[1] if isinstance(y, tuple) else y).backward()
        grads.append(x.grad.cpu())
    near(grads[1], grads[0], 1e4)
""")


def test_the_library_can_be_preferred(passes):
    passes("""
cuda = torch.backends.cuda
assert cuda.preferred_linalg_library("cusolver").name == "Cusolver"
assert str(cuda.preferred_linalg_library()) == "_LinalgBackend.Cusolver"
assert cuda.preferred_linalg_library("default").name == "Default"
""")


def test_a_library_that_is_not_there_is_not_preferred(cuda):
    program = """
import hotaru as torch
torch.backends.cuda.preferred_linalg_library("cusolver")
"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, HOTARU_CUDA_LIBRARIES="none"),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "Cannot set preferred backend to cuSOLVER" in ran.stderr
    assert "HOTARU_CUDA_LIBRARIES is none" in ran.stderr
