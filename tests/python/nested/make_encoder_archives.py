"""Writes archives of nn.TransformerEncoder for test_encoder_archives.py.

    python tests/python/nested/make_encoder_archives.py

Once with PyTorch 2.13 and once with 1.13: each replaces its own archives in
tests/python/golden/encoder_archives.tar.xz. Beside an archive lie its inputs
and what PyTorch computes from them.
"""

from __future__ import annotations

import io
import tarfile
import warnings
import zipfile
from pathlib import Path

import torch
from torch import nn

OUT = Path(__file__).parent.parent / "golden" / "encoder_archives.tar.xz"
VERSION = "".join(torch.__version__.split(".")[:2])
X = torch.linspace(-1, 1, 48).view(2, 3, 8)
LEFT = torch.tensor([[False, False, True], [False, False, False]])
HOLE = torch.tensor([[True, False, False], [False, False, False]])
BOTH = torch.tensor([[False, False, True], [False, True, True]])
LATER = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
# Options of the layer, and inputs.
CASES = {
    "bare": ({}, (X,)),
    "padded": ({}, (X, None, LEFT)),
    "padded_all": ({}, (X, None, BOTH)),
    "padded_left": ({}, (X, None, HOLE)),
    "later": ({}, (X, LATER)),
    "later_padded": ({}, (X, LATER, LEFT)),
    "gelu": ({"activation": "gelu"}, (X, None, LEFT)),
    "norm_first": ({"norm_first": True}, (X, None, LEFT)),
}


def encoder(options: dict):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options)
    made = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8)).eval()
    with torch.no_grad():
        for i, weight in enumerate(made.parameters()):
            wave = (torch.arange(weight.numel()) * 0.37 + i).sin()
            weight.copy_(wave.view(weight.shape) * 0.3)
    return made


def archives():
    """Pairs of a name and bytes."""
    for name, (options, inputs) in CASES.items():
        scripted = torch.jit.script(encoder(options))
        for frozen in (False, True):
            made = torch.jit.freeze(scripted) if frozen else scripted
            try:
                with torch.no_grad():
                    found = made(*inputs)
            except RuntimeError as error:
                print(name, str(error)[-80:])
                continue
            start = f"{VERSION}/{name}{'_frozen' if frozen else ''}"
            for end, value in ((".pt", made), (".io", (inputs, found))):
                data = io.BytesIO()
                if end == ".pt":
                    torch.jit.save(value, data)
                    data = without_debug_records(data)
                else:
                    torch.save(value, data)
                yield start + end, data.getvalue()


def without_debug_records(data: io.BytesIO) -> io.BytesIO:
    """The archive without what says where its source was."""
    out = io.BytesIO()
    with zipfile.ZipFile(data) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            if not info.filename.endswith(".debug_pkl"):
                new.writestr(info.filename, old.read(info))
    return out


def main() -> None:
    kept = {}
    if OUT.exists():
        with tarfile.open(OUT) as old:
            for member in old.getmembers():
                if not member.name.startswith(f"{VERSION}/"):
                    kept[member.name] = old.extractfile(member).read()
    kept.update(archives())
    with tarfile.open(OUT, "w:xz") as whole:
        for name in sorted(kept):
            member = tarfile.TarInfo(name)
            member.size = len(kept[name])
            whole.addfile(member, io.BytesIO(kept[name]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
