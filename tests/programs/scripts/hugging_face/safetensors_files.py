"""The safetensors package: files, slices, whole models."""

import sys

import torch
from probe import emit, scratch


def state() -> dict:
    torch.manual_seed(0)
    return {
        "weight": torch.randn(6, 4),
        "half": torch.randn(3, 2).half(),
        "brain": torch.randn(5).bfloat16(),
        "count": torch.arange(7),
        "flag": torch.tensor([True, False]),
        "byte": torch.arange(5, dtype=torch.uint8),
        "double": torch.randn(2, 2, dtype=torch.float64),
        "small": torch.randn(4).to(torch.float8_e4m3fn),
        "empty": torch.empty(0, 3),
    }


def as_torch() -> None:
    from safetensors import safe_open
    from safetensors.torch import load, load_file, save, save_file

    with scratch() as folder:
        path = folder / "a.safetensors"
        save_file(state(), path, metadata={"format": "pt"})
        emit(size=path.stat().st_size, bytes=path.read_bytes().hex())
        back = load_file(path)
        emit(kinds={k: str(v.dtype) for k, v in back.items()})
        emit(values={k: v.float() for k, v in back.items()})
        with safe_open(path, framework="pt", device="cpu") as file:
            emit(names=list(file.keys()), metadata=file.metadata())
            part = file.get_slice("weight")
            emit(shape=part.get_shape(), rows=part[1:3], column=part[:, 2:])
        emit(same=load(save(state()))["weight"])


def model() -> None:
    from safetensors.torch import load_model, save_model

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 3))
    net[1].weight = torch.nn.Parameter(net[0].weight.detach().t().contiguous())
    net.add_module("again", net[0])
    with scratch() as folder:
        path = str(folder / "m.safetensors")
        save_model(net, path)
        torch.nn.init.zeros_(net[0].weight)
        missing, unexpected = load_model(net, path)
        emit(weight=net[0].weight, missing=list(missing))
        emit(unexpected=list(unexpected))


{"torch": as_torch, "model": model}[sys.argv[1]]()
