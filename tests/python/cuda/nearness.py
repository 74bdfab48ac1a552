"""Results on CUDA beside the CPU's, but for rounding."""

from __future__ import annotations

import os

DTYPES = ("float32", "float64", "float16", "bfloat16")
# The unit roundoff of each, and of float, in which 16 bits are summed up.
ROUNDOFF = {
    "float32": 2.0**-24,
    "float64": 2.0**-53,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
}


def name_of(dtype) -> str:
    return str(dtype).rsplit(".", 1)[-1]


def assert_near(t, got, want, terms=64, scale=None, each=False) -> None:
    """Both are sums of at most `terms` products in any order, rounded once.

    `scale` is the sum of the products' magnitudes, or the largest result. Such
    a sum is off by about sqrt(terms) * roundoff * scale (Higham and Mary, "A
    new approach to probabilistic rounding error analysis", 2019); two of them
    by twice that, which is doubled as it is no strict bound. Sums of 16 bits
    are made in float, or rounded to their dtype after each term if `each`.
    """
    assert (got.device.type, got.dtype) == ("cuda", want.dtype)
    assert got.shape == want.shape
    got = got.cpu()
    if not want.is_floating_point():
        assert got.equal(want)
        return
    if want.numel() == 0:
        return
    u = ROUNDOFF[name_of(want.dtype)]
    of_sums = u if each else min(u, ROUNDOFF["float32"])
    want, got = want.double(), got.double()
    size = scale if scale is not None else max(1, float(want.abs().max()))
    bound = 4 * terms**0.5 * of_sums * size + 2 * u * want.abs()
    if os.environ.get("HOTARU_CUDA_LIBRARIES"):
        # cuDNN's results are rounded before a bias is added, as in PyTorch.
        bound += 2 * u * size
    excess = float(((got - want).abs() - bound).max())
    assert excess <= 0, (excess, float(bound.max()))


def random(t, *shape, dtype="float32", seed=0):
    t.manual_seed(seed)
    return t.randn(*shape).to(getattr(t, dtype))
