"""Weights of recurrent modules."""

from __future__ import annotations

import hotaru

from ......_quantized import products
from ......nn.utils.parametrize import type_before_parametrizations
from ...._qconfig import require_qconfig
from ...modules.utils import _quantize_weight


def converted(weight, mod):
    """A weight as the qconfig of a module wants it."""
    from .....quantization.qconfig import default_dynamic_qconfig

    qconfig = getattr(mod, "qconfig", None)
    if qconfig is None or qconfig.weight is None:
        qconfig = default_dynamic_qconfig
    observer = qconfig.weight()
    if observer.dtype is hotaru.float16:
        return products.saturated_half(weight)
    if observer.dtype is not hotaru.qint8:
        raise RuntimeError(
            f"Unsupported dtype for dynamic RNN quantization: {observer.dtype}"
        )
    observer(weight)
    return _quantize_weight(weight.detach().float(), observer)


def dtype_of(mod):
    """The dtype that the qconfig of a module wants its weights in."""
    from .....quantization.qconfig import default_dynamic_qconfig

    qconfig = getattr(mod, "qconfig", None)
    if qconfig is None or qconfig.weight is None:
        qconfig = default_dynamic_qconfig
    return qconfig.weight().dtype


def drawn(shape, scale: float, dtype):
    """A weight of a module that is made without a float one."""
    weight = hotaru.randn(shape)
    if dtype is hotaru.float16:
        return products.saturated_half(weight)
    if dtype is hotaru.qint8:
        return hotaru.quantize_per_tensor(weight, scale, 0, hotaru.qint8)
    raise RuntimeError(
        f"Unsupported dtype specified for dynamic quantized RNN: {dtype}"
    )


def check_float(cls, mod, kinds: tuple) -> None:
    """AssertionError for a module that a recurrent one is not made of."""
    if type_before_parametrizations(mod) not in kinds:
        names = ", ".join(f"nn.{k.__name__}" for k in kinds)
        raise AssertionError(
            f"nn.quantized.dynamic.{cls.__name__}.from_float only works for {names}"
        )
    require_qconfig(mod)


# -- steps: gates of the input and of the state, with biases -------------------


def lstm_step(gates, states):
    """The states behind one step: input, forget, cell, output."""
    inner, forget, cell, outer = gates.chunk(4, -1)
    new_cell = forget.sigmoid() * states[1] + inner.sigmoid() * cell.tanh()
    return outer.sigmoid() * new_cell.tanh(), new_cell


def gru_step(of_input, of_state, state):
    """The state behind one step: reset, update, new."""
    reset_in, update_in, new_in = of_input.chunk(3, -1)
    reset_state, update_state, new_state = of_state.chunk(3, -1)
    reset = (reset_in + reset_state).sigmoid()
    update = (update_in + update_state).sigmoid()
    new = (new_in + reset * new_state).tanh()
    return new + update * (state - new)
