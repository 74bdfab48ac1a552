"""`hotaru info --ways`: what it prints, and what it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("hotaru")


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(COMMAND), "info", "--ways", *words], capture_output=True, text=True
    )


def test_a_call_names_its_algorithm_and_what_others_need():
    done = run("conv2d", "1,4,9,9", "4,1,3,3", "padding=1", "groups=4")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "conv_forward"
    [runs] = [line for line in lines if line.startswith("  runs ")]
    assert runs.startswith("  runs   depthwise3: each channel by 3 x 3 taps")
    at = lines.index(runs)
    assert all(line.startswith("  not    ") for line in lines[1:at])
    assert all(line.startswith("  behind ") for line in lines[at + 1 :])


def test_json_says_the_same():
    done = run("matmul", "50,65:float64", "65,70:float64", "--json")
    [call] = json.loads(done.stdout)
    assert call["kernel"] == "matmul"
    assert [way["name"] for way in call["ways"] if way["runs"]] == ["areas"]


def test_a_graphs_calls_are_those_that_passes_leave():
    words = ("linear", "9,64", "64,64")
    assert run(*words).stdout.startswith("matmul\n")
    assert run(*words, "--graph").stdout.startswith("linear\n")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("conv2d", "1,3"), "Argument weight not provided"),
        (("nothing", "1,2"), "nothing"),
        (("matmul", "1,2:foo", "2,3"), "'foo' is no dtype"),
        (("add(", "1,2"), "--ways: that is no call"),
    ],
)
def test_what_is_no_call_is_said(words, text):
    done = run(*words)
    assert done.returncode == 1
    assert text in done.stderr
    assert done.stdout == ""
