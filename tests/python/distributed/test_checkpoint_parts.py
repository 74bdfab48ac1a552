"""Checkpoints of several processes: saved by some, loaded by others."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import hotaru.distributed.checkpoint as dcp
import pytest
from hotaru.distributed.checkpoint.format_utils import (
    dcp_to_torch_save,
    torch_save_to_dcp,
)
from hotaru.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_state_dict,
)
from hotaru.distributed.checkpoint.state_dict_loader import _load_state_dict_from_keys
from hotaru.distributed.device_mesh import init_device_mesh
from hotaru.distributed.fsdp import fully_shard
from hotaru.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

import hotaru as torch
from hotaru import nn


def value():
    return torch.arange(35.0).reshape(7, 5)


def state(mesh, placements):
    return {
        "x": distribute_tensor(value(), mesh, placements),
        "nested": {"list": [torch.ones(2), 3], "name": "run", "none": None},
        "step": 7,
    }


@pytest.mark.parametrize("saved", [1, 2, 4])
def test_ranks_of_another_number_load_it(world, tmp_path, saved):
    folder = str(tmp_path / "checkpoint")

    def save(rank):
        mesh = init_device_mesh("cpu", (saved,))
        dcp.save(state(mesh, [Shard(0)]), checkpoint_id=folder)

    def load(rank):
        found = []
        for placements in ([Shard(0)], [Shard(1)], [Replicate()]):
            mesh = init_device_mesh("cpu", (3,))
            into = state(mesh, placements)
            into["x"].zero_()
            into["step"] = into["nested"]["name"] = into["nested"]["none"] = 1
            into["nested"]["list"][0].zero_()
            dcp.load(into, checkpoint_id=folder)
            found.append(torch.equal(into["x"].full_tensor(), value()))
            assert into["x"].placements == tuple(placements)
            assert into["step"] == 7
            assert into["nested"]["none"] is None
            assert into["nested"]["name"] == "run"
            assert into["nested"]["list"][0].tolist() == [1, 1]
            assert into["nested"]["list"][1] == 3
        return found

    world(saved, save)
    files = sorted(p.name for p in (tmp_path / "checkpoint").iterdir())
    assert files == [".metadata", *(f"__{i}_0.distcp" for i in range(saved))]
    for found in world(3, load):
        assert found == [True] * 3
    alone = {"x": torch.zeros(7, 5)}
    dcp.load(alone, checkpoint_id=folder)
    assert torch.equal(alone["x"], value())


def test_what_all_ranks_have_is_written_once(world, tmp_path):
    folder = str(tmp_path)

    def run(rank):
        mesh = init_device_mesh("cpu", (2, 2))
        big = distribute_tensor(torch.ones(64, 64), mesh, [Replicate(), Shard(0)])
        plain = {f"p{i}": torch.ones(256) for i in range(4)}
        dcp.save({"big": big, **plain}, checkpoint_id=folder)

    world(4, run)
    metadata = dcp.FileSystemReader(folder).read_metadata()
    chunks = metadata.state_dict_metadata["big"].chunks
    assert sorted(tuple(c.offsets) for c in chunks) == [(0, 0), (32, 0)]
    assert len(metadata.storage_data) == 6
    writers = {i.relative_path for i in metadata.storage_data.values()}
    assert len(writers) == 4


def model_of(dtype=torch.float64):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2)).to(dtype)


def trained(model, rank, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for step in range(steps):
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(3, 5, generator=generator, dtype=torch.float64)
        model(x).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return optimizer


def test_training_goes_on_where_it_was_on_other_ranks(world, tmp_path):
    folder = str(tmp_path)

    def save(rank):
        model = fully_shard(model_of())
        optimizer = trained(model, rank, 3)
        state, optim = get_state_dict(model, optimizer)
        dcp.save({"model": state, "optim": optim}, checkpoint_id=folder)

    def load(rank):
        model = model_of()
        for param in model.parameters():
            param.data.zero_()
        model = fully_shard(model)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.5)
        state, optim = get_state_dict(model, optimizer)
        both = {"model": state, "optim": optim}
        dcp.load(both, checkpoint_id=folder)
        set_state_dict(
            model,
            optimizer,
            model_state_dict=both["model"],
            optim_state_dict=both["optim"],
        )
        x = torch.ones(3, 5, dtype=torch.float64)
        model(x).square().sum().backward()
        optimizer.step()
        full = StateDictOptions(full_state_dict=True)
        return (
            optimizer.param_groups[0]["lr"],
            get_model_state_dict(model, options=full),
        )

    world(2, save)
    whole = model_of()
    optimizer = trained(whole, 0, 3)
    whole(torch.ones(3, 5, dtype=torch.float64)).square().sum().backward()
    optimizer.step()
    for rate, found in world(3, load):
        assert rate == 0.1
        assert found.keys() == whole.state_dict().keys()
        for key, expected in whole.state_dict().items():
            assert torch.allclose(found[key], expected, atol=1e-12)


def test_names_do_not_depend_on_wrappers(world):
    def run(rank):
        wrapped = nn.parallel.DistributedDataParallel(model_of())
        optimizer = trained(wrapped, rank, 1)
        names = list(get_model_state_dict(wrapped))
        optim = get_optimizer_state_dict(wrapped, optimizer)
        flat = get_optimizer_state_dict(
            wrapped,
            optimizer,
            options=StateDictOptions(flatten_optimizer_state_dict=True),
        )
        return names, optim["param_groups"][0]["params"], sorted(flat)[-1]

    names = ["0.weight", "0.bias", "2.weight", "2.bias"]
    for found, params, last in world(2, run):
        assert found == names
        assert params == names
        assert last == "state.2.weight.step"


def test_states_of_the_first_rank_reach_all(world):
    def run(rank):
        model = fully_shard(model_of())
        options = StateDictOptions(
            full_state_dict=True, broadcast_from_rank0=True, cpu_offload=True
        )
        state = get_model_state_dict(model, options=options)
        assert bool(state) == (rank == 0)
        state = {k: v + 1 for k, v in state.items()}
        set_model_state_dict(model, state, options=options)
        return {k: v.full_tensor() for k, v in model.state_dict().items()}

    expected = {k: v + 1 for k, v in model_of().state_dict().items()}
    for found in world(2, run):
        for key, v in expected.items():
            assert torch.equal(found[key], v)


def test_whole_states_go_into_models_without_memory(world):
    def run(rank):
        state = {k: v + 1 for k, v in model_of().state_dict().items()}
        with torch.device("meta"):
            model = fully_shard(model_of())
        set_model_state_dict(
            model,
            state if rank == 0 else {},
            options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True),
        )
        trained(model, rank, 1)
        return {k: v.full_tensor() for k, v in model.state_dict().items()}

    whole = model_of()
    whole.load_state_dict({k: v + 1 for k, v in whole.state_dict().items()})
    trained(whole, 0, 1)
    for found in world(2, run):
        for key, v in whole.state_dict().items():
            assert torch.allclose(found[key], v, atol=1e-12)


def test_what_goes_wrong_on_one_rank_is_raised_in_all(world, tmp_path):
    folder = str(tmp_path)
    dcp.save({"x": torch.ones(4), "y": 1}, checkpoint_id=folder)

    class Bad:
        def __reduce__(self):
            raise RuntimeError("no pickle of this")

    def run(rank):
        texts = []
        for bad in (
            lambda: dcp.load({"z": torch.ones(4)}, checkpoint_id=folder),
            lambda: dcp.load({"x": torch.ones(5)}, checkpoint_id=folder),
            lambda: dcp.load({"x": 1}, checkpoint_id=folder),
            lambda: dcp.load({"x": torch.ones(4)}, checkpoint_id="/nowhere"),
            lambda: dcp.save(
                {"b": Bad()} if rank == 1 else {"a": 1}, checkpoint_id=folder + "2"
            ),
        ):
            with pytest.raises(dcp.CheckpointException) as error:
                bad()
            texts.append(str(error.value))
        return texts

    for texts in world(2, run):
        assert "Missing key in checkpoint state_dict: z." in texts[0]
        assert "Size mismatch between saved torch.Size([4])" in texts[1]
        assert "Invalid checkpoint metadata for x" in texts[2]
        assert "FileNotFoundError" in texts[3]
        assert "no pickle of this" in texts[4]
        assert "RANK 1" in texts[4]
    assert not (tmp_path.parent / (tmp_path.name + "2") / ".metadata").exists()


def test_damaged_and_hostile_files(tmp_path):
    dcp.save({"x": torch.arange(6.0), "y": [1, 2]}, checkpoint_id=tmp_path)
    data, meta = tmp_path / "__0_0.distcp", tmp_path / ".metadata"
    whole, described = data.read_bytes(), meta.read_bytes()

    def attempt():
        into = {"x": torch.zeros(6), "y": None}
        with pytest.raises(dcp.CheckpointException) as error:
            dcp.load(into, checkpoint_id=tmp_path)
        return str(error.value)

    data.write_bytes(whole[: len(whole) // 2])
    assert "bytes at" in attempt()
    data.write_bytes(bytes(len(whole)))
    attempt()
    data.write_bytes(whole)
    for size in range(0, len(described), 37):
        meta.write_bytes(described[:size])
        assert "no metadata of a checkpoint" in attempt()

    class Runs:
        def __reduce__(self):
            return print, ("hotaru was here",)

    meta.write_bytes(pickle.dumps(Runs()))
    assert "builtins.print has no place in metadata" in attempt()
    meta.write_bytes(described.replace(b"__0_0.distcp", b"../../../../"))
    assert "is not in the folder" in attempt()


def test_what_pytorch_wrote_is_read(world):
    folder = Path(__file__).parents[1] / "golden/distributed_checkpoint"

    def run(rank):
        mesh = init_device_mesh("cpu", (3,))
        into = {
            "x": distribute_tensor(torch.zeros(5, 3), mesh, [Shard(1)]),
            "n": [torch.zeros(2, dtype=torch.bfloat16), {"s": ""}],
            "step": 0,
        }
        dcp.load(into, checkpoint_id=folder)
        assert into["step"] == 7
        assert into["n"][1] == {"s": "text"}
        assert into["n"][0].tolist() == [1, 1]
        return into["x"].full_tensor().flatten().tolist()

    assert world(3, run) == [list(range(15))] * 3


def test_safetensors_files(world, tmp_path):
    folder = tmp_path / "parts"

    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(value(), mesh, [Shard(0)])
        saved = {"x": x, "b": torch.ones(3, dtype=torch.bfloat16)}
        writer = dcp.HuggingFaceStorageWriter(
            str(folder), save_distributed=True, enable_consolidation=True
        )
        dcp.save(saved, storage_writer=writer)
        for where in (folder, folder / "sharded"):
            into = {
                "x": distribute_tensor(value() * 0, mesh, [Shard(1)]),
                "b": torch.zeros(3, dtype=torch.bfloat16),
            }
            reader = dcp.HuggingFaceStorageReader(str(where))
            dcp.load(into, storage_reader=reader)
            assert torch.equal(into["x"].full_tensor(), value())
            assert into["b"].tolist() == [1, 1, 1]
        with pytest.raises(dcp.CheckpointException, match="is no tensor"):
            dcp.save({"n": 1}, storage_writer=writer)

    world(2, run)
    whole = torch.weights.load_file(folder / "model-00001-of-00001.safetensors")
    assert torch.equal(whole["x"], value())


def test_one_file_and_folders(tmp_path):
    nested = {"model": {"w": torch.ones(2, 3)}, "list": [torch.zeros(1), "a"]}
    torch.save(nested, tmp_path / "one.pt")
    torch_save_to_dcp(tmp_path / "one.pt", tmp_path / "folder")
    dcp_to_torch_save(tmp_path / "folder", tmp_path / "two.pt")
    found = torch.load(tmp_path / "two.pt", weights_only=True)
    assert torch.equal(found["model"]["w"], torch.ones(2, 3))
    assert found["list"][1] == "a"
    assert found["list"][0].tolist() == [0]
    some = _load_state_dict_from_keys("model", checkpoint_id=tmp_path / "folder")
    assert list(some) == ["model"]


def test_saving_beside_the_program(world, tmp_path):
    folder = str(tmp_path)

    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(value(), mesh, [Shard(0)])
        future = dcp.async_save({"x": x}, checkpoint_id=folder)
        x.zero_()  # what is saved is a copy
        for _ in range(20):
            x.add_(1)
            x.full_tensor()
        future.result()
        dcp.load({"x": x}, checkpoint_id=folder)
        return torch.equal(x.full_tensor(), value())

    assert world(2, run) == [True, True]


def test_objects_with_states_and_planners_of_a_program(tmp_path):
    class Counter:
        def __init__(self):
            self.count, self.w = 0, torch.zeros(2)

        def state_dict(self):
            return {"count": self.count, "w": self.w}

        def load_state_dict(self, state):
            self.count = state["count"]

    class Renaming(dcp.DefaultSavePlanner):
        def set_up_planner(self, state_dict, *args):
            super().set_up_planner({f"my_{k}": v for k, v in state_dict.items()}, *args)

    counter = Counter()
    counter.count, counter.w = 5, torch.ones(2)
    dcp.save({"c": counter}, checkpoint_id=tmp_path / "a")
    fresh = Counter()
    dcp.load({"c": fresh}, checkpoint_id=tmp_path / "a")
    assert fresh.count == 5
    assert fresh.w.tolist() == [1, 1]
    dcp.save({"x": torch.ones(1)}, checkpoint_id=tmp_path / "b", planner=Renaming())
    with pytest.raises(dcp.CheckpointException, match="Missing key"):
        dcp.load({"x": torch.ones(1)}, checkpoint_id=tmp_path / "b")
    partial = {"x": torch.ones(1), "my_x": torch.zeros(1)}
    dcp.load(
        partial,
        checkpoint_id=tmp_path / "b",
        planner=dcp.DefaultLoadPlanner(allow_partial_load=True),
    )
    assert partial["my_x"].item() == 1
    once = dcp.FileSystemWriter(tmp_path / "b", overwrite=False)
    with pytest.raises(dcp.CheckpointException, match="already exists"):
        dcp.save({"x": 1}, storage_writer=once)


def test_tensors_in_parts_in_a_file_of_their_own(world, tmp_path):
    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(value(), mesh, [Shard(0)])
        buffer = io.BytesIO()
        torch.save(x, buffer)
        buffer.seek(0)
        y = torch.load(buffer)  # of weights only
        assert isinstance(y, DTensor)
        assert y.placements == (Shard(0),)
        return torch.equal(y.full_tensor(), value())

    assert world(2, run) == [True, True]
