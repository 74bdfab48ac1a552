"""Whole training steps as graphs: loss, backward, clipping, optimizer."""

import copy
import warnings

import pytest
from hotaru.nn import functional as F
from hotaru.optim import lr_scheduler

import hotaru as torch
from hotaru import nn, optim

pytestmark = pytest.mark.cpu_graphs(
    "by default optimizers count on the CPU; cuda/test_optimizer_steps.py"
)

OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(
        p, lr=0.1, momentum=0.9, weight_decay=1e-3, nesterov=True
    ),
    "adam": lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
    "adamw": lambda p: optim.AdamW(p, lr=0.01, betas=[0.8, 0.99]),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.05, lr_decay=0.01),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5),
    "nadam": lambda p: optim.NAdam(p, lr=0.01),
    "radam": lambda p: optim.RAdam(p, lr=0.01),
    "adamax": lambda p: optim.Adamax(p, lr=0.01),
    "adadelta": lambda p: optim.Adadelta(p, lr=1.0),
    "asgd": lambda p: optim.ASGD(p, lr=0.01),
    "rprop": lambda p: optim.Rprop(p, lr=0.01),
    "tensor": lambda p: optim.AdamW(p, lr=torch.tensor(0.01)),
}
# Steps by one kernel; others read their rate as a tensor, which rounds apart.
EXACT = ("sgd", "momentum", "adam", "adamw", "adagrad", "tensor")


class Step:
    """A training step of a small network."""

    def __init__(self, make, schedule, settings: dict):
        torch.manual_seed(0)
        self.net = nn.Sequential(
            nn.Linear(6, 8, bias=False), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3)
        )
        self.optimizer = make(self.net.parameters())
        self.schedule = schedule(self.optimizer) if schedule else None
        self.settings = {"zero": "begin", "inside": False, "clip": False}
        self.settings.update(settings)

    def step(self, x, y):
        settings = self.settings
        if settings["zero"] == "begin":
            self.optimizer.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        if settings["clip"]:
            nn.utils.clip_grad_norm_(self.net.parameters(), 0.1)
        self.optimizer.step()
        if settings["inside"]:
            self.schedule.step()
        if settings["zero"] == "end":
            self.optimizer.zero_grad()
        return loss


class Run:
    """A small network in training; `captured` says how often it was."""

    def __init__(self, make, compiled: bool, schedule=None, **settings):
        parts = Step(make, schedule, settings)
        self.net, self.optimizer = parts.net, parts.optimizer
        self.schedule, self.settings = parts.schedule, parts.settings
        self.step = self.function = parts.step
        if compiled:
            self.function = torch.compile(
                parts.step, fullgraph=True, options={"bitwise": True}
            )
        self.losses = []

    @property
    def captured(self) -> int:
        return self.function.captures

    def train(self, steps: int):
        generator = torch.Generator().manual_seed(1)
        for _ in range(steps):
            x = torch.randn(5, 6, generator=generator)
            y = torch.randint(0, 3, (5,), generator=generator)
            if self.settings["zero"] == "outside":
                self.optimizer.zero_grad(set_to_none=False)
            self.losses.append(self.function(x, y).item())
            if self.schedule and not self.settings["inside"]:
                self.schedule.step()
        return self

    def state(self) -> list:
        kept = [
            value
            for param in self.net.parameters()
            for value in (param, param.grad, *self.optimizer.state[param].values())
        ]
        return [*kept, *self.net.buffers()]


def check(make, steps: int = 8, exact: bool = True, **settings):
    """Compares a compiled run with a plain one; returns the compiled one."""
    plain = Run(make, False, **settings).train(steps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = Run(make, True, **settings).train(steps)
    assert run.captured >= 1
    assert run.losses == pytest.approx(plain.losses, rel=0 if exact else 1e-5)
    for ours, expected in zip(run.state(), plain.state(), strict=True):
        if not isinstance(expected, torch.Tensor):
            assert ours == expected
        elif exact:
            assert torch.equal(ours, expected)
        else:
            torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-6)
    return run


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_is_that_of_eager_code(name, clip):
    run = check(OPTIMIZERS[name], exact=name in EXACT, clip=clip)
    # Gradients are none at first; the first step of most makes their state.
    assert run.captured <= 2


