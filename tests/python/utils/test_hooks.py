"""`torch.utils.hooks`, and names of `torch.utils` of a few lines."""

from __future__ import annotations

import pytest
from hotaru.utils.hooks import BackwardHook, unserializable_hook, warn_if_has_hooks
from hotaru.utils.show_pickle import FakeClass

import hotaru as torch


def test_gradients_of_a_call():
    seen = []
    hook = BackwardHook(
        "module",
        [lambda m, inputs, outputs: seen.append((m, inputs, outputs))],
        [lambda m, outputs: (outputs[0] * 3,)],
    )
    x = torch.ones(2, requires_grad=True)
    inside, number = hook.setup_input_hook((x, torch.tensor(3.0)))
    out = hook.setup_output_hook(inside * 2)
    assert isinstance(out, torch.Tensor)
    assert number == 3
    out.sum().backward()
    assert x.grad.tolist() == [6, 6]
    ((module, inputs, outputs),) = seen
    assert module == "module"
    assert [t.tolist() for t in outputs] == [[3, 3]]
    assert inputs[0].tolist() == [6, 6]


def test_a_tensor_alone():
    hook = BackwardHook(None, [lambda m, i, o: (i[0] * 5,)], [])
    x = torch.ones(2, requires_grad=True)
    hook.setup_output_hook(hook.setup_input_hook(x).exp()).sum().backward()
    assert torch.allclose(x.grad, 5 * torch.ones(2).exp())


def test_hooks_are_not_written():
    x = torch.ones(1, requires_grad=True)
    warn_if_has_hooks(x)
    x.register_hook(unserializable_hook(lambda g: g))
    warn_if_has_hooks(x)
    x.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized"):
        warn_if_has_hooks(x)


def test_modules_of_objects():
    class Some:
        pass

    torch.utils.set_module(Some, "elsewhere")
    assert Some.__module__ == "elsewhere"
    with pytest.raises(TypeError, match="should be a string"):
        torch.utils.set_module(Some, 3)


def test_classes_of_pickles_are_asked_as_classes():
    made = FakeClass("a", "b").fake_new("class", 1)
    assert repr(made) == "a.b(1,)"
