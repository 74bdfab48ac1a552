"""Tags of operators: what compilers and tests may assume."""

from __future__ import annotations

import enum

_NAMES = [
    "core",
    "cudagraph_unsafe",
    "data_dependent_output",
    "dynamic_output_shape",
    "flexible_layout",
    "generated",
    "inplace",
    "inplace_view",
    "maybe_aliasing_or_mutating",
    "needs_contiguous_strides",
    "needs_exact_strides",
    "needs_fixed_stride_order",
    "nondeterministic_bitwise",
    "nondeterministic_seeded",
    "out",
    "out_variant",
    "pointwise",
    "pt2_compliant_tag",
    "reduction",
    "view_copy",
]

Tag = enum.Enum("Tag", [(n, i) for i, n in enumerate(_NAMES)], module="torch")
Tag.__doc__ = "A property of an operator, as in `op.tags`."


def listed(tags) -> list:
    """Tags given as one or as several, in a list."""
    if isinstance(tags, Tag):
        return [tags]
    return sorted(set(tags), key=lambda tag: tag.value)
