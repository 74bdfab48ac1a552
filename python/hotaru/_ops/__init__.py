"""torch.ops: operators with their overloads, as PyTorch names them.

`torch.ops.aten.add` is a packet, `torch.ops.aten.add.Tensor` one overload of
it. Both call the operator, which is faster by its own name, torch.add. Other
namespaces have the operators that programs defined (`library`).
"""

from __future__ import annotations

import sys

from .. import ops
from .._late import lent
from .._operators import derived
from .._own_names import no_attribute
from .namespaces import _OpNamespace, aten, forget, namespace
from .overloads import (
    DefinedOverload,
    OpOverload,
    OutOverload,
    OwnOverload,
    _overload,
    arguments_of,
)
from .packets import DefinedPacket, OpOverloadPacket, OwnPacket, _packet

__all__ = ["OpOverload", "OpOverloadPacket", "arguments_of", "ops"]
sys.modules[f"{ops.__name__}.aten"] = aten
derived.install()

# Pickles and texts know them as this module's.
for _thing in (
    DefinedOverload,
    DefinedPacket,
    OpOverload,
    OpOverloadPacket,
    OutOverload,
    OwnOverload,
    OwnPacket,
    _OpNamespace,
    _overload,
    _packet,
):
    _thing.__module__ = __name__


def __getattr__(name: str):
    if name == "HigherOrderOperator":
        return lent("higher_order_operators").HigherOrderOperator
    raise no_attribute(__name__, name)
