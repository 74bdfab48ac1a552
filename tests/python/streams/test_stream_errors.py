"""Errors of calls that a queued stream ran: they follow the data to whoever
reads it, and name the call.
"""

import pytest

import hotaru as torch

F = torch.nn.functional
LONG = torch.tensor


def x():
    return torch.arange(12.0).reshape(3, 4).requires_grad_()


def row(*numbers):
    return torch.tensor([numbers])


# Faults that a kernel finds while it computes: operator, its name in the
# error, the text.
LATE = {
    "gather": (lambda x: torch.gather(x, 0, row(7)), "index 7 is out of"),
    "index": (lambda x: x[LONG([0, 9])], "index 9 is out of bounds"),
    "index_select": (
        lambda x: torch.index_select(x, 0, LONG([9])),
        "index out of range in self",
    ),
    "take": (lambda x: torch.take(x, LONG([99])), "out of range: tried"),
    "embedding": (lambda x: F.embedding(LONG([9]), x), "index out of range in self"),
    "nll_loss": (lambda x: F.nll_loss(x, LONG([0, 1, 9])), "Target 9 is out of bounds"),
    "cross_entropy": (
        lambda x: F.cross_entropy(x, LONG([0, 1, 9]), label_smoothing=0.1),
        "Target 9 is out of bounds",
    ),
    "multi_margin_loss": (
        lambda x: F.multi_margin_loss(x, LONG([0, 1, 9])),
        "index 9 is out of bounds",
    ),
    "multilabel_margin_loss": (
        lambda x: F.multilabel_margin_loss(x, torch.full((3, 4), 9)),
        "index 9 is out of bounds",
    ),
    "binary_cross_entropy": (
        lambda x: F.binary_cross_entropy(x, torch.ones(3, 4)),
        "all elements of input should be between 0 and 1",
    ),
    "binary_cross_entropy of each": (
        lambda x: F.binary_cross_entropy(
            x, torch.ones(3, 4), weight=torch.ones(4), reduction="none"
        ),
        "all elements of input should be between 0 and 1",
    ),
    "binary_cross_entropy by target": (
        lambda x: F.binary_cross_entropy(x.detach(), x),
        "all elements of input should be between 0 and 1",
    ),
    "scatter": (lambda x: x.scatter(0, row(9), 1.0), "index 9 is out of"),
    "index_copy": (
        lambda x: x.index_copy(0, LONG([9]), torch.ones(1, 4)),
        "index 9 is out of bounds",
    ),
    "index_fill": (
        lambda x: x.index_fill(0, LONG([9]), 1.0),
        "index 9 is out of bounds",
    ),
    "index_put": (
        lambda x: x.index_put((LONG([9]),), torch.tensor(1.0)),
        "index 9 is out of bounds",
    ),
    "ctc_loss": (
        lambda x: F.ctc_loss(x.unsqueeze(1), row(9), LONG([3]), LONG([1])),
        "target 9 of sequence 0 is not in the label range",
    ),
    "max_unpool1d": (
        lambda x: F.max_unpool1d(x, torch.full((3, 4), 99), 2),
        "Found an invalid max index: 99",
    ),
    "cholesky": (
        lambda x: torch.linalg.cholesky(-(x @ x.t())),
        "linalg.cholesky: The factorization could not be completed",
    ),
    "solve": (
        lambda x: torch.linalg.solve(x[:, :3] * 0, x),
        "linalg.solve: The solver failed",
    ),
    "div": (
        lambda x: torch.div(LONG([1]), LONG([0]), rounding_mode="floor"),
        "ZeroDivisionError",
    ),
    "scatter_add": (
        lambda x: x.detach().scatter_add(0, row(9, 9, 9, 9), x[:1]),
        "index 9 is out of bounds",
    ),
    "index_add": (
        lambda x: x.detach().index_add(0, LONG([9]), x[:1]),
        "index 9 is out of bounds",
    ),
    "masked_scatter": (
        lambda x: torch.zeros(20).masked_scatter(torch.ones(20) > 0, x.detach()),
        "Number of elements of source < number of ones in mask",
    ),
}

# Faults that an operator looks for first; it waits, and raises at once.
AT_THE_CALL = {
    "one_hot": (
        lambda: F.one_hot(LONG([9]), 4),
        "Class values must be smaller than num_classes",
    ),
    "multinomial": (
        lambda: torch.multinomial(torch.zeros(4), 2),
        "invalid multinomial distribution",
    ),
    "bernoulli": (
        lambda: torch.bernoulli(torch.full((4,), 2.0)),
        "Expected p_in >= 0 && p_in <= 1",
    ),
    "bincount": (
        lambda: torch.bincount(LONG([-1])),
        "bincount only supports 1-d non-negative",
    ),
}


@pytest.mark.parametrize("name", LATE)
def test_an_error_follows_the_data(name):
    operator, text = LATE[name]
    with pytest.raises((RuntimeError, IndexError), match=text) as now:
        operator(x())

    stream, other = torch.cpu.Stream(), torch.cpu.Stream()
    leaf = x()
    with stream:
        bad = operator(leaf)
        if bad.requires_grad:
            bad.sum().backward()
    with other:
        dependant = bad * 2
    for found in (bad, dependant):
        with pytest.raises(type(now.value), match=text) as late:
            found.tolist()
        assert "(in a queued call of " in str(late.value)
    if bad.requires_grad:
        # Which of the operators of the backward pass finds it may differ.
        late = pytest.raises((RuntimeError, IndexError), match="queued call of")
        with late:
            leaf.grad.tolist()
    with pytest.raises(type(now.value), match=text):
        stream.synchronize()
    with pytest.raises(type(now.value), match=text):
        other.synchronize()


def test_a_range_check_names_its_operator():
    stream = torch.cpu.Stream()
    with stream:
        bad = F.binary_cross_entropy(x(), torch.ones(3, 4))
    with pytest.raises(RuntimeError, match="queued call of binary_cross_entr"):
        bad.item()
    with pytest.raises(RuntimeError):
        stream.synchronize()


@pytest.mark.parametrize("name", AT_THE_CALL)
def test_an_error_of_values_that_decide_is_raised_at_the_call(name):
    operator, text = AT_THE_CALL[name]
    stream = torch.cpu.Stream()
    with stream, pytest.raises(RuntimeError, match=text):
        operator()
    stream.synchronize()
