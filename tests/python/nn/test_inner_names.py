"""Inner names of layers that libraries import, and what they do."""

from __future__ import annotations

import copy

import pytest
from hotaru.nn import init
from hotaru.nn.modules.dropout import _DropoutNd
from hotaru.nn.modules.transformer import _get_activation_fn
from hotaru.nn.parameter import Buffer, Parameter, _ParameterMeta

import hotaru as torch
from hotaru import nn

LAYERS = {
    "rnn": lambda: nn.RNN(2, 3),
    "lstm": lambda: nn.LSTM(2, 3, proj_size=2),
    "gru": lambda: nn.GRU(2, 3, num_layers=2, bidirectional=True),
}


@pytest.fixture(name="layer", params=LAYERS)
def layer_fixture(request):
    torch.manual_seed(0)
    return LAYERS[request.param]()


X = torch.ones(4, 1, 2)


def zeros_of(layer):
    return [torch.zeros_like(w) for w in layer._flat_weights]


def test_a_layer_computes_with_the_flat_weights_that_it_is_given(layer):
    before = layer(X)[0]
    given = zeros_of(layer)
    layer._flat_weights = given
    assert layer._flat_weights is given
    assert layer(X)[0].abs().max() == 0
    assert torch.jit.trace(layer, (X,))(X)[0].abs().max() == 0
    packed = nn.utils.rnn.pack_sequence([X[:, 0]])
    assert layer(packed)[0].data.abs().max() == 0
    given[0] = layer.weight_ih_l0
    layer(X)[0].sum().backward()
    found = {name for name, p in layer.named_parameters() if p.grad is not None}
    assert found == {"weight_ih_l0"}
    with pytest.raises(RuntimeError, match="`_flat_weights` are not"):
        torch.jit.script(layer)
    # Copies have weights of their own, as PyTorch's do.
    assert torch.equal(copy.deepcopy(layer)(X)[0], before)


def test_an_entry_of_the_flat_weights_may_be_replaced(layer):
    before = layer(X)[0]
    layer._flat_weights[0] = torch.zeros_like(layer.weight_ih_l0)
    assert not torch.equal(layer(X)[0], before)
    assert layer._flat_weights[0].abs().max() == 0
    assert layer._flat_weights[1] is layer.weight_hh_l0


def test_weights_that_are_set_count_again(layer):
    given = zeros_of(layer)
    before = layer(X)[0]
    ways = (
        lambda: setattr(layer, "bias_hh_l0", Parameter(layer.bias_hh_l0 + 0)),
        layer.float,
        lambda: layer.double().float(),
    )
    for way in ways:
        layer._flat_weights = list(given)
        assert layer(X)[0].abs().max() == 0
        way()
        assert torch.allclose(layer(X)[0], before)
        assert layer._flat_weights[0] is layer.weight_ih_l0
    layer._flat_weights = given
    called = torch.func.functional_call(
        layer, {"weight_ih_l0": layer.weight_ih_l0.detach().clone()}, (X,)
    )
    assert torch.equal(called[0], before)
    assert torch.equal(layer(X)[0], before)


def test_fillings_without_a_graph():
    p = Parameter(torch.ones(3))
    assert init._no_grad_fill_(p, 2.5) is p
    assert (p.tolist(), p.requires_grad, p._version) == ([2.5] * 3, True, 1)
    assert init._no_grad_zero_(p).tolist() == [0, 0, 0]
    pairs = (
        (init._no_grad_uniform_, init.uniform_, (-2.0, 3.0)),
        (init._no_grad_normal_, init.normal_, (1.0, 2.0)),
        (init._no_grad_trunc_normal_, init.trunc_normal_, (0.0, 1.0, -1.0, 2)),
    )
    for inner, outer, args in pairs:
        found = [
            f(p, *args, generator=torch.Generator().manual_seed(3)).tolist()
            for f in (inner, outer)
        ]
        assert found[0] == found[1]
        assert p.is_leaf


def test_bases_of_layers_and_of_parameters():
    kinds = (
        nn.Dropout,
        nn.Dropout1d,
        nn.Dropout2d,
        nn.Dropout3d,
        nn.AlphaDropout,
        nn.FeatureAlphaDropout,
    )
    assert all(issubclass(kind, _DropoutNd) for kind in kinds)
    base = _DropoutNd(0.25, True)
    assert (base.p, base.inplace) == (0.25, True)
    assert repr(base) == "_DropoutNd(p=0.25, inplace=True)"
    with pytest.raises(NotImplementedError, match="forward"):
        base(X)
    assert type(Parameter) is _ParameterMeta
    assert not isinstance(Buffer(torch.ones(1)), Parameter)

    class Own(Parameter, metaclass=_ParameterMeta):
        pass

    assert isinstance(Own(torch.ones(1)), Parameter)
    assert not isinstance(Parameter(torch.ones(1)), Own)


def test_activations_by_name():
    assert _get_activation_fn("relu") is nn.functional.relu
    assert _get_activation_fn("gelu") is nn.functional.gelu
    with pytest.raises(RuntimeError, match="should be relu/gelu, not tanh"):
        _get_activation_fn("tanh")
