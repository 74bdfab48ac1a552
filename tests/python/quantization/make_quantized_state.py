"""Writes golden/quantized_state.pt: a state as PyTorch 2.13 saves it.

python tests/python/quantization/make_quantized_state.py
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch.ao import quantization as aq

PLACE = Path(__file__).resolve().parents[1] / "golden" / "quantized_state.pt"


def main() -> None:
    torch.manual_seed(0)
    torch.backends.quantized.engine = "fbgemm"
    model = torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.Embedding(4, 3))
    made = aq.quantize_dynamic(
        model,
        {
            torch.nn.Linear: aq.per_channel_dynamic_qconfig,
            torch.nn.Embedding: aq.float_qparams_weight_only_qconfig,
        },
    )
    x = torch.linspace(-1, 1, 10).view(2, 5)
    part = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)[:, 1:]
    torch.save(
        {"state": made.state_dict(), "x": x, "y": made[0](x), "part": part}, PLACE
    )


if __name__ == "__main__":
    main()
