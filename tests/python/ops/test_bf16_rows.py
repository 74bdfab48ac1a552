"""Few rows of bfloat16 times matrices of long rows, which are not packed."""

import pytest

import hotaru as torch


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_products_of_few_rows(m):
    torch.manual_seed(m)
    for n in (1, 2, 15, 16, 63, 65, 130):
        for k in (1, 2, 3, 64, 257):
            a = torch.randn(m, k).bfloat16()
            wide = torch.randn(k, n + 7).bfloat16()
            for b in (wide[:, :n], wide[:, 5 : n + 5], wide[:, :n].clone()):
                want = a.double() @ b.double()
                sizes = a.double().abs() @ b.double().abs()
                got = a @ b
                assert got.dtype == torch.bfloat16
                # One rounding of the result, and sums of floats.
                limit = 2.0**-8 * want.abs() + k * 2.0**-23 * sizes
                assert ((got.double() - want).abs() <= limit).all()


def test_bias_alpha_and_batches():
    a, b = torch.randn(5, 1, 40).bfloat16(), torch.randn(5, 40, 64).bfloat16()
    for i, got in enumerate(a @ b):
        assert torch.equal(got, a[i] @ b[i])
    c = torch.randn(64).bfloat16()
    got = torch.addmm(c, a[0], b[0], beta=1, alpha=2)
    want = 2 * (a[0].double() @ b[0].double()) + c.double()
    assert torch.allclose(got.double(), want, rtol=2.0**-7, atol=2.0**-7)


def test_threads_change_nothing():
    a, b = torch.randn(2, 700).bfloat16(), torch.randn(700, 1100).bfloat16()
    want, saved = a @ b, torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            assert torch.equal(a @ b, want)
    finally:
        torch.set_num_threads(saved)
