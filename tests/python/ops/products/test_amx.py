"""Products by AMX, emulated, through everything that multiplies by them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json
import hotaru as torch

torch.manual_seed(0)
results = {}
for m, n, k in ((4, 40, 33), (33, 70, 64), (70, 130, 1030), (5, 33, 1)):
    a, b = torch.randn(m, k).bfloat16(), torch.randn(n, k).bfloat16()
    wide = a.double() @ b.double().t()
    sizes = a.double().abs() @ b.double().abs().t()
    # One rounding of the result, and sums of floats.
    limit = 2.0**-8 * wide.abs() * (1 + 2.0**-9) + k * 2.0**-23 * sizes
    limit = limit + 2.0**-25
    layer = torch.nn.Linear(k, n, bias=False).bfloat16()
    with torch.no_grad():
        layer.weight.copy_(b)
        graphed = torch.compile(layer)
        pairs = [a @ b.t(), layer(a), graphed(a), graphed(a)]
        pairs.append(a @ b.t().clone())
        pairs.append(a.t().clone().t() @ b.t())
    close = [bool(((y.double() - wide).abs() <= limit).all()) for y in pairs]
    results[f"bfloat16 {m} {n} {k}"] = close
    # Integers are exact whatever multiplies them.
    layer = torch.nn.Linear(k, n)
    net = torch.nn.Sequential(layer).eval()
    quantized = torch.ao.quantization.quantize_dynamic(
        net, {torch.nn.Linear}, dtype=torch.qint8
    )
    with torch.no_grad():
        y = quantized(torch.randn(m, k))
    results[f"int8 {m} {n} {k}"] = y.double().sum().item().hex()
x = torch.randn(2, 6, 9, 9).bfloat16()
w = torch.randn(20, 6, 3, 3).bfloat16()
y = torch.nn.functional.conv2d(x, w, padding=1)
want = torch.nn.functional.conv2d(x.double(), w.double(), padding=1)
gap = (y.double() - want).abs()
results["convolution"] = bool((gap <= 2.0**-8 * want.abs() + 1e-4).all())
# Tiles add up first and second numbers of pairs apart, vectors in turns.
column = torch.tensor([2.0**30, 1, -(2.0**30), 1]).bfloat16()
apart = torch.ones(8, 4).bfloat16() @ column[:, None].expand(4, 40)
results["tiles"] = bool((apart == 2).all())
print(json.dumps(results))
"""


def run(simd: str) -> dict:
    out = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "HOTARU_SIMD": simd},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(out.stdout)


def test_emulated_tiles_compute_what_vectors_do():
    tiles, vectors = run("amx-emulated"), run("avx512-vectors")
    assert tiles.keys() == vectors.keys()
    # Vectors without instructions for pairs add up in other orders.
    if "avx512_bf16" in Path("/proc/cpuinfo").read_text():
        assert not vectors["tiles"]
    for name, result in tiles.items():
        if name.startswith("int8"):
            assert result == vectors[name]
        elif name.startswith("bfloat16"):
            assert all(result), name
        else:
            assert result, name
