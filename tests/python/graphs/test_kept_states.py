"""States of compiled modules that somebody keeps."""

import copy
import warnings

import pytest

import hotaru as torch
from hotaru import nn


class Stream(nn.Module):
    """Binds its state anew in each call, in one of several forms."""

    def __init__(self, form: str):
        super().__init__()
        self.form = form
        self.one = torch.zeros(1)
        self.pair = (torch.zeros(1), torch.zeros(1))
        self.items = [torch.zeros(1)]
        self.table = {"a": torch.zeros(1)}

    def forward(self, x):
        if self.form == "one":
            self.one = self.one + x.sum()
        elif self.form == "pair":
            self.pair = (self.pair[0] + x.sum(), self.pair[1] - x.sum())
        elif self.form == "list":
            self.items = [self.items[0] + x.sum()]
        else:
            self.table["a"] = self.table["a"] + x.sum()
        return x * 2


LOOKS = {
    "tensor": ("one", lambda m: m.one),
    "view": ("one", lambda m: m.one[0]),
    "detached": ("one", lambda m: m.one.detach()),
    "array": ("one", lambda m: m.one.numpy()),
    "storage": ("one", lambda m: m.one.untyped_storage()),
    "attributes": ("one", lambda m: vars(m).copy()),
    "tuple": ("pair", lambda m: m.pair),
    "tuple's item": ("pair", lambda m: m.pair[1]),
    "list": ("list", lambda m: m.items),
    "list's item": ("list", lambda m: m.items[0]),
    "dictionary's item": ("table", lambda m: m.table["a"]),
}


def _run(net, call, look, when: set, sizes=(1,)) -> list:
    kept = [look(net)] if 0 in when else []
    for i in range(1, 13):
        call(torch.ones(sizes[i % len(sizes)]))
        if i in when:
            kept.append(look(net))
    return kept


def _texts(kept: list) -> list[str]:
    return [
        str(list(k)) if isinstance(k, torch.UntypedStorage) else str(k) for k in kept
    ]


@pytest.mark.parametrize("sizes", [(1,), (1, 2)], ids=["one kind", "two kinds"])
@pytest.mark.parametrize("when", [{0}, {1}, {2}, {6}, {1, 2, 5, 9}], ids=str)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.cpu_graphs("arrays are on the host")
            if name == "array"
            else (),
        )
        for name in LOOKS
    ],
)
def test_what_is_kept_of_a_state_stays(name, when, sizes):
    form, look = LOOKS[name]
    plain, net = Stream(form), Stream(form)
    expected = _texts(_run(plain, plain, look, when, sizes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = _texts(_run(net, torch.compile(net), look, when, sizes))
    assert kept == expected
    assert str(look(net)) == str(look(plain)) or name == "storage"


def test_a_state_that_is_kept_once_costs_one_more_capture():
    net = Stream("one")
    call = torch.compile(net)
    call(torch.ones(1))
    captures = call.graphed.captures
    call(torch.ones(1))
    kept = net.one
    for _ in range(3):
        call(torch.ones(1))
        # Copies, and what is let go before the next call, cost nothing.
        copy.deepcopy(net.state_dict())
        str(net.one)
    assert call.graphed.captures == captures + 1
    assert [kept.item(), net.one.item()] == [2, 5]


def test_a_state_that_is_always_kept_runs_without_a_graph_and_says_so():
    net = Stream("one")
    call = torch.compile(net)
    with pytest.warns(UserWarning, match="kept elsewhere from call to call"):
        kept = _run(net, call, lambda m: m.one, set(range(13)))
    captures = call.graphed.captures
    call(torch.ones(1))
    assert call.graphed.captures == captures
    assert [k.item() for k in kept] == list(range(13))


def test_a_state_that_is_an_argument():
    plain, net = Stream("one"), Stream("one")
    call = torch.compile(net)
    plain(torch.ones(1)), call(torch.ones(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(6):
            before = net.one
            plain(plain.one), call(net.one)
            assert before.item() == net.one.item() / 2
    assert net.one.equal(plain.one)
