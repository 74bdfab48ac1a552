"""Extensions of Python in C++ that are written for PyTorch.

They are compiled against hotaru's headers and libraries (docs/cpp.md), which
`include_paths` and `library_paths` name. C++ code needs a compiler, and
`pybind11` where it includes torch/extension.h.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from .. import _C
from .._own_names import no_attribute
from ._cpp_build import (
    Job,
    compile_all,
    has_changed,
    is_ninja_available,
    remember,
    verify_ninja_availability,
)

__all__ = [
    "CUDA_HOME",
    "CUDAExtension",
    "CppExtension",
    "get_cxx_compiler",
    "get_default_build_root",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
    "verify_ninja_availability",
]

IS_WINDOWS = False
IS_MACOS = False
IS_LINUX = True
#: Where CUDA's compiler is; None: extensions are C++ for the CPU.
CUDA_HOME: str | None = None
ROCM_HOME = None
CUDNN_HOME = None
SYCL_HOME = None

_MISSING = (
    "hotaru's C++ headers are not installed: install hotaru from its sources "
    "with HOTARU_WHEEL_CPP=1 in the environment, or the headers alone (cmake "
    "--install, component devel) and let HOTARU_CPP name the prefix"
)


def _paths() -> dict[str, list[str]]:
    """{"include": folders, "library": folders} of the installation."""
    prefix = os.environ.get("HOTARU_CPP")
    if prefix:
        include = [f"{prefix}/include/hotaru_torch", f"{prefix}/include"]
        found = {"include": include, "library": [f"{prefix}/lib"]}
    else:
        listed = Path(_C.__file__).resolve().parent / "cpp_paths.txt"
        found = {"include": [], "library": []}
        if listed.is_file():
            for line in listed.read_text().splitlines():
                kind, _, folder = line.partition("=")
                found[kind].append(str(listed.parent / folder))
    if not any((Path(p) / "torch/torch.h").is_file() for p in found["include"]):
        raise RuntimeError(_MISSING)
    return found


def _is_installed() -> bool:
    """Tells whether extensions can be built here."""
    try:
        return bool(_paths())
    except RuntimeError:
        return False


def include_paths(device_type: str = "cpu") -> list[str]:
    """The folders that extensions include headers from.

    RuntimeError where they are not installed, and for "cuda".
    """
    _refuse_cuda(device_type == "cuda")
    return _paths()["include"]


def library_paths(
    device_type: str = "cpu",
    torch_include_dirs: bool = True,
    cross_target_platform: str | None = None,
) -> list[str]:
    """The folders of the libraries that extensions are linked with.

    Without `torch_include_dirs` none: all of them are this package's.
    NotImplementedError for another platform.
    """
    _refuse_cuda(device_type == "cuda")
    if cross_target_platform is not None:
        raise NotImplementedError(
            "hotaru builds extensions for this platform alone, not for "
            f"{cross_target_platform}"
        )
    return _paths()["library"] if torch_include_dirs else []


def _refuse_cuda(wanted) -> None:
    if wanted:
        raise RuntimeError(
            "hotaru builds no extensions with CUDA sources: kernels of one's "
            "own are compiled at run time, torch.cuda._compile_kernel"
        )


def get_cxx_compiler() -> str:
    """The compiler's command, `CXX` or c++."""
    return os.environ.get("CXX", "c++")


def get_default_build_root() -> str:
    """The folder in which `load` makes one for each extension."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return os.path.join(cache, "hotaru_extensions")


def check_compiler_is_gcc(compiler: str) -> bool:
    """Tells whether the compiler is GCC."""
    said = subprocess.run(
        [*compiler.split(), "--version"], capture_output=True, text=True
    )
    return said.returncode == 0 and "Free Software Foundation" in said.stdout


def get_compiler_abi_compatibility_and_version(compiler: str):
    """(True, version): hotaru's libraries have one ABI, the new strings."""
    said = subprocess.run(
        [*compiler.split(), "-dumpfullversion", "-dumpversion"],
        capture_output=True,
        text=True,
    )
    return True, said.stdout.strip()


# -- flags -------------------------------------------------------------------


def _standard(flags: Sequence[str]) -> list[str]:
    """The flags, in C++20, which the headers need."""
    kept = [f for f in flags if not f.startswith("-std=")]
    newer = [f for f in flags if f[5:] in ("c++23", "gnu++23", "c++26")]
    return [*kept, newer[-1] if newer else "-std=c++20"]


def _defines(name: str) -> list[str]:
    return [
        f"-DTORCH_EXTENSION_NAME={name.rpartition('.')[2]}",
        "-DTORCH_API_INCLUDE_EXTENSION_H",
    ]


def _pybind_include() -> list[str]:
    try:
        import pybind11
    except ImportError:
        return []
    return [pybind11.get_include()]


def _python_include() -> list[str]:
    return [sysconfig.get_paths()["include"]]


def _link_flags() -> list[str]:
    flags = ["-shared"]
    for folder in library_paths():
        flags += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    # By the names that wheels have, which hold no links.
    return [*flags, "-l:libhotaru_torch.so.0", "-l:libhotaru.so.0"]


# -- setuptools --------------------------------------------------------------


