"""ONNX models run by OpenVINO's own Python package, on hotaru's tensors.

Nothing of it is part of this package: the installed `openvino` is imported at
its first use.
"""

from __future__ import annotations

import functools
import importlib.util
import threading

from .. import (
    _C,
    Tensor,
    bfloat16,
    empty,
    float16,
    float32,
    get_num_threads,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from .. import bool as bool_
from ._models import Model, Port, source_of

__all__ = ["Model", "Port", "get_available_devices", "load", "version"]

#: In errors and warnings.
NAME = "OpenVINO"
# By OpenVINO's names. Its CPU computes float64 in float32, so that is none.
_DTYPES = {
    "bf16": bfloat16,
    "f16": float16,
    "f32": float32,
    "i8": int8,
    "i16": int16,
    "i32": int32,
    "i64": int64,
    "u8": uint8,
    "boolean": bool_,
}
# Handing memory over takes longer than to copy a little into memory that was
# handed over before.
_SMALL = 1 << 16  # bytes


def load(f, *, device: str = "CPU", options: dict | None = None) -> Model:
    """Compiles an ONNX model with OpenVINO.

    Args:
        f: a path, a file opened for reading bytes, or bytes.
        device: OpenVINO's name of it. Tensors are the CPU's in any case.
        options: OpenVINO's properties by their names, passed on as they are.
            By default ``INFERENCE_NUM_THREADS`` is `get_num_threads()`, at
            each call; on the CPU ``INFERENCE_PRECISION_HINT`` is "f32" and
            ``ENABLE_CPU_PINNING`` is off.

    Raises:
        ImportError: OpenVINO is not installed.
        RuntimeError: it refuses the model or an option.
        TypeError: an input or output is of a dtype that it does not compute.
    """
    settings = _Settings(device, options or {})
    source, name = source_of(f)
    program = _Program(source, name, settings)
    ports = program.ports()
    return Model(program, name, NAME, *ports)


def builder(*, device: str = "CPU", **options):
    """A function that compiles a model's bytes with these settings, each as in
    `load`; it gives a function of tensors by position. OpenVINO is looked for
    at once.
    """
    settings = _Settings(device, options)
    version()

    def build(data: bytes):
        program = _Program(data, "<compiled>", settings)
        # OpenVINO leaves inputs out that nothing reads.
        taken = [int(port.name.removeprefix("input_")) for port in program.ports()[0]]
        if taken == list(range(len(taken))):
            return program.run
        return lambda *args: program.run(*(args[i] for i in taken))

    return build


def version() -> str:
    """Version of the package that `load` uses, as "2026.4.1"."""
    return _openvino().__version__.partition("-")[0]


def get_available_devices() -> list[str]:
    """The devices that OpenVINO finds here."""
    return list(_core().available_devices)


def _openvino():
    if importlib.util.find_spec("openvino") is None:
        raise ImportError(
            "OpenVINO runs this, and its package is not installed: pip install openvino"
        )
    import openvino

    return openvino


@functools.cache
def _core():
    return _openvino().Core()


class _Settings:
    """How models are compiled."""

    def __init__(self, device: str, options: dict) -> None:
        self.device, self._options = device, dict(options)

    def of_threads(self, threads: int) -> dict:
        """OpenVINO's properties for so many threads."""
        found = {}
        if self.device == "CPU":
            found = {
                "INFERENCE_NUM_THREADS": threads,
                "INFERENCE_PRECISION_HINT": "f32",
                "ENABLE_CPU_PINNING": False,
            }
        return {**found, **self._options}


class _Program:
    """A compiled model as a function of its inputs."""

    def __init__(self, source, name: str, settings: _Settings) -> None:
        self._name, self._settings = name, settings
        try:
            self._model = _core().read_model(source)
        except RuntimeError as error:
            raise RuntimeError(
                f"{name}: OpenVINO cannot read it: {_short(error)}"
            ) from error
        self._check()
        self._lock = threading.Lock()
        self._compiled = self._compile(get_num_threads())

    def _check(self) -> None:
        for op in self._model.get_ops():
            for port in op.outputs():
                kind = port.get_element_type().get_type_name()
                if kind == "f64" or (
                    kind not in _DTYPES
                    and op.get_type_name() in ("Parameter", "Result")
                ):
                    raise TypeError(
                        f"{self._name}: {op.get_type_name()} "
                        f"{op.get_friendly_name()!r} is of {kind}, in which "
                        "OpenVINO does not compute; float32 is the widest of "
                        "its floats"
                    )

    def _compile(self, threads: int) -> _Compiled:
        settings = self._settings
        try:
            made = _core().compile_model(
                self._model, settings.device, settings.of_threads(threads)
            )
        except RuntimeError as error:
            raise RuntimeError(
                f"{self._name}: OpenVINO cannot compile it: {_short(error)}"
            ) from error
        return _Compiled(made, threads)

    def ports(self) -> tuple[list[Port], list[Port]]:
        """Returns the ports that it takes and gives."""
        return [_port(p) for p in self._model.inputs], [
            _port(p) for p in self._model.outputs
        ]

    def __call__(self, *args: Tensor):
        if _C.is_current_stream_capturing():
            raise RuntimeError(
                f"{self._name}: calls of OpenVINO cannot be captured: they are "
                "made from Python"
            )
        self._compiled.check(self._name, args)
        return self.run(*args)

    def run(self, *args: Tensor):
        """A call with what is known to fit, outside of a capture."""
        compiled = self._compiled
        if compiled.threads != get_num_threads():
            with self._lock:
                if self._compiled.threads != get_num_threads():
                    self._compiled = self._compile(get_num_threads())
                compiled = self._compiled
        idle = compiled.idle
        # Each call at a time has a request of its own.
        call = idle.pop() if idle else _Call(compiled)
        try:
            results = call(args)
        except RuntimeError as error:
            raise RuntimeError(f"{self._name}: {_short(error)}") from error
        idle.append(call)
        return results[0] if len(results) == 1 else tuple(results)


class _Compiled:
    """A model compiled for a number of threads."""

    def __init__(self, model, threads: int) -> None:
        self.model, self.threads = model, threads
        self.inputs = [_port(p) for p in model.inputs]
        self.outputs = [_port(p) for p in model.outputs]
        #: Calls that nobody makes now.
        self.idle: list[_Call] = []

    def check(self, name: str, args: tuple) -> None:
        """Raises where an argument is not what was declared."""
        if len(args) != len(self.inputs):
            raise TypeError(
                f"{name}: takes {len(self.inputs)} inputs, but got {len(args)}"
            )
        for tensor, port in zip(args, self.inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    f"{name}: input {port.name!r} is a "
                    f"{type(tensor).__name__}, not a tensor"
                )
            if tensor.dtype != port.dtype or not tensor.is_cpu:
                raise TypeError(
                    f"{name}: input {port.name!r} is {port.dtype} on cpu, but "
                    f"got {tensor.dtype} on {tensor.device}"
                )
            shape = tensor.shape
            if port.shape is not None and (
                len(shape) != len(port.shape)
                or any(
                    isinstance(want, int) and have != want
                    for have, want in zip(shape, port.shape)
                )
            ):
                raise ValueError(
                    f"{name}: input {port.name!r} is of shape "
                    f"{list(port.shape)}, but got {list(shape)}"
                )


class _Call:
    """An infer request, and the memory that it reads and writes."""

    def __init__(self, compiled: _Compiled) -> None:
        self._request = compiled.model.create_infer_request()
        # Below what gives each call a dictionary of arrays.
        self._infer = super(type(self._request), self._request).infer
        self._outputs = compiled.outputs
        bind = self._request.set_input_tensor
        self._places = [
            self._place(i, port, bind) for i, port in enumerate(compiled.inputs)
        ]
        bind = self._request.set_output_tensor
        self._results = [
            self._place(i, port, bind) for i, port in enumerate(compiled.outputs)
        ]
        self._small = None not in (*self._places, *self._results)

    @staticmethod
    def _place(i: int, port: Port, bind) -> Tensor | None:
        """Where a small input or result lies each time; None for others."""
        if not _is_static(port):
            return None
        place = empty(port.shape, dtype=port.dtype)
        if place.nbytes > _SMALL or not place.numel():
            return None
        bind(i, _shared(place))
        return place

    def __call__(self, args: tuple) -> list[Tensor]:
        for place in self._results:
            if place is not None:
                place.data_ptr()  # waits, where a stream still copies it
        if not self._small:
            return self._any(args)
        for place, arg in zip(self._places, args):
            place.copy_(arg)
            place.data_ptr()  # waits, where a stream is queued
        self._infer({}, True, False)
        return [place.clone() for place in self._results]

    def _any(self, args: tuple) -> list[Tensor]:
        """A call with inputs or results that are large or of any size."""
        held = [
            self._brought(i, arg, place)
            for i, (arg, place) in enumerate(zip(args, self._places))
        ]
        results = [
            self._fresh(i, port) if place is None else place
            for i, (port, place) in enumerate(zip(self._outputs, self._results))
        ]
        self._infer({}, True, False)
        del held
        return [
            self._taken(i)
            if tensor is None
            else tensor.clone()
            if tensor is self._results[i]
            else tensor
            for i, tensor in enumerate(results)
        ]

    def _brought(self, i: int, arg: Tensor, place: Tensor | None) -> Tensor:
        """The memory that the request reads: an argument's own if that is
        large and in order. OpenVINO does not keep it: who calls does.
        """
        if place is not None:
            place.copy_(arg)
            place.data_ptr()
            return place
        arg = arg.detach().contiguous()
        self._request.set_input_tensor(i, _shared(arg))
        return arg

    def _fresh(self, i: int, port: Port) -> Tensor | None:
        """Memory for a large result; None where its size is not known."""
        if not _is_static(port):
            return None
        place = empty(port.shape, dtype=port.dtype)
        self._request.set_output_tensor(i, _shared(place))
        return place

    def _taken(self, i: int) -> Tensor:
        """A copy of a result that the request has made."""
        tensor = self._request.get_output_tensor(i)
        made = empty(tuple(tensor.shape), dtype=self._outputs[i].dtype)
        if made.numel():
            tensor.copy_to(_shared(made))
        return made


def _shared(tensor: Tensor):
    """A tensor's memory as OpenVINO's; waits until it is written."""
    openvino = _openvino_module()
    if tensor.dtype is bfloat16:
        return openvino.Tensor(
            tensor.view(int16).numpy(), tuple(tensor.shape), openvino.Type.bf16
        )
    return openvino.Tensor(tensor.numpy(), shared_memory=True)


@functools.cache
def _openvino_module():
    return _openvino()


def _is_static(port: Port) -> bool:
    sizes = port.shape
    return sizes is not None and all(isinstance(n, int) for n in sizes)


def _port(port) -> Port:
    shape = port.get_partial_shape()
    sizes = None
    if shape.rank.is_static:
        sizes = tuple(d.get_length() if d.is_static else None for d in shape)
    kind = port.get_element_type().get_type_name()
    return Port(port.get_any_name(), _DTYPES[kind], sizes)


def _short(error: Exception) -> str:
    """The last line of OpenVINO's text that says something."""
    lines = [x.strip() for x in str(error).splitlines() if x.strip()]
    return lines[-1] if lines else "no reason given"
