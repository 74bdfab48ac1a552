"""`import hotaru` is cheap: it reads few files and does little.

What is counted does not depend on how busy the machine is: modules that are
loaded, and instructions that are executed, both beyond those of a bare Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hotaru

# Slightly above what is loaded now: whoever needs one more should have a reason
# that every program has.
OWN_MODULES = 10
OTHER_MODULES = 4
# In millions, with 15 % to spare.
INSTRUCTIONS = 37.0

PACKAGES = str(Path(hotaru.__file__).resolve().parents[1])


def _run(command: list, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": PACKAGES, **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )


def _python(code: str) -> str:
    return _run([sys.executable, "-c", code]).stdout


def test_modules_that_are_loaded():
    loaded = _python(
        "import sys; before = set(sys.modules); import hotaru; "
        "print(*sorted(set(sys.modules) - before))"
    ).split()
    own = [name for name in loaded if name.split(".")[0] == "hotaru"]
    others = [name for name in loaded if name not in own]
    assert len(own) <= OWN_MODULES, f"loads of the package: {own}"
    assert len(others) <= OTHER_MODULES, f"loads of Python's: {others}"


def _by_perf(code: str, **variables: str) -> int | None:
    """Returns what the processor counted; None where nobody may ask it."""
    if shutil.which("perf") is None:
        return None
    count = ["perf", "stat", "-x", ",", "-e", "instructions:u"]
    try:
        done = _run([*count, sys.executable, "-c", code], **variables)
    except subprocess.CalledProcessError:
        return None
    for line in done.stderr.splitlines():
        number, _, rest = line.partition(",")
        if "instructions" in rest and number.isdigit():
            return int(number)
    return None


def _by_callgrind(code: str, **variables: str) -> int | None:
    if shutil.which("valgrind") is None:
        return None
    count = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = _run([*count, sys.executable, "-c", code], **variables)
    for line in done.stderr.splitlines():
        if "Collected" in line:
            return int(line.rpartition(":")[2])
    return None


def test_instructions_that_are_executed(tmp_path):
    # Compiled before: how long that takes is of the first import alone.
    variables = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONHASHSEED": "0"}
    _run([sys.executable, "-c", "import hotaru"], **variables)
    for count in (_by_perf, _by_callgrind):
        bare = count("pass", **variables)
        if bare is not None:
            break
    else:
        pytest.skip("neither perf nor valgrind counts instructions here")
    only_avx512 = (
        hotaru._C._simd_is_built_alone() and hotaru._C._simd_target_name() == "AVX3"
    )
    if count is _by_callgrind and only_avx512:
        pytest.skip("valgrind knows no AVX-512, and this build nothing else")
    spent = (count("import hotaru", **variables) - bare) / 1e6
    assert spent <= INSTRUCTIONS, f"{spent:.1f} million, {count.__name__}"


def test_methods_that_are_imported_late():
    for name, method in vars(hotaru.Tensor).items():
        if type(method) is hotaru._C.Function:
            assert callable(method.__wrapped__), name
    for kind in (hotaru.Generator, hotaru.Stream):
        for name, method in vars(kind).items():
            if type(method) is hotaru._C.Function:
                assert callable(method.__wrapped__), name
    assert hotaru.Tensor.norm is hotaru.Tensor.norm
    assert hotaru.Tensor.norm.__name__ == "norm"
    late = hotaru._C._late("hotaru._tensor.methods", "nowhere")
    with pytest.raises(AttributeError, match="nowhere"):
        late()
    late = hotaru._C._late("hotaru.nowhere", "nothing")
    with pytest.raises(ModuleNotFoundError, match=r"hotaru\.nowhere"):
        late()


def test_late_methods_are_answered_by_the_protocol():
    out = _python(
        "import hotaru\n"
        "class Answers(hotaru.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        return func is hotaru.Tensor.numpy\n"
        "print(hotaru.ones(2).as_subclass(Answers).numpy())\n"
        "import sys; print('hotaru._tensor.methods' in sys.modules)"
    )
    assert out.split() == ["True", "False"]


def test_every_name_is_there():
    out = _python(
        "import hotaru\n"
        "names = set(dir(hotaru))\n"
        "for name in sorted(names): getattr(hotaru, name)\n"
        "print(*sorted(names - set(dir(hotaru))))"
    )
    assert out.split() == []


def test_names_of_a_star():
    out = _python(
        "from hotaru import *\n"
        "print(norm.__name__, no_grad.__name__, pi, jagged, Store.__name__)\n"
        "print(ones(2), functional.norm is norm)\n"
        "print('seed' in globals(), '_C' in globals())"
    )
    first, *others = out.splitlines()
    assert first == f"norm no_grad {hotaru.pi} torch.jagged Store"
    assert others == ["tensor([1., 1.]) True", "False False"]


def test_threads_that_import_at_once():
    out = _python(
        "import sys, threading\n"
        "sys.setswitchinterval(1e-6)\n"
        "found, errors = [], []\n"
        "def look():\n"
        "    try:\n"
        "        import hotaru as torch\n"
        "        x = torch.ones(2, requires_grad=True)\n"
        "        with torch.no_grad():\n"
        "            repr(x), x.norm(), x.float(), x.numpy()\n"
        "        torch.nn.Linear(2, 1)(x).backward()\n"
        "        found.append(torch.optim.Adam([x]) and torch.Store)\n"
        "    except BaseException as error:\n"
        "        errors.append(repr(error))\n"
        "threads = [threading.Thread(target=look) for _ in range(8)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "print(errors, len(found), len(set(found)))"
    )
    assert out == "[] 8 1\n"


def test_files_read_late_have_what_modes_put_in_place():
    """A mode replaces functions that make tensors by ones that ask it, in every
    file that was read; one that is read afterwards must find those.
    """
    code = """
import importlib, pkgutil, sys
import hotaru
from hotaru.utils._python_dispatch import TorchDispatchMode

class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

with Mode():
    for room in ("_tensor", "_functions", "_extension"):
        package = importlib.import_module(f"hotaru.{room}")
        for found in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"hotaru.{room}.{found.name}")
for name, module in list(sys.modules.items()):
    if name.startswith("hotaru") and "_dispatch" not in name:
        if module is not hotaru._C and name != "hotaru.ops":
            if vars(module).get("tensor") is hotaru._C.tensor:
                print(name)
"""
    assert _python(code) == ""
