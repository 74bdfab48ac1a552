"""`elastic_launch`, and reports of processes that failed."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from hotaru.distributed.elastic.multiprocessing import Std, errors, to_map
from hotaru.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ProcessFailure,
    record,
)
from hotaru.distributed.launcher import LaunchConfig, elastic_launch
from hotaru.numa.binding import AffinityMode, NumaOptions


def _config(processes=2, **options):
    options = {"max_restarts": 0, "start_method": "fork", **options}
    return LaunchConfig(1, 1, processes, monitor_interval=0.01, **options)


def _place(tag):
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RESTART_COUNT")
    return [tag, *(os.environ[name] for name in names)]


def _fails_once(folder):
    rank, attempt = os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]
    if attempt == "0" and rank == "1":
        raise ValueError("too early")
    return attempt


def _fails(kind):
    if os.environ["RANK"] == "1":
        if kind == "signal":
            os.kill(os.getpid(), signal.SIGKILL)
        raise ValueError("too early")
    signal.pause()  # until the launcher ends it


def _sums():
    import hotaru as torch
    from hotaru import distributed as dist

    dist.init_process_group("gloo")
    x = torch.ones(2) * (dist.get_rank() + 1)
    dist.all_reduce(x)
    dist.destroy_process_group()
    return x.tolist()


def _turned():
    import hotaru.distributed._functional_collectives as collectives

    import hotaru as torch
    from hotaru import distributed as dist

    dist.init_process_group("gloo")
    x = torch.arange(4.0).view(2, 2) + 10 * dist.get_rank()
    turned = collectives.permute_tensor(x, [1, 2, 0], dist.group.WORLD)
    assert not isinstance(turned, collectives.AsyncCollectiveTensor)
    try:
        collectives.permute_tensor(x, [0, 0, 1], dist.group.WORLD)
    except ValueError as error:
        text = str(error)
    dist.destroy_process_group()
    return turned.tolist(), text


def test_tensors_are_handed_to_other_ranks():
    found = elastic_launch(_config(3), _turned)()
    for rank, (rows, text) in found.items():
        sender = (rank - 1) % 3
        first = 10.0 * sender
        assert rows == [[first, first + 1], [first + 2, first + 3]]
        assert "each of 3 ranks once" in text


def test_results_are_by_rank():
    found = elastic_launch(_config(), _place)("x")
    assert found == {0: ["x", "0", "0", "2", "0"], 1: ["x", "1", "1", "2", "0"]}
    assert elastic_launch(_config(), _sums)() == {0: [3.0] * 2, 1: [3.0] * 2}


def test_failed_processes_start_again(tmp_path):
    launch = elastic_launch(_config(max_restarts=1), _fails_once)
    assert launch(str(tmp_path)) == {0: "1", 1: "1"}


@pytest.mark.parametrize("kind", ["error", "signal"])
def test_a_failure_ends_the_others(kind):
    with pytest.raises(ChildFailedError) as caught:
        elastic_launch(_config(), _fails)(kind)
    error = caught.value
    assert (error.name, list(error.failures)) == ("_fails", [1])
    rank, failure = error.get_first_failure()
    assert (rank, failure.local_rank) == (1, 1)
    if kind == "signal":
        assert failure.exitcode == -signal.SIGKILL
        assert failure.signal_name() == "SIGKILL"
        text = f"Signal 9 (SIGKILL) received by PID {failure.pid}"
        assert failure.message == text
    else:
        assert failure.exitcode == 1
        assert failure.message["message"] == "ValueError: too early"
        assert "too early" in str(error)
        assert json.loads(Path(failure.error_file).read_text())
    assert "Root Cause (first observed failure):" in str(error)


def test_programs_are_launched():
    config = _config(1)
    assert elastic_launch(config, sys.executable)("-c", "pass") == {0: None}
    with pytest.raises(ChildFailedError) as caught:
        elastic_launch(config, sys.executable)("-c", "raise SystemExit(3)")
    assert caught.value.failures[0].exitcode == 3


def test_what_is_not_there_is_refused():
    numa = NumaOptions(AffinityMode.NODE)
    for config in (LaunchConfig(1, 2, 1), _config(numa_options=numa)):
        with pytest.raises(NotImplementedError, match="elastic_launch"):
            elastic_launch(config, _place)
    assert not numa.should_fall_back_if_binding_fails
    assert _config().rdzv_configs == {"timeout": 900}


def test_reports_are_written_and_handed_on(tmp_path, monkeypatch):
    path = tmp_path / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))

    @record
    def fails():
        raise KeyError("gone")

    with pytest.raises(KeyError):
        fails()
    failure = ProcessFailure(0, 12, 1, str(path))
    assert failure.message["message"] == "KeyError: 'gone'"

    @record
    def launches():
        raise ChildFailedError("program", {0: failure})

    (tmp_path / "outer").mkdir()
    outer = tmp_path / "outer" / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(outer))
    with pytest.raises(ChildFailedError):
        launches()
    told = json.loads(outer.read_text())["message"]
    assert (told["message"], told["errorCode"]) == ("KeyError: 'gone'", 1)

    @record
    def ends(code):
        raise SystemExit(code)

    assert ends(0) is None
    with pytest.raises(SystemExit):
        ends(2)
    nowhere = ProcessFailure(0, 12, 1, str(tmp_path / "none"))
    assert nowhere.error_file == "<N/A>"
    assert errors.get_error_handler()


def test_outputs_of_processes():
    assert Std.from_str("3") is Std.ALL
    assert Std.from_str("0:1,2:2") == {0: Std.OUT, 2: Std.ERR}
    assert to_map({1: Std.OUT}, 2) == {0: Std.NONE, 1: Std.OUT}
    assert to_map(Std.ERR, 2) == {0: Std.ERR, 1: Std.ERR}
    for wrong in ("4", "x", "0:5"):
        with pytest.raises(ValueError, match=r"none of|does not match"):
            Std.from_str(wrong)
