"""Makes golden/amp_script.pt, under PyTorch: a program with autocast inside.

python tests/python/amp/make_amp_script.py tests/python/golden/amp_script.pt
"""

from __future__ import annotations

import sys

import torch


class Scopes(torch.nn.Module):
    """Its own scopes, the deprecated one of CUDA among them."""

    def forward(self, a):
        with torch.autocast("cpu"):
            low = a @ a
            with torch.autocast("cpu", enabled=False):
                full = a @ a
        with torch.cuda.amp.autocast(enabled=False):
            gpu = a @ a
        return low, full, gpu


if __name__ == "__main__":
    torch.jit.script(Scopes()).save(sys.argv[1])
