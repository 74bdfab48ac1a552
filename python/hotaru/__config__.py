"""How this build is configured, in PyTorch's format."""

from __future__ import annotations

from . import _C

# Highway's names of instruction sets, as PyTorch calls them.
_CAPABILITIES = {"AVX3": "AVX512", "AVX2": "AVX2"}


def parallel_info() -> str:
    """Thread counts and what decides them, several lines.

    The first part is PyTorch's, line by line. Below ``hotaru:`` stands what
    PyTorch has no line for: the threading back ends, the worker threads alive,
    the cores, the affinity mask and the cgroup's CPU quota.
    """
    return _C._parallel_info()


def show() -> str:
    """Compiler, instruction set and settings of this build, a line each."""
    settings = dict(_C._build_settings())
    facts = [
        _C._compiler_name(),
        "C++ Version: 202002",
        "MKL not found",
        "MKLDNN not found",
        _openmp_line(),
        "LAPACK is disabled",
        f"CPU capability usage: {cpu_capability()}",
        "Build settings: " + "".join(f"{k}={v}, " for k, v in settings.items()),
    ]
    return "hotaru built with:\n" + "".join(f"  - {fact}\n" for fact in facts)


def cpu_capability() -> str:
    """The instruction set of the kernels."""
    target = _C._simd_target_name()
    for name, capability in _CAPABILITIES.items():
        if target.startswith(name):
            return capability
    return target


def _openmp_line() -> str:
    lines = parallel_info().splitlines()
    return next(line for line in lines if line.startswith("OpenMP"))


def _cxx_flags() -> str:
    """The compiler's flags."""
    return dict(_C._build_settings())["CXX_FLAGS"]
