"""Tensors made in parts from the beginning."""

from __future__ import annotations

from collections.abc import Callable

from ... import dtype as Dtype
from ... import empty as _empty
from ... import full as _full
from ... import ones as _ones
from ... import rand as _rand
from ... import randn as _randn
from ... import zeros as _zeros
from ..device_mesh import DeviceMesh, current_mesh
from ._api import DTensor
from ._dtensor_spec import DTensorSpec, TensorMeta, dense_stride, normalized
from ._random import drawn
from ._utils import compute_local_shape_and_global_offset

__all__ = ["empty", "full", "ones", "rand", "randn", "zeros"]


def _sizes(size: tuple) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    return tuple(int(s) for s in size)


def _made(
    size: tuple,
    fill: Callable,
    mesh,
    placements,
    requires_grad: bool,
    random: bool = False,
) -> DTensor:
    mesh = mesh or current_mesh()
    shape = _sizes(size)
    placed = normalized(placements, mesh, len(shape))
    if any(p.is_partial() for p in placed):
        raise ValueError("a tensor is not made as a sum of the ranks' parts")
    own, _ = compute_local_shape_and_global_offset(shape, mesh, placed)

    def spec_of(dtype) -> DTensorSpec:
        meta = TensorMeta(shape, dense_stride(shape), dtype)
        return DTensorSpec(mesh, placed, meta)

    local = drawn(spec_of(None), lambda: fill(own)) if random else fill(own)
    return DTensor(local, spec_of(local.dtype), requires_grad=requires_grad)


def _factory(make: Callable, random: bool = False) -> Callable:
    def made(
        *size,
        requires_grad: bool = False,
        dtype: Dtype | None = None,
        layout=None,
        device_mesh: DeviceMesh | None = None,
        placements=None,
    ) -> DTensor:
        return _made(
            size,
            lambda own: make(own, dtype=dtype),
            device_mesh,
            placements,
            requires_grad,
            random,
        )

    made.__name__ = made.__qualname__ = make.__name__
    made.__doc__ = f"torch.{make.__name__} of this size, in parts on a mesh."
    return made


empty = _factory(_empty)
ones = _factory(_ones)
rand = _factory(_rand, random=True)
randn = _factory(_randn, random=True)
zeros = _factory(_zeros)


def full(
    size,
    fill_value,
    *,
    dtype: Dtype | None = None,
    layout=None,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements=None,
) -> DTensor:
    """torch.full of this size, in parts on a mesh."""
    return _made(
        (size,),
        lambda own: _full(own, fill_value, dtype=dtype),
        device_mesh,
        placements,
        requires_grad,
    )
