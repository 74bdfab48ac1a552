"""`python -m hotaru`: scripts whose `import torch` gives hotaru."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]

# Over PyTorch's operators (see torch_shim.py) the package is not on disk as
# such, and PyTorch itself has to be out of the way.
_OVER_TORCH = """
import sys
sys.path.append({here!r})
import torch_shim
torch_shim.install()
for name in [n for n in sys.modules if n.split(".")[0] == "torch"]:
    del sys.modules[name]
from hotaru._alias.interpreter import main
main(sys.argv[1:])
"""


def run(*args, cwd=None, stdin=None):
    """Runs `python -m hotaru *args`."""
    if os.environ.get("HOTARU_OVER_TORCH") == "1":
        command = [sys.executable, "-c", _OVER_TORCH.format(here=str(HERE))]
    else:
        command = [sys.executable, "-m", "hotaru"]
    return subprocess.run(
        [*command, *map(str, args)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def script(tmp_path):
    """Writes a script and gives its path."""

    def write(source: str, name: str = "program.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(source))
        return path

    return write


def test_torch_is_hotaru(script):
    path = script(
        """
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        import torch.optim as optim
        from torch import nn as nn2
        from torch.nn import Linear, functional
        from torch.utils.data import DataLoader, TensorDataset
        from torch.autograd import Variable
        import torch.utils.data
        import hotaru
        import hotaru.nn

        assert torch is hotaru and nn is hotaru.nn is nn2
        assert functional is F is torch.nn.functional and Linear is nn.Linear
        assert torch.utils.data.DataLoader is DataLoader
        assert isinstance(torch.ones(1), Variable)
        assert hotaru.nn.__spec__.name == "hotaru.nn", hotaru.nn.__spec__
        assert hotaru.nn.__name__ == "torch.nn"
        print(tuple(nn.Linear(2, 2)(torch.ones(2)).shape))
        """
    )
    done = run(path)
    assert done.stderr == ""
    assert done.stdout == "(2,)\n"
    assert done.returncode == 0


def test_script_sees_what_python_would_show_it(script, tmp_path):
    script("VALUE = 7", "neighbour.py")
    path = script(
        """
        import sys, os
        import neighbour
        print(sys.argv, neighbour.VALUE)
        print(__name__, __file__, sys.modules["__main__"].__file__)
        print(sys.path[0], __package__, __spec__)
        print(sorted(n for n in globals() if n.startswith("__")))
        """
    )
    done = run("program.py", "a", "--b", "-c", cwd=tmp_path)
    plain = subprocess.run(
        [sys.executable, "program.py", "a", "--b", "-c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert path.exists()
    assert plain.returncode == 0
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)


def test_missing_part_is_named(script):
    path = script("import torch.distributed.rpc.nothing")
    done = run(path)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: No module named 'torch.distributed")


def test_missing_name_of_an_existing_part(script):
    done = run(script("from torch.nn import NoSuchModule"))
    assert done.returncode == 1
    assert "cannot import name 'NoSuchModule'" in done.stderr


def test_traceback_starts_at_the_script(script):
    path = script(
        """
        def fail():
            raise ValueError("here")

        fail()
        """
    )
    done = run(path)
    assert done.returncode == 1
    assert "_alias" not in done.stderr
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{path}", line 5, in <module>'
    assert lines[-1] == "ValueError: here"


def test_syntax_error_is_shown_like_python_does(script):
    done = run(script("x = = 3"))
    assert done.returncode == 1
    assert "_alias" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("SyntaxError")


@pytest.mark.parametrize(("end", "code"), [("3", 3), ("", 0), ("'bye'", 1)])
def test_exit_status(script, end, code):
    done = run(script(f"import sys; sys.exit({end})"))
    assert done.returncode == code
    assert done.stderr == ("bye\n" if "bye" in end else "")


def test_source_encoding(tmp_path):
    path = tmp_path / "latin.py"
    path.write_bytes("# coding: latin-1\nprint(len('é'))\n".encode("latin-1"))
    assert run(path).stdout == "1\n"


def test_code_and_module(tmp_path):
    done = run("-c", "import torch, sys; print(torch.__name__, sys.argv)", "x")
    assert done.stdout == "torch ['-c', 'x']\n"
    (tmp_path / "tool.py").write_text(
        "import sys, torch\nprint(__name__, torch.__name__, sys.argv[1:])\n"
    )
    done = run("-m", "tool", "y", cwd=tmp_path)
    assert done.stdout == "__main__ torch ['y']\n", done.stderr


def test_standard_input(tmp_path):
    code = "import sys, torch\nprint(torch.__name__, __name__, sys.argv)\nx"
    done = run("-", "a", cwd=tmp_path, stdin=code)
    assert done.stdout == "torch __main__ ['-', 'a']\n"
    assert done.returncode == 1
    assert '  File "<stdin>", line 3, in <module>' in done.stderr


@pytest.mark.parametrize("packed", [False, True])
def test_folder_and_zip_run_their_main(tmp_path, packed):
    code = "import sys, torch, beside\nprint(torch.__name__, sys.argv[1:])"
    files = {"__main__.py": code, "beside.py": "import torch"}
    place = tmp_path / "program"
    if packed:
        with zipfile.ZipFile(place, "w") as file:
            for name, text in files.items():
                file.writestr(name, text)
    else:
        place.mkdir()
        for name, text in files.items():
            (place / name).write_text(text)
    done = run(place, "a")
    assert (done.stdout, done.returncode) == ("torch ['a']\n", 0)


def test_usage():
    assert run().returncode == 2
    assert run("--help").stdout.startswith("usage: python -m hotaru")
    assert "unknown option -z" in run("-z").stderr
    assert "-c needs an argument" in run("-c").stderr
    missing = run("/no/such/file.py")
    assert missing.returncode == 2
    assert "can't open file '/no/such/file.py'" in missing.stderr


def test_alias_finder_leaves_other_modules_alone(hotaru):
    from hotaru._alias.finder import AliasFinder

    finder = AliasFinder("flame", "hotaru")
    assert finder.find_spec("flames") is None
    assert finder.find_spec("json") is None
    assert finder.find_spec("flame.nn").submodule_search_locations is not None
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'flame\.zz'"):
        finder.find_spec("flame.zz")


def test_install_refuses_to_hide_an_imported_package(hotaru, monkeypatch):
    import types

    from hotaru._alias import interpreter as _interpreter

    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setitem(sys.modules, "flame", types.ModuleType("flame"))
    with pytest.raises(RuntimeError, match="flame is imported already"):
        _interpreter.install("flame")
