"""Updates with counts of steps on a device, which captured work needs.

The arithmetic is that of tensors instead of numbers: it is tested on the CPU,
as if work there could be captured.
"""

from __future__ import annotations

import optim_scope
import pytest

_OPTIMIZERS = {
    "Adadelta": "weight_decay=0.1",
    "Adam": "amsgrad=True, weight_decay=0.1",
    "AdamW": "lr=lib.tensor(0.1), betas=(lib.tensor(0.9), lib.tensor(0.99))",
    "Adamax": "weight_decay=0.1, maximize=True",
    "ASGD": "t0=2, lambd=0.1, weight_decay=0.1, lr=0.1",
    "NAdam": "weight_decay=0.1, decoupled_weight_decay=True",
    "RAdam": "betas=(0.5, 0.9), lr=0.1",
    "RMSprop": "centered=True, momentum=0.5",
    "Rprop": "lr=0.1",
}


@pytest.fixture
def cpu_is_capturable(hotaru, monkeypatch):
    from hotaru.optim import _options

    monkeypatch.setattr(_options, "_CAPTURABLE", ("cpu", "xla"))


def _train(hotaru, name: str, options: str, dtype: str):
    values = optim_scope.params(hotaru, dtype)
    scope = optim_scope.scope(hotaru, params=values)
    optimizer = eval(f"optim.{name}(params, {options})", scope)
    found = optim_scope.train(hotaru, optimizer, values, 9)
    return found, optimizer


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", sorted(_OPTIMIZERS))
@pytest.mark.usefixtures("cpu_is_capturable")
def test_same_numbers(hotaru, name, dtype):
    options = _OPTIMIZERS[name]
    want, _ = _train(hotaru, name, options, dtype)
    got, _ = _train(hotaru, name, f"{options}, capturable=True", dtype)
    for a, b in zip(got, want):
        for x, y in zip(a, b):
            assert (x - y).abs().max().item() < 2e-5


@pytest.mark.parametrize("name", ["Adam", "NAdam", "ASGD"])
@pytest.mark.usefixtures("cpu_is_capturable")
def test_numbers_of_the_state_stay_the_same_tensors(hotaru, name):
    _, optimizer = _train(hotaru, name, "capturable=True", "float32")
    state = optimizer.state[optimizer.param_groups[0]["params"][0]]
    kept = {
        key: state[key] for key in ("step", "mu_product", "eta", "mu") if key in state
    }
    before = {key: value.item() for key, value in kept.items()}
    optimizer.step()
    assert all(state[key] is value for key, value in kept.items())
    assert state["step"].item() == before["step"] + 1


@pytest.mark.usefixtures("cpu_is_capturable")
def test_warns_once_outside_of_a_capture(hotaru):
    _, optimizer = _train(hotaru, "Adam", "capturable=True", "float32")
    optimizer._warned_capturable_if_run_uncaptured = False
    with pytest.warns(UserWarning, match="without CUDA graph capture"):
        optimizer._cuda_graph_capture_health_check()
    optimizer._cuda_graph_capture_health_check()


def test_refused_where_nothing_is_captured(hotaru):
    with pytest.raises(AssertionError, match="must be on supported devices"):
        _train(hotaru, "Adam", "capturable=True", "float32")
