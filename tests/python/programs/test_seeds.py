"""Short programs from tutorials, run as their authors wrote them.

Each program of seeds/ runs twice: unchanged through `python -m hotaru`, which
resolves its `import torch`, and with the one line `import hotaru as torch`.
What a `print` must show stands in the comment below it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = {path.stem: path for path in Path(__file__).parent.glob("seeds/*.py")}

# Statements that need a GPU, after a prelude that does not.
PRELUDE = """\
import torch
t_cpu = torch.tensor([0.1, 0.2])
net = torch.nn.Linear(2, 2)
"""
NEED_GPU = [
    "torch.tensor([0.1, 0.2], device=torch.device('cuda:0'))",
    "torch.tensor([0.1, 0.2], device=torch.device('cuda'))",
    "torch.tensor([0.1, 0.2], device=torch.device(0))",
    "torch.tensor([0.1, 0.2], device='cuda:0')",
    "torch.tensor([0.1, 0.2], device='cuda')",
    "torch.tensor([0.1, 0.2], device=0)",
    "t_cpu.to('cuda')",
    "t_cpu.to('cuda', torch.float64)",
    "t_cpu.to(dtype=torch.float64, device='cuda')",
    "t_cpu.cuda()",
    "t_cpu.cuda(0)",
    "t_cpu.cuda('cuda:0')",
    "net.to('cuda')",
    "net.cuda()",
]


def run(program: str, tmp_path: Path, way: str) -> subprocess.CompletedProcess:
    """Runs the program's text in a process of its own, without a GPU."""
    command = [sys.executable]
    if way == "module":
        command += ["-m", "hotaru"]
    else:
        program = program.replace("import torch", "import hotaru as torch", 1)
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    return subprocess.run(
        [*command, str(script)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )


def expected_lines(program: str) -> list[str]:
    """The comments that stand directly below a print."""
    return re.findall(r"^print\(.*\)\n# (.*)$", program, re.MULTILINE)


SYNC = Path(__file__).parent / "seeds" / "sync"

ways = pytest.mark.parametrize("way", ["module", "import"])


@ways
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"version"}))
def test_program_prints_what_its_author_saw(name, way, tmp_path):
    program = PROGRAMS[name].read_text(encoding="utf-8")
    expected = expected_lines(program)
    assert expected, "the program says nothing about its output"
    done = run(program, tmp_path, way)
    assert done.returncode == 0, done.stderr
    # A type keeps the name of its own package.
    shown = done.stdout.replace("'hotaru.", "'torch.").splitlines()
    assert shown == expected


@ways
def test_version_is_a_version(way, tmp_path):
    done = run(PROGRAMS["version"].read_text(), tmp_path, way)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", done.stdout)


@ways
@pytest.mark.parametrize("statement", NEED_GPU)
def test_program_that_needs_a_gpu_says_so(statement, way, tmp_path):
    done = run(PRELUDE + statement + "\n", tmp_path, way)
    assert done.returncode == 1, done
    error = done.stderr.splitlines()[-1]
    assert re.match(r"(AssertionError|RuntimeError): ", error), done.stderr
    assert re.search("CUDA|accelerator", error), done.stderr
    # The traceback leads to the line of the user's program.
    assert "program.py" in done.stderr
    assert statement in done.stderr


@ways
def test_cpu_is_no_cuda_device(way, tmp_path):
    done = run(PRELUDE + "t_cpu.cuda('cpu')\n", tmp_path, way)
    assert done.returncode == 1, done
    assert done.stderr.splitlines()[-1] == (
        "RuntimeError: Invalid device, must be cuda device"
    )


@ways
def test_positional_dtype_before_device_is_a_type_error(way, tmp_path):
    statement = "t_cpu.to(torch.float64, 'cuda')\n"
    done = run(PRELUDE + statement, tmp_path, way)
    assert done.returncode == 1, done
    assert "TypeError: to() received an invalid combination" in done.stderr


@ways
@pytest.mark.parametrize("name", ["synchronize", "stream", "device_synchronize"])
def test_program_that_synchronises_prints_its_tensor(name, way, tmp_path):
    done = run((SYNC / f"{name}.py").read_text("utf-8"), tmp_path, way)
    assert done.returncode == 0, done.stderr
    numbers = re.fullmatch(r"tensor\(\[(.*)\]\)\n", done.stdout)
    assert numbers, done.stdout
    assert len([float(n) for n in numbers[1].split(",")]) == 4
    assert done.stderr == ""


@ways
def test_program_that_measures_prints_two_times(way, tmp_path):
    done = run((SYNC / "benchmark.py").read_text("utf-8"), tmp_path, way)
    assert done.returncode == 0, done.stderr
    times = re.findall(r"時間: ([\d.e-]+)秒", done.stdout)
    assert len(times) == 2
    assert all(0 < float(t) < 60 for t in times)


@ways
def test_program_that_copies_to_a_gpu_says_that_there_is_none(way, tmp_path):
    done = run((SYNC / "with_gpu.py").read_text("utf-8"), tmp_path, way)
    assert done.returncode == 1, done
    assert 'x = x.to("cuda")' in done.stderr
    assert "Found no NVIDIA driver on your system." in done.stderr


GRAPHS = {
    path.stem: path.read_text("utf-8")
    for path in (Path(__file__).parent / "seeds" / "graphs").glob("*.py")
}


def on_cpu(program: str) -> str:
    """The program with the CPU's device and events in place of CUDA's."""
    for gpu, cpu in {
        ".cuda()": "",
        ", device='cuda'": "",
        "torch.cuda.Event(": "torch.cpu.Event(",
    }.items():
        program = program.replace(gpu, cpu)
    return program


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_program_of_graphs_says_that_there_is_no_gpu(name, tmp_path):
    done = run(GRAPHS[name], tmp_path, "module")
    assert done.returncode == 1, done
    assert ".cuda()" in done.stderr
    assert "Found no NVIDIA driver on your system." in done.stderr


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_program_of_graphs_runs(name, device, tmp_path, monkeypatch):
    """As it was written on a GPU; with the CPU's names on the CPU."""
    program = GRAPHS[name]
    if device == "cpu":
        program = on_cpu(program)
    else:
        monkeypatch.setenv("HOTARU_CUDA_DRIVER", "soft")
    names = re.search(r"(graphed_\w+)\(input\)", program)[1], "input"
    program += """
import copy
plain = copy.deepcopy({0})
del plain.forward  # that of the class
assert torch.allclose({0}({1}), plain({1}), atol=1e-6)
""".format(*names)
    done = run(program, tmp_path, "module")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    if name == "measure":
        assert re.fullmatch(r"平均実行時間: \d+\.\d{3} ms\n", done.stdout)
    else:
        assert done.stdout.startswith("tensor([")
        assert "grad_fn=<GraphedBackward>" in done.stdout
        assert ("device='cuda:0'" in done.stdout) == (device == "cuda")
