"""Activations. All are elementwise unless they take `dim`; shapes are kept."""

from __future__ import annotations

import warnings

import hotaru

from ... import Tensor, ops


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0)."""
    return ops.relu_(input) if inplace else ops.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6)."""
    return ops.relu6_(input) if inplace else ops.relu6(input)


def _threshold(
    input: Tensor, threshold: float, value: float, inplace: bool = False
) -> Tensor:
    """`x` where x > threshold, else `value`."""
    if inplace:
        return ops.threshold_(input, threshold, value)
    return ops.threshold(input, threshold, value)


threshold = _threshold  # its name in PyTorch


#: `threshold` in place.
threshold_ = ops.threshold_


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """`x` clamped to [min_val, max_val]; ValueError if min_val > max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return ops.hardtanh_(input, min_val, max_val)
    return ops.hardtanh(input, min_val, max_val)


#: `hardtanh` in place.
hardtanh_ = ops.hardtanh_


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`x` where x > 0, else alpha * (exp(x) - 1)."""
    return ops.elu_(input, alpha) if inplace else ops.elu(input, alpha)


#: `elu` in place.
elu_ = ops.elu_


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Self-normalising ELU (Klambauer et al. 2017)."""
    return ops.selu_(input) if inplace else ops.selu(input)


#: `selu` in place.
selu_ = ops.selu_


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    return ops.celu_(input, alpha) if inplace else ops.celu(input, alpha)


#: `celu` in place.
celu_ = ops.celu_


def leaky_relu(
    input: Tensor, negative_slope: float = 0.01, inplace: bool = False
) -> Tensor:
    """`x` where x > 0, else negative_slope * x."""
    if inplace:
        return ops.leaky_relu_(input, negative_slope)
    return ops.leaky_relu(input, negative_slope)


#: `leaky_relu` in place.
leaky_relu_ = ops.leaky_relu_


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Leaky ReLU whose slope is drawn from [lower, upper] in training."""
    if inplace:
        return rrelu_(input, lower, upper, training)
    return ops.rrelu(input, lower, upper, training)


def rrelu_(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
) -> Tensor:
    """`rrelu` in place."""
    return input.copy_(ops.rrelu(input, lower, upper, training))


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x` * sigmoid(x)."""
    if input.is_complex():
        if inplace:
            return input.mul_(ops.sigmoid(input))
        return input * ops.sigmoid(input)
    return ops.silu_(input) if inplace else ops.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x` * tanh(softplus(x))."""
    return ops.mish_(input) if inplace else ops.mish(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return ops.hardsigmoid_(input) if inplace else ops.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x` * relu6(x + 3) / 6."""
    return ops.hardswish_(input) if inplace else ops.hardswish(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """First half times sigmoid of the second half along `dim`.

    Shape: (*, N, *) with N even -> (*, N / 2, *).
    """
    if input.dim() == 0:
        raise RuntimeError(
            "glu does not support scalars because halving size must be even"
        )
    return ops.glu(input, dim)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return input.tanh()


def tanhshrink(input: Tensor) -> Tensor:
    """`x` - tanh(x)."""
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """`x` / (1 + |x|)."""
    return input / (input.abs() + 1)


def softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: int | None = None,
) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`; computed in `dtype` if given."""
    if dim is None:
        dim = _implicit_dim("softmax", input.dim(), _stacklevel)
    return ops.softmax(input, dim, dtype)


def softmin(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: int | None = None,
) -> Tensor:
    """`softmax` of -x."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    return ops.softmax(-input, dim, dtype)


def log_softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: int | None = None,
) -> Tensor:
    """log(softmax(x)) along `dim`, without overflow."""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.dim(), _stacklevel)
    return ops.log_softmax(input, dim, dtype)


def gumbel_softmax(
    logits: Tensor,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
) -> Tensor:
    """Sample of the Gumbel-softmax distribution (Jang et al. 2017).

    Args:
        logits: unnormalised log probabilities.
        tau: temperature.
        hard: one-hot values with the gradient of the soft sample.
        eps: has no effect; kept for old callers.
        dim: axis of the classes.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    # Drawn in the order of the elements, however they lie in memory.
    noise = hotaru.empty_like(logits, memory_format=hotaru.contiguous_format)
    noise = -noise.exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = hotaru.zeros_like(logits).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


def _implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the "
        "call to include dim=X as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in [0, 1, 3] else 1
