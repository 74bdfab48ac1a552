"""Programs with the results that PyTorch recorded for them.

The texts are tests/golden/script_cases.py: compiled here, and as PyTorch
compiled and saved them.
"""

import importlib.util
import io
import sys
from pathlib import Path

import pytest

import hotaru as torch

GOLDEN = Path(__file__).parents[2] / "golden"
NEW, OLD = (
    torch.jit.load(str(GOLDEN / "script" / f"cases{suffix}.pt"))
    for suffix in ("", "_old")
)


def _load_cases():
    path = GOLDEN / "script_cases.py"
    spec = importlib.util.spec_from_file_location("script_cases", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["script_cases"] = module
    spec.loader.exec_module(module)
    return module


cases = _load_cases()


def _expected(archive, name: str) -> dict:
    return {
        key.partition(".")[2]: text
        for key, text in archive.expected.items()
        if key.startswith(f"{name}.")
    }


def _reloaded(module):
    return torch.jit.load(io.BytesIO(module.save_to_buffer()))


@pytest.mark.parametrize("name", list(cases.CASES))
def test_compiled_here(name):
    expected = _expected(NEW, name)
    module = torch.jit.script(cases.CASES[name]().eval())
    assert cases.results(module) == expected
    assert expected
    assert cases.results(_reloaded(module)) == expected


@pytest.mark.parametrize("name", list(cases.CASES))
@pytest.mark.parametrize("archive", [NEW, OLD], ids=["new", "old"])
def test_compiled_by_pytorch(archive, name):
    module = getattr(archive, name)
    expected = _expected(archive, name)
    assert cases.results(module) == expected
    assert expected
    assert cases.results(getattr(_reloaded(archive), name)) == expected
