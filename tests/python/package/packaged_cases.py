"""Contents of a package: the same text for PyTorch and for hotaru."""

from __future__ import annotations

SOURCES = {
    "pkg_case": (
        True,
        """\
import torch
import torch.nn.functional as F
from torch import nn

from . import helper


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.register_buffer("scale", torch.arange(2.0))

    def forward(self, x):
        return self.rest(self.fc(x)) * F.relu(self.scale)
""",
    ),
    "pkg_case.helper": (
        False,
        """\
import math

import pkg_other

from .inner.deep import answer

pi = math.pi
""",
    ),
    "pkg_case.inner": (True, ""),
    "pkg_case.inner.deep": (False, "answer = 42\n"),
}


def write(torch, package, path) -> dict:
    """Writes a package; returns what a reader has to compute.

    Args:
        torch: PyTorch or hotaru. package: its `package`.
    """
    importer = _Sources()
    torch.manual_seed(0)
    with package.PackageExporter(
        path, importer=[importer.as_importer(package), package.sys_importer]
    ) as exporter:
        exporter.intern("pkg_case.**")
        exporter.mock("pkg_other")
        exporter.save_module("pkg_case")
        exporter.save_text("pkg_case", "note.txt", "ずんだ")
        layer = torch.nn.Linear(3, 2)
        script = torch.jit.trace(layer, torch.zeros(1, 3))
        shared = layer.weight.detach()
        exporter.save_pickle(
            "data", "first.pkl", {"script": script, "shared": shared[1:]}
        )
        exporter.save_pickle(
            "data",
            "second.pkl",
            [script, shared, torch.float16, torch.Size([2, 3])],
            pickle_protocol=4,
        )
    x = torch.ones(2, 3)
    return {"shared": shared.tolist(), "layer": layer(x).tolist()}


class _Sources:
    """Modules that are only there as texts."""

    def as_importer(self, package):
        import importlib.abc
        import importlib.util
        import types

        class Loader(importlib.abc.InspectLoader):
            def get_source(self, name):
                return SOURCES[name][1]

        class Importer(package.Importer):
            modules = {}  # noqa: RUF012

            def import_module(self, name):
                if name == "pkg_other":
                    return types.ModuleType(name)
                if name not in SOURCES:
                    raise ModuleNotFoundError(name, name=name)
                module = types.ModuleType(name)
                module.__file__ = f"<{name}>.py"
                module.__loader__ = Loader()
                if SOURCES[name][0]:
                    module.__path__ = []
                return module

        return Importer()
