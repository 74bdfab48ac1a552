"""Gradients that a compiled function binds or takes away, and rates that it
reads: each call does so.
"""

import pytest
from hotaru.optim import SGD, lr_scheduler

import hotaru as torch
from hotaru import nn

pytestmark = pytest.mark.filterwarnings("ignore:compile")


def _none(p):
    p.grad = None


def _by_name(p):
    setattr(p, "grad", None)  # noqa: B010


def _by_a_name_from_elsewhere(p, names=("grad",)):
    setattr(p, names[0], None)


def _deleted(p):
    del p.grad


def _by_descriptor(p):
    torch.Tensor.grad.__set__(p, None)


def _by_another_function(p):
    def clear(tensor):
        tensor.grad = None

    clear(p)


WAYS = (
    _none,
    _by_name,
    _by_a_name_from_elsewhere,
    _deleted,
    _by_descriptor,
    _by_another_function,
)


@pytest.mark.parametrize("clear", WAYS)
def test_taken_away(clear):
    """The backward of each call begins anew, whoever was there before."""
    p = nn.Parameter(torch.ones(2))

    def function(x):
        clear(p)
        return p * x

    run = torch.compile(function)
    for k in range(1, 6):
        run(torch.full((2,), float(k))).sum().backward()
        assert p.grad.tolist() == [k, k]


def test_taken_away_by_a_method():
    class Step:
        def __init__(self):
            self.weights = [nn.Parameter(torch.ones(2)) for _ in range(3)]

        def clear(self):
            for weight in self.weights:
                weight.grad = None

        def __call__(self, x):
            self.clear()
            return sum(weight * x for weight in self.weights)

    step = Step()
    run = torch.compile(step)
    for k in range(1, 5):
        run(torch.full((2,), float(k))).sum().backward()
        assert [w.grad.tolist() for w in step.weights] == [[k, k]] * 3


def _of_values(x):
    x.grad = x.detach() * 2
    return x * 3


def _cleared(x):
    x.grad = None
    return x * 3


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("function", [_of_values, _cleared])
def test_of_an_argument(function, trained, given):
    run = torch.compile(function)
    for k in range(1, 4):
        found = []
        for each in (run, function):
            x = torch.full((2,), float(k), requires_grad=trained)
            if given:
                x.grad = torch.full((2,), 7.0)
            y = each(x)
            if trained:
                y.sum().backward()
            found.append(None if x.grad is None else x.grad.tolist())
        assert found[0] == found[1]


def test_of_a_tensor_without_gradients():
    buffer = torch.ones(2)

    def function(x):
        buffer.grad = x * 2
        return x + buffer

    run = torch.compile(function)
    for k in range(1, 4):
        run(torch.full((2,), float(k)))
        assert buffer.grad.tolist() == [2 * k, 2 * k]
        buffer.grad = None if k == 1 else buffer.grad


def test_taken_from_a_tensor_without_gradients():
    buffer = torch.ones(2)

    def function(x):
        buffer.grad = None
        return x + buffer

    run = torch.compile(function)
    for _ in range(3):
        run(torch.ones(2))
        assert buffer.grad is None
        buffer.grad = torch.ones(2)


def test_moved_to_another():
    def runs(way):
        p, q = (nn.Parameter(torch.ones(2)) for _ in range(2))

        def function(x):
            p.grad = q.grad
            q.grad = None
            return p * x + q * x * x

        run, found = way(function), []
        for k in range(1, 5):
            run(torch.full((2,), float(k))).sum().backward()
            found.append((p.grad.tolist(), q.grad.tolist()))
        return found

    assert runs(torch.compile) == runs(lambda function: function)


def test_backward_within():
    """A gradient that the function has made itself goes as well."""
    p = nn.Parameter(torch.ones(2))

    def function(x):
        (p * x).sum().backward()
        p.grad = None
        return x * 2

    run = torch.compile(function)
    for _ in range(3):
        run(torch.ones(2))
        assert p.grad is None
        p.grad = torch.ones(2)


def _rate_before(loss, optimizer, schedule):
    rate = schedule.get_last_lr()[0]
    schedule.step()
    return loss * rate


def _rate_behind(loss, optimizer, schedule):
    schedule.step()
    return loss * schedule.get_last_lr()[0]


def _last_rate(loss, optimizer, schedule):
    schedule.step()
    return loss * schedule._last_lr[0]


def _group(loss, optimizer, schedule):
    schedule.step()
    return loss * optimizer.param_groups[0]["lr"]


def _group_before(loss, optimizer, schedule):
    rate = optimizer.param_groups[0]["lr"]
    schedule.step()
    return loss * rate


def _items(loss, optimizer, schedule):
    schedule.step()
    for group in optimizer.param_groups:
        loss = loss * dict(group.items())["lr"]
    return loss


def _epoch(loss, optimizer, schedule):
    schedule.step()
    return loss * getattr(schedule, "last_epoch", 3)


def _state(loss, optimizer, schedule):
    schedule.step()
    return loss * schedule.state_dict()["_last_lr"][0]


def _state_of_optimizer(loss, optimizer, schedule):
    schedule.step()
    return loss * optimizer.state_dict()["param_groups"][0]["lr"]


RATES = (
    _rate_before,
    _rate_behind,
    _last_rate,
    _group,
    _group_before,
    _items,
    _epoch,
    _state,
    _state_of_optimizer,
)
SCHEDULES = {
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, 0.5),
    "one cycle": lambda o: lr_scheduler.OneCycleLR(o, 1.0, 10),
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lambda k: 0.9**k),
    "chained": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o), lr_scheduler.ExponentialLR(o, 0.9)]
    ),
}


