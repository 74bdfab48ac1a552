"""Cases of averages of models."""

from __future__ import annotations

import copy

from outcomes import tensor

CASES = {}

_AVERAGES = {
    "mean": "{}",
    "mean, one by one": "{'avg_fn': swa.get_swa_avg_fn()}",
    "mean, lists": "{'multi_avg_fn': swa.get_swa_multi_avg_fn()}",
    "moving": "{'multi_avg_fn': swa.get_ema_multi_avg_fn(0.9)}",
    "moving, one by one": "{'avg_fn': swa.get_ema_avg_fn(0.9)}",
    "moving, with buffers": "{'multi_avg_fn': swa.get_ema_multi_avg_fn(0.9),"
    " 'use_buffers': True}",
    "mean, with buffers": "{'use_buffers': True}",
    "own": "{'avg_fn': lambda mean, value, n: (mean + value * n) / 2}",
    "on a device": "{'device': 'cpu'}",
}


def case(function):
    """Registers a case under its name."""
    CASES[function.__name__] = function
    return function


def _model(lib):
    model = lib.nn.Sequential(
        lib.nn.Linear(3, 2), lib.nn.BatchNorm1d(2), lib.nn.Linear(2, 1).double()
    )
    for i, param in enumerate(model.parameters()):
        param.data = tensor(lib, *param.shape, start=i).to(param.dtype)
    return model


def _averaged(text: str):
    def run(lib):
        options = eval(text, {"swa": lib.optim.swa_utils})
        model = _model(lib)
        mean = lib.optim.swa_utils.AveragedModel(model, **options)
        for _ in range(4):
            with lib.no_grad():
                for param in model.parameters():
                    param.mul_(1.5).add_(0.1)
            model[1](model[0](tensor(lib, 4, 3)))
            mean.update_parameters(model)
        return mean.state_dict(), mean, mean.n_averaged

    return run


for _name, _text in _AVERAGES.items():
    CASES[f"averages: {_name}"] = _averaged(_text)


@case
def loaded(lib):
    model = _model(lib)
    mean = lib.optim.swa_utils.AveragedModel(model)
    mean.update_parameters(model)
    twin = lib.optim.swa_utils.AveragedModel(_model(lib))
    twin.load_state_dict(copy.deepcopy(mean.state_dict()))
    with lib.no_grad():
        model[0].weight.zero_()
    twin.update_parameters(model)
    return twin.state_dict(), mean.state_dict()["n_averaged"]


@case
def averages_compute(lib):
    model = lib.nn.Linear(3, 2)
    with lib.no_grad():
        model.weight.copy_(tensor(lib, 2, 3))
        model.bias.zero_()
    mean = lib.optim.swa_utils.AveragedModel(model)
    return mean(tensor(lib, 2, 3)), mean.module.weight is model.weight


@case
def statistics_anew(lib):
    found = []
    for batches in (
        [tensor(lib, 4, 3), tensor(lib, 4, 3, start=5)],
        [(tensor(lib, 4, 3), 7), [tensor(lib, 2, 3, start=3)]],
    ):
        model = lib.nn.Sequential(lib.nn.BatchNorm1d(3, momentum=0.3))
        model(tensor(lib, 4, 3, start=9))
        model.eval()
        lib.optim.swa_utils.update_bn(batches, model, "cpu")
        norm = model[0]
        found.append([dict(norm.named_buffers()), norm.momentum, norm.training])
    return found


@case
def statistics_of_none(lib):
    calls = []
    model = lib.nn.Linear(2, 2)
    model.register_forward_hook(lambda *args: calls.append(1))
    lib.optim.swa_utils.update_bn([lib.ones(2, 2)], model)
    return calls


@case
def averages_of_integers(lib):
    means = [lib.tensor([2, 4]), lib.tensor([5, 9])]
    average = lib.optim.swa_utils.get_ema_multi_avg_fn(0.5)
    average(means, [lib.tensor([4, 8]), lib.tensor([1, 1])], 1)
    return means


@case
def averages_of_complex_numbers(lib):
    swa = lib.optim.swa_utils
    found = []
    for average in (swa.get_ema_multi_avg_fn(0.5), swa.get_swa_multi_avg_fn()):
        mean = lib.complex(tensor(lib, 3), tensor(lib, 3, start=4))
        average([mean], [lib.complex(tensor(lib, 3), lib.ones(3))], 2)
        found.append(lib.view_as_real(mean))
    return found
