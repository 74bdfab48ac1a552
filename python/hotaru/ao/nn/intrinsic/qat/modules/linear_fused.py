"""A linear map and a norm that train."""

from __future__ import annotations

from ...... import nn
from ......nn.utils.fusion import fuse_linear_bn_weights
from ....qat.modules._floats import check_float, need, take_parameters
from ...modules.fused import LinearBn1d as _LinearBn1d
from ...modules.fused import _FusedModule
from ._norms import FoldedNorm, take_folded, take_norm

F = nn.functional


class LinearBn1d(FoldedNorm, nn.Linear, _FusedModule):
    """A linear map whose quantised weight has the norm behind it in it."""

    _FLOAT_MODULE = _LinearBn1d

    def __init__(
        self,
        in_features,
        out_features,
        bias=True,
        eps=1e-05,
        momentum=0.1,
        freeze_bn=False,
        qconfig=None,
    ) -> None:
        nn.Linear.__init__(self, in_features, out_features, bias)
        need(qconfig)
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn if self.training else True
        self.bn = nn.BatchNorm1d(out_features, eps, momentum, True, True)
        self.weight_fake_quant = qconfig.weight()
        self.reset_bn_parameters()
        if self.training and not freeze_bn:
            self.update_bn_stats()
        else:
            self.freeze_bn_stats()

    def forward(self, input):
        return self._normed(input, F.linear)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """A trainable form of the two modules, whose parameters it takes."""
        check_float(cls, mod)
        linear, bn = mod[0], mod[1]
        made = cls(
            linear.in_features,
            linear.out_features,
            linear.bias is not None,
            bn.eps,
            bn.momentum,
            False,
            mod.qconfig,
        )
        take_parameters(made, linear)
        take_norm(made, bn)
        return made

    def to_float(self):
        """The linear map with the norm in its weights."""
        made = nn.Linear(self.in_features, self.out_features)
        take_folded(made, self, fuse_linear_bn_weights)
        made.train(self.training)
        return made
