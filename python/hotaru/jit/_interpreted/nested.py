"""Calls that make nested tensors, of modules that else run as compiled code.

A scripted `nn.TransformerEncoder` does so where it is given a padding mask.
"""

from __future__ import annotations

from ..._late import lent
from ...nn import functional as F
from .builtins import NESTED
from .loading import program_of
from .objects import InterpretedModule, _inner, _outer

_MARK = "_nested_tensor_from_mask"


def run_with_nested(module, given, state=None):
    """The module, whose calls Python runs where they make nested tensors.

    `given` is the path or the bytes of its archive, and `state` the module
    that Python has attributes from: of a frozen one, what was frozen.
    """
    object.__setattr__(module, "_makes_nested", (given, state))
    for name in module._c.method_names():
        method = module._c.method(name)
        ours = _Method(state or module, method, given)
        object.__setattr__(module, name, ours)
    return module


class _Method:
    """A method that starts as compiled code."""

    def __init__(self, module, method, given) -> None:
        self._module, self._method, self._given = module, method, given
        self._program = None
        self.__name__ = method.name

    def __getattr__(self, name: str):
        return getattr(self.__dict__["_method"], name)

    def __call__(self, *args, **kwargs):
        try:
            return self._method(*args, **kwargs)
        except RuntimeError as error:
            if _MARK not in str(error):
                raise
        if self._program is None:
            self._program = program_of(self._given)
        twin = _twin(self._module._c, self._program, {})
        args = [_inner(a) for a in args]
        kwargs = {key: _inner(value) for key, value in kwargs.items()}
        return _outer(twin.call(self._method.name, *args, **kwargs))


def _twin(native, program, made: dict) -> InterpretedModule:
    """An object of a native module's class with its attributes."""
    kind = program.find(native.type_name)
    twin = kind.__new__(kind)
    twin.values = {}
    for name, value in native.attributes():
        inner = getattr(value, "_c", None)
        twin.values[name] = value if inner is None else _twin(inner, program, made)
    for name, child in native.named_children():
        twin.values.setdefault(name, _twin(child._c, program, made))
    return twin


def _encoder_layer(
    src,
    embed_dim,
    num_heads,
    qkv_weight,
    qkv_bias,
    proj_weight,
    proj_bias,
    use_gelu,
    norm_first,
    eps,
    norm_weight_1,
    norm_bias_1,
    norm_weight_2,
    norm_bias_2,
    ffn_weight_1,
    ffn_bias_1,
    ffn_weight_2,
    ffn_bias_2,
    mask=None,
    mask_type=None,
):
    """A layer of an encoder, a sequence at a time."""
    act = F.gelu if use_gelu else F.relu

    def attended(x):
        parts = F.linear(x, qkv_weight, qkv_bias).chunk(3, -1)
        query, key, value = (
            p.unflatten(-1, (num_heads, -1)).transpose(0, 1) for p in parts
        )
        found = F.scaled_dot_product_attention(query, key, value)
        found = found.transpose(0, 1).flatten(1)
        return F.linear(found, proj_weight, proj_bias)

    def mapped(x):
        return F.linear(
            act(F.linear(x, ffn_weight_1, ffn_bias_1)), ffn_weight_2, ffn_bias_2
        )

    def first(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    def layer(x):
        if norm_first:
            x = x + attended(first(x))
            return x + mapped(second(x))
        x = first(x + attended(x))
        return second(x + mapped(x))

    return lent("nested_of_list")([layer(x) for x in src.unbind()])


NESTED["_transformer_encoder_layer_fwd"] = _encoder_layer
NESTED["size"] = lambda x, *dim: x.size(*dim)
