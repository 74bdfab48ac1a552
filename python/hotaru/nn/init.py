"""Initial values of parameters. All fill their tensor in place and return it.

Sources: Glorot & Bengio 2010 (xavier), He et al. 2015 (kaiming), Saxe et al.
2013 (orthogonal), Martens 2010 (sparse).
"""

from __future__ import annotations

import math
import warnings

import hotaru

from .. import Tensor, no_grad
from .._overrides import overridable as _overridable

_UNIT_GAINS = {
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
}
_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Factor on the standard deviation that suits an activation.

    `param` is the negative slope of "leaky_relu", 0.01 when left out.
    """
    if nonlinearity in _UNIT_GAINS:
        return 1
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


# Libraries call what fills a tensor and asks nobody first.


def _no_grad_uniform_(
    tensor: Tensor, a: float, b: float, generator: hotaru.Generator | None = None
) -> Tensor:
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(
    tensor: Tensor, mean: float, std: float, generator: hotaru.Generator | None = None
) -> Tensor:
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_trunc_normal_(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator=None
) -> Tensor:
    return trunc_normal_(tensor, mean, std, a, b, generator)


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    with no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    with no_grad():
        return tensor.zero_()


def uniform_(
    tensor: Tensor,
    a: float = 0.0,
    b: float = 1.0,
    generator: hotaru.Generator | None = None,
) -> Tensor:
    """Uniform draws from [a, b)."""
    return _no_grad_uniform_(tensor, a, b, generator)


def normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    generator: hotaru.Generator | None = None,
) -> Tensor:
    """Normal draws."""
    return _no_grad_normal_(tensor, mean, std, generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator=None,
) -> Tensor:
    """Normal draws limited to [a, b], by rejection.

    Draws that fall outside are drawn again: from the normal where it puts at
    least 30 % of its mass into [a, b], else uniformly with the normal's density
    over its peak there as the chance of acceptance; or, where little of [a, b]
    has a chance, by an exponential tail (Robert, 1995). A mean that is not
    finite and a std of nan give uniform draws.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The "
            "distribution of values may be incorrect.",
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / (std * math.sqrt(2.0)))) / 2.0

    from_normal = below(b) - below(a) >= 0.3
    peak = min(max(mean, a), b)
    if tensor.is_meta:
        return tensor
    uniform = not math.isfinite(mean) or math.isnan(std)
    steepness = 0.0 if uniform else abs(mean - peak) / (std * std)
    tail = steepness * (b - a) > 100
    with no_grad():
        # Bounds as the dtype has them: draws are rounded to it, too.
        low, high = hotaru.tensor([a, b], dtype=tensor.dtype).tolist()
        pending = hotaru.ones_like(tensor, dtype=hotaru.bool)
        while bool(pending.any()):
            draws = hotaru.empty_like(tensor)
            # NaN does not count as outside: that would never end.
            if from_normal:
                draws.normal_(mean, std, generator=generator)
                fits = ~((draws < low) | (draws > high))
            elif uniform:
                draws.uniform_(a, b, generator=generator)
                fits = pending
            else:
                if tail:
                    step = draws.exponential_(generator=generator) / steepness
                    draws = peak + step if mean < a else peak - step
                    exponent = -step * step
                else:
                    draws.uniform_(a, b, generator=generator)
                    exponent = (peak - mean) ** 2 - (draws - mean) ** 2
                chance = hotaru.empty_like(tensor).uniform_(generator=generator)
                fits = chance <= (exponent / (2 * std * std)).exp()
                fits &= (draws >= low) & (draws <= high)
            fits = fits & pending
            tensor.copy_(hotaru.where(fits, draws, tensor))
            pending &= ~fits
        return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """`val` everywhere."""
    return _no_grad_fill_(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    return _no_grad_zero_(tensor)


def _check_matrix(tensor: Tensor) -> None:
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")


def eye_(tensor: Tensor) -> Tensor:
    """1 on the diagonal of a matrix, 0 elsewhere."""
    _check_matrix(tensor)
    with no_grad():
        return tensor.copy_(hotaru.eye(*tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The identity as a convolution's weight (out, in / groups, *)."""
    axes = tensor.ndim - 2
    if axes not in (1, 2, 3):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.size(0) // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.size(1))):
                tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def _fan_in_and_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than "
            "2 dimensions"
        )
    volume = 1
    for size in tensor.shape[2:]:
        volume *= size
    return tensor.size(1) * volume, tensor.size(0) * volume


_calculate_fan_in_and_fan_out = _fan_in_and_out


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(
            f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']"
        )
    fan_in, fan_out = _fan_in_and_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: hotaru.Generator | None = None
) -> Tensor:
    """Uniform with variance 2 gain² / (fan in + fan out)."""
    std = gain * math.sqrt(2.0 / float(sum(_fan_in_and_out(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: hotaru.Generator | None = None
) -> Tensor:
    """Normal with variance 2 gain² / (fan in + fan out)."""
    std = gain * math.sqrt(2.0 / float(sum(_fan_in_and_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator=None,
) -> Tensor:
    """Uniform with variance gain² / fan; `a` is the slope of a leaky ReLU."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator=None,
) -> Tensor:
    """Normal with variance gain² / fan; `a` is the slope of a leaky ReLU."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator=None) -> Tensor:
    """A (semi) orthogonal matrix, axes after the first flattened."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    if rows < columns:
        flat.t_()
    q, r = hotaru.linalg.qr(flat)
    # The signs make the result uniform (Mezzadri 2007).
    q *= hotaru.diag(r, 0).sign()
    if rows < columns:
        q.t_()
    with no_grad():
        tensor.view_as(q).copy_(q)
        return tensor.mul_(gain)


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator=None
) -> Tensor:
    """Normal draws with a share `sparsity` of each column set to 0."""
    _check_matrix(tensor)
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            chosen = hotaru.randperm(rows)[:zeros]
            tensor[chosen, column] = 0
    return tensor


def _deprecated(new):
    old = new.__name__[:-1]

    def call(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.",
            FutureWarning,
            stacklevel=2,
        )
        return new(*args, **kwargs)

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"Old name of `{old}_`."
    return call


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)

_overridable(globals(), ("constant_", "kaiming_uniform_", "normal_", "uniform_"))
