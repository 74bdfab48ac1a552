"""Facts that somebody needs to know of this machine to look into a report.

`python -m hotaru -m torch.utils.collect_env` prints it.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from typing import NamedTuple

from .. import __config__, cuda, version

__all__ = [
    "SystemEnv",
    "get_cpu_info",
    "get_env_info",
    "get_gcc_version",
    "get_libc_version",
    "get_os",
    "get_pip_packages",
    "get_platform",
    "get_pretty_env_info",
    "get_python_platform",
    "main",
    "pretty_str",
    "run",
    "run_and_read_all",
]

# Packages that programs for PyTorch bring, by the beginning of their names.
_TOLD = (
    "hotaru",
    "lightning",
    "numpy",
    "onnx",
    "torch",
    "transformers",
    "triton",
    "mypy",
    "flake8",
    "nvidia",
)
_ABSENT = "Could not collect"


class SystemEnv(NamedTuple):
    """Facts, each as text."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    cuda_runtime_version: str
    nvidia_gpu_models: str
    os: str
    gcc_version: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    cpu_info: str
    pip_packages: str
    parallel_info: str


def run(command) -> tuple[int, str, str]:
    """The exit code, output and errors of a command; 127 if there is none."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            shell=isinstance(command, str),
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def run_and_read_all(run_lambda, command) -> str | None:
    """Returns what a command prints; None if it fails."""
    code, out, _ = run_lambda(command)
    return out if code == 0 else None


def get_platform() -> str:
    return sys.platform


def get_os(run_lambda=run) -> str:
    """As "Debian GNU/Linux 12 (bookworm) (x86_64)"."""
    name = platform.system()
    try:
        facts = platform.freedesktop_os_release()
        name = facts.get("PRETTY_NAME", name)
    except (OSError, AttributeError):  # no such file, or an older Python
        name = f"{name} {platform.release()}"
    return f"{name} ({platform.machine()})"


def get_gcc_version(run_lambda=run) -> str | None:
    """Version of the compiler that is installed."""
    text = run_and_read_all(run_lambda, ["gcc", "--version"])
    return text.splitlines()[0] if text else None


def get_libc_version() -> str:
    return "-".join(platform.libc_ver()) or "N/A"


def get_python_platform() -> str:
    return platform.platform()


def get_cpu_info(run_lambda=run) -> str:
    """Returns what `lscpu` says, or what Python knows."""
    text = run_and_read_all(run_lambda, ["lscpu"])
    return text or f"{platform.processor()}, {os.cpu_count()} cores"


def get_pip_packages(run_lambda=run, patterns=None) -> tuple[str, str]:
    """Installed packages that matter here, as "name==version" lines."""
    told = tuple(patterns or _TOLD)
    found = {
        f"{item.metadata['Name']}=={item.version}"
        for item in importlib.metadata.distributions()
        if (item.metadata["Name"] or "").lower().startswith(told)
    }
    return "pip3", "\n".join(sorted(found))


def get_env_info() -> SystemEnv:
    """All of it."""
    models = [
        cuda.get_device_name(i)
        for i in range(cuda.device_count() if cuda.is_available() else 0)
    ]
    compiled = str(version.cuda)
    return SystemEnv(
        torch_version=version.__version__,
        is_debug_build=str(version.debug),
        cuda_compiled_version=compiled,
        cuda_runtime_version=compiled,
        nvidia_gpu_models="\n".join(models) or "No CUDA",
        os=get_os(),
        gcc_version=get_gcc_version() or _ABSENT,
        libc_version=get_libc_version(),
        python_version=" ".join(sys.version.split()),
        python_platform=get_python_platform(),
        is_cuda_available=str(cuda.is_available()),
        cpu_info=get_cpu_info(),
        pip_packages=get_pip_packages()[1],
        parallel_info=__config__.parallel_info().strip(),
    )


def pretty_str(envinfo: SystemEnv) -> str:
    """As people send it; long facts below their names."""
    lines = [f"PyTorch version: {envinfo.torch_version} (hotaru)"]
    for field, value in zip(envinfo._fields[1:], envinfo[1:]):
        name = field.replace("_", " ")
        if "\n" in value:
            lines += ["", f"{name}:", value]
        else:
            lines.append(f"{name}: {value}")
    return "\n".join(lines)


def get_pretty_env_info() -> str:
    return pretty_str(get_env_info())


def main() -> None:
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
