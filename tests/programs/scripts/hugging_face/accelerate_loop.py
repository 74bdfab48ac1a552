"""accelerate: a training loop, empty weights, offloading."""

import sys

import torch
from probe import emit, scratch

torch.manual_seed(0)


def train() -> None:
    from accelerate import Accelerator
    from accelerate.utils import set_seed

    set_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer)
    x = torch.randn(32, 4)
    data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    model, optimizer, loader, schedule = accelerator.prepare(
        model, optimizer, loader, schedule
    )
    losses = []
    for _ in range(3):
        for given, wanted in loader:
            with accelerator.accumulate(model):
                loss = (model(given) - wanted).square().mean()
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss).item())
    emit(losses=losses)
    with scratch() as folder:
        accelerator.save_state(str(folder / "state"))
        before = model[0].weight.detach().clone()
        torch.nn.init.zeros_(model[0].weight)
        accelerator.load_state(str(folder / "state"))
        emit(same=torch.equal(before, model[0].weight))
        emit(files=sorted(p.name for p in (folder / "state").iterdir()))


def net():
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 2)
    ).eval()


def empty() -> None:
    from accelerate import init_empty_weights, load_checkpoint_and_dispatch

    real = net()
    with init_empty_weights():
        model = net()
    emit(devices=sorted({str(p.device) for p in model.parameters()}))
    with scratch() as folder:
        torch.save(real.state_dict(), folder / "m.bin")
        model = load_checkpoint_and_dispatch(
            model, str(folder / "m.bin"), device_map={"": "cpu"}
        )
    emit(out=model(torch.randn(3, 4)))


def offload() -> None:
    from accelerate import cpu_offload, disk_offload
    from accelerate.utils import compute_module_sizes

    x = torch.randn(3, 4)
    emit(sizes=compute_module_sizes(net()))
    model = cpu_offload(net(), execution_device="cpu")
    emit(out=model(x), device=str(model[0].weight.device))
    with scratch() as folder:
        model = disk_offload(net(), str(folder), execution_device="cpu")
        emit(out=model(x), files=sorted(p.name for p in folder.iterdir()))


globals()[sys.argv[1]]()
