"""Linear maps whose weights imitate quantised ones."""

from __future__ import annotations

from ..... import nn
from .....nn.utils.parametrize import type_before_parametrizations
from ...intrinsic.modules.fused import LinearReLU
from ._floats import check_float, need, take_parameters, take_values

F = nn.functional


class Linear(nn.Linear):
    """A linear map with `weight_fake_quant`, made by the qconfig.

    AssertionError without a qconfig.
    """

    _FLOAT_MODULE = nn.Linear

    def __init__(
        self,
        in_features,
        out_features,
        bias=True,
        qconfig=None,
        device=None,
        dtype=None,
    ) -> None:
        options = {"device": device, "dtype": dtype}
        super().__init__(in_features, out_features, bias, **options)
        need(qconfig)
        self.qconfig = qconfig
        self.weight_fake_quant = qconfig.weight(factory_kwargs=options)

    def forward(self, input):
        return F.linear(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """A trainable form of a float module, whose parameters it takes."""
        check_float(cls, mod)
        qconfig = mod.qconfig
        if type_before_parametrizations(mod) is LinearReLU:
            mod = mod[0]
        made = cls(
            mod.in_features,
            mod.out_features,
            bias=mod.bias is not None,
            qconfig=qconfig,
        )
        take_parameters(made, mod)
        return made

    def to_float(self):
        """The linear map without quantisation."""
        made = nn.Linear(self.in_features, self.out_features, self.bias is not None)
        take_values(made, self)
        made.train(self.training)
        return made
