"""Modules in the layout `torch._mkldnn`.

`to_mkldnn` takes a network and puts modules of that layout in the places of
layers that have one. They are programs: saved, they are PyTorch's archives.
"""

from __future__ import annotations

from ... import _C, nn
from ...jit._interpreted.loading import program_module
from ...nn import Module

_NAME = "__torch__.torch.utils.mkldnn."
_HEAD = """class {name}(Module):
  __parameters__ = []
  __buffers__ = [{buffers}]
{fields}  training : bool
  _is_full_backward_hook : NoneType
{constants}"""
_GETSTATE = """  def __getstate__(self: {whole}) -> Tuple[{kinds}]:
{reads}    training = self.training
    return ({dense}, training)
"""
_SETSTATE = """  def __setstate__(self: {whole},
    state: Tuple[{kinds}]) -> NoneType:
{writes}    self.training = (state)[{last}]
    return None
"""
_FORWARD = """  def forward(self: {whole},
    x: Tensor) -> Tensor:
{reads}{body}"""
# The input in the layout, and the result in the input's.
_BOTH = """    if ops.prim.is_mkldnn(x):
      x_mkldnn = x
    else:
      x_mkldnn = torch.to_mkldnn(x)
    y_mkldnn = {call}
    if ops.prim.is_mkldnn(x):
      y = y_mkldnn
    else:
      y = torch.to_dense(y_mkldnn)
    return y
"""
_RETURN = "    return {call}\n"


def _text(name: str, buffers: list, body: str, constants: dict, reordered: str) -> str:
    """The program of a module with these buffers; `reordered` is what its
    weight is made of in `__setstate__`.
    """
    whole = _NAME + name
    kinds = ", ".join(["Tensor"] * len(buffers) + ["bool"])
    reads = "".join(f"    {each} = self.{each}\n" for each in buffers)
    made = {n: f"torch.to_mkldnn((state)[{i}])" for i, n in enumerate(buffers)}
    if reordered:
        made["weight"] = reordered.format(made["weight"])
    parts = [
        _HEAD.format(
            name=name,
            buffers="".join(f'"{each}", ' for each in buffers),
            fields="".join(f"  {each} : Tensor\n" for each in buffers),
            constants="".join(f"  {n} : {v}\n" for n, v in constants.items()),
        ),
        _GETSTATE.format(
            whole=whole,
            kinds=kinds,
            reads=reads,
            dense=", ".join(f"torch.to_dense({each})" for each in buffers),
        ),
        _SETSTATE.format(
            whole=whole,
            kinds=kinds,
            writes="".join(f"    self.{n} = {made[n]}\n" for n in buffers),
            last=len(buffers),
        ),
        _FORWARD.format(whole=whole, reads=reads, body=body),
    ]
    return "".join(parts)


def _final(value) -> str:
    """The declaration of a constant."""
    if isinstance(value, tuple):
        kind = f"Tuple[{', '.join(['int'] * len(value))}]"
        return f"Final[{kind}] = {value}"
    if isinstance(value, float):
        return f"Final[float] = {value:.17g}"
    return f"Final[int] = {value}"


class _OfProgram(type):
    """Class of names whose instances are programs."""

    def __instancecheck__(cls, x) -> bool:
        return _NAME + cls.__name__ == getattr(
            getattr(x, "_c", None), "qualified", None
        )


def _made(name: str, text: str, buffers: dict, training: bool):
    values = {**buffers, "training": training, "_is_full_backward_hook": None}
    return program_module(_NAME + name, text, values)


def _in_layout(value, size: int, dtype=None):
    """A weight, or zeros in the place of one that there is none of."""
    if value is None:
        value = _C.ops.zeros([size], dtype=_C.float32)
    return value.detach().to_mkldnn(dtype)


class MkldnnLinear(metaclass=_OfProgram):
    """`Linear` in the layout; its bias stays in float32."""

    def __new__(cls, dense_module: nn.Linear, dtype):
        weight = dense_module.weight
        buffers = {
            "weight": _in_layout(weight, 0, dtype),
            "bias": _in_layout(dense_module.bias, weight.size(0)),
        }
        call = "torch.mkldnn_linear(x_mkldnn, weight, bias)"
        text = _text("MkldnnLinear", list(buffers), _BOTH.format(call=call), {}, "")
        return _made("MkldnnLinear", text, buffers, True)


