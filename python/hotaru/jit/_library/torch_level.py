"""Names of the top level as compiled code sees them."""

from __future__ import annotations

from typing import Any

import hotaru as torch
from hotaru import Tensor

from ..._own_names import is_own
from ..annotations import BroadcastingList1


class _NoGrad:
    """`no_grad()`."""

    def __init__(self):
        self.previous = False

    def __enter__(self) -> None:
        self.previous = torch.is_grad_enabled()
        torch.ops.set_grad_enabled(False)

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        torch.ops.set_grad_enabled(self.previous)


class _EnableGrad:
    """`enable_grad()`."""

    def __init__(self):
        self.previous = False

    def __enter__(self) -> None:
        self.previous = torch.is_grad_enabled()
        torch.ops.set_grad_enabled(True)

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        torch.ops.set_grad_enabled(self.previous)


class _SetGrad:
    """`set_grad_enabled(mode)`, which acts before it is entered."""

    def __init__(self, mode: bool):
        self.previous = torch.is_grad_enabled()
        torch.ops.set_grad_enabled(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        torch.ops.set_grad_enabled(self.previous)


class _RecordFunction:
    """`record_function(name)`."""

    def __init__(self, name: str, args: str | None = None):
        self.name = name
        self.args = args
        self.record = _begin_range(name, args)

    def __enter__(self) -> None:
        self.record = _begin_range(self.name, self.args)

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        _end_range(self.record)


def _begin_range(name: str, args: str | None): ...


def _end_range(record): ...


CLASSES = {
    torch.no_grad: _NoGrad,
    torch.enable_grad: _EnableGrad,
    torch.set_grad_enabled: _SetGrad,
}


def replacement(cls: type) -> type | None:
    """Finds what compiled code has in place of a class of the package."""
    # Who names the class has imported its module.
    if cls.__name__ == "record_function" and is_own(cls.__module__):
        return _RecordFunction
    return CLASSES.get(cls)


def is_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    first: list[int] = []
    second: list[int] = []
    if torch.jit.isinstance(dims, tuple[list[int], list[int]]):
        first, second = dims
    elif torch.jit.isinstance(dims, list[list[int]]):
        first, second = dims[0], dims[1]
    else:
        if isinstance(dims, Tensor):
            count = int(dims)
        else:
            assert isinstance(dims, int), "tensordot: dims are no integers"
            count = dims
        for i in range(count):
            first.append(a.dim() - count + i)
            second.append(i)
    made = torch.ops.tensordot(a, b, first, second)
    if out is not None:
        return out.resize_(made.size()).copy_(made)
    return made


def has_torch_function(relevant_args: Any) -> bool:
    """Denies what compiled code cannot hold: tensors with a protocol."""
    return False


def numel(input: Tensor) -> int:
    return input.numel()


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    # Without `center` the operator would be the one that does not pad.
    return torch.ops.stft(
        input,
        n_fft,
        hop_length,
        win_length,
        window,
        center=center,
        pad_mode=pad_mode,
        normalized=normalized,
        onesided=onesided,
        return_complex=return_complex,
        align_to_window=align_to_window,
    )


def _assert(condition: Any, message: str) -> None:
    if isinstance(condition, Tensor):
        assert bool(condition), message
    else:
        assert isinstance(condition, bool), "_assert: neither bool nor Tensor"
        assert condition, message


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    if compute_mode == "use_mm_for_euclid_dist_if_necessary":
        return torch.ops.cdist(x1, x2, p, 0)
    if compute_mode == "use_mm_for_euclid_dist":
        return torch.ops.cdist(x1, x2, p, 1)
    if compute_mode == "donot_use_mm_for_euclid_dist":
        return torch.ops.cdist(x1, x2, p, 2)
    raise ValueError(f"{compute_mode} is not a valid value for compute_mode")


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: BroadcastingList1[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: int | None = None,
) -> Tensor:
    order = 2.0
    if isinstance(p, str):
        if p != "fro":
            dims: list[int] = []
            if dim is not None:
                dims = dim
            else:
                for i in range(input.dim()):
                    dims.append(i)
            made = torch.ops.linalg_matrix_norm(input, p, dims, keepdim, dtype=dtype)
            if out is not None:
                return out.resize_(made.size()).copy_(made)
            return made
    elif isinstance(p, float):
        order = p
    elif isinstance(p, int):
        order = float(p)
    else:
        assert p is None, "norm: p is neither a number nor a string"
    made = torch.ops.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype)
    if out is not None:
        return out.resize_(made.size()).copy_(made)
    return made


def _atleast_1d(tensor: Tensor) -> Tensor:
    return torch.ops.atleast_1d(tensor)


def _atleast_1d_each(tensors: list[Tensor]) -> list[Tensor]:
    return [torch.ops.atleast_1d(t) for t in tensors]


def _atleast_2d(tensor: Tensor) -> Tensor:
    return torch.ops.atleast_2d(tensor)


def _atleast_2d_each(tensors: list[Tensor]) -> list[Tensor]:
    return [torch.ops.atleast_2d(t) for t in tensors]


def _atleast_3d(tensor: Tensor) -> Tensor:
    return torch.ops.atleast_3d(tensor)


def _atleast_3d_each(tensors: list[Tensor]) -> list[Tensor]:
    return [torch.ops.atleast_3d(t) for t in tensors]


def _chalf(self: Tensor, *, memory_format: int | None = None) -> Tensor:
    return torch.ops.to(
        self, torch.complex32, False, False, memory_format=memory_format
    )


def _type(self: Tensor, dtype: int, non_blocking: bool = False) -> Tensor:
    return torch.ops.to(self, dtype, non_blocking)


def _get_device(self: Tensor) -> int:
    index = self.device.index
    return -1 if index is None else index


def _never(self: Tensor) -> bool:
    return False


def _is_nonzero(self: Tensor) -> bool:
    return bool(self)


def _is_same_size(self: Tensor, other: Tensor) -> bool:
    return self.size() == other.size()


def _fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    assert self.dim() > 1, "dimensions must larger than 1"
    step = 0
    for i in range(self.dim()):
        step += self.stride(i)
        assert self.dim() == 2 or self.size(i) == self.size(0), (
            "all dimensions of input must be of equal length"
        )
    whole = self
    more = True
    while more:
        count = min(whole.size())
        line = whole.as_strided([count], [step], whole.storage_offset())
        line.fill_(fill_value)
        below = whole.size(1) + 1
        more = wrap and whole.dim() == 2 and whole.size(0) > below
        if more:
            whole = whole[below:]
    return self


#: Methods of tensors that are no operators.
METHODS = {
    "chalf": _chalf,
    "fill_diagonal_": _fill_diagonal_,
    "get_device": _get_device,
    "is_conj": _never,
    "is_distributed": _never,
    "is_neg": _never,
    "is_nonzero": _is_nonzero,
    "is_same_size": _is_same_size,
    "type": _type,
}

#: Functions whose results depend on the types of their arguments.
OVERLOADS = {
    "atleast_1d": (_atleast_1d, _atleast_1d_each),
    "atleast_2d": (_atleast_2d, _atleast_2d_each),
    "atleast_3d": (_atleast_3d, _atleast_3d_each),
}


def _check(cond: bool, message: str = "") -> None:
    assert cond, message


def ldexp(x: float, i: int) -> float:
    """`math.ldexp`: in two steps, as 2^i may be larger than any number."""
    half = i // 2
    return x * 2.0**half * 2.0 ** (i - half)
