"""Draws beside those that PyTorch made on a GPU of 132 processors, as many as
the one in software has (bench/gpu/record.py recorded them).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import hotaru as torch

FILE = Path(__file__).resolve().parents[1] / "golden" / "cuda_draws.json"
RECORDED = json.loads(FILE.read_text())
CASES = [name.split() for name in RECORDED if " " in name]


def draw(what, dtype, n):
    empty = torch.empty(n, device="cuda", dtype=dtype)
    if what == "rand" or what == "randn":
        return getattr(torch, what)(n, device="cuda", dtype=dtype)
    if what == "exponential":
        return empty.exponential_()
    if what == "bernoulli":
        return empty.bernoulli_(0.3)
    if what == "bernoulli_tensor":
        return torch.bernoulli(empty.fill_(0.3))
    if what == "randint":
        return torch.randint(0, 1000, (n,), device="cuda")
    if what == "randint_wide":
        return torch.randint(0, 2**40, (n,), device="cuda")
    if what == "random":
        return empty.random_()
    if what == "randperm":
        return torch.randperm(n, device="cuda")
    assert what == "dropout"
    return torch.nn.functional.dropout(empty.fill_(1), 0.4)


@pytest.mark.parametrize(("what", "dtype", "n"), CASES)
def test_draws_are_pytorchs(what, dtype, n):
    properties = torch.cuda.get_device_properties(0)
    if properties.multi_processor_count != 132:
        pytest.skip("recorded on a GPU of 132 processors")
    want, dtype = RECORDED[f"{what} {dtype} {n}"], getattr(torch, dtype)
    torch.manual_seed(1234)
    out = draw(what, dtype, int(n)).cpu()
    state = torch.cuda.get_rng_state()
    assert int(state[8:].view(torch.int64)) == want["offset"]
    rounded = what in ("randn", "exponential") and torch._C._cuda_in_software()
    if not rounded:
        data = out.contiguous().view(torch.uint8).numpy().tobytes()
        assert hashlib.sha256(data).hexdigest() == want["sha256"]
        return
    # The host's logarithm and sine are rounded otherwise than the device's
    # quick ones, whose error is absolute: 2**-21 of an angle below 2 pi.
    first = torch.tensor(want["first"], dtype=torch.float64)
    near = max(torch.finfo(dtype).eps, 0 if dtype == torch.float64 else 2e-6)
    torch.testing.assert_close(
        out[:8].double(), first, rtol=4 * near, atol=4 * near
    )
