"""ONNX models run by ONNX Runtime, on hotaru's tensors.

Nothing of it is part of this package: the shared library of an installed
onnxruntime is opened at its first use.
"""

from __future__ import annotations

import functools
import glob
import importlib.util
import os

from .. import _C
from ._models import Model, Port, source_of

__all__ = ["Model", "Port", "get_available_providers", "load", "version"]

#: In errors and warnings.
NAME = "ONNX Runtime"
_PROVIDERS = "providers"
_PROVIDER_OPTIONS = "provider_options"


def load(f, *, providers=None, provider_options=None, options=None) -> Model:
    """Compiles an ONNX model with ONNX Runtime.

    Args:
        f: a path, a file opened for reading bytes, or bytes.
        providers: names of ONNX Runtime's execution providers in order of
            preference, or pairs of one with its options; the CPU is last
            anyway.
        provider_options: their options, one dictionary each.
        options: ``intra_op_num_threads`` (of the process's one pool for ONNX
            Runtime; 1 unless it was asked for more), ``oversubscribe`` (more
            than `get_num_threads()`), ``graph_optimization_level`` (0, 1, 2,
            3 or 99), ``enable_cpu_mem_arena``, ``enable_mem_pattern``,
            ``log_severity_level`` (4: it prints nothing); and entries of ONNX
            Runtime's session configuration by their names ("session.…").

    Raises:
        RuntimeError: ONNX Runtime is not installed, or refuses the model.
        ValueError: options or providers that it does not know.
    """
    settings = _options(providers, provider_options, options)
    _find()
    source, name = source_of(f)
    if isinstance(source, str):
        program = _C._onnx_runtime_compile(source, settings)
    else:
        program = _C._onnx_runtime_compile_bytes(source, name, settings)
    return Model(
        program,
        program._name(),
        program._engine(),
        program._inputs(),
        program._outputs(),
    )


def builder(*, providers=None, provider_options=None, **options):
    """A function that compiles a model's bytes with these settings, each as in
    `load`; it gives a function of tensors by position. The settings are checked
    at once, and ONNX Runtime is looked for.
    """
    settings = _options(providers, provider_options, options)
    version()

    def build(data: bytes):
        return _C._onnx_runtime_compile_bytes(data, "<compiled>", settings)

    return build


def version() -> str:
    """Version of the library that `load` uses, as "1.32.0"."""
    _find()
    return _C._onnx_runtime()[0]


def get_available_providers() -> list[str]:
    """The execution providers that the library was built with."""
    _find()
    return _C._onnx_runtime()[2]


@functools.cache
def _find() -> None:
    """Tells where the package onnxruntime has its library, if it is there."""
    spec = importlib.util.find_spec("onnxruntime")
    for folder in (spec and spec.submodule_search_locations) or ():
        name = os.path.join(glob.escape(folder), "capi", "libonnxruntime.so*")
        for path in sorted(glob.glob(name), reverse=True):
            _C._set_onnx_runtime_path(path)
            return


def _options(providers, provider_options, options) -> _C._OnnxOptions:
    settings = _C._OnnxOptions()
    settings.providers = list(_pairs(providers or (), provider_options))
    config = {}
    for name, value in (options or {}).items():
        if "." in name:
            config[name] = _text(value)
        elif hasattr(settings, name) and name not in ("config", _PROVIDERS):
            setattr(settings, name, value)
        else:
            known = [n for n in dir(settings) if not n.startswith("_")]
            known = [n for n in known if n not in ("config", _PROVIDERS)]
            raise ValueError(
                f"unknown option {name!r} of ONNX Runtime; there are {known} "
                "and entries of its session configuration ('session.…')"
            )
    settings.config = config
    return settings


def _pairs(providers, provider_options):
    """(name, options) of each."""
    if provider_options is not None and len(provider_options) != len(providers):
        raise ValueError(
            f"{len(providers)} providers, but provider_options has "
            f"{len(provider_options)} entries"
        )
    for i, provider in enumerate(providers):
        name, own = (provider, {}) if isinstance(provider, str) else provider
        given = {**own, **(provider_options[i] if provider_options else {})}
        yield name, {key: _text(value) for key, value in given.items()}


def _text(value) -> str:
    """As ONNX Runtime takes values."""
    return str(int(value)) if isinstance(value, bool) else str(value)
