"""PyTorch's modern name for functions that run as graphs."""

from __future__ import annotations

import functools

from .._late import lent, loaded
from ..nn import Module
from . import _state, _where
from ._callables import wrapped
from ._capture import Options
from ._failures import failure_of
from ._graphed import CACHE_SIZE, Graphed
from ._proxy import OptimizedModule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BACKENDS = ("cudagraphs", "graphs", "inductor", "onnxruntime", "openvino", "xla")
# Others leave the mode alone, as they do in PyTorch.
_WITH_MODES = ("graphs", "inductor")
_MODES = (
    "default",
    "lite",
    "reduce-overhead",
    "max-autotune-no-cudagraphs",
    "max-autotune",
)
# Engines that run ONNX models.
_ENGINES = ("onnxruntime", "openvino")
_default_backend = "graphs"
# Most warnings of one function that an engine runs, each with another text.
_MOST_WARNINGS = 8


def default_backend() -> str:
    return _default_backend


def set_default_backend(backend: str) -> None:
    """Sets what `compile` takes where none is named."""
    global _default_backend
    if backend not in (*BACKENDS, "eager"):
        raise ValueError(f"compile: unknown backend {backend!r}")
    _default_backend = backend


def compile(
    model=None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | None = None,
    mode: str | None = None,
    options: dict | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    dynamic_shapes=None,
    shapes_spec=None,
) -> Any:
    """Makes a function or module run as graphs, with results of its own.

    As ``make_graphed_callables`` without samples, but every call gives fresh
    tensors, several calls may wait for their backward, and what cannot be
    captured runs as it is, with a warning that says why.

    Args:
        model: a function or module; left out, a decorator is returned.
        fullgraph: what cannot be captured is an error.
        dynamic: accepted; every kind of call has a graph of its own. Of the
            engines, False: another kind than the first is an error.
        backend: "graphs" and PyTorch's "inductor" and "cudagraphs" mean the
            graphs of this package, "eager" none. "onnxruntime" traces a call
            without gradients, exports it to ONNX and has ONNX Runtime run it,
            "openvino" OpenVINO (docs/engines.md); "xla" has XLA run it through
            jaxlib, on the CPU (docs/xla.md). The default is that of
            `compiler.set_default_backend`.
        mode: one of PyTorch's; they all mean the same.
        name: accepted; graphs have no names.
        recompile_limit: how many graphs are kept, as ``cache_size``.
        isolate_recompiles: accepted; every compiled function has its own.
        dynamic_shapes, shapes_spec: accepted, as `dynamic`.
        options: ``cache_size``; ``bitwise`` (bool) and ``without`` (names of
            passes) of graphs; of "onnxruntime" ``providers``,
            ``provider_options`` and those of `onnx.runtime.load`; of
            "openvino" those of `onnx.openvino.load`. PyTorch's own, and
            ``guard_filter_fn``, change nothing.
        disable: gives the model back as it is.

    Raises:
        RuntimeError: of another mode, or of a mode beside options.
    """
    if model is None:
        return functools.partial(
            compile,
            fullgraph=fullgraph,
            dynamic=dynamic,
            backend=backend,
            mode=mode,
            options=options,
            name=name,
            disable=disable,
            recompile_limit=recompile_limit,
            isolate_recompiles=isolate_recompiles,
            dynamic_shapes=dynamic_shapes,
            shapes_spec=shapes_spec,
        )
    backend = backend or _default_backend
    if backend not in (*BACKENDS, "eager"):
        raise ValueError(
            f"compile: unknown backend {backend!r}; there are "
            f"{', '.join(BACKENDS)} and eager"
        )
    _check_mode(mode, options, backend)
    kind, lacks, passes = Graphed, "a graph", _is_refusal
    if backend == "xla":
        xla = lent("xla")
        kind, lacks, passes = xla.XlaGraphed, "XLA", xla.is_refusal

    given = dict(options or {})
    cache_size = given.pop("cache_size", None) or recompile_limit or _cache_size()
    if backend in _ENGINES:
        if disable or _switched_off():
            return model
        engine = _onnx_engine(backend)
        return _engined(model, engine, given, fullgraph, dynamic, cache_size)
    known = () if backend == "xla" else ("bitwise", "without")
    settings = {k: given.pop(k) for k in known if k in given}
    if given and backend in _WITH_MODES:
        # Options of PyTorch's compiler of kernels change nothing here.
        known_there = {"guard_filter_fn", *lent("inductor_options")()}
        given = {k: v for k, v in given.items() if k not in known_there}
    if given:
        raise ValueError(
            f"compile: unknown options {sorted(given)}; there are "
            f"{', '.join(sorted((*known, 'cache_size')))}"
        )
    if disable or _switched_off():
        return model
    if backend == "eager":
        return _uncaptured(model)
    _check_callable(model)
    is_module = isinstance(model, Module)
    graphed = kind(
        # Hooks of the module are part of the graph.
        model,
        Options(None, True, True, **settings),
        dynamic=True,
        cache_size=cache_size,
        on_failure=failure_of(model, fullgraph, lacks, passes=passes),
        root=model if is_module else None,
    )
    if not is_module:
        return wrapped(model, graphed)
    return OptimizedModule(model, graphed)


def check_mode(mode: str, modes) -> None:
    """RuntimeError for a mode that is none of these."""
    if mode not in modes:
        raise RuntimeError(
            f"Unrecognized mode={mode}, should be one of: {', '.join(modes)}"
        )


def _check_mode(mode, options, backend: str) -> None:
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be "
            "specified at the same time."
        )
    if mode and backend in _WITH_MODES:
        check_mode(mode, _MODES)


def _uncaptured(model):
    """The model as it is; a module within what stands for compiled ones."""
    _check_callable(model)
    if not isinstance(model, Module):
        return model
    return OptimizedModule(model, model.__call__)


def _is_refusal(error: Exception) -> bool:
    return _where.is_refusal(error) or isinstance(error, _state.UnfitError)


def _onnx_engine(backend: str):
    """The module that has the `builder` and the `NAME` of an engine."""
    if backend == "openvino":
        from ..onnx import openvino as engine
    else:
        from ..onnx import runtime as engine
    return engine


def _engined(model, engine, options: dict, fullgraph: bool, dynamic, cache_size: int):
    """A function or module that an engine for ONNX models runs."""
    _check_callable(model)
    is_module = isinstance(model, Module)
    from ._engine import Engined

    engined = Engined(
        model,
        engine.builder(**options),
        engine.NAME,
        dynamic=dynamic is not False,
        cache_size=cache_size,
        # Whatever fails in tracing or exporting would fail as well, or not at
        # all, where the function runs as it is.
        on_failure=failure_of(
            model,
            fullgraph,
            engine.NAME,
            passes=lambda error: True,
            most=_MOST_WARNINGS,
        ),
        root=model if is_module else None,
    )
    if not is_module:
        return functools.update_wrapper(engined, model)
    return OptimizedModule(model, engined)


def _check_callable(model) -> None:
    if not callable(model):
        raise TypeError(f"compile: expected a function or module, not {type(model)}")


def compile_in_place(module: Module, **options) -> None:
    """The module's own calls run as graphs: `Module.compile`.

    Hooks run outside of the graph, as they can be added later.
    """
    vars(module).pop("forward", None)
    plain = module.forward
    made = compile(plain, **options)
    if made is not plain:
        made._root = module
        module.forward = made


def _cache_size() -> int:
    config = loaded("dynamo_config")
    return config.recompile_limit if config is not None else CACHE_SIZE


def _switched_off() -> bool:
    config = loaded("dynamo_config")
    return config is not None and config.disable
