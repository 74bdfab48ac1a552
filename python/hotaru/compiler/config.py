"""Switches of `torch.compile`: those of `torch._dynamo.config`, and of caches,
which are not kept from one process to the next.
"""

from __future__ import annotations

import sys

from .._late import lent
from .._utils.switches import Switches

job_id: str | None = None
pgo_extra_read_key: str | None = None
pgo_extra_write_key: str | None = None
cache_key_tag: str = ""
force_disable_caches: bool = False
compile_on_one_rank: bool = False
dynamic_sources: str = ""
dynamic_values: str = ""
unbacked_sources: str = ""
force_cudagraph_gc: bool = False

_SAME = frozenset(
    [
        "accumulated_recompile_limit",
        "allow_unspec_int_on_nn_module",
        "assume_static_by_default",
        "automatic_dynamic_shapes",
        "capture_dynamic_output_shape_ops",
        "capture_scalar_outputs",
        "dynamic_shapes",
        "enable_cpp_symbolic_shape_guards",
        "fail_on_recompile_limit_hit",
        "log_file_name",
        "recompile_limit",
        "reorderable_logging_functions",
        "skip_tensor_guards_with_matching_dict_tags",
        "verbose",
        "wrap_top_frame",
    ]
)


class _Compiler(Switches):
    """Has those of the other module, by the same names."""

    def __getattr__(self, name: str):
        # Names that programs set here before, as `cache_size_limit`, too.
        return getattr(lent("dynamo_config"), name)

    def __setattr__(self, name: str, value) -> None:
        if name in vars(self):
            super().__setattr__(name, value)
        else:
            setattr(lent("dynamo_config"), name, value)

    def __dir__(self):
        return sorted({*vars(self), *_SAME})

    def get_config_copy(self) -> dict:
        """Values of all switches by their names, which are copies."""
        found = super().get_config_copy()
        return {**found, **{name: getattr(self, name) for name in _SAME}}


TYPE_CHECKING = False
if TYPE_CHECKING:
    accumulated_recompile_limit: int
    allow_unspec_int_on_nn_module: bool
    assume_static_by_default: bool
    automatic_dynamic_shapes: bool
    capture_dynamic_output_shape_ops: bool
    capture_scalar_outputs: bool
    dynamic_shapes: bool
    enable_cpp_symbolic_shape_guards: bool
    fail_on_recompile_limit_hit: bool
    log_file_name: str | None
    recompile_limit: int
    reorderable_logging_functions: set
    skip_tensor_guards_with_matching_dict_tags: bool
    verbose: bool
    wrap_top_frame: bool

sys.modules[__name__].__class__ = _Compiler
