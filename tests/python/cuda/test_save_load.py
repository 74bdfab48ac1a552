"""Files of tensors of CUDA devices, and where loading puts them."""

from __future__ import annotations

import io
import zipfile

import pytest

import hotaru as torch

GPU = torch.device("cuda:0")


def saved(value) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def with_location(value, location: str) -> io.BytesIO:
    """A file whose tensors of the first GPU are said to be elsewhere."""
    file = io.BytesIO()
    with zipfile.ZipFile(saved(value)) as source, zipfile.ZipFile(file, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("data.pkl"):
                old = b"X\x06\x00\x00\x00cuda:0"
                assert old in data
                size = len(location).to_bytes(4, "little")
                data = data.replace(old, b"X" + size + location.encode())
            target.writestr(name, data)
    file.seek(0)
    return file


@pytest.fixture
def on_gpu():
    base = torch.arange(6.0, device="cuda")
    return {"base": base, "view": base[2:4], "number": 3}


@pytest.fixture
def on_cpu():
    base = torch.arange(6.0)
    return {"base": base, "view": base[2:4], "list": [base, (base[1:],)]}


def test_tensors_go_back_to_their_device(on_gpu):
    loaded = torch.load(saved(on_gpu))
    assert loaded["base"].device == GPU
    assert loaded["base"].tolist() == [0, 1, 2, 3, 4, 5]
    loaded["base"][2] = 9
    assert loaded["view"].tolist() == [9, 3]
    assert loaded["number"] == 3


def test_storages_are_saved_once_with_their_place(on_gpu):
    with zipfile.ZipFile(saved(on_gpu)) as archive:
        names = archive.namelist()
        pickled = next(archive.read(n) for n in names if n.endswith("data.pkl"))
    assert sum("/data/" in name for name in names) == 1
    assert b"cuda:0" in pickled


def test_second_devices_tensors_go_back_there(two_devices):
    loaded = torch.load(saved([torch.ones(2, device="cuda:1")]))
    assert loaded[0].device == torch.device("cuda:1")


@pytest.mark.parametrize(
    "where", ["cpu", torch.device("cpu"), {"cuda:0": "cpu"}, b"cpu"]
)
def test_files_of_a_gpu_load_on_the_cpu(on_gpu, where):
    loaded = torch.load(saved(on_gpu), map_location=where)
    assert loaded["base"].device == torch.device("cpu")
    loaded["base"][2] = 9
    assert loaded["view"].tolist() == [9, 3]


@pytest.mark.parametrize(
    "where",
    [
        "cuda",
        "cuda:0",
        GPU,
        torch.device("cuda"),
        {"cpu": "cuda:0"},
        {"cpu": GPU},
        lambda storage, location: storage.cuda(),
    ],
)
def test_files_of_the_cpu_load_on_a_gpu(on_cpu, where):
    loaded = torch.load(saved(on_cpu), map_location=where)
    assert loaded["base"].device == GPU
    loaded["base"][2] = 9
    assert loaded["view"].tolist() == [9, 3]
    assert loaded["list"][0] is loaded["base"]
    assert loaded["list"][1][0].tolist() == [1, 9, 3, 4, 5]


def test_a_function_sees_each_storage_once(on_gpu):
    seen = []

    def place(storage, location):
        seen.append((storage.device.type, len(storage), location))
        return storage

    loaded = torch.load(saved(on_gpu), map_location=place)
    assert seen == [("cpu", 24, "cuda:0")]
    assert loaded["base"].device == torch.device("cpu")
    loaded = torch.load(saved(on_gpu), map_location=lambda s, where: None)
    assert loaded["base"].device == GPU


def test_what_is_not_mapped_stays(on_cpu):
    loaded = torch.load(saved(on_cpu), map_location={"cuda:0": "cuda:1"})
    assert loaded["base"].device == torch.device("cpu")


def test_parameters_keep_their_gradients_flag():
    net = torch.nn.Linear(2, 2).cuda()
    file = saved({"weight": net.weight, "all": net.state_dict()})
    loaded = torch.load(file, map_location="cuda")
    assert loaded["weight"].requires_grad
    assert not loaded["all"]["weight"].requires_grad
    net.load_state_dict(loaded["all"])
    other = torch.nn.Linear(2, 2)
    other.load_state_dict(loaded["all"])
    assert other.weight.device == torch.device("cpu")
    assert other.weight.detach().equal(net.weight.detach().cpu())


def test_devices_that_are_not_there(on_cpu, on_gpu):
    count = torch.cuda.device_count()
    text = (
        "Attempting to deserialize object on CUDA device 99 but "
        f"torch.cuda.device_count\\(\\) is {count}. Please use torch.load with "
        "map_location to map your storages to an existing device."
    )
    with pytest.raises(RuntimeError, match=text):
        torch.load(saved(on_cpu), map_location="cuda:99")
    with pytest.raises(RuntimeError, match=text):
        torch.load(with_location(on_gpu, "cuda:99"))
    with pytest.raises(
        RuntimeError,
        match=r"don't know how to restore data location of "
        r"torch\.storage\.UntypedStorage \(tagged with nowhere\)",
    ):
        torch.load(saved(on_cpu), map_location="nowhere")
    with pytest.raises(RuntimeError, match="Invalid device string: 'cuda9'"):
        torch.load(saved(on_cpu), map_location="cuda9")
    with pytest.raises(TypeError, match="'int' object is not callable"):
        torch.load(saved(on_cpu), map_location=0)
    with pytest.raises(TypeError, match="map_location must return the stora"):
        torch.load(saved(on_cpu), map_location=lambda storage, where: 5)


NO_DRIVER = """
import hotaru as torch
try:
    torch.load({path!r}{where})
except RuntimeError as error:
    print(error)
print(torch.load({path!r}, map_location="cpu"))
"""


@pytest.mark.parametrize("where", ["", ", map_location='cuda'"])
def test_files_of_a_gpu_on_a_machine_without(run, tmp_path, where):
    path = str(tmp_path / "gpu.pt")
    torch.save(torch.ones(2, device="cuda"), path)
    printed = run(
        NO_DRIVER.format(path=path, where=where), HOTARU_CUDA_DRIVER="/nonexistent"
    )
    assert printed == (
        "Attempting to deserialize object on a CUDA device but "
        "torch.cuda.is_available() is False. If you are running on a CPU-only "
        "machine, please use torch.load with map_location=torch.device('cpu') "
        "to map your storages to the CPU.\ntensor([1., 1.])\n"
    )


def test_pytorch_reads_and_writes_the_same_places(oracle, tmp_path, on_gpu):
    path = tmp_path / "gpu.pt"
    torch.save(on_gpu, path)
    read = oracle.load(path, map_location="cpu")
    assert read["base"].tolist() == [0, 1, 2, 3, 4, 5]
    assert read["view"].data_ptr() == read["base"][2:].data_ptr()
