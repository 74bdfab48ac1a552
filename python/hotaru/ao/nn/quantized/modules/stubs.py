"""Where numbers become integers, and numbers again."""

from __future__ import annotations

import hotaru

from ..... import nn
from .utils import output_qparams


class Quantize(nn.Module):
    """Quantises its input with a scale and a zero point that are known."""

    def __init__(self, scale, zero_point, dtype, factory_kwargs=None) -> None:
        super().__init__()
        options = nn.factory_kwargs(factory_kwargs)
        device = options.get("device")
        self.register_buffer("scale", hotaru.tensor([scale], **options))
        self.register_buffer(
            "zero_point", hotaru.tensor([zero_point], dtype=hotaru.long, device=device)
        )
        self.dtype = dtype

    def forward(self, X):
        return hotaru.quantize_per_tensor(
            X, float(self.scale), int(self.zero_point), self.dtype
        )

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        """With what the observer of a stub has seen."""
        scale, zero_point = output_qparams(mod)
        return Quantize(scale, zero_point, mod.activation_post_process.dtype)

    def extra_repr(self) -> str:
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(nn.Module):
    """The numbers of its input."""

    def forward(self, Xq):
        return Xq.dequantize()

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        """In the place of a stub."""
        return DeQuantize()
