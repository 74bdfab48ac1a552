"""Quantisation of graphs: prepare_fx, convert_fx."""

import graph_cases
import pytest
from hotaru.ao import quantization as aq
from hotaru.ao.quantization.quantize_fx import convert_fx, fuse_fx, prepare_fx

import hotaru
from hotaru import nn

EXPECTED = hotaru.load(graph_cases.PLACE)
X = hotaru.linspace(-2, 2, 12).view(3, 4)
USUAL = aq.get_default_qconfig_mapping("fbgemm")


def test_numbers_are_those_of_pytorch():
    found = graph_cases.results("hotaru")
    assert set(found) == set(EXPECTED)
    for name, tensors in EXPECTED.items():
        for a, b in zip(found[name], tensors):
            hotaru.testing.assert_close(a, b, rtol=1e-5, atol=1e-5, msg=name)


def test_the_model_itself_is_as_before():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval()
    before, weight = model(X), model[0].weight
    prepared = prepare_fx(model, USUAL, (X,))
    prepared(X)
    converted = convert_fx(prepared)
    assert not hotaru.equal(converted(X), before)
    assert hotaru.allclose(converted(X), before, atol=0.05)
    assert hotaru.equal(model(X), before)
    assert model[0].weight is weight
    # A prepared model can be converted again.
    assert hotaru.equal(convert_fx(prepared)(X), converted(X))


def test_fused_graphs_have_one_module():
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU())
    model.eval()
    x = hotaru.linspace(-1, 1, 4).view(1, 1, 2, 2)
    fused = fuse_fx(model)
    calls = [n for n in fused.graph.nodes if n.op == "call_module"]
    assert len(calls) == 1
    assert hotaru.allclose(fused(x), model(x), atol=1e-6)


def test_what_is_not_there_is_an_error():
    with pytest.raises(NotImplementedError, match="training mode"):
        prepare_fx(nn.Sequential(nn.Linear(4, 4)), USUAL, (X,))
    model = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid()).eval()
    with pytest.raises(NotImplementedError, match="Sigmoid"):
        prepare_fx(model, USUAL, (X,))
    alone = aq.get_default_qconfig_mapping("fbgemm")
    alone.set_object_type(nn.Sigmoid, None)
    prepared = prepare_fx(model, alone, (X,))
    prepared(X)
    found = convert_fx(prepared)(X)
    assert hotaru.allclose(found, model(X), atol=0.05)
