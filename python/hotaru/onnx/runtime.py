"""ONNX models run by ONNX Runtime, on hotaru's tensors.

Nothing of it is part of this package: the shared library of an installed
onnxruntime is opened at its first use.
"""

from __future__ import annotations

import functools
import glob
import importlib.util
import os
from typing import NamedTuple

from .. import _C, Tensor

__all__ = ["Model", "Port", "get_available_providers", "load", "version"]

_PROVIDERS = "providers"
_PROVIDER_OPTIONS = "provider_options"


class Port(NamedTuple):
    """An input or output: a size of `shape` is a number, a name that stands
    for one, or None; `shape` itself is None where nothing is said.
    """

    name: str
    dtype: _C.dtype
    shape: tuple | None


class Model:
    """A compiled model: call it with its inputs by position or by name.

    Gives its output, or a tuple of several. Threads may call it at once.
    """

    def __init__(self, program: _C._Executable) -> None:
        self._program = program
        #: What it takes and gives, in order.
        self.inputs = [Port(*port) for port in program._inputs()]
        self.outputs = [Port(*port) for port in program._outputs()]

    def __call__(self, *args: Tensor, **kwargs: Tensor):
        if kwargs:
            args = self._in_order(args, kwargs)
        return self._program(*args)

    def _in_order(self, args: tuple, kwargs: dict) -> tuple:
        rest = [port.name for port in self.inputs[len(args) :]]
        unknown = sorted(set(kwargs).difference(rest))
        missing = [name for name in rest if name not in kwargs]
        if unknown or missing:
            names = [port.name for port in self.inputs]
            raise TypeError(
                f"{self._program._name()}: inputs are {names}; missing are "
                f"{missing}, unknown or given twice {unknown}"
            )
        return (*args, *(kwargs[name] for name in rest))

    def __repr__(self) -> str:
        ports = (*self.inputs, *self.outputs)
        sides = [f"{p.name}: {p.dtype}{list(p.shape or '?')}" for p in ports]
        n = len(self.inputs)
        return (
            f"{self._program._engine()} Model({', '.join(sides[:n])}) -> "
            f"{', '.join(sides[n:])}"
        )


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
    if isinstance(f, (str, os.PathLike)):
        return Model(_C._onnx_runtime_compile(os.fspath(f), settings))
    if isinstance(f, (bytes, bytearray, memoryview)):
        data, name = bytes(f), "<bytes>"
    else:
        data, name = f.read(), str(getattr(f, "name", "<bytes>"))
    return Model(_C._onnx_runtime_compile_bytes(data, name, settings))


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
    """Of the library that `load` uses, as "1.32.0"."""
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