def rates_of(way, read, schedule, outside=False):
    """Losses, weights and the rate of some steps."""
    weight = nn.Parameter(torch.ones(2))
    optimizer = SGD([weight], 0.1, momentum=0.5)
    schedule = SCHEDULES[schedule](optimizer)

    def step(x):
        loss = (weight * x).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return read(loss.detach(), optimizer, schedule)

    run, found = way(step), []
    for _ in range(6):
        found.append(run(torch.ones(2)).item())
        if outside:
            schedule.step()
    return [*found, *weight.tolist(), *schedule.get_last_lr()]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("read", RATES)
def test_rates_that_a_step_reads(read, schedule):
    wanted = rates_of(lambda function: function, read, schedule)
    found = rates_of(torch.compile, read, schedule)
    assert found == pytest.approx(wanted)


def test_rates_of_a_schedule_outside():
    for read in (
        lambda loss, optimizer, schedule: loss * schedule.get_last_lr()[0],
        lambda loss, optimizer, schedule: loss * optimizer.param_groups[0]["lr"],
    ):
        plain = rates_of(lambda f: f, read, "exponential", outside=True)
        found = rates_of(torch.compile, read, "exponential", outside=True)
        assert found == pytest.approx(plain)


def test_rates_that_nobody_reads_keep_one_graph():
    weight = nn.Parameter(torch.ones(2))
    optimizer = SGD([weight], 0.1)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)

    def step(x):
        for group in optimizer.param_groups:
            for member in group["params"]:
                member.grad = None
        (weight * x).sum().backward()
        optimizer.step()
        schedule.step()
        return weight.detach() * 1

    run = torch.compile(step)
    run(torch.ones(2))
    run(torch.ones(2))
    captures = run.captures
    for _ in range(3):
        run(torch.ones(2))
    assert run.captures == captures
    assert weight.tolist() == pytest.approx([1 - 0.2 * (1 - 0.5**5)] * 2)


def _graphed(f, x):
    return torch.cuda.make_graphed_callables(f, (x,))


@pytest.mark.parametrize("made", [lambda f, x: torch.compile(f), _graphed])
@pytest.mark.parametrize("name", ["sigmoid", "exp", "tanh", "relu"])
def test_a_result_written_before_the_backward(name, made):
    """As in eager code: the gradient needs the result's own values."""
    x = torch.tensor([1.0, 2.0, -3.0], requires_grad=True)
    run = made(getattr(torch, name), x)
    for _ in range(2):
        y = run(x)
        y.mul_(5)
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            y.sum().backward()
        (run(x) * 2).sum().backward()
    x.grad = None
    y = torch.compile(lambda x: x + 1)(x)
    y.mul_(5).sum().backward()
    assert x.grad.tolist() == [5, 5, 5]


@pytest.mark.parametrize("later", [lambda y: y, lambda y: y * 2])
@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("name", ["sigmoid", "exp", "tanh"])
def test_a_backward_that_leads_nowhere(name, written, later):
    """As that of a view made without gradients of a leaf: it runs all the same
    and finds what was written.
    """

    def function(x):
        with torch.no_grad():
            v = x[1:]
        y = getattr(v, name)()
        z = later(y)
        if written:
            y.mul_(2)
        return x * 3, z

    run = torch.compile(function)
    for _ in range(3):
        for f in (function, run):
            x = torch.ones(3, requires_grad=True)
            a, b = f(x)
            assert b.requires_grad
            loss = a.sum() + b.sum()
            if written:
                with pytest.raises(RuntimeError, match="modified by an inpl"):
                    loss.backward()
            else:
                loss.backward()
                assert x.grad.tolist() == [3, 3, 3]
                a, b = f(x)
                b.mul_(2)
                if later(1) == 1:
                    with pytest.raises(RuntimeError, match="modified by an"):
                        b.sum().backward()


def test_results_that_nobody_used():
    """Leaves of theirs alone get no gradient, so optimizers leave them."""

    def f(x, w):
        return (x * w).sum(), (w * w).sum()

    run = torch.compile(f)
    for _ in range(3):
        x = torch.ones(2, requires_grad=True)
        w = torch.ones(2, requires_grad=True)
        _, b = run(x, w)
        found = torch.autograd.grad(b, (x, w), allow_unused=True)
        assert found[0] is None
        assert found[1].tolist() == [2, 2]
        a, b = run(x, w)
        (a + b).backward()
        assert x.grad.tolist() == [1, 1]
        assert w.grad.tolist() == [3, 3]
    heads = nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)])
    run = torch.compile(lambda x: (heads[0](x), heads[1](x)))
    for _ in range(2):
        heads.zero_grad()
        run(torch.ones(1, 2))[1].sum().backward()
        assert [p.grad is None for p in heads.parameters()] == [
            True,
            True,
            False,
            False,
        ]


def test_second_derivatives_are_refused():
    """A penalty on gradients must not vanish from a loss."""
    run = torch.compile(lambda x: (x**3).sum())
    for _ in range(2):
        x = torch.ones(2, requires_grad=True)
        (g,) = torch.autograd.grad(run(x), x, create_graph=True)
        assert g.requires_grad
        with pytest.raises(RuntimeError, match="differentiate twice"):
            (g**2).sum().backward()
        y = run(x)
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (y + g.detach().sum()).backward()
        assert x.grad.tolist() == [3, 3]
