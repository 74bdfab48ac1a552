"""Fake kernels from what calls of an operator were given and gave."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass

from .. import _C
from .._C import Tensor
from .custom_ops import maybe_opdef
from .definitions import Library
from .fake_impl import get_ctx

__all__ = [
    "MissingOpProfile",
    "OpProfile",
    "TensorMetadata",
    "unsafe_generate_fake_kernels",
]

log = logging.getLogger(__name__)


class MissingOpProfile(RuntimeError):  # noqa: N818
    """No call with such arguments was seen."""


@dataclass(frozen=True)
class TensorMetadata:
    """Facts of a tensor that do not follow from its sizes."""

    rank: int
    dtype: object
    device: object
    layout: object

    @staticmethod
    def maybe_from_tensor(t) -> TensorMetadata | None:
        """Facts of a tensor; None of anything else."""
        if not isinstance(t, Tensor):
            return None
        return TensorMetadata(t.dim(), t.dtype, t.device, t.layout)


@dataclass(frozen=True)
class OpProfile:
    """A call: facts of its arguments, and of what it gave."""

    args_profile: tuple
    out_profile: TensorMetadata | tuple


def _kernel(name: str, profiles: set) -> Callable:
    def made(facts: TensorMetadata):
        context = get_ctx()
        sizes = [context.new_dynamic_size() for _ in range(facts.rank)]
        return _C.ops.empty(sizes, dtype=facts.dtype, device=facts.device)

    def kernel(*args, **kwargs):
        given = tuple(map(TensorMetadata.maybe_from_tensor, (*args, *kwargs.values())))
        plain = [x and (x.rank, x.dtype, x.layout) for x in given]
        for profile in profiles:
            known = profile.args_profile
            if plain == [x and (x.rank, x.dtype, x.layout) for x in known]:
                out = profile.out_profile
                return list(map(made, out)) if isinstance(out, tuple) else made(out)
        raise MissingOpProfile(
            f"No fake kernel was found for {name}, and although we have previously "
            "registered some profiles to generate a fake kernel, no profiles match "
            f"the given inputs: {args, kwargs}."
        )

    return kernel


@contextlib.contextmanager
def unsafe_generate_fake_kernels(op_profiles: dict[str, set]):
    """Inside, operators have fake kernels that know dtypes and numbers of
    dimensions from `op_profiles` (`draft_export(...)._report.op_profiles`).

    Sizes are not known: what needs them raises, but `draft_export`, which takes
    them from its example.
    """
    libraries, before = [], {}
    for name, profiles in op_profiles.items():
        log.warning(
            "Registering fake profile for %s. This will override any existing fake "
            "kernel registration.",
            name,
        )
        space, base = name.split(".")[:2]
        qualified = f"{space}::{base}"
        kernel = _kernel(qualified, profiles)
        definition = maybe_opdef(qualified)
        if definition is not None:
            before[qualified] = definition._fake
            definition._fake = kernel
        else:
            library = Library(space, "FRAGMENT")
            library._register_fake(base, kernel, source=__name__, allow_override=True)
            libraries.append(library)
    try:
        yield libraries
    finally:
        for library in libraries:
            library._destroy()
        for qualified, kernel in before.items():
            maybe_opdef(qualified)._fake = kernel
