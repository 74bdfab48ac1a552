"""Names that the text of an archive has a meaning for are still variables."""

import importlib.util
import io

import pytest

import hotaru as torch

WORDS = [
    "infj",
    "nanj",
    "inf",
    "nan",
    "CONSTANTS",
    "ops",
    "__torch__",
    "math",
    "uninitialized",
    "annotate",
    "getattr",
    "isinstance",
    "range",
    "len",
    "str",
    "int",
    "float",
    "complex",
    "list",
    "dict",
    "min",
    "max",
    "abs",
    "print",
    "zip",
    "enumerate",
    "NoneType",
    "fork",
    "sorted",
    "device",
    "unchecked_cast",
]
PARAMETER = """
import hotaru as torch
def f({name}: float) -> float:
    return 2 + {name}
"""
LOCAL = """
import hotaru as torch
def f(x: float) -> float:
    {name} = x * 1.0
    if x > 0:
        {name} = {name} - 0.0
    return 2 + {name}
"""


@pytest.mark.parametrize("text", [PARAMETER, LOCAL], ids=["parameter", "local"])
@pytest.mark.parametrize("name", WORDS)
def test_a_variable_keeps_its_meaning(name, text, tmp_path):
    path = tmp_path / "named.py"
    path.write_text(text.format(name=name))
    spec = importlib.util.spec_from_file_location("named", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scripted = torch.jit.script(module.f)
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    file.seek(0)
    loaded = torch.jit.load(file)
    assert scripted(2.0) == loaded(2.0) == 4.0
