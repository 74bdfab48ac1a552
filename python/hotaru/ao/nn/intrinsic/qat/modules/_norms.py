"""Norms within the weights before them, while both train.

The weight is quantised as it will be: times scale = gamma / sigma of the
running statistics (https://arxiv.org/abs/1806.08342, section 3.2.2). The output
is divided by that scale again, so the norm sees what it would have seen.
"""

from __future__ import annotations

import hotaru

from ......nn import init
from ......nn.parameter import Parameter
from ......nn.utils.fusion import with_norm


class FoldedNorm:
    """Methods of a module that has `bn`, `weight`, `bias`, `freeze_bn`."""

    def reset_running_stats(self) -> None:
        """Forgets the norm's statistics."""
        self.bn.reset_running_stats()

    def reset_bn_parameters(self) -> None:
        """The norm's parameters and statistics as at first."""
        self.bn.reset_running_stats()
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)

    def update_bn_stats(self):
        """Has the norm's statistics follow the batches."""
        self.freeze_bn = False
        self.bn.training = True
        return self

    def freeze_bn_stats(self):
        """Keeps the norm's statistics."""
        self.freeze_bn = True
        self.bn.training = False
        return self

    def train(self, mode: bool = True):
        """The mode; frozen norms stay as they are."""
        self.training = mode
        if not self.freeze_bn:
            for module in self.children():
                module.train(mode)
        return self

    def _normed(self, input, compute):
        """The norm of compute(input, weight, no bias) with folded weights."""
        deviation = hotaru.sqrt(self.bn.running_var + self.bn.eps)
        scale = self.bn.weight / deviation
        over_weight = [-1] + [1] * (self.weight.dim() - 1)
        over_output = [1, -1] + [1] * (self.weight.dim() - 2)
        weight = self.weight_fake_quant(self.weight * scale.reshape(over_weight))
        made = compute(input, weight) / scale.reshape(over_output)
        if self.bias is not None:
            made = made + self.bias.reshape(over_output)
        return self.bn(made)


def take_norm(made, bn) -> None:
    """Gives a module the parameters and statistics of a norm."""
    made.bn.weight = bn.weight
    made.bn.bias = bn.bias
    made.bn.running_mean = bn.running_mean
    made.bn.running_var = bn.running_var
    made.bn.num_batches_tracked = bn.num_batches_tracked


def take_folded(made, module, fuse) -> None:
    """Gives a module the weight and bias of another with its norm in them."""
    weight, bias = with_norm(module, module.bn, fuse)
    made.weight = Parameter(weight.detach())
    made.bias = Parameter(bias.detach())


def update_bn_stats(mod) -> None:
    """Has the norm in a module follow the batches, for `model.apply`."""
    if isinstance(mod, FoldedNorm):
        mod.update_bn_stats()


def freeze_bn_stats(mod) -> None:
    """Keeps the statistics of the norm in a module, for `model.apply`."""
    if isinstance(mod, FoldedNorm):
        mod.freeze_bn_stats()