@pytest.mark.parametrize("zero", ["begin", "end", "outside"])
@pytest.mark.parametrize("name", ["momentum", "adamw", "rmsprop"])
def test_gradients_are_dropped_wherever_the_program_does(name, zero):
    run = check(OPTIMIZERS[name], exact=name in EXACT, zero=zero)
    assert run.captured == 1


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("name", "schedule"),
    [
        ("sgd", lambda o: lr_scheduler.StepLR(o, 2)),
        ("momentum", lambda o: lr_scheduler.OneCycleLR(o, 0.1, 20)),
        ("adamw", lambda o: lr_scheduler.OneCycleLR(o, 0.1, 20)),
        ("adamw", lambda o: lr_scheduler.CosineAnnealingLR(o, 9)),
        ("rmsprop", lambda o: lr_scheduler.ExponentialLR(o, 0.7)),
        ("rprop", lambda o: lr_scheduler.ExponentialLR(o, 0.7)),
        (
            "adagrad",
            lambda o: lr_scheduler.SequentialLR(
                o,
                [
                    lr_scheduler.LinearLR(o, 0.1, total_iters=3),
                    lr_scheduler.ExponentialLR(o, 0.5),
                ],
                [3],
            ),
        ),
    ],
)
def test_schedules_are_seen(name, schedule, inside):
    run = check(OPTIMIZERS[name], exact=name in EXACT, schedule=schedule, inside=inside)
    assert run.captured <= 2
    plain = Run(OPTIMIZERS[name], False, schedule=schedule, inside=inside)
    plain.train(8)
    assert run.schedule.last_epoch == plain.schedule.last_epoch == 8
    ours, theirs = run.optimizer.param_groups, plain.optimizer.param_groups
    assert [g["lr"] for g in ours] == [g["lr"] for g in theirs]


def test_any_number_of_an_option_is_seen():
    runs = [Run(OPTIMIZERS["momentum"], c) for c in (False, True)]
    for change in (
        {"weight_decay": 0.1},
        {"momentum": 0.5},
        {"lr": 0.02, "weight_decay": 0.0},
    ):
        for run in runs:
            run.train(2)
            run.optimizer.param_groups[0].update(change)
    for run in runs:
        run.train(2)
    assert runs[0].losses == runs[1].losses
    assert runs[1].captured == 1


def test_other_options_make_another_graph():
    runs = [Run(OPTIMIZERS["momentum"], c).train(3) for c in (False, True)]
    for run in runs:
        run.optimizer.param_groups[0]["nesterov"] = False
        run.train(3)
        run.optimizer.param_groups[0]["momentum"] = 0.0
        run.train(3)
    assert runs[0].losses == runs[1].losses
    assert runs[1].captured == 3


def test_gradients_accumulate():
    def losses(compiled: bool):
        torch.manual_seed(0)
        net = nn.Linear(6, 3)
        optimizer = optim.AdamW(net.parameters(), lr=0.05)

        def forward(x, y):
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            return loss

        def update():
            optimizer.step()
            optimizer.zero_grad()

        if compiled:
            options = {"bitwise": True}
            forward = torch.compile(forward, fullgraph=True, options=options)
            update = torch.compile(update, fullgraph=True, options=options)
        generator = torch.Generator().manual_seed(1)
        out = []
        for _ in range(5):
            for _ in range(3):
                x = torch.randn(5, 6, generator=generator)
                y = torch.randint(0, 3, (5,), generator=generator)
                out.append(forward(x, y).item())
            out.append(net.weight.grad.clone())
            update()
            assert net.weight.grad is None
        return out, net.weight, forward

    plain, weight, _ = losses(False)
    ours, compiled_weight, forward = losses(True)
    assert torch.equal(weight, compiled_weight)
    for a, b in zip(ours, plain, strict=True):
        assert torch.equal(a, b) if isinstance(b, torch.Tensor) else a == b
    # Gradients that are there, and none.
    assert forward.captures == 2