def _convolution(name: str, reorder: str, dense_module: nn.Module, dtype):
    given = [dense_module.padding, dense_module.stride, dense_module.dilation]
    if isinstance(given[0], str):
        raise RuntimeError(f"{name}: padding is in numbers, not {given[0]!r}")
    lists = ", ".join(str(list(each)) for each in given)
    weight, groups = dense_module.weight, dense_module.groups
    buffers = {
        "bias": _in_layout(dense_module.bias, weight.size(0)),
        "weight": _in_layout(weight, 0, dtype),
    }
    constants = {
        "dilation": _final(given[2]),
        "padding": _final(given[0]),
        "groups": _final(groups),
        "stride": _final(given[1]),
    }
    call = f"torch.mkldnn_convolution(x, weight, bias, {lists}, {groups})"
    reordered = f"torch.{reorder}({{}}, {lists}, {groups})" if reorder else ""
    text = _text(
        name, ["weight", "bias"], _RETURN.format(call=call), constants, reordered
    )
    return _made(name, text, buffers, True)


class MkldnnConv1d(metaclass=_OfProgram):
    """`Conv1d` in the layout; its bias stays in float32."""

    def __new__(cls, dense_module: nn.Conv1d, dtype):
        return _convolution("MkldnnConv1d", "", dense_module, dtype)


class MkldnnConv2d(metaclass=_OfProgram):
    """`Conv2d` in the layout; its bias stays in float32."""

    def __new__(cls, dense_module: nn.Conv2d, dtype):
        reorder = "mkldnn_reorder_conv2d_weight"
        return _convolution("MkldnnConv2d", reorder, dense_module, dtype)


class MkldnnConv3d(metaclass=_OfProgram):
    """`Conv3d` in the layout; its bias stays in float32."""

    def __new__(cls, dense_module: nn.Conv3d, dtype):
        reorder = "mkldnn_reorder_conv3d_weight"
        return _convolution("MkldnnConv3d", reorder, dense_module, dtype)


class MkldnnBatchNorm(metaclass=_OfProgram):
    """`BatchNorm2d` or `BatchNorm3d` in the layout, of evaluation."""

    def __new__(cls, dense_module: nn.Module):
        if dense_module.training:
            raise AssertionError("Only support eval mode batchnorm for mkldnn path now")
        for name in ("track_running_stats", "affine"):
            if not getattr(dense_module, name):
                raise AssertionError(f"Only support {name}=True for mkldnn path now")
        momentum = dense_module.momentum
        constants = {
            "exponential_average_factor": float(0.0 if momentum is None else momentum),
            "eps": float(dense_module.eps),
        }
        buffers = {
            name: _in_layout(getattr(dense_module, name), 0)
            for name in ("weight", "bias", "running_mean", "running_var")
        }
        numbers = ", ".join(f"{value:.17g}" for value in constants.values())
        call = f"torch.batch_norm(x, {', '.join(buffers)}, False, {numbers}, False)"
        finals = {name: _final(value) for name, value in constants.items()}
        body = _RETURN.format(call=call)
        text = _text("MkldnnBatchNorm", list(buffers), body, finals, "")
        return _made("MkldnnBatchNorm", text, buffers, True)


class MkldnnPrelu(metaclass=_OfProgram):
    """`PReLU` in the layout."""

    def __new__(cls, dense_module: nn.PReLU, dtype):
        buffers = {"weight": _in_layout(dense_module.weight, 0, dtype)}
        body = _BOTH.format(call="torch.prelu(x_mkldnn, weight)")
        text = _text("MkldnnPrelu", ["weight"], body, {}, "")
        return _made("MkldnnPrelu", text, buffers, True)


_LAYERS = (
    (nn.Linear, MkldnnLinear),
    (nn.Conv1d, MkldnnConv1d),
    (nn.Conv2d, MkldnnConv2d),
    (nn.Conv3d, MkldnnConv3d),
    ((nn.BatchNorm2d, nn.BatchNorm3d), lambda m, dtype: MkldnnBatchNorm(m)),
    (nn.PReLU, MkldnnPrelu),
)


def to_mkldnn(module: Module, dtype=_C.float32) -> Module:
    """The network with modules of the layout in the places of its linear
    layers, convolutions, batch norms and `PReLU`s; it is changed itself.

    Args:
        dtype: of their weights: float32, bfloat16 or float16.
    """
    if dtype not in (_C.float32, _C.bfloat16, _C.float16):
        raise AssertionError("MKLDNN only support float, bfloat16, and half path now")
    made = module
    for kind, make in _LAYERS:
        if isinstance(module, kind):
            made = make(module, dtype)
            break
    for name, child in module.named_children():
        setattr(made, name, to_mkldnn(child, dtype))
    return made
