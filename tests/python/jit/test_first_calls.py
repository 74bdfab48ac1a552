"""Imports of the first call of a process: few, as they take the time.

A first export that imports what a program never asked for (distributions,
optimizers, NumPy, ...) takes ten to twenty times as long as this one.
"""

import subprocess
import sys

import pytest

_PROGRAM = """
import io, sys
import hotaru as torch
layers = torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)
m = torch.nn.Sequential(*layers)
x = torch.ones(1, 4)
before = set(sys.modules)
{call}
for name in set(sys.modules) - before:
    parts = name.split(".")
    print(".".join(parts[:2] if parts[0] == "hotaru" else parts[:1]))
"""

# Packages of this one that a program in TorchScript is made with.
_SCRIPT = {"_awaits", "_sent_arguments", "_trees", "amp", "futures", "jit", "linalg"}
# Modules above and what tensors without elements and Python's graphs need.
_EXPORT = {
    "_answering",
    "_dims",
    "_dispatch",
    "_function_schema",
    "_functions",
    "_functorch",
    "_higher_order_ops",
    "_library",
    "_operators",
    "_ops",
    "_prims_common",
    "_subclasses",
    "_symbolic",
    "_types",
    "backends",
    "export",
    "fx",
    "ops",
    "overrides",
}
_JSON = {"json", "_json"}
# Modules that `import hotaru` leaves to those who ask for them.
_LATE = {
    "_extension",
    "_functions",
    "_lowrank",
    "_tensor",
    "functional",
    "torch_version",
    "version",
    "numbers",
}

_CALLS = {
    "trace": ("torch.jit.trace(m, (x,))", _SCRIPT),
    "script": ("torch.jit.script(m)", _SCRIPT),
    "onnx": (
        "torch.onnx.export(m, (x,), io.BytesIO())",
        {*_SCRIPT, "onnx", "backends"},
    ),
    "export": (
        "torch.export.export(m, (x,))",
        {
            *_SCRIPT,
            *_EXPORT,
            *_JSON,
            "bisect",
            "decimal",
            "fractions",
            "numbers",
            "random",
            "_bisect",
            "_decimal",
            "_random",
            "_sha512",
        },
    ),
    "compile": (
        "torch.compile(m)(x)",
        {
            "_trees",  # whose classes a graph takes apart
            "graphs",
            "argparse",
            "errno",
            "fnmatch",
            "gettext",
            "ipaddress",
            "ntpath",
            "pathlib",
            "glob",  # which the package pathlib reads from Python 3.13 on
            "grp",
            "pwd",
            "urllib",
        },
    ),
}


@pytest.mark.parametrize("kind", _CALLS)
def test_a_first_call_imports_little(kind):
    call, allowed = _CALLS[kind]
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(call=call)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = {name.removeprefix("hotaru.") for name in done.stdout.split()}
    assert found, "the call imports what makes the program"
    assert found <= {*allowed, *_LATE, "utils"}


def test_functions_that_are_imported_late_keep_their_meaning(tmp_path):
    """A function of the top level that another module has, which compiled code
    knows by its name there, although nothing was asked by that name before.
    """
    path = tmp_path / "program.py"  # compiled code is read from a file
    path.write_text("""
import hotaru as torch
from hotaru.random import manual_seed

def f(x):
    manual_seed(3)
    return torch.rand_like(x)

x = torch.ones(4)
manual_seed(3)
want = torch.rand_like(x)
try:
    got = torch.jit.script(f)(x)
except RuntimeError as error:
    print(error)
else:
    assert torch.equal(got, want)
    print("same")
""")
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "same", done.stdout
