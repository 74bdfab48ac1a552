"""Small names of `torch._C` that are written in Python."""

from __future__ import annotations

from .. import Size
from .._C import Tensor, device, get_default_device
from .._late import lent

#: Factorisations are hotaru's own, so they are always there.
has_lapack = True


def _infer_size(first, second) -> Size:
    """The shape to which two shapes broadcast.

    RuntimeError if they do not, with PyTorch's text.
    """
    n = max(len(first), len(second))
    out = []
    for d in range(-n, 0):
        a = first[d] if -d <= len(first) else 1
        b = second[d] if -d <= len(second) else 1
        if a != b and a != 1 and b != 1:
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b "
                f"({b}) at non-singleton dimension {n + d}"
            )
        out.append(b if a == 1 else a)
    return Size(out)


def _is_alias_of(first: Tensor, second: Tensor) -> bool:
    """True if two tensors lie in one storage."""
    return first.untyped_storage()._cdata == second.untyped_storage()._cdata


def _get_accelerator(check: bool | None = None):
    """The kind of device beside the CPU; where there is none, the CPU."""
    found = lent("current_accelerator")(True)
    return device("cpu") if found is None else found


def _get_privateuse1_backend_name() -> str:
    """Names devices of a back end of a program's own: by PyTorch's default, as
    there is no way to add one.
    """
    return "privateuseone"


def _log_api_usage_once(event: str) -> None:
    """Tells nobody: PyTorch's listener of these events is not set either."""


def _get_tracing_state():
    """Returns what `torch.jit.trace` records into; None while nothing is
    traced.
    """
    return lent("is_tracing")() or None


def _is_tracing() -> bool:
    """Tells whether `torch.jit.trace` is recording."""
    return bool(lent("is_tracing")())


def _get_default_device() -> str:
    """The device of new tensors, as "cpu"."""
    return str(get_default_device())


def _cuda_clearCublasWorkspaces() -> None:  # noqa: N802
    """Returns at once: products take their memory as other operators do."""


def _set_math_sdp_allow_fp16_bf16_reduction(allow: bool) -> None:
    """As `backends.cuda.allow_fp16_bf16_reduction_math_sdp`."""
    lent("backends").cuda.allow_fp16_bf16_reduction_math_sdp(allow)


def _get_math_sdp_allow_fp16_bf16_reduction() -> bool:
    """Tells what was set."""
    return lent("backends").cuda.fp16_bf16_reduction_math_sdp_allowed()


#: The layout is there for hotaru's own kernels (`_onednn`).
has_mkldnn = _has_mkldnn = True
_has_mkldnn_acl = False


def _get_mkldnn_enabled() -> bool:
    """As `backends.mkldnn.enabled`."""
    return lent("backends").mkldnn.enabled


def _set_mkldnn_enabled(value: bool) -> None:
    """Sets it."""
    lent("backends").mkldnn.enabled = value


def _get_mkldnn_deterministic() -> bool:
    """As `backends.mkldnn.deterministic`."""
    return lent("backends").mkldnn.deterministic


def _set_mkldnn_deterministic(value: bool) -> None:
    """Sets it."""
    lent("backends").mkldnn.deterministic = value
