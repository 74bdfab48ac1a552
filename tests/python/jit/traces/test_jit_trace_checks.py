"""Checks of `jit.trace`: results, a second trace, the function's outputs."""

import io
import warnings

import pytest

import hotaru as torch
from hotaru import nn

X = torch.arange(12.0).reshape(3, 4)


def test_programs_that_differ():
    def loops(x):
        for _ in range(x.size(0)):
            x = -x
        return x

    with pytest.raises(
        torch.jit.TracingCheckError, match="Graphs differed across invocations"
    ):
        torch.jit.trace(loops, X, check_inputs=[torch.ones(4, 4)])
    torch.jit.trace(loops, X, check_inputs=[torch.ones(4, 4)], check_trace=False)


@pytest.mark.filterwarnings("ignore")
def test_constants_that_differ():
    def detached(x):
        return x + x.clone().numpy().sum() * torch.tensor(float(x.sum()))

    with pytest.raises(torch.jit.TracingCheckError, match="differed"):
        torch.jit.trace(detached, X, check_inputs=[(torch.ones(3, 4),)])


def test_outputs_that_differ():
    class Flips(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x + 1 if self.calls < 3 else x + 2

    with pytest.warns(
        torch.jit.TracerWarning, match="Output nr 1. of the traced function"
    ):
        torch.jit.trace(Flips(), X)


def test_chance():
    def drops(x):
        return nn.functional.dropout(x)

    with pytest.warns(torch.jit.TracerWarning) as caught:
        torch.jit.trace(drops, torch.ones(50))
    texts = "".join(str(warning.message) for warning in caught)
    assert "nondeterministic nodes" in texts
    assert "does not match" in texts


DRAWS = {
    "rand": lambda: torch.rand(50),
    "randn": lambda: torch.randn(50, dtype=torch.float64),
    "randint": lambda: torch.randint(0, 10000, (50,)),
    "randperm": lambda: torch.randperm(50),
    "like": lambda: torch.rand_like(torch.ones(50)),
    "bernoulli": lambda: torch.bernoulli(torch.full((50,), 0.5)),
    "normal": lambda: torch.normal(0.0, 1.0, (50,)),
    "means": lambda: torch.normal(torch.zeros(50), 1.0),
    "poisson": lambda: torch.poisson(torch.full((50,), 50.0)),
    "multinomial": lambda: torch.multinomial(torch.ones(50), 50),
    "dropout": lambda: nn.functional.dropout(torch.ones(50)),
    "layer": lambda: nn.Dropout()(torch.ones(50)),
    "normal_": lambda: torch.empty(50).normal_(),
    "uniform_": lambda: torch.empty(50).uniform_(0, 1),
    "exponential_": lambda: torch.empty(50).exponential_(),
    "cauchy_": lambda: torch.empty(50).cauchy_(),
    "log_normal_": lambda: torch.empty(50).log_normal_(),
    "geometric_": lambda: torch.empty(50).geometric_(0.1),
    "random_": lambda: torch.empty(50).random_(1000),
    "bernoulli_": lambda: torch.empty(50).bernoulli_(0.5),
    "init": lambda: nn.init.normal_(torch.empty(50)),
    "distribution": lambda: torch.distributions.Normal(0.0, 1.0).sample((50,)),
    "computed": lambda: torch.rand(50).mul(2) + 1,
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_of_no_input_are_the_programs(name):
    def draws(x):
        return x + DRAWS[name]()

    with pytest.warns(torch.jit.TracerWarning, match="nondeterministic"):
        traced = torch.jit.trace(draws, torch.ones(50))
    saved = io.BytesIO()
    torch.jit.save(traced, saved)
    saved.seek(0)
    for program in (traced, torch.jit.load(saved)):
        torch.manual_seed(3)
        first, second = program(torch.ones(50)), program(torch.ones(50))
        torch.manual_seed(3)
        assert torch.equal(draws(torch.ones(50)), first)
        assert torch.equal(draws(torch.ones(50)), second)
        assert not torch.equal(first, second)


def test_draws_into_a_tensor_are_seen_where_it_is_used():
    def draws(x):
        noise = torch.empty(50)
        noise.uniform_(1, 2)
        return x + noise

    with pytest.warns(torch.jit.TracerWarning, match="nondeterministic"):
        traced = torch.jit.trace(draws, torch.zeros(50))
    first, second = traced(torch.zeros(50)), traced(torch.zeros(50))
    assert not torch.equal(first, second)
    assert first.min() >= 1
    assert second.min() >= 1


def test_checks_leave_buffers_and_random_state():
    module = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.0))
    torch.manual_seed(1)
    before = module[0].running_mean.clone()
    state = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(nn.BatchNorm1d(4), X)
        torch.jit.trace(module, X)
    assert torch.equal(module[0].running_mean, before)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda x: None, "didn't return any values"),
        (lambda x: 1, "Only tensors, lists"),
        (lambda x: [1, 2], "Only tensors, lists"),
        (lambda x: [[x], [x]], "Only tensors, lists"),
        (lambda x: (x, "a"), "did not have observable data dependence"),
        (lambda x: {"a": x}, "Encountering a dict at the output"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_results_that_no_program_gives(result, message):
    with pytest.raises(RuntimeError, match=message):
        torch.jit.trace(result, X)


def test_lists_and_dicts_as_results():
    def listed(x):
        return [x, x + 1]

    with pytest.warns(torch.jit.TracerWarning, match="Encountering a list"):
        traced = torch.jit.trace(listed, X)
    assert torch.equal(traced(X)[1], X + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.jit.trace(listed, X, strict=False)
        named = torch.jit.trace(lambda x: {"a": x, "b": -x}, X, strict=False)
    assert torch.equal(named(X)["b"], -X)


def test_the_forward_of_a_module_is_the_module():
    module = nn.Linear(4, 2)
    traced = torch.jit.trace(module.forward, X)
    assert isinstance(traced, torch.jit.ScriptModule)
    assert torch.equal(traced(X), module(X))


def test_modules_that_are_none_are_left_out():
    module = nn.Linear(4, 2)
    module.absent = nn.Linear(1, 1)
    module.absent = None
    assert not hasattr(torch.jit.trace(module, X), "absent")


def test_backward_hooks_are_refused():
    module = nn.Linear(4, 2)
    module.register_full_backward_hook(lambda *given: None)
    with pytest.raises(ValueError, match="backward hooks assigned"):
        torch.jit.trace(module, X)


def test_forks_within_traces():
    @torch.jit.script
    def forks(x):
        first = torch.jit.fork(torch.neg, x)
        second = torch.jit.fork(torch.relu, x)
        return torch.jit.wait(first) + torch.jit.wait(second)

    for _ in range(20):  # a worker that waited for the trace would hang it
        traced = torch.jit.trace(lambda x: forks(x) + 1, X)
    assert torch.equal(traced(X), torch.ones(3, 4))
