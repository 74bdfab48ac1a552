"""Names of PyTorch's compiler of kernels, of which hotaru needs none.

`torch.compile` runs graphs of kernels that are compiled already: switches and
modes are known and change nothing, what would write kernels says so. Packages
hold exported programs, whose graphs are made when they are loaded.
"""

from __future__ import annotations

import logging
import os

from .. import compiler
from ..export import ExportedProgram, export
from ..graphs._compile import check_mode
from . import config, cpu_vec_isa, package, runtime, utils
from .package.package import fresh_path, write_program

__all__ = [
    "aot_compile",
    "aoti_compile_and_package",
    "aoti_load_package",
    "compile",
    "config",
    "cpu_vec_isa",
    "cudagraph_mark_step_begin",
    "list_mode_options",
    "list_options",
    "package",
    "standalone_compile",
    "utils",
]

_log = logging.getLogger(__name__)

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
    """Writes the program of a module, for `torch._export.aot_load` and
    `package_aoti`. Returns its path; a list of it with the option
    "aot_inductor.package".

    Args:
        gm: `exported_program.module()`, whose program it is; any other module is
            exported with the arguments.
        args, kwargs: example arguments.
        options: "aot_inductor.output_path" is where it is written, with a name
            that ends in .pt2; PyTorch's others change nothing.
    """
    options = options or {}
    program = getattr(gm, "_exported_program", None)
    if program is None:
        program = export(gm, tuple(args), kwargs)
    path = options.get("aot_inductor.output_path") or fresh_path()
    write_program(program, path)
    return [path] if options.get("aot_inductor.package") else path


def aoti_compile_and_package(
    exported_program,
    _deprecated_unused_args=None,
    _deprecated_unused_kwargs=None,
    *,
    package_path=None,
    inductor_configs=None,
):
    """Writes an exported program for `aoti_load_package`. Returns the path, or the
    file.

    The package is what `torch.export.save` writes; graphs of its kernels are made
    when it is loaded.

    Args:
        exported_program: what `torch.export.export` or `load` gave.
        package_path: a path that ends in .pt2, a file open for writing bytes, or
            None for a path of a new folder.
        inductor_configs: PyTorch's options, which change nothing.

    Raises:
        ValueError: no exported program. RuntimeError: it has no example inputs,
        or an option says another path.
    """
    if not isinstance(exported_program, ExportedProgram):
        raise ValueError("Only ExportedProgram is supported")
    if exported_program.example_inputs is None:
        raise RuntimeError(
            "exported_program.example_inputs is required to be set in order for "
            "AOTInductor compilation."
        )
    if _deprecated_unused_args is not None or _deprecated_unused_kwargs is not None:
        _log.warning(
            "You no longer need to specify args/kwargs to aoti_compile_and_package as "
            "we can get this information from exported_program.example_inputs."
        )
    named = isinstance(package_path, (str, os.PathLike))
    if not (
        package_path is None
        or (named and os.fspath(package_path).endswith(".pt2"))
        or (not named and hasattr(package_path, "write"))
    ):
        raise AssertionError(
            "Expect package path to be a file ending in .pt2, is None, or is a buffer. "
            f"Instead got {package_path}"
        )
    if (inductor_configs or {}).get("aot_inductor.output_path"):
        raise RuntimeError(
            "Please pass in a package path to aot_inductor_compile() instead of "
            "setting the aot_inductor.output_path config."
        )
    target = fresh_path() if package_path is None else package_path
    write_program(exported_program, target)
    return target


def aoti_load_package(path, run_single_threaded: bool = False, device_index: int = -1):
    """Loads a package, to be called as the module was.

    Args:
        path: the package, as `aoti_compile_and_package` returned it.
        run_single_threaded: taken, and changes nothing.
        device_index: the GPU that it runs on; -1: where its tensors are.

    RuntimeError: PyTorch's package, which holds machine code for its run time; the
    text says how to write the program instead.
    """
    return package.load_package(
        path, run_single_threaded=run_single_threaded, device_index=device_index
    )
