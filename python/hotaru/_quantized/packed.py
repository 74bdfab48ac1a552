"""Weights as archives of TorchScript have them: objects of PyTorch's classes.

A class knows the states of the versions of PyTorch that write files, and gives
the newest one.
"""

from __future__ import annotations

import hotaru

from .products import saturated_half
from .tensor import QuantizedTensor

SPACES = "__torch__.torch.classes."


class Packed:
    """Base of all; `_name` is the class's, below torch.classes."""

    _name = ""

    def __eq__(self, other) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"ScriptObject <{SPACES}{self._name}>"

    @classmethod
    def of_state(cls, state) -> Packed:
        """An object with a state that a file has."""
        made = cls.__new__(cls)
        made.set_state(state)
        return made

    def set_state(self, state) -> None:
        """Takes a state that a file has. RuntimeError: it is none."""
        raise NotImplementedError

    def state(self) -> tuple:
        """The state that a file gets."""
        raise NotImplementedError

    def __getstate__(self):
        return self.state()

    def __setstate__(self, state) -> None:
        self.set_state(state)

    def mapped(self, change) -> Packed:
        """The same with other tensors."""
        return self.of_state(_changed(self.state(), change))


def _changed(value, change):
    if isinstance(value, hotaru.Tensor):
        return change(value)
    if isinstance(value, Packed):
        return value.mapped(change)
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(v, change) for v in value)
    return value


def _damaged(name: str) -> RuntimeError:
    return RuntimeError(f"{name}: a state that is none of PyTorch's")


class LinearPacked(Packed):
    """The weight of a linear map, of int8 or float16, and a bias."""

    _name = "quantized.LinearPackedParamsBase"

    def __init__(self, weight, bias) -> None:
        self.set_state((weight, bias))

    def set_state(self, state) -> None:
        if not isinstance(state, (list, tuple)) or len(state) != 2:
            raise _damaged(self._name)
        weight, bias = state
        if not isinstance(weight, QuantizedTensor):
            weight = saturated_half(weight)
        self.weight = weight
        self._bias = None if bias is None else bias.detach()

    def state(self) -> tuple:
        weight = self.weight
        if not isinstance(weight, QuantizedTensor):
            weight = weight.float()
        return weight, self._bias

    def unpack(self) -> tuple:
        """The weight and the bias."""
        return self.state()

    def bias(self):
        """The bias, or None."""
        return self._bias


class ConvPacked(Packed):
    """The weight of a convolution, a bias, and how it moves. One over sequences
    has pictures of height 1.
    """

    _axes = 2

    def __init__(
        self,
        weight,
        bias,
        stride,
        padding,
        dilation,
        groups,
        output_padding=None,
        transposed=False,
    ) -> None:
        self.weight = weight
        self._bias = None if bias is None else bias.detach()
        self._stride = list(stride)
        self._padding = list(padding)
        self._dilation = list(dilation)
        none = [0] * self._axes
        self._output_padding = list(output_padding or none)
        self._groups = int(groups)
        self._transposed = bool(transposed)

    def set_state(self, state) -> None:
        if not isinstance(state, (list, tuple)) or not state:
            raise _damaged(self._name)
        if isinstance(state[0], hotaru.Tensor):
            weight, bias, *moves, groups = state[:6]
            moves = [[int(x) for x in move] for move in moves]
            self.__init__(weight, bias, *moves, int(groups))
            return
        if len(state) != 3:
            raise _damaged(self._name)
        version, first, second = state
        if str(version) == "2" and len(first) == 2 and len(second) == 1:
            numbers, weight, bias = first[0].tolist(), first[1], second[0]
        elif version == 3 and len(second) == 3:
            numbers, bias, weight = list(first), second[1], second[2]
        else:
            raise _damaged(self._name)
        n = self._axes
        if len(numbers) != 4 * n + 3 or numbers[0] != n or weight is None:
            raise _damaged(self._name)
        moves = [numbers[1 + i * n : 1 + (i + 1) * n] for i in range(4)]
        groups, flags = numbers[-2:]
        stride, padding, dilation, output_padding = moves
        self.__init__(
            weight, bias, stride, padding, dilation, groups, output_padding, flags & 1
        )

    def state(self) -> tuple:
        numbers = [
            self._axes,
            *self._stride,
            *self._padding,
            *self._dilation,
            *self._output_padding,
            self._groups,
            int(self._transposed),
        ]
        numbers = hotaru.tensor(numbers, dtype=hotaru.int16)
        return "2", [numbers, self.weight], [self._bias]

    def unpack(self) -> tuple:
        """The weight and the bias."""
        return self.weight, self._bias

    def bias(self):
        """The bias, or None."""
        return self._bias

    def stride(self) -> list:
        """The steps of the kernel."""
        return list(self._stride)

    def padding(self) -> list:
        """Zeros around the input."""
        return list(self._padding)

    def dilation(self) -> list:
        """Distances within the kernel."""
        return list(self._dilation)

    def output_padding(self) -> list:
        """Zeros around the output of a transposed one."""
        return list(self._output_padding)

    def groups(self) -> int:
        """Groups of channels."""
        return self._groups

    def transpose(self) -> bool:
        """True for a transposed one."""
        return self._transposed

    def run(self, x, weight):
        """The convolution of floats, without a bias."""
        F, n = hotaru.nn.functional, self._axes
        if self._transposed:
            return getattr(F, f"conv_transpose{n}d")(
                x,
                weight,
                None,
                self._stride,
                self._padding,
                self._output_padding,
                self._groups,
                self._dilation,
            )
        return getattr(F, f"conv{n}d")(
            x, weight, None, self._stride, self._padding, self._dilation, self._groups
        )