def test_steps_of_either_kind_take_turns():
    run, plain = (Run(OPTIMIZERS["adamw"], c) for c in (True, False))
    graphed, eager = run.function, run.step
    for i in range(6):
        run.function = graphed if i % 3 else eager
        run.train(2)
        plain.train(2)
    assert run.losses == plain.losses


def test_a_loaded_state_is_the_one_that_counts():
    run = Run(OPTIMIZERS["adamw"], True).train(3)
    saved = copy.deepcopy(run.optimizer.state_dict())
    weights = copy.deepcopy(run.net.state_dict())
    run.losses.clear()
    first = list(run.train(3).losses)
    run.optimizer.load_state_dict(saved)
    run.net.load_state_dict(weights)
    run.losses.clear()
    assert run.train(3).losses == first


def test_what_comes_back_has_no_second_backward():
    run = Run(OPTIMIZERS["adamw"], True).train(2)
    loss = run.function(torch.randn(5, 6), torch.randint(0, 3, (5,)))
    assert loss.requires_grad
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


def test_a_failed_capture_leaves_no_trace():
    torch.manual_seed(0)
    net = nn.Linear(4, 2)
    optimizer = optim.Adam(net.parameters())

    def step(x):
        net(x).sum().backward()
        optimizer.step()
        return float(net.weight.sum())  # a value that is not there yet

    with pytest.raises(RuntimeError, match="capturing"):
        torch.compile(step, fullgraph=True)(torch.randn(3, 4))
    assert net.weight.grad is None
    assert not optimizer.state
    assert optimizer._lifted is None
    net(torch.randn(3, 4)).sum().backward()
    optimizer.step()
    assert net.weight.isfinite().all()


def test_a_gradient_of_an_argument_is_refused():
    net = nn.Linear(4, 2)

    def attack(x):
        net(x).sum().backward()
        return x.grad.sign()

    compiled = torch.compile(attack, fullgraph=True)
    x = torch.randn(3, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"autograd\.grad"):
        compiled(x)
    assert x.grad is None


def test_a_schedule_before_its_optimizer_is_refused():
    net = nn.Linear(4, 2)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    schedule = lr_scheduler.StepLR(optimizer, 1)

    def step(x):
        net(x).sum().backward()
        optimizer.step()
        schedule.step()
        optimizer.step()

    with pytest.raises(RuntimeError, match="behind one of its schedule"):
        torch.compile(step, fullgraph=True)(torch.randn(3, 4))
    assert schedule.last_epoch == 0


def test_parameters_one_by_one_are_refused_with_numbers_in_memory():
    net = nn.Linear(4, 2)
    optimizer = optim.SGD(net.parameters(), lr=0.1, foreach=False)

    def step(x):
        net(x).sum().backward()
        optimizer.step()

    with pytest.raises(RuntimeError, match="leave out foreach"):
        torch.compile(step, fullgraph=True)(torch.randn(3, 4))


def test_leaves_of_an_earlier_loss_join_the_capture():
    # Nodes of leaves are as old as the oldest history that leads to them.
    net = nn.Linear(4, 2)
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = torch.randn(3, 4)
    kept = net(x).sum()
    compiled = torch.compile(step, fullgraph=True)
    losses = [compiled(x).item() for _ in range(4)]
    assert compiled.captures >= 1
    assert losses == sorted(losses, reverse=True)
    assert kept.grad_fn is not None


class Own(optim.Optimizer):
    """A program's own optimizer."""

    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr, "kinds": {"plain"}})
        self.calls = []

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                kept = self.state[param]
                if "mean" not in kept:
                    kept["mean"] = torch.zeros_like(param)
                kept["mean"].mul_(0.9).add_(param.grad)
                param.add_(kept["mean"], alpha=-group["lr"])


def test_optimizers_of_the_program_with_their_options_as_constants():
    runs = [Run(Own, c).train(4) for c in (False, True)]
    for run in runs:
        run.optimizer.param_groups[0]["lr"] = 0.02
        run.train(4)
    assert runs[0].losses == runs[1].losses
    assert runs[1].captured == 2


