"""hotaru.multiprocessing: tensors that processes share."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import data_sets
import hotaru.multiprocessing as mp
import pytest

import hotaru


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_both_sides_see_what_either_writes(method):
    context = mp.get_context(method)
    inbox, outbox = context.Queue(), context.Queue()
    given = hotaru.zeros(3).share_memory_()
    process = context.Process(
        target=data_sets.add_and_answer, args=(inbox, outbox, given)
    )
    process.start()
    sent = hotaru.arange(5.0)
    inbox.put(sent)
    received = outbox.get()
    inbox.put(None)
    process.join()
    assert process.exitcode == 0
    assert given.tolist() == [7.0, 7.0, 7.0]
    assert received.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    received[0] = 9
    assert sent.tolist() == [9.0, 2.0, 3.0, 4.0, 5.0]
    assert sent.is_shared()
    assert received.is_shared()


def test_views_keep_their_geometry():
    whole = hotaru.arange(12.0).reshape(3, 4).share_memory_()
    ours, theirs = mp.Pipe(duplex=False)
    theirs.send((whole.t()[1:], whole))
    view, base = ours.recv()
    assert view.stride() == (1, 4)
    assert view.tolist() == whole.t()[1:].tolist()
    base[0, 1] = 50
    assert view[0, 0].item() == 50
    assert whole[0, 1].item() == 50


def test_a_module_is_shared():
    net = hotaru.nn.Linear(4, 3)
    weights = net.weight.tolist()
    assert net.share_memory() is net
    assert net.weight.is_shared()
    assert isinstance(net.weight, hotaru.nn.Parameter)
    assert net.weight.tolist() == weights
    net(hotaru.ones(1, 4)).sum().backward()
    assert net.weight.grad.tolist() == [[1.0] * 4] * 3


def test_tensor_with_a_history_stays():
    history = hotaru.ones(2, requires_grad=True) * 2
    ours, theirs = mp.Pipe(duplex=False)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize"):
        theirs.send(history)
    ours.close()


def test_parameter_and_leaf_keep_requires_grad():
    ours, theirs = mp.Pipe(duplex=False)
    theirs.send((hotaru.nn.Parameter(hotaru.ones(2)), hotaru.ones(1).requires_grad_()))
    parameter, leaf = ours.recv()
    assert isinstance(parameter, hotaru.nn.Parameter)
    assert parameter.requires_grad
    assert leaf.requires_grad


def test_spawn_runs_a_function_in_each_process():
    target = hotaru.zeros(3).share_memory_()
    mp.start_processes(data_sets.fill, (target,), nprocs=3, start_method="fork")
    assert target.tolist() == [1.0, 2.0, 3.0]


def test_spawn_reports_what_failed():
    context = mp.start_processes(
        data_sets.fail, nprocs=2, join=False, start_method="fork"
    )
    with pytest.raises(mp.ProcessRaisedException, match="process one") as info:
        context.join()
    assert info.value.error_index == 1
    assert info.value.error_pid == context.pids()[1]
    assert all(not process.is_alive() for process in context.processes)


def test_spawn_reports_a_signal():
    with pytest.raises(mp.ProcessExitedException, match="SIGKILL") as info:
        mp.start_processes(data_sets.die, nprocs=1, start_method="fork")
    assert info.value.exit_code == -9


def test_sharing_strategies():
    names = mp.get_all_sharing_strategies()
    assert names == {"file_descriptor", "file_system"}
    for name in ("file_system", "file_descriptor"):
        mp.set_sharing_strategy(name)
        assert mp.get_sharing_strategy() == name
    with pytest.raises(ValueError, match="not supported"):
        mp.set_sharing_strategy("file")
    assert mp.get_sharing_strategy() == "file_descriptor"


@pytest.mark.parametrize("kind", ["coo", "csr", "nested"])
def test_batches_that_only_the_program_knows(kind):
    from hotaru.utils.data import default_collate

    make = {
        "coo": lambda: hotaru.eye(2).to_sparse(),
        "csr": lambda: hotaru.eye(2).to_sparse_csr(),
        "nested": lambda: hotaru.nested.nested_tensor([hotaru.ones(2)]),
    }[kind]
    name = "nested" if kind == "nested" else "sparse"
    with pytest.raises(RuntimeError, match=f"Batches of {name} tensors"):
        default_collate([make(), make()])


@pytest.mark.parametrize("replacement", [True, False])
def test_nothing_is_drawn_of_no_weights(replacement):
    for shape in ((0,), (2, 0)):
        with pytest.raises(RuntimeError):
            hotaru.multinomial(hotaru.empty(shape), 1, replacement)
    for shape in ((0, 3), (0, 0)):
        drawn = hotaru.multinomial(hotaru.empty(shape), 1, True)
        assert drawn.shape == (0, 1)


def test_what_comes_back_is_what_was_sent():
    whole = hotaru.arange(6.0).reshape(2, 3)
    storage = whole.untyped_storage()
    sent = [whole, whole[1], whole._typed_storage(), storage, whole[:0]]
    ours, theirs = mp.Pipe(duplex=False)
    theirs.send(sent)
    first, row, typed, untyped, empty = ours.recv()
    assert row.tolist() == [3, 4, 5]
    assert empty.shape == (0, 3)
    found = [first.untyped_storage(), row.untyped_storage(), untyped]
    assert {one._cdata for one in found} == {storage._cdata}
    assert typed._untyped_storage._cdata == storage._cdata


def test_storages_are_shared():
    context = mp.get_context("spawn")
    numbers = hotaru.zeros(4)
    storage = numbers[1:3].untyped_storage()
    empty = hotaru.empty(0).untyped_storage()
    process = context.Process(target=data_sets.count_bytes, args=(storage, empty))
    process.start()
    process.join()
    assert process.exitcode == 0
    # Sharing has moved the tensor's own memory.
    as_bytes = numbers.view(hotaru.uint8)
    assert as_bytes.tolist() == list(range(16))


_PROGRAM = """
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return torch.tensor(i * i)

