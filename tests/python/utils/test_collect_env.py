"""`utils.collect_env`: what people put into reports."""

from __future__ import annotations

import subprocess
import sys

from hotaru.utils import collect_env

import hotaru as torch


def test_facts_are_those_of_this_process():
    facts = collect_env.get_env_info()
    assert facts.torch_version == torch.__version__
    assert facts.python_version.split()[0] in sys.version
    assert facts.is_cuda_available == str(torch.cuda.is_available())
    assert "pytest" not in facts.pip_packages
    assert collect_env.get_pip_packages(patterns=("pytest",))[1].startswith("pytest")


def test_missing_commands_are_no_errors():
    assert collect_env.run(["no-such-command-here"])[0] == 127
    failing = collect_env.get_gcc_version(lambda command: (1, "", "no"))
    assert failing is None


def test_it_prints():
    done = subprocess.run(
        [sys.executable, "-m", "hotaru", "-m", "torch.utils.collect_env"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"PyTorch version: {torch.__version__}" in done.stdout
    assert "at::get_num_threads" in done.stdout
