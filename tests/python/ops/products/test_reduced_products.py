"""Products of 16-bit floats: results are rounded once, sums are floats."""

import os
import subprocess
import sys

import pytest
from simd_choice import needs_simd

import hotaru as torch

HALF_UNIT = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
DTYPES = sorted(HALF_UNIT, key=str)


def check(got, a, b, bias=0.0):
    """One rounding of the result, and sums of floats."""
    want = a.double() @ b.double() + bias
    sizes = a.double().abs() @ b.double().abs() + abs(bias)
    assert got.dtype == a.dtype
    # Numbers below float16's normal ones are 2**-24 apart.
    limit = HALF_UNIT[a.dtype] * (1 + 2.0**-9) * want.abs() + 2.0**-25
    limit = limit + a.shape[1] * 2.0**-23 * sizes
    assert ((got.double() - want).abs() <= limit).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 9, 40])
def test_products_in_every_layout(m, dtype):
    torch.manual_seed(m)
    for n in (1, 2, 15, 16, 63, 65, 130):
        for k in (1, 2, 3, 64, 257):
            a = torch.randn(m, k).to(dtype)
            wide = torch.randn(k, n + 7).to(dtype)
            long = torch.randn(n, k + 5).to(dtype)
            for b in (
                wide[:, :n],
                wide[:, 5 : n + 5],
                wide[:, :n].clone(),
                long[:, :k].t(),
                long[:, 3 : k + 3].t(),
                torch.randn(k, n, 2).to(dtype)[..., 1],
            ):
                check(a @ b, a, b)
                check(a.t().clone().t() @ b, a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bias_alpha_and_batches(dtype):
    a, b = torch.randn(5, 1, 40).to(dtype), torch.randn(5, 40, 64).to(dtype)
    for i, got in enumerate(a @ b):
        assert torch.equal(got, a[i] @ b[i])
    c = torch.randn(64).to(dtype)
    got = torch.addmm(c, a[0], b[0], beta=1, alpha=2)
    want = 2 * (a[0].double() @ b[0].double()) + c.double()
    assert torch.allclose(got.double(), want, rtol=2.0**-7, atol=2.0**-7)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [2, 50])
def test_threads_change_nothing(m, dtype):
    a, b = torch.randn(m, 700).to(dtype), torch.randn(700, 1100).to(dtype)
    columns = b.t().clone().t()
    want, saved = (a @ b, a @ columns), torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            assert torch.equal(a @ b, want[0])
            assert torch.equal(a @ columns, want[1])
    finally:
        torch.set_num_threads(saved)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m", [1, 3, 4, 70])
def test_graphs_pack_weights_and_round_once(m, dtype):
    torch.manual_seed(m)
    for n, k in ((33, 1), (64, 70), (130, 257), (40, 600)):
        layer = torch.nn.Linear(k, n, bias=False).to(dtype)
        x = torch.randn(m, k).to(dtype)
        more = torch.randn(m, n).to(dtype)
        graph = torch.cpu.Graph()
        with torch.no_grad(), torch.cpu.graph(graph):
            plain = layer(x)
            rest = layer(x) * 0.5 + more
            above = torch.relu(layer(x) + 0.25)
        for _ in range(2):
            graph.replay()
            w = layer.weight.detach().t()
            check(plain, x, w)
            want = (x.double() @ w.double()) * 0.5 + more.double()
            unit = HALF_UNIT[dtype]
            assert ((rest.double() - want).abs() <= unit * (3 + want.abs())).all()
            assert (above >= 0).all()
            assert (above > 0).any()
            with torch.no_grad():
                layer.weight.mul_(-2)  # packed anew


def test_autocast_rounds_weights_once():
    layer = torch.nn.Linear(96, 80)
    x = torch.randn(5, 96)
    graph = torch.cpu.Graph()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        want = layer(x)
        with torch.cpu.graph(graph):
            y = layer(x)
    for _ in range(2):
        graph.replay()
        assert torch.allclose(y.float(), want.float(), rtol=2.0**-7, atol=2.0**-8)
        with torch.no_grad():
            layer.weight.neg_()
            layer.bias.neg_()
        want = -want


@pytest.mark.parametrize("simd", ["baseline", "avx2", "avx512"])
def test_infinity_stays_whatever_the_instructions(simd):
    """Runs of float16 become floats by vectors that not all know infinity."""
    needs_simd(simd)
    program = (
        "import hotaru as torch\n"
        "x = torch.ones(2, 40).half()\n"
        "x[0, 3], x[1, 5] = torch.inf, torch.nan\n"
        "y = x @ torch.ones(40, 40).half()\n"
        "assert (y[0] == torch.inf).all() and y[1].isnan().all(), y\n"
    )
    environment = {**os.environ, "HOTARU_SIMD": simd}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
