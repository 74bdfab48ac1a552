"""Records what PyTorch draws on its GPU; tests hold hotaru to it.

python record.py FILE.json
"""

from __future__ import annotations

import hashlib
import json
import sys

SIZES = (1, 17, 1000, 2**20 + 3)


def draws(torch, n: int, dtype) -> dict:
    """Draws of n elements of a library by name."""
    empty = torch.empty(n, device="cuda", dtype=dtype)
    probability = torch.full((n,), 0.3, device="cuda", dtype=dtype)
    return {
        "rand": lambda: torch.rand(n, device="cuda", dtype=dtype),
        "randn": lambda: torch.randn(n, device="cuda", dtype=dtype),
        "exponential": lambda: empty.exponential_(),
        "bernoulli": lambda: empty.bernoulli_(0.3),
        "bernoulli_tensor": lambda: torch.bernoulli(probability),
        "randint": lambda: torch.randint(0, 1000, (n,), device="cuda"),
        "randint_wide": lambda: torch.randint(0, 2**40, (n,), device="cuda"),
        "random": lambda: empty.random_(),
        "randperm": lambda: torch.randperm(n, device="cuda"),
        "dropout": lambda: torch.nn.functional.dropout(
            torch.ones(n, device="cuda", dtype=dtype), 0.4
        ),
    }


def main() -> None:
    import torch

    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for name in ("float32", "float64", "float16", "bfloat16"):
        for n in SIZES:
            for what, draw in draws(torch, n, getattr(torch, name)).items():
                torch.manual_seed(1234)
                out = draw().cpu()
                data = out.contiguous().view(torch.uint8).numpy().tobytes()
                found[f"{what} {name} {n}"] = {
                    "sha256": hashlib.sha256(data).hexdigest(),
                    "first": [float(v) for v in out[:8]],
                    "offset": int(torch.cuda.get_rng_state()[8:].view(torch.int64)),
                }
    with open(sys.argv[1], "w") as file:
        json.dump(found, file, indent=0)


if __name__ == "__main__":
    main()
