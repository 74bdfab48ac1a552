"""Makes golden/script/paths.pt, under PyTorch: modules whose archives take
ways through PyTorch that others don't.

python tests/python/jit/make_paths.py tests/golden/script/paths.pt
"""

import io
import sys
import zipfile

import torch
from torch import nn


class FrontEnd(nn.Module):
    """Spectrogram of audio, and back."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, x):
        spectrum = torch.stft(
            x, 16, 4, 16, self.window, center=True, return_complex=True
        )
        power = torch.log(spectrum.abs().pow(2.0) + 1e-6)
        back = torch.istft(spectrum, 16, 4, 16, self.window, length=x.shape[-1])
        return power, back


class Norms(nn.Module):
    """Norms whose order is a number of either kind; `out=` that is None."""

    def forward(self, x):
        first = torch.linalg.vector_norm(x, 2, dim=-1, keepdim=True)
        second = torch.linalg.vector_norm(x, 1.5)
        third = nn.functional.normalize(x, p=2.0, dim=1)
        return first, second + torch.linalg.vector_norm(x, float("inf")), third


class Attends(nn.Module):
    """Layers for which evaluation mode has one call."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 6, batch_first=True)
        self.first = nn.TransformerEncoderLayer(
            4, 2, 6, activation="gelu", batch_first=True, norm_first=True
        )
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x, hidden):
        y = self.layer(x, src_key_padding_mask=hidden)
        y = self.first(self.layer(y))
        z, weights = self.attention(y, y, y)
        assert weights is not None
        return y, z, weights


class Paths(nn.Module):
    def __init__(self, scripted: dict, examples: dict):
        super().__init__()
        self.names: list[str] = list(scripted)
        for name, module in scripted.items():
            setattr(self, name, module)
            inputs = examples[name]
            for i, value in enumerate(inputs):
                self.register_buffer(f"{name}_in{i}", value)
            for i, value in enumerate(module(*inputs)):
                self.register_buffer(f"{name}_out{i}", value)

    def forward(self):
        return self.names


def without_debug_records(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if not name.endswith(".debug_pkl"):
                new.writestr(name, old.read(name))
    return out.getvalue()


def main(path: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4)
    hidden = torch.tensor([[False, False, True], [False, False, False]])
    examples = {
        "audio": (torch.randn(2, 40),),
        "norms": (torch.randn(3, 4),),
        "attends": (x, hidden),
    }
    modules = {"audio": FrontEnd(), "norms": Norms(), "attends": Attends()}
    with torch.no_grad():
        scripted = {k: torch.jit.script(m.eval()) for k, m in modules.items()}
        made = torch.jit.script(Paths(scripted, examples).eval())
    with open(path, "wb") as file:
        file.write(without_debug_records(made.save_to_buffer()))


if __name__ == "__main__":
    main(sys.argv[1])
