"""Installations of users: the C++ library with CMake, the wheel with pip."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from golden import recordings

ROOT = Path(__file__).parents[3]
MODEL = Path(os.environ.get("HOTARU_SILERO", ROOT / ".cache/silero_vad.jit"))
# From docs/budgets.md: of a wheel's files, and of the wheel. Compiled source by
# source, as CI does it, they are half a megabyte and a tenth of one larger than
# those that `./dev wheel` makes.
MOST_MEGABYTES = 31 + 0.5
MOST_MEGABYTES_OF_WHEEL = 12 + 0.1
MEGABYTE = 1e6


#: Beside the compiler's cache: for each header that compiled, an empty file.
CHECKED = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    / "hotaru"
    / "headers"
)


def run(*command, **options) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=1500,
        **options,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory) -> Path:
    """A folder that the build was installed into."""
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", ROOT / "build", "--prefix", folder)
    return folder


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory) -> Path:
    """The programs of examples/cpp, built against the installed library."""
    folder = tmp_path_factory.mktemp("example")
    run(
        *("cmake", "-S", ROOT / "examples/cpp", "-B", folder, "-G", "Ninja"),
        f"-DCMAKE_PREFIX_PATH={prefix}",
    )
    run("cmake", "--build", folder)
    return folder


@pytest.mark.skipif(
    not shutil.which("pkg-config"), reason="pkg-config is not installed"
)
def test_pkg_config_builds_the_example(prefix, tmp_path):
    """hotaru.pc is all that a build without CMake needs, wherever the prefix
    was moved to.
    """
    moved = tmp_path / "moved"
    moved.symlink_to(prefix)
    found = sorted(moved.glob("lib*/**/pkgconfig"))
    assert found
    environment = {**os.environ, "PKG_CONFIG_PATH": str(found[0])}
    asked = ("pkg-config", "--cflags", "--libs", "hotaru")
    flags = run(*asked, env=environment).split()
    library = run("pkg-config", "--variable=libdir", "hotaru", env=environment)
    program = tmp_path / "silero"
    source = ROOT / "examples/cpp/silero.cpp"
    run(
        *("g++", "-std=c++20", source, "-o", program, *flags),
        f"-Wl,-rpath,{Path(library.strip()).resolve()}",
    )
    model = tmp_path / "no.jit"
    model.write_bytes(b"not a zip file")
    done = subprocess.run([program, model, "/dev/null"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "no.jit" in done.stderr
    version = run("pkg-config", "--modversion", "hotaru", env=environment)
    project = (ROOT / "CMakeLists.txt").read_text()
    assert version.strip() == re.search(r"VERSION ([\d.]+) LANG", project)[1]


INCLUDED = re.compile(rb'^#include [<"]([^>"]+)[>"]', re.MULTILINE)


def stamps(include: Path, headers: list[Path]) -> dict[Path, Path]:
    """The file that says that a header compiled, by header: of its text, and of
    all that it includes, and of the compiler.
    """
    compiler = run("g++", "--version").encode()
    texts: dict[Path, bytes] = {}

    def reached(header: Path, seen: set[Path]) -> set[Path]:
        seen.add(header)
        if header not in texts:
            texts[header] = header.read_bytes()
        for name in INCLUDED.findall(texts[header]):
            below = include / name.decode()
            if below not in seen and below.is_file():
                reached(below, seen)
        return seen

    out = {}
    for header in headers:
        key = hashlib.sha256(compiler)
        for path in sorted(reached(header, set())):
            key.update(path.relative_to(include).as_posix().encode() + b"\0")
            key.update(texts[path])
        out[header] = CHECKED / key.hexdigest()
    return out


@pytest.mark.ci
def test_every_installed_header_compiles_alone(prefix):
    """A user may include any one of them first. One that did is not compiled
    again until it, or what it includes, changes.
    """
    include = prefix / "include"
    headers = sorted((include / "hotaru").rglob("*.h"))
    assert headers
    check = ("g++", "-std=c++20", "-fsyntax-only", "-w", "-I", include)
    stamped = stamps(include, headers)
    new = [header for header in headers if not stamped[header].exists()]
    if new:
        run(*check, *new)
    CHECKED.mkdir(parents=True, exist_ok=True)
    for stamp in stamped.values():
        stamp.touch()
    oldest = time.time() - 60 * 86400
    for stamp in CHECKED.iterdir():
        if stamp.stat().st_mtime < oldest:
            stamp.unlink(missing_ok=True)
    # Headers of libtorch's API bring in each other: those that programs name.
    torch = include / "hotaru_torch"
    names = ("torch/torch.h", "torch/script.h", "ATen/ATen.h")
    run(*check, "-I", torch, *(torch / name for name in names))


def test_cpp_example_agrees_with_python(examples):
    """The C++ program's probabilities are those of the golden file."""
    if not MODEL.exists():
        pytest.skip(f"{MODEL} is absent; ./dev test fetches it from PyPI")
    name = "cards/003.wav"
    golden = json.loads((ROOT / "tests/golden/silero.json").read_text())
    output = run(examples / "silero", MODEL, recordings.FOLDER / name)
    found = [float(line.split()[1]) for line in output.splitlines()]
    expected = golden["mono"][name]
    assert len(found) == len(expected)
    assert np.abs(np.array(found) - expected).max() < 1e-5


