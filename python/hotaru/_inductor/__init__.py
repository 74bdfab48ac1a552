"""Names of PyTorch's compiler of kernels, of which hotaru needs none.

`torch.compile` runs graphs of kernels that are compiled already: switches and
modes are known and change nothing, what would write kernels says so.
"""

from __future__ import annotations

from .. import compiler
from ..graphs._compile import check_mode
from . import config, cpu_vec_isa, runtime, utils

__all__ = [
    "aot_compile",
    "compile",
    "config",
    "cpu_vec_isa",
    "cudagraph_mark_step_begin",
    "list_mode_options",
    "list_options",
    "standalone_compile",
    "utils",
]

# Options that modes of `torch.compile` set, by PyTorch's names.
_MODES = {
    "default": {},
    "lite": {
        "fallback_by_default": True,
        "selective_decompose": True,
        "reorder_for_peak_memory": False,
        "reorder_for_compute_comm_overlap": False,
        "triton.reorder_for_reducing_graph_partitions": False,
        "use_pre_grad_passes": False,
        "use_joint_graph_passes": False,
        "use_post_grad_passes": False,
        "use_dce": False,
        "allow_buffer_reuse": False,
    },
    "reduce-overhead": {"triton.cudagraphs": True},
    "max-autotune-no-cudagraphs": {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
    },
    "max-autotune": {
        "max_autotune": True,
        "triton.cudagraphs": True,
        "coordinate_descent_tuning": True,
    },
}


def list_mode_options(mode: str | None = None, dynamic: bool | None = None):
    """Options that a mode of `torch.compile` stands for, or those of each.

    RuntimeError: there is no such mode.
    """
    if not mode:
        return {name: dict(options) for name, options in _MODES.items()}
    check_mode(mode, _MODES)
    return dict(_MODES[mode])


def list_options() -> list[str]:
    """Names of the switches."""
    return list(config.get_config_copy())


def cudagraph_mark_step_begin() -> None:
    """A new step begins, as `compiler.cudagraph_mark_step_begin`."""
    compiler.cudagraph_mark_step_begin()


def _writes_no_code(name: str):
    raise NotImplementedError(
        f"torch._inductor.{name}: hotaru writes no kernels from graphs; call "
        "torch.compile(model), or torch.export.save for a file"
    )


def compile(gm, example_inputs, options=None):
    """Raises: no kernels are written from a graph."""
    _writes_no_code("compile")


def standalone_compile(gm, example_inputs, **options):
    """Raises: no kernels are written from a graph."""
    _writes_no_code("standalone_compile")


def aot_compile(gm, args, kwargs=None, *, options=None):
    """Raises: no kernels are written from a graph."""
    _writes_no_code("aot_compile")
