"""Every row of the tables of algorithms: who takes it, with what result."""

import os
import pathlib
import subprocess
import sys

import hotaru.nn.functional as F
import pytest
from simd_choice import needs_simd
from way_cases import BY_MACHINE, CASES, Case, answer, check

import hotaru as torch

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_runs_and_is_exact(case):
    why_not = check(case)
    if why_not:
        pytest.skip(f"this processor takes another: it lacks {why_not}")


@pytest.mark.parametrize("simd", ["baseline", "avx2", "avx512"])
def test_rows_are_exact_by_every_instruction_set(simd):
    needs_simd(simd)
    environment = {**os.environ, "HOTARU_SIMD": simd}
    done = subprocess.run(
        [sys.executable, str(HERE / "way_cases.py")],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(len(CASES))]


def test_every_row_has_a_case():
    tested = {(case.kernel, case.dtype, case.way) for case in CASES}
    # Integers' cases tell of whatever does not fit.
    tested |= {("conv_forward", d, "unrolled") for d in (torch.float32,)}
    tested |= {("conv_forward", torch.float64, "unrolled")}
    tested |= {("conv_weight", d, "unrolled") for d in (torch.float32, torch.float64)}
    missing = set()
    for case in CASES:
        for way in answer(case).ways:
            row = (case.kernel, case.dtype, way.name)
            # A graph's products that are packed have rows of matrices behind.
            if row not in tested and case.kernel != "linear":
                missing.add(row)
    assert {row for row in missing if row[2] not in BY_MACHINE} <= {
        # By packed weights alone.
        ("matmul", torch.float32, "panels"),
        ("matmul", torch.float64, "panels"),
        ("matmul", torch.bfloat16, "widened"),
        ("matmul", torch.float32, "product"),
        ("matmul", torch.float64, "product"),
        # Another kernel, which the pass that asks leaves the call to.
        ("winograd_conv", torch.float32, "direct"),
    }


def test_gradients_of_padded_results_are_unrolled():
    def of_input(x, w, y):
        x = x.detach().requires_grad_()
        out = F.conv_transpose2d(x, w, dilation=2, output_padding=1)
        return torch.autograd.grad(out, x, y)[0]

    x, w, y = torch.ones(1, 2, 5, 5), torch.ones(2, 3, 3, 3), None
    y = torch.ones_like(F.conv_transpose2d(x, w, dilation=2, output_padding=1))
    calls = torch.backends.cpu.ways(of_input, x, w, y)
    [call] = [c for c in calls if c.kernel == "conv_forward"]
    assert call.runs == "unrolled"


def test_answers_name_one_row_and_reasons_before_it():
    [call] = torch.backends.cpu.ways(torch.matmul, *[torch.ones(64, 64)] * 2)
    at = [way.name for way in call.ways].index(call.runs)
    assert all(way.why_not for way in call.ways[:at])
    assert not any(way.why_not or way.runs for way in call.ways[at + 1 :])
    assert f"runs   {call.runs}: " in str(call)


def test_a_kernel_of_one_algorithm_has_no_rows():
    [call] = torch.backends.cpu.ways(torch.mul, *[torch.ones(4)] * 2)
    assert (call.kernel, call.ways, call.runs) == ("mul", (), None)


def test_what_cannot_be_captured_is_an_error():
    with pytest.raises(RuntimeError):
        torch.backends.cpu.ways(lambda x: x.sum().item(), torch.ones(3))
    # Nothing is left of it.
    assert not torch.cuda.is_current_stream_capturing()
    assert isinstance(CASES[0], Case)