def fill(index, target):
    target[index] = index + 1

if __name__ == "__main__":
    target = torch.zeros(2).share_memory_()
    mp.spawn(fill, (target,), nprocs=2)
    print(target.tolist())
    for method in ("spawn", "forkserver"):
        loader = DataLoader(Squares(), num_workers=1,
                            multiprocessing_context=method)
        print([batch.item() for batch in loader])
"""


def test_children_of_an_aliased_program_find_torch(tmp_path):
    """They run its file again, where `import torch` must mean hotaru."""
    script = tmp_path / "program.py"
    script.write_text(_PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "hotaru", str(script)],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[1.0, 2.0]\n[0, 1, 4]\n[0, 1, 4]\n"


def test_failures_travel_whole():
    """Long texts too, and as pickles."""
    with pytest.raises(mp.ProcessRaisedException) as info:
        mp.start_processes(data_sets.fail_at_length, start_method="fork")
    assert str(info.value).endswith("x" * 200_000 + "\n")
    exited = mp.ProcessExitedException("text", 1, 2, -9, "SIGKILL")
    for error in (info.value, exited):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert vars(again) == vars(error)
        assert str(again) == str(error)


def test_ending_the_others(caplog):
    context = mp.start_processes(
        data_sets.fail, nprocs=2, join=False, start_method="fork"
    )
    with pytest.raises(mp.ProcessRaisedException):
        context.join()
    assert "Terminating process" in caplog.text
    caplog.clear()
    context = mp.start_processes(
        data_sets.fail_first, nprocs=2, join=False, start_method="fork"
    )
    with pytest.raises(mp.ProcessExitedException, match="with exit code 12"):
        _join(context, grace_period=60)
    assert not caplog.text  # the other one ended by itself
    assert context.processes[1].exitcode == 0


def _join(context, **options) -> None:
    while not context.join(**options):
        pass


def test_joining_again():
    context = mp.start_processes(
        data_sets.pass_by, nprocs=2, join=False, start_method="fork"
    )
    while not context.join():
        pass
    assert context.join()
    folder = Path(context.error_files[0]).parent
    assert folder.exists()
    del context
    assert not folder.exists()


def test_spawn_only_spawns():
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(data_sets.pass_by, start_method="fork")
