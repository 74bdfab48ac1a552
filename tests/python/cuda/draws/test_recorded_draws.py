"""Draws beside those that PyTorch made on a GPU of 132 processors, as many as
the one in software has (bench/gpu/record.py recorded them).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import pytest

import hotaru as torch

HERE = Path(__file__).resolve()
FILE = HERE.parents[2] / "golden" / "cuda_draws.json"
RECORDED = json.loads(FILE.read_text())
SPEC = importlib.util.spec_from_file_location(
    "record", HERE.parents[4] / "bench/gpu/record.py"
)
record = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(record)
CASES = [name.split() for name in RECORDED if " " in name]


@pytest.mark.parametrize(("what", "dtype", "n"), CASES)
def test_draws_are_pytorchs(what, dtype, n):
    properties = torch.cuda.get_device_properties(0)
    if properties.multi_processor_count != 132:
        pytest.skip("recorded on a GPU of 132 processors")
    want, dtype = RECORDED[f"{what} {dtype} {n}"], getattr(torch, dtype)
    make = record.draws(torch, int(n), dtype)[what]
    torch.manual_seed(1234)
    out = make().cpu()
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
    torch.testing.assert_close(out[:8].double(), first, rtol=4 * near, atol=4 * near)
