"""Writes the networks of bench/models.py as archives that both libraries load.

Run with hotaru: python -m hotaru archives.py FOLDER
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import models


class WithExample(torch.nn.Module):
    """A network, and inputs for it as a method."""

    def __init__(self, model, inputs):
        super().__init__()
        self.model = model
        for i, value in enumerate(inputs):
            self.register_buffer(f"input{i}", value)


def main() -> None:
    folder = Path(sys.argv[1])
    for name in models.MODELS:
        model, inputs = models.make(name)[:2]
        names = [f"x{i}" for i in range(len(inputs))]
        with torch.no_grad():
            whole = WithExample(torch.jit.trace(model, inputs), inputs)
        script = torch.jit.script(whole)
        script.define(
            f"def forward(self, {', '.join(names)}):\n"
            f"    return self.model({', '.join(names)})\n"
        )
        kept = ", ".join(f"self.input{i}" for i in range(len(inputs)))
        script.define(f"def example(self):\n    return [{kept}]\n")
        script.save(str(folder / f"{name}.pt"))
        print(name)


if __name__ == "__main__":
    main()
