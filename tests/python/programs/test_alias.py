"""`hotaru alias`: a package `torch` in an environment, and what it says."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    "not __import__('hotaru').__file__", reason="the package is not on disk"
)


class Environment:
    """A new environment that sees hotaru and nothing else."""

    def __init__(self, folder: Path) -> None:
        import hotaru

        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", folder], check=True
        )
        self.python = folder / "bin/python"
        (self.packages,) = folder.glob("lib/python*/site-packages")
        home = Path(hotaru.__file__).parents[1]
        (self.packages / "hotaru.pth").write_text(f"{home}\n")
        self._folder = folder

    def run(self, *args, code=0) -> str:
        """Returns what Python prints; the error's text where it shall fail."""
        done = subprocess.run(
            [self.python, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self._folder,
        )
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    def runs(self, program: str) -> str:
        path = self._folder / "program.py"
        path.write_text(textwrap.dedent(program))
        return self.run(path)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("alias") / "env")


@pytest.fixture
def aliased(environment):
    environment.run("-m", "hotaru", "alias")
    yield environment
    environment.run("-m", "hotaru", "alias", "--remove")


def test_every_process_imports_torch(aliased):
    """Also worker processes, which start without the program's modules."""
    printed = aliased.runs(
        """
        import importlib.metadata
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        import torch
        import hotaru
        from torch.nn import Linear

        if __name__ == "__main__":
            assert torch is hotaru
            version = importlib.metadata.version("torch")
            assert version == torch.__version__ == torch.version.__version__
            assert version.startswith("2.13.0+hotaru"), version
            spawn = multiprocessing.get_context("spawn")
            layer = Linear(2, 3)
            with ProcessPoolExecutor(1, mp_context=spawn) as pool:
                made = pool.submit(layer, torch.ones(2)).result()
            assert torch.equal(made, layer(torch.ones(2)))
            print("done")
        """
    )
    assert printed == "done\n"


def test_hotaru_first_and_torch_after_are_one(aliased):
    printed = aliased.runs(
        """
        import hotaru.nn
        before = hotaru.nn.Linear
        import torch
        print(torch.nn.Linear is before, before.__module__, torch.__name__)
        """
    )
    assert printed == "True torch.nn.modules.linear torch\n"


def test_traced_code_runs_by_its_names(aliased):
    """Operators are named as PyTorch's, wherever `torch._C` has them."""
    printed = aliased.runs(
        """
        import torch
        from torch import fx

        def f(x):
            y = torch.fft.ifft(torch.fft.fft(x)).real
            z = torch.special.entr(torch.linalg.det(x).abs())
            return y.sum() + z + torch.nn.functional.gelu(x).sum()

        module = fx.symbolic_trace(f)
        x = torch.eye(3)
        torch.testing.assert_close(module(x), f(x))
        for node in module.graph.nodes:
            if node.op == "call_function":
                print(node._pretty_print_target(node.target))
        """
    )
    assert printed.split() == [
        "torch._C._fft.fft_fft",
        "torch._C._fft.fft_ifft",
        "torch._C._linalg.linalg_det",
        "torch._C._special.special_entr",
        "builtins.getattr",
        "operator.add",
        "torch._C._nn.gelu",
        "operator.add",
    ]


def test_modules_run_by_their_name(aliased):
    printed = aliased.run("-m", "torch._alias.metadata")
    assert printed == ""


def test_alias_is_removed_whole(environment):
    before = {p.name for p in environment.packages.iterdir()}
    environment.run("-m", "hotaru", "alias")
    environment.run("-m", "hotaru", "alias")  # once more changes nothing
    after = {p.name for p in environment.packages.iterdir()} - before
    assert len(after) == 2
    assert "torch" in after
    environment.run("-m", "hotaru", "alias", "--remove")
    assert {p.name for p in environment.packages.iterdir()} == before
    environment.run("-c", "import torch", code=1)
    said = environment.run("-m", "hotaru", "alias", "--remove", code=1)
    assert "there is no alias" in said


def test_real_torch_is_left_alone(environment):
    package = environment.packages / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("real = True\n")
    try:
        for remove in ((), ("--remove",)):
            said = environment.run("-m", "hotaru", "alias", *remove, code=1)
            assert said.startswith("hotaru alias: a real torch is installed")
        assert environment.run("-c", "import torch; print(torch.real)") == ("True\n")
    finally:
        (package / "__init__.py").unlink()
        for path in sorted(package.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        package.rmdir()


def test_installers_find_its_files(aliased):
    """The record names every file, so that an installer can remove them."""
    printed = aliased.runs(
        """
        import importlib.metadata, pathlib
        found = importlib.metadata.distribution("torch")
        for file in found.files:
            path = pathlib.Path(file.locate())
            assert path.exists(), path
            assert file.size in (None, path.stat().st_size), path
        print(len(found.files), found.metadata["Name"])
        """
    )
    assert printed == "6 torch\n"


def test_names_without_a_file(environment):
    """`python -m hotaru` says the same of itself as an installed alias."""
    printed = environment.run(
        *("-m", "hotaru", "-c"),
        "import importlib.metadata as m, torch, torch.utils.data, pickle\n"
        "print(m.version('torch') == torch.__version__, torch.__name__)\n"
        "print(torch.Tensor.__module__, torch.nn.Linear.__module__)\n"
        "print(torch.utils.data.DataLoader.__module__)\n"
        "print(b'torch.nn.modules.linear' in pickle.dumps(torch.nn.Linear))\n"
        "import typing, inspect\n"
        "print(inspect.getmodule(torch.nn.Linear) is torch.nn.modules.linear)\n"
        "print(len(inspect.getsource(torch.nn.Linear)) > 100)\n",
    )
    assert printed.splitlines() == [
        *("True torch", "torch torch.nn.modules.linear"),
        *("torch.utils.data.dataloader", "True", "True", "True"),
    ]


def test_broken_module_can_be_imported_again(environment):
    """A module that fails leaves neither of its names behind."""
    printed = environment.runs(
        """
        import sys
        from hotaru._alias import install
        install()
        import hotaru
        from importlib.machinery import SourceFileLoader
        plain = SourceFileLoader.get_code
        SourceFileLoader.get_code = lambda self, name: compile(
            "raise ValueError", "f", "exec")
        try:
            import torch.onnx
        except ValueError:
            pass
        SourceFileLoader.get_code = plain
        assert not {"torch.onnx", "hotaru.onnx"} & set(sys.modules)
        import torch.onnx
        print(torch.onnx.producer_version)
        """
    )
    assert printed == "2.13.0\n"
