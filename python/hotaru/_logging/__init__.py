"""Levels of loggers by the short names that PyTorch has for its parts.

Nothing is traced, so that what PyTorch's compiler writes of its steps (its
"artifacts": graphs, guards, recompiles ...) is never written: such a name is
checked, and enables nothing.
"""

from __future__ import annotations

import importlib
import logging

__all__ = ["set_logs"]

_DYNAMIC = tuple(
    f"fx.experimental.{name}" for name in ("symbolic_shapes", "sym_node", "recording")
)
_LOGGERS = {
    "dynamo": ("_dynamo", *_DYNAMIC),
    "aot": ("_functorch.aot_autograd", "_functorch._aot_autograd"),
    "autograd": ("autograd",),
    "dynamic": _DYNAMIC,
    "inductor": ("_inductor", "_inductor.cudagraph_trees"),
    "distributed": (
        "distributed",
        "_dynamo.backends.distributed",
        "nn.parallel.distributed",
    ),
    "c10d": ("distributed.distributed_c10d", "distributed.rendezvous"),
    "ddp": ("nn.parallel.distributed", "_dynamo.backends.distributed"),
    "fsdp": ("distributed.fsdp", "distributed._composable.fsdp"),
    "dtensor": ("distributed._tensor", "distributed.tensor"),
    "onnx": ("onnx",),
    "export": ("_dynamo", "export", *_DYNAMIC, "fx.experimental.proxy_tensor"),
}
_ARTIFACTS = frozenset(
    [
        "aot_graphs",
        "aot_joint_graph",
        "autotuning",
        "benchmarking",
        "bytecode",
        "caching",
        "compiled_autograd",
        "compiled_autograd_verbose",
        "compute_dependencies",
        "cudagraph_static_inputs",
        "cudagraphs",
        "ddp_graphs",
        "fusion",
        "graph",
        "graph_breaks",
        "graph_code",
        "graph_code_verbose",
        "graph_region_expansion",
        "graph_sizes",
        "guards",
        "hierarchical_compile",
        "incremental",
        "inductor_metrics",
        "ir_post_fusion",
        "ir_pre_fusion",
        "kernel_code",
        "onnx_diagnostics",
        "output_code",
        "overlap",
        "perf_hints",
        "post_grad_graphs",
        "pre_grad_graphs",
        "recompiles",
        "recompiles_verbose",
        "schedule",
        "side_effects",
        "sym_node",
        "trace_bytecode",
        "trace_call",
        "trace_source",
    ]
)
_LEVELS = (50, 40, 30, 20, 10, 0)
# PyTorch's level of all, and names that got another one.
_DEFAULT = logging.WARNING
_changed: set[str] = set()


def set_logs(*, all: int | None = None, modules: dict | None = None, **names) -> None:
    """Sets the levels of loggers, all of those that are not named the default.

    Args:
        all: of everything, where nothing else is said.
        modules: levels of modules by their names; with a bool, what a module
            writes is on.
        names: parts (``dynamo=logging.DEBUG``), and booleans of artifacts.

    Raises:
        TypeError: of a name that there is not.
        ValueError: of something that is no level, or no bool.
    """
    levels = {"": _DEFAULT if all is None else _level("all", all)}
    # As given, those of parts later than all, so that those named count.
    for name, value in names.items():
        if name in _LOGGERS:
            if value is not None:
                level = _level(name, value)
                levels.update(dict.fromkeys(_LOGGERS[name], level))
        elif name not in _ARTIFACTS:
            raise TypeError(f"set_logs() got an unexpected keyword argument {name!r}")
        elif not isinstance(value, bool):
            raise ValueError(
                f"Expected bool to enable artifact {name}, received {value}"
            )
    given = {}
    for name, value in (modules or {}).items():
        importlib.import_module(name)
        given[name] = _DEFAULT if isinstance(value, bool) else _level(name, value)
    for name in _changed:
        logging.getLogger(name).setLevel(logging.NOTSET)
    _changed.clear()
    for part, level in levels.items():
        for package in ("torch", __name__.partition(".")[0]):
            given[f"{package}.{part}" if part else package] = level
    for name, level in given.items():
        logging.getLogger(name).setLevel(level)
        _changed.add(name)


def _level(name: str, value) -> int:
    if isinstance(value, bool) or value not in _LEVELS:
        raise ValueError(
            f"Unrecognized log level for log {name}: {value}, valid level values "
            f"are: {','.join(map(str, _LEVELS))}"
        )
    return value
