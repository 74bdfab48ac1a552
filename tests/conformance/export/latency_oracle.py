"""PyTorch's side of `latency_run.py`: each model as a program and as traced
TorchScript, in evaluation mode, and example arguments.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import torch
from export_oracle import export, inputs
from export_table import entries

warnings.filterwarnings("ignore")

NAMES = (
    "mlp",
    "mlp_bf16",
    "bn",
    "resnet",
    "mobilenet",
    "unet",
    "upscaler",
    "vit",
    "lstm",
    "bilstm",
    "gru",
    "rnn",
    "gpt",
    "rotary",
    "translator",
    "audio",
    "bags",
)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for entry in entries():
        if entry.name not in NAMES:
            continue
        torch.manual_seed(0)
        model = entry.make().eval()
        args, _ = inputs(entry, entry.batches[0])
        program = export(entry, model, args, {})
        torch.export.save(program, folder / f"{entry.name}.pt2")
        # As the program calls it: attention's operator of inference is none
        # of its operators.
        torch.backends.mha.set_fastpath_enabled(False)
        with torch.no_grad():
            traced = torch.jit.trace(model, args, check_trace=False, strict=False)
        traced.save(folder / f"{entry.name}.jit.pt")
        torch.save(args, folder / f"{entry.name}.args")


if __name__ == "__main__":
    main()
