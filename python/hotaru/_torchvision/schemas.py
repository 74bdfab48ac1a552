"""Arguments with which torchvision's operators are called."""

from __future__ import annotations

from .. import _C

# Operators of floating-point tensors, by the declarations of the library's
# own.
NATIVE = (
    "nms",
    "roi_align",
    "_roi_align_backward",
    "roi_pool",
    "_roi_pool_backward",
    "ps_roi_align",
    "_ps_roi_align_backward",
    "ps_roi_pool",
    "_ps_roi_pool_backward",
    "deform_conv2d",
    "_deform_conv2d_backward",
)
# Operators of quantised ones, which are like another but for the name.
QUANTISED = {"qnms": "nms", "qroi_align": "roi_align"}


def native(name: str) -> str:
    """Its name in the registry."""
    return f"torchvision::{name}"


def schema(name: str) -> str:
    """The declaration, without a namespace."""
    (text,) = _C._op_schemas(native(QUANTISED.get(name, name)))
    return name + text[text.index("(") :]
