"""Anomaly mode: what it warns of and what it calls an error."""

from __future__ import annotations

import gc
import warnings
import weakref

import pytest

import hotaru
from hotaru.autograd import Function, detect_anomaly, set_detect_anomaly


class Failing(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError("on purpose")


def leaf(*values: float) -> hotaru.Tensor:
    return hotaru.tensor(values, requires_grad=True)


@pytest.fixture(autouse=True)
def _off_again():
    yield
    assert not hotaru.is_anomaly_enabled()


def test_the_forward_call_is_told():
    def the_culprit(x):
        return Failing.apply(x)

    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = detect_anomaly()
    with mode:
        out = the_culprit(leaf(1.0))
        with (
            pytest.warns(UserWarning, match="Traceback of forward") as caught,
            pytest.raises(RuntimeError, match="on purpose"),
        ):
            out.backward()
    text = str(caught[0].message)
    assert text.startswith("Error detected in FailingBackward. ")
    assert "the_culprit" in text


def test_no_traceback_where_the_forward_ran_without():
    out = Failing.apply(leaf(1.0))
    with (
        set_detect_anomaly(True),
        pytest.warns(UserWarning, match="No forward pass information"),
        pytest.raises(RuntimeError, match="on purpose"),
    ):
        out.backward()


def test_nan_is_an_error_if_asked():
    with set_detect_anomaly(True):
        out = hotaru.sqrt(leaf(0.0)) * 0
        with (
            pytest.warns(UserWarning, match="SqrtBackward0"),
            pytest.raises(
                RuntimeError,
                match="'SqrtBackward0' returned nan values in its 0th output",
            ),
        ):
            out.backward()
    a = leaf(0.0)
    with set_detect_anomaly(True, check_nan=False):
        assert not hotaru.is_anomaly_check_nan_enabled()
        (hotaru.sqrt(a) * 0).backward()
    assert a.grad.isnan().item()


def test_nodes_made_in_a_backward_pass_know_their_parent():
    with set_detect_anomaly(True):
        a = leaf(2.0)
        out = a**3
        (grad,) = hotaru.autograd.grad(out, a, create_graph=True)
    assert grad.grad_fn.metadata["parent_"] is out.grad_fn
    assert grad.grad_fn.metadata["traceback_"]


def test_metadata_without_the_mode():
    node = (leaf(1.0) * 2).grad_fn
    assert node.metadata == {}
    node.metadata["mine"] = 3
    assert node.metadata == {"mine": 3}


def test_notes_go_with_the_node():
    class Note:
        pass

    note = Note()
    out = leaf(1.0) * 2
    out.grad_fn.metadata["note"] = note
    seen = weakref.ref(note)
    del note, out
    gc.collect()
    assert seen() is None


def test_off_by_default_and_set_by_a_function():
    hotaru.set_anomaly_enabled(True)
    assert hotaru.is_anomaly_enabled()
    hotaru.set_anomaly_enabled(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (leaf(1.0) * 2).backward()
