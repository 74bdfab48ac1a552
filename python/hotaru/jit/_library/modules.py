"""Modules of `nn` as compiled code sees them: methods by class.

Each class here holds methods for the class of `hotaru.nn` with the same name,
inherited by its subclasses as they are there. `self` is the module. What a
class lacks is compiled from `hotaru.nn` itself.
"""

from __future__ import annotations


class Sequential:
    def forward(self, input):
        result = input  # of another type, perhaps, after each module
        for module in self:
            result = module(result)
        return result


def weight_and_bias(module):
    """The function of `hotaru.nn`, which a compiled module has as a method."""
    return module.weight, module.bias