class Conv2dPacked(ConvPacked):
    _name = "quantized.Conv2dPackedParamsBase"


class Conv3dPacked(ConvPacked):
    _name = "quantized.Conv3dPackedParamsBase"
    _axes = 3


class EmbeddingPacked(Packed):
    """A table whose rows have scales of their own."""

    _name = "quantized.EmbeddingPackedParamsBase"

    def __init__(self, weight) -> None:
        self.weight = weight

    def set_state(self, state) -> None:
        if (
            not isinstance(state, (list, tuple))
            or len(state) != 4
            or len(state[1]) != 1
        ):
            raise _damaged(self._name)
        self.weight = state[1][0]

    def state(self) -> tuple:
        bits = 8 if self.weight.dtype is hotaru.quint8 else 4
        return 1, [self.weight], [], [bits]

    def unpack(self):
        """The table."""
        return self.weight

    def bit_rate(self) -> int:
        """Bits of an element."""
        return self.state()[3][0]

    def version(self) -> int:
        """The version of the state."""
        return 1


class CellPacked(Packed):
    """The weights of one layer of a recurrent network in one direction."""

    _name = "rnn.CellParamsBase"
    _KINDS = ("quantized", "quantized_dynamic", "quantized_fp16")

    def __init__(self, kind, weights, biases, reduce_range=True) -> None:
        self.kind = kind
        self.weights = list(weights)
        self.biases = list(biases)
        self.reduce_range = reduce_range

    def set_state(self, state) -> None:
        if not isinstance(state, (list, tuple)) or len(state) != 5:
            raise _damaged(self._name)
        kind, tensors, doubles, longs, packed = state
        if kind not in self._KINDS or len(packed) != 2:
            raise _damaged(self._name)
        if kind == "quantized":
            raise RuntimeError(
                f"{self._name}: cells of type 'quantized', which PyTorch wrote "
                "before version 1.6, are not there"
            )
        self._doubles = doubles
        biases = tensors[:2] if tensors else [p.bias() for p in packed]
        self.__init__(kind, packed, biases, not longs or bool(longs[0]))

    def state(self) -> tuple:
        if self.kind == "quantized_fp16":
            return self.kind, [], [], [], self.weights
        longs = [int(self.reduce_range)]
        return self.kind, self.biases, [], longs, self.weights


CLASSES = {
    SPACES + kind._name: kind
    for kind in (LinearPacked, Conv2dPacked, Conv3dPacked, EmbeddingPacked, CellPacked)
}
