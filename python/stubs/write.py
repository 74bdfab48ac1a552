"""Which modules have a stub, and writing them all."""

from __future__ import annotations

import contextlib
import importlib
import pathlib
import shutil
import sys

from .extension import Extension
from .namespace import Homes, Namespace
from .operators import Operators
from .results import named_results, result_names
from .sources import read

ROOT = "hotaru"
# Modules that answer names which their source does not bind, or bind operators;
# their classes, if they have some, are in other files.
STUBBED = [
    "ao",
    "ao.nn",
    "ao.nn.intrinsic",
    "ao.nn.intrinsic.quantized",
    "ao.nn.quantized",
    "autograd",
    "compiler",
    "cpu",
    "cuda",
    "cuda.graphs",
    "cuda.random",
    "distributed",
    "distributed.checkpoint",
    "distributed.fsdp.fully_sharded_data_parallel",
    "distributed.rpc",
    "distributed.tensor",
    "distributions",
    "fft",
    "foreach",
    "fx",
    "fx.passes",
    "linalg",
    "masked",
    "nn",
    "nn.attention",
    "nn.functional",
    "nn.parallel",
    "onnx.symbolic_opset11",
    "onnx.symbolic_opset12",
    "onnx.symbolic_opset13",
    "onnx.symbolic_opset9",
    "optim",
    "sparse",
    "quantization",
    "special",
    "utils",
    "utils.data",
    "version",
]
# Modules that make others, without a file.
_MAKERS = [
    "backends",
    "cpu.amp",
    "nn.intrinsic",
    "nn.modules",
    "nn.qat",
    "nn.quantized",
    "profiler",
    "quantization",
    "signal",
    "utils.data.datapipes.iter",
]
# Written by hand as they are.
_WHOLE = ("_extension.grad_mode", "_extension.size", "ops")
_WRITTEN = pathlib.Path(__file__).parent / "written"


def write_stubs(extension, out: pathlib.Path) -> list[pathlib.Path]:
    """Writes the stubs for a loaded extension below the folder `out`, which has
    no others then; returns the sources of the modules that have a stub.
    """
    texts = stubs(extension)
    shutil.rmtree(out / ROOT, ignore_errors=True)
    for name, text in texts.items():
        path = out / _path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = [read(name) for name in sorted(texts)]
    return [source.path for source in found if source]


def stubs(extension) -> dict[str, str]:
    """The text of each stub, by the module's name."""
    native = dict(vars(extension))  # the package adds to it
    for name in ("", *STUBBED, *_MAKERS):
        importlib.import_module(f"{ROOT}.{name}".rstrip("."))
    modules = [f"{ROOT}.{name}" for name in STUBBED]
    _ask(modules)
    homes = Homes(native)
    modules += [name for name in sorted(sys.modules) if _is_made(name, homes)]
    operators = Operators(extension, frozenset(result_names()))
    namespace = Namespace(homes, operators)
    out = {}
    for name in (ROOT, *modules):
        out[name] = namespace.text(name, _by_hand(name), _more(name))
    out[f"{ROOT}.return_types"] = named_results(operators)
    writer = Extension(native, operators)
    out[f"{ROOT}._C"] = writer.text(_text("extension"), _text("tensor"))
    for name in _WHOLE:
        out[f"{ROOT}.{name}"] = _text(name)
    return out


def _ask(modules: list[str]) -> None:
    """Has the modules make what they make when they are asked for it."""
    for name in (ROOT, *modules):
        module = sys.modules[name]
        for asked in {*dir(module), *getattr(module, "__all__", ())}:
            with contextlib.suppress(ImportError):  # of a library that is not here
                getattr(module, asked, None)
        _more(name)


def _is_made(name: str, homes: Homes) -> bool:
    """True for a public module without a file."""
    parts = name.split(".")
    if parts[0] != ROOT or any(part.startswith("_") for part in parts):
        return False
    return parts[1:2] != ["ops"] and homes.source(name) is None


def _more(name: str) -> dict:
    """Names that a module gives when it is asked, beside those of dir()."""
    from hotaru._extension.dtypes import TYPES
    from hotaru._extension.places import PUBLIC
    from hotaru.storage._legacy import storage_classes

    def package(name: str):
        return importlib.import_module(f"{ROOT}.{name}")

    storages = {kind.__name__ for kind in storage_classes()} - {"UntypedStorage"}
    names = {
        ROOT: {*PUBLIC, "Tag", *TYPES, *storages},
        f"{ROOT}.cuda": {"default_generators", *TYPES, *storages},
        f"{ROOT}.distributed": package("distributed")._FROM_LATER,
        f"{ROOT}.sparse": TYPES,
        f"{ROOT}.utils": ("ThroughputBenchmark", "set_module", "swap_tensors"),
    }
    module = importlib.import_module(name)
    asked = sorted(names.get(name, ()))
    return {n: getattr(module, n) for n in asked if hasattr(module, n)}


def _by_hand(name: str) -> str:
    part = name.partition(".")[2] or "torch"
    return _text(part) if (_WRITTEN / f"{part}.pyi").exists() else ""


def _text(part: str) -> str:
    return (_WRITTEN / f"{part}.pyi").read_text(encoding="utf-8")


def _path(name: str) -> str:
    """The path of a module's stub: beside its source."""
    path = name.replace(".", "/")
    package = pathlib.Path(__file__).parent.parent / path
    is_package = (package / "__init__.py").exists()
    return f"{path}/__init__.pyi" if is_package else f"{path}.pyi"
