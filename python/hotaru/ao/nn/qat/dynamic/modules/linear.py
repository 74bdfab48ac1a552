"""Linear maps that train for activations with scales of each call."""

from __future__ import annotations

from ...modules.linear import Linear as _Linear


class Linear(_Linear):
    """A linear map with `weight_fake_quant`.

    ValueError for a qconfig whose activations remember earlier ones.
    """

    def __init__(
        self,
        in_features,
        out_features,
        bias=True,
        qconfig=None,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__(in_features, out_features, bias, qconfig, device, dtype)
        from .....quantization.qconfig import _activation_is_memoryless

        if not _activation_is_memoryless(qconfig):
            raise ValueError(
                "Dynamic QAT requires a memoryless observer.This means a "
                "MovingAverage observer with averaging constant equal to 1"
            )