def CppExtension(name: str, sources, *args, **kwargs):  # noqa: N802
    """A setuptools.Extension in C++, with hotaru's headers and libraries.

    Takes what setuptools.Extension takes; `extra_compile_args` may be a dict
    with "cxx", as for `CUDAExtension`.
    """
    import setuptools

    for key, own in (
        ("include_dirs", [*include_paths(), *_pybind_include()]),
        ("library_dirs", library_paths()),
        ("libraries", ["hotaru_torch", "hotaru"]),
        ("runtime_library_dirs", library_paths()),
    ):
        kwargs[key] = [*(kwargs.get(key) or []), *own]
    kwargs.pop("py_limited_api", None)
    kwargs["language"] = "c++"
    return setuptools.Extension(name, sources, *args, **kwargs)


def CUDAExtension(name: str, sources, *args, **kwargs):  # noqa: N802
    """RuntimeError: hotaru compiles no CUDA sources ahead of time."""
    _refuse_cuda(True)


def _build_class():
    global _built
    if _built is None:
        from ._cpp_setuptools import make_build_extension

        _built = make_build_extension(_standard, _defines)
    return _built


_built = None


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    BuildExtension: Any  # a class of setuptools', which need not be there
else:

    def __getattr__(name: str):
        if name == "BuildExtension":
            return _build_class()
        raise no_attribute(__name__, name)


# -- at run time -------------------------------------------------------------


def load(
    name: str,
    sources: str | Sequence[str],
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_sycl_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
):
    """Compiles an extension, unless nothing changed since it was, and loads it.

    Args:
        name: of the module.
        sources: files in C++.
        extra_cflags, extra_ldflags: for the compiler and the linker.
        extra_include_paths: folders with headers.
        build_directory: where it is built; None: one below
            `get_default_build_root()`.
        verbose: prints the compiler's commands.
        is_python_module: import it as a module; else only load the library,
            whose operators are then in `torch.ops`, and return its path.
        is_standalone: build a program, and return its path.

    Raises:
        RuntimeError: the compiler failed; the text has what it said.
    """
    sources = [sources] if isinstance(sources, str) else list(sources)
    cuda = with_cuda or any(s.endswith((".cu", ".cuh")) for s in sources)
    _refuse_cuda(cuda)
    folder = build_directory or _build_directory(name)
    os.makedirs(folder, exist_ok=True)
    flags = _standard(
        [
            *("-O2", "-fPIC", *_defines(name)),
            *(f"-I{p}" for p in extra_include_paths or ()),
            *(f"-isystem{p}" for p in include_paths()),
            *(f"-isystem{p}" for p in (*_pybind_include(), *_python_include())),
            *(extra_cflags or ()),
        ]
    )
    suffix = "" if is_standalone else ".so"
    link = [*_link_flags(), *(extra_ldflags or ())]
    if is_standalone:
        link.remove("-shared")
    job = Job(
        compiler=get_cxx_compiler(),
        sources=[os.path.abspath(s) for s in sources],
        flags=flags,
        link=link,
        output=os.path.join(folder, name + suffix),
        folder=folder,
        verbose=verbose,
    )
    if has_changed(job):
        compile_all(job)
        remember(job)
    if is_standalone:
        return job.output
    if is_python_module:
        return _import(name, job.output)
    from .._library.shared import load_library

    load_library(job.output)
    return job.output


def _build_directory(name: str) -> str:
    root = os.environ.get("TORCH_EXTENSIONS_DIR") or get_default_build_root()
    version = f"py{sys.version_info.major}{sys.version_info.minor}_cpu"
    return os.path.join(root, version, name)


_get_build_directory = _build_directory
_versions: dict[str, int] = {}


def _import(name: str, path: str):
    # A library that was loaded once is not loaded anew under the same path.
    key = f"{path}:{os.stat(path).st_mtime_ns}"
    if key not in _versions:
        _versions[key] = len([k for k in _versions if k.startswith(path)])
    if _versions[key]:
        copy = f"{path[:-3]}_v{_versions[key]}.so"
        with open(path, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        path = copy
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_inline(
    name: str,
    cpp_sources,
    cuda_sources=None,
    sycl_sources=None,
    functions=None,
    extra_cflags=None,
    extra_cuda_cflags=None,
    extra_sycl_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    build_directory=None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
    gil_not_used: bool = False,
):
    """`load` of source texts.

    Args:
        cpp_sources: a text in C++, or several; torch/extension.h is included.
        functions: names of functions that the module has; a list, or a dict
            with what `help` says of them.
        no_implicit_headers: include nothing by itself.
        gil_not_used: says that the module runs without Python's global lock;
            of `functions`.

    The rest is as in `load`.
    """
    _refuse_cuda(cuda_sources or with_cuda)
    texts = [cpp_sources] if isinstance(cpp_sources, str) else [*cpp_sources]
    if functions is not None:
        if isinstance(functions, str):
            functions = [functions]
        if not isinstance(functions, dict):
            functions = {f: f for f in functions}
        bound = "".join(
            f'  m.def("{f}", &{f}, "{said}");\n' for f, said in functions.items()
        )
        options = ", py::mod_gil_not_used()" if gil_not_used else ""
        texts.append(
            f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m{options}) {{\n{bound}}}\n"
        )
    if not no_implicit_headers:
        texts.insert(0, "#include <torch/extension.h>\n")
    folder = build_directory or _build_directory(name)
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "main.cpp")
    text = "\n".join(texts)
    if not os.path.isfile(source) or Path(source).read_text() != text:
        Path(source).write_text(text)
    return load(
        name,
        [source],
        extra_cflags=extra_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        build_directory=folder,
        verbose=verbose,
        is_python_module=is_python_module,
    )