def test_cpp_example_rejects_what_is_no_archive(examples, tmp_path):
    """An error on standard error that names the file, and exit code 1."""
    model = tmp_path / "no.jit"
    model.write_bytes(b"not a zip file")
    done = subprocess.run(
        [examples / "silero", model, "/dev/null"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "no.jit" in done.stderr


@pytest.mark.parametrize("threads", [1, 2])
def test_own_kernel_agrees_with_the_operator(examples, tmp_path, threads):
    """Seed 002's adaptive max pooling over the public parallel_for."""
    import hotaru

    planes = np.sin(np.arange(5 * 7 * 9, dtype=np.float32)).reshape(5, 7, 9)
    planes[1, 3, 4] = planes[1, 4, 4] = planes[4, 0, 0] = np.nan
    planes[2] = -np.inf
    np.save(tmp_path / "in.npy", planes)
    prefix = tmp_path / "out"
    program = examples / "adaptive_max_pool"
    printed = run(program, tmp_path / "in.npy", 3, 4, prefix, threads)
    assert printed == f"5 planes in {threads} parts, {threads} threads\n"
    values, indices = hotaru.nn.functional.adaptive_max_pool2d(
        hotaru.from_numpy(planes), (3, 4), return_indices=True
    )
    np.testing.assert_array_equal(np.load(f"{prefix}_values.npy"), values)
    np.testing.assert_array_equal(np.load(f"{prefix}_indices.npy"), indices)


def test_own_kernel_says_what_is_wrong(examples, tmp_path):
    np.save(tmp_path / "in.npy", np.zeros((2, 3)))
    done = subprocess.run(
        [examples / "adaptive_max_pool", tmp_path / "in.npy", "2", "2", "out"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "must hold float32 [D, H, W]" in done.stderr


def test_exported_program_trains_as_in_python(examples, tmp_path):
    """Twenty steps of SGD over a .pt2, batch norm's statistics among it: the
    losses and the trained program are those of Python.
    """
    import hotaru as torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8),
        torch.nn.BatchNorm1d(8),
        torch.nn.Tanh(),
        torch.nn.Linear(8, 2),
    )
    x, y = torch.randn(16, 4), torch.randn(16, 2)
    path = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(model.eval(), (x,)), str(path))
    np.save(tmp_path / "x.npy", x.numpy())
    np.save(tmp_path / "y.npy", y.numpy())
    printed = run(
        *(examples / "train_exported", path, tmp_path / "x.npy"),
        *(tmp_path / "y.npy", 20, 0.1, tmp_path / "trained.pt"),
    )
    found = [float(line.split()[1]) for line in printed.splitlines()]

    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    expected = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    assert expected[-1] < 0.75 * expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    trained = torch.jit.load(str(tmp_path / "trained.pt"))
    with torch.no_grad():
        np.testing.assert_allclose(
            trained(x).numpy(), model.eval()(x).numpy(), atol=1e-5
        )


def test_command_stands_beside_python():
    command = Path(sys.executable).with_name("hotaru")
    assert "hotaru" in run(command, "info")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of this machine and Python that `./dev wheel` makes: the script
    ends with an error where auditwheel finds that it asks for a newer system.
    """
    folder = tmp_path_factory.mktemp("wheels")
    if sys.version_info < (3, 11):
        pytest.skip("no headers of Python 3.10 among Debian's packages")
    python = "3.11" if sys.version_info < (3, 12) else "3.12"
    machine = f"manylinux-{os.uname().machine}"
    run(
        *(ROOT / "dev", "wheel", machine, "--python", python, "--out", folder),
        env={**os.environ, "UNITS": "OFF"},  # as CI compiled it
    )
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.ci
def test_wheel_is_small_and_says_what_is_in_it(wheel):
    """Its name, licences and bill of materials; sizes as in docs/budgets.md."""
    assert re.fullmatch(r"hotaru-.*-manylinux_2_28_\w+\.whl", wheel.name)
    assert wheel.stat().st_size < MOST_MEGABYTES_OF_WHEEL * MEGABYTE
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        (bill,) = [name for name in sizes if name.endswith("sboms/hotaru.cdx.json")]
        named = {part["name"] for part in json.loads(archive.read(bill))["components"]}
        (metadata,) = [n for n in sizes if n.endswith(".dist-info/METADATA")]
        listed = re.findall(r"License-File: (.*)", archive.read(metadata).decode())
    assert sum(sizes.values()) < MOST_MEGABYTES * MEGABYTE
    assert {"zlib", "highway", "nanobind", "hotaru/libhotaru.so.0"} <= named
    folder = metadata.removesuffix("METADATA") + "licenses/"
    assert {f"{folder}{name}" for name in listed} <= set(sizes)
    assert any("third_party/zlib" in name for name in listed)


@pytest.mark.ci
def test_wheel_installs_and_works_alone(wheel, tmp_path):
    """`pip install` in a fresh environment: import, stub, command."""
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", environment)
    python = environment / "bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    program = "import hotaru; print((hotaru.ones(2) + 1).sum().item())"
    assert run(python, "-c", program, cwd=tmp_path) == "4.0\n"
    assert "hotaru" in run(environment / "bin/hotaru", "info", cwd=tmp_path)
    package = run(
        *(python, "-c", "import hotaru; print(hotaru.__path__[0])"), cwd=tmp_path
    )
    assert (Path(package.strip()) / "__init__.pyi").is_file()


@pytest.mark.ci
def test_command_of_a_wheel_finds_its_python(wheel, tmp_path):
    """Called by a link, and where a folder of pip's --target has it."""
    target = tmp_path / "target"
    install = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
    run(*install, "--no-index", "--target", target, wheel)
    assert "hotaru" in run(target / "bin/hotaru", "info", cwd=tmp_path)
    link = tmp_path / "called"
    link.symlink_to(target / "bin/hotaru")
    assert "hotaru" in run(link, "info", cwd=tmp_path)
    shutil.rmtree(target / "hotaru")
    done = subprocess.run([link, "info"], capture_output=True, text=True)
    assert done.returncode == 127
    assert "install it again" in done.stderr


OWN_OPERATOR = """
#include <torch/library.h>
at::Tensor twice(const at::Tensor& x) { return x * 2; }
TORCH_LIBRARY(mine, m) { m.def("twice", &twice); }
"""
LOADS_IT = """
import torch
from torch.utils.cpp_extension import load
load("mine", ["mine.cpp"], build_directory=".", is_python_module=False)
print(torch.ops.mine.twice(torch.ones(2)).sum().item())
"""


OVER_BOTH = """
cmake_minimum_required(VERSION 3.20)
project(over_both LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)  # the targets ask for more
find_package(Torch 2.0 REQUIRED)
find_package(hotaru 0.1 REQUIRED)
if(NOT EXISTS "${TORCH_INSTALL_PREFIX}/include/hotaru_torch/torch/torch.h")
  message(FATAL_ERROR "no headers in ${TORCH_INSTALL_PREFIX}")
endif()
add_executable(by_torch by_torch.cpp)
target_link_libraries(by_torch ${TORCH_LIBRARIES})
add_executable(by_hotaru by_hotaru.cpp)
target_link_libraries(by_hotaru hotaru::hotaru)
"""
BY_TORCH = """
#include <ATen/ATen.h>
#include <cstdio>
int main() { std::printf("%g\\n", at::ones({2, 3}).sum().item<double>()); }
"""
BY_HOTARU = """
#include <hotaru/hotaru.h>
#include <cstdio>
int main() { std::puts(hotaru::dtype_name(hotaru::DType::kFloat32)); }
"""


def check_cmake(python: Path, folder: Path) -> None:
    """Programs build and run against the package that this Python imports."""
    program = "import hotaru as torch; print(torch.utils.cmake_prefix_path)"
    prefix = Path(run(python, "-c", program, cwd=folder).strip())
    texts = [path.read_text() for path in prefix.rglob("*.cmake")]
    assert texts
    # Relative to the files: packages are moved, and made elsewhere.
    assert not any(str(folder) in t or str(ROOT) in t for t in texts)
    (folder / "CMakeLists.txt").write_text(OVER_BOTH)
    (folder / "by_torch.cpp").write_text(BY_TORCH)
    (folder / "by_hotaru.cpp").write_text(BY_HOTARU)
    build = folder / "build"
    run(
        *("cmake", "-S", folder, "-B", build, "-G", "Ninja"),
        f"-DCMAKE_PREFIX_PATH={prefix}",
    )
    run("cmake", "--build", build)
    assert run(build / "by_torch") == "6\n"
    assert run(build / "by_hotaru") == "float32\n"


@pytest.mark.ci
def test_wheel_with_headers_builds_extensions_and_programs(tmp_path):
    """HOTARU_WHEEL_CPP=1: all that an extension needs is in the package, and
    find_package finds it there.
    """
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", environment)
    python = environment / "bin/python"
    # In a folder beside build/, so that the compiler cache knows its sources.
    folder = ROOT / "build-wheel-cpp"
    settings = f"--config-settings=build-dir={folder}"
    run(
        *(python, "-m", "pip", "install", "--quiet", "--no-deps"),
        *(settings, ROOT),
        env={**os.environ, "HOTARU_WHEEL_CPP": "1"},
    )
    (tmp_path / "mine.cpp").write_text(OWN_OPERATOR)
    (tmp_path / "use.py").write_text(LOADS_IT)
    said = run(python, "-m", "hotaru", "use.py", cwd=tmp_path)
    assert said.splitlines()[-1] == "4.0"
    check_cmake(python, tmp_path)


def test_import_is_light():
    """Importing takes no numpy and starts no thread."""
    program = (
        "import hotaru, os, sys; "
        "print('numpy' in sys.modules, len(os.listdir('/proc/self/task')))"
    )
    assert run(sys.executable, "-c", program) == "False 1\n"
