"""Models whose graphs are quantised, and what PyTorch computes with them.

    python tests/python/quantization/graph_cases.py

with PyTorch 2.13 writes tests/python/golden/quantize_fx.pt.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path

PLACE = Path(__file__).parent.parent / "golden" / "quantize_fx.pt"


def results(package: str) -> dict:
    """Name of a case to its tensors, by a package's name."""
    torch = importlib.import_module(package)
    aq = importlib.import_module(f"{package}.ao.quantization")
    fx = importlib.import_module(f"{package}.ao.quantization.quantize_fx")
    found = {}
    for name, (model, mapping, x) in _cases(torch, aq).items():
        prepared = fx.prepare_fx(_filled(torch, model), mapping, (x,))
        prepared(x)
        prepared(x * 0.5)
        given = fx.convert_fx(prepared)(x)
        given = given if isinstance(given, tuple) else (given,)
        found[name] = [tensor.detach() for tensor in given]
    return found


def _filled(torch, model):
    """The model in eval mode, with weights that everybody computes alike."""
    tensors = [*model.named_parameters(), *model.named_buffers()]
    with torch.no_grad():
        for i, (name, tensor) in enumerate(tensors):
            if not tensor.is_floating_point():
                continue
            wave = (torch.arange(tensor.numel()) * 0.37 + i).sin() * 0.3
            wave = wave.view(tensor.shape)
            tensor.copy_(wave.abs() + 0.5 if "var" in name else wave)
    return model.eval()


def _line(torch, *shape):
    size = torch.Size(shape).numel()
    return torch.linspace(-2, 2, size).view(*shape)


def _cases(torch, aq) -> dict:
    nn = torch.nn
    F = nn.functional

    class Picture(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(2, 4, 3, padding=1)
            self.norm = nn.BatchNorm2d(4)
            self.relu = nn.ReLU()
            self.second = nn.Conv2d(4, 4, 1)
            self.head = nn.Linear(4, 3)

        def forward(self, x):
            x = self.relu(self.norm(self.first(x)))
            z = F.max_pool2d(x + self.second(x), 2)
            z = F.adaptive_avg_pool2d(z, 1)
            return self.head(torch.flatten(z, 1))

    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
            self.third = nn.Linear(4, 4)
            self.curve = nn.Hardswish()

        def forward(self, x):
            x = F.relu(self.first(x))
            y = self.second(x).relu()
            z = F.relu(x + y)
            w = torch.cat([x, y], 1).view(-1, 8)
            return w, torch.cos(x), self.curve(self.third(z)) * z

    usual = aq.get_default_qconfig_mapping("fbgemm")
    apart = aq.get_default_qconfig_mapping("fbgemm")
    apart.set_module_name("second", None)
    dynamic = aq.QConfigMapping().set_global(aq.default_dynamic_qconfig)
    linear = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    row = nn.Sequential(
        nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.ReLU(), nn.Dropout(), nn.AvgPool1d(2)
    )
    norms = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.LeakyReLU())
    picture = _line(torch, 2, 2, 4, 4)
    return {
        "picture": (Picture(), usual, picture),
        "apart": (Picture(), apart, picture),
        "rows": (Rows(), usual, _line(torch, 3, 4)),
        "linear": (linear, usual, _line(torch, 3, 4)),
        "dynamic": (linear, dynamic, _line(torch, 3, 4)),
        "row": (row, usual, _line(torch, 2, 2, 6)),
        "norms": (norms, usual, _line(torch, 3, 4)),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import torch

    torch.save(results("torch"), PLACE)
    sys.exit()