class Shrinking(optim.SGD):
    """Changes its rate in each step."""

    def step(self, closure=None):
        for group in self.param_groups:
            group["lr"] *= 0.5
        return super().step(closure)


def test_options_that_a_step_changes_are_no_constants():
    def losses(compiled: bool):
        torch.manual_seed(0)
        net = nn.Linear(4, 2)
        optimizer = Shrinking(net.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        call = torch.compile(step) if compiled else step
        return [call(torch.ones(3, 4)).item() for _ in range(4)]

    assert losses(True) == losses(False)


def test_gradients_that_are_replaced_make_room_for_the_graphs():
    model = nn.Linear(512, 512, bias=False)
    optimizer = optim.AdamW(model.parameters())
    x = torch.randn(4, 512)

    @torch.compile(fullgraph=True)
    def step():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    step()  # creates the optimizer's state, so it runs as it is
    gradient = model.weight.grad.clone()
    used = torch.cpu.memory_allocated()
    torch.cpu.reset_peak_memory_stats()
    step()
    assert step.captures == 1
    assert torch.cpu.max_memory_allocated() - used < gradient.nbytes / 2
    assert not torch.equal(model.weight.grad, gradient)
    first = model.weight.grad.clone()
    step()
    assert not torch.equal(model.weight.grad, first)


def test_a_capture_that_fails_leaves_gradients_as_they_were():
    weight = torch.ones(3, requires_grad=True)
    weight.grad = torch.ones(3)

    @torch.compile(fullgraph=True)
    def step(fails):
        weight.grad = None
        (weight * 2).sum().backward()
        if fails:
            raise ValueError("no")
        return weight.grad.sum()

    with pytest.raises(ValueError, match="no"):
        step(True)
    # It ended before the capture did, so nothing was let go.
    assert weight.grad.tolist() == [1, 1, 1]
    assert step(False).item() == 6
    assert weight.grad.tolist() == [2, 2, 2]


def plain_step(net, optimizer, x):
    optimizer.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


def deep_step(compiled: bool):
    """Trains a deep network, or only looks at it; and the network."""
    torch.manual_seed(0)
    layers = [m for _ in range(8) for m in (nn.Linear(256, 256), nn.Tanh())]
    net = nn.Sequential(*layers)
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x, train):
        if not train:
            with torch.no_grad():
                return net(x).square().sum()
        return plain_step(net, optimizer, x)

    if compiled:
        settings = {"fullgraph": True, "options": {"bitwise": True}}
        step = torch.compile(step, **settings)
    return step, net


def test_gradients_lie_where_activations_lay():
    step, net = deep_step(True)
    x = torch.randn(256, 256)
    step(x, True)
    used = torch.cpu.memory_allocated()
    step(x, True)
    assert step.captures == 1
    gradients = sum(p.grad.nbytes for p in net.parameters())
    assert torch.cpu.memory_allocated() - used < gradients / 2


def test_other_graphs_leave_gradients_alone():
    x, wide = torch.randn(256, 256), torch.randn(400, 256)
    found = []
    for compiled in (False, True):
        step, net = deep_step(compiled)
        step(x, True)
        kept = []
        for batch in (x, wide, x):
            kept.append(step(batch, True).item())
            # A graph of the same pool, which wants more memory.
            kept.append(step(wide, False).item())
            kept += [p.grad.clone() for p in net.parameters()]
        found.append(kept)
    assert step.captures == 3
    for ours, expected in zip(*found, strict=True):
        if isinstance(ours, float):
            assert ours == expected
        else:
            assert torch.equal(ours, expected)


def test_a_step_that_draws_random_numbers():
    def losses(compiled: bool) -> list:
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5), nn.Linear(64, 1))
        optimizer = optim.SGD(net.parameters(), lr=0.01)
        x = torch.ones(16, 8)

        def step():
            return plain_step(net, optimizer, x)

        if compiled:
            settings = {"fullgraph": True, "options": {"bitwise": True}}
            step = torch.compile(step, **settings)
        return [step().item() for _ in range(30)]

    found = losses(True)
    assert found == losses(False)
    assert found[-1] < found[0]
