"""`_force_outplace=True`: programs of traces that write to nothing."""

import warnings

import pytest

import hotaru as torch


def _adds(x):
    x.add_(1)
    x += x
    return x, x.sum()


def _chain(x):
    y = x * 2
    y.mul_(3).clamp_(0, 4)
    return torch.nn.functional.relu(y, inplace=True)


def _copies(x):
    out = torch.zeros(x.size())
    out.copy_(x)
    out.add_(1)
    return out


def _converts(x):
    out = torch.zeros(2, 2, dtype=torch.int64)
    out.copy_(x)
    return out


def _compares(x):
    y = x * 2
    y.lt_(3)
    return y


def _promotes(x):
    y = x * 2
    y.add_(torch.ones(2, 2, dtype=torch.float64))
    y *= torch.ones(2, 2, dtype=torch.float64)
    return y


def _fills(x):
    return torch.empty(x.shape).fill_(7), torch.empty(x.shape).zero_()


def _turns(x):
    y = x * torch.arange(4.0).view(2, 2)
    y.t_()
    y.unsqueeze_(0)
    return y


def _out(x):
    y = torch.empty(2, 2)
    torch.add(x, x, out=y)
    return y * 2


def _sorts(x):
    values, places = torch.empty(2, 2), torch.empty(2, 2, dtype=torch.int64)
    torch.sort(-x, out=(values, places))
    return values, places


def _names_it_twice(x):
    y = x * 2
    z = y
    z.add_(1)
    return y


def _resizes(x):
    y = x + 0
    y.resize_(4)
    return y


ALONE = [
    _adds,
    _chain,
    _copies,
    _converts,
    _compares,
    _promotes,
    _fills,
    _turns,
    _out,
    _sorts,
    _names_it_twice,
    _resizes,
]


def _flat(result) -> tuple:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("function", ALONE, ids=lambda f: f.__name__)
def test_programs_give_the_functions_results_and_write_to_no_input(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error", torch.jit.TracerWarning)
        program = torch.jit.trace(function, torch.ones(2, 2), _force_outplace=True)
    given = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
    kept = given.clone()
    got, wanted = _flat(program(given)), _flat(function(given.clone()))
    assert torch.equal(given, kept)
    for ours, theirs in zip(got, wanted, strict=True):
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("function", [_adds, _chain, _copies, _turns, _out])
def test_graphs_have_no_operators_in_place(function):
    program = torch.jit.trace(function, torch.ones(2, 2), _force_outplace=True)
    kinds = {node.kind() for node in program.graph.nodes()}
    assert not any(kind.endswith("_") for kind in kinds), kinds


def test_without_the_flag_inputs_are_written_to():
    program = torch.jit.trace(_adds, torch.ones(2, 2))
    given = torch.ones(2, 2)
    program(given)
    assert torch.equal(given, torch.full((2, 2), 4.0))


def test_one_tensor_as_several_inputs_is_read_as_it_was():
    def adds_all(*inputs):
        total = inputs[0]
        for each in inputs[1:]:
            total += each
        return total

    examples = (torch.ones(2), torch.ones(2), torch.ones(2))
    program = torch.jit.trace(adds_all, examples, _force_outplace=True)
    one = torch.ones(2)
    assert torch.equal(program(one, one, one), torch.full((2,), 3.0))
    assert torch.equal(one, torch.ones(2))


def test_other_views_of_what_is_written_are_warned_of():
    def writes_a_view(x):
        y = x * 2
        y.view(-1).add_(1)
        return y

    with (
        pytest.warns(torch.jit.TracerWarning, match="2 live references.* add_"),
        pytest.warns(torch.jit.TracerWarning, match="does not match"),
    ):
        torch.jit.trace(writes_a_view, torch.ones(2, 2), _force_outplace=True)


def test_a_part_is_written_to_a_copy():
    def writes(x):
        x[0, 1] = 4
        return x

    with pytest.warns(torch.jit.TracerWarning, match="2 live references.* copy_"):
        program = torch.jit.trace(writes, torch.ones(2, 2), _force_outplace=True)
    given = torch.zeros(2, 2)
    assert program(given).tolist() == [[0, 4], [0, 0]]
    assert given.tolist() == [[0, 0], [0, 0]]


def test_draws_in_place_change_a_copy():
    def draws(x):
        x.normal_()
        return x

    program = torch.jit.trace(
        draws, torch.ones(8), _force_outplace=True, check_trace=False
    )
    given = torch.zeros(8)
    assert program(given).abs().sum() > 0
    assert torch.equal(given, torch.zeros(8))


def test_buffers_of_modules_stay():
    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(2))

        def forward(self, x):
            self.count.add_(1)
            return x + self.count

    program = torch.jit.trace(Counts(), torch.ones(2), _force_outplace=True)
    for _ in range(2):
        assert program(torch.ones(2)).tolist() == [2, 2]
    assert program.count.tolist() == [0, 0]


def test_graphs_alone_take_the_flag():
    graph, _ = torch.jit._get_trace_graph(
        _adds, (torch.ones(2, 2),), _force_outplace=True
    )
    assert not any(node.kind().endswith("_") for node in graph.nodes())
