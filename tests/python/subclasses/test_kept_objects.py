"""A tensor that C++ holds keeps its Python object: attributes, class, identity.

As in PyTorch; weak references end with the last reference of Python's.
"""

import gc
import threading
import weakref

import pytest

import hotaru as torch


class Named(torch.Tensor):
    pass


def plain():
    return torch.ones(2)


def parameter():
    return torch.nn.Parameter(torch.ones(2))


def subclass():
    return torch.Tensor._make_subclass(Named, torch.ones(2))


class Saving(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, found):
        made = found.pop()
        ctx.save_for_backward(made)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (made,) = ctx.saved_tensors
        Saving.found = made
        return grad, None


def by_history(t):
    with torch._C.DisableTorchFunctionSubclass():
        result = t.requires_grad_() * 2
    return lambda: result.grad_fn.next_functions[0][0].variable


def by_view(t):
    part = t[0]
    return lambda: part._base


def by_gradient(t):
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = t
    return lambda: leaf.grad


HOLDERS = [by_history, by_view, by_gradient]


@pytest.mark.parametrize("hold", HOLDERS)
@pytest.mark.parametrize("make", [plain, parameter, subclass])
def test_attributes_and_class_stay(make, hold):
    made = make().detach() if hold is by_gradient else make()
    kind, number = type(made), id(made)
    made.tag = ["mine"]
    give = hold(made)
    del made
    gc.collect()
    for turn in range(3):  # it goes and comes
        found = give()
        assert type(found) is kind
        assert id(found) == number
        assert found.tag == ["mine", *range(turn)]
        found.tag.append(turn)
        del found


def test_what_a_function_saves_stays():
    made = subclass()
    made.tag = 7
    found = [made]
    del made
    x = torch.ones(2, requires_grad=True)
    result = Saving.apply(x, found)
    result.sum().backward()
    made = Saving.found
    del Saving.found
    assert type(made) is Named
    assert made.tag == 7


class Thing:
    pass


def test_what_it_refers_to_goes_with_the_tensor():
    x = torch.ones(2, requires_grad=True)
    x.thing = Thing()
    thing = weakref.ref(x.thing)
    y = x * 2
    del x
    gc.collect()
    assert thing() is not None
    del y
    gc.collect()
    assert thing() is None


def test_what_goes_in_a_thread():
    x = torch.ones(2, requires_grad=True)
    x.thing = Thing()
    thing = weakref.ref(x.thing)
    held = [x * 2]
    del x
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert thing() is None


def test_weak_references_end_with_pythons():
    x = torch.ones(2, requires_grad=True)
    x.tag = 1
    told = []
    reference = weakref.ref(x, told.append)
    y = x * 2
    del x
    assert reference() is None
    assert told == [reference]
    x = y.grad_fn.next_functions[0][0].variable
    again = weakref.ref(x)
    del y
    assert again() is x
    assert x.tag == 1
    del x
    assert again() is None


def test_an_exception_on_its_way_stays():
    def fail():
        x = parameter()
        x.tag = 1
        reference = weakref.ref(x)
        held.append(x * 2)
        del x
        raise KeyError(reference())

    held = []
    with pytest.raises(KeyError, match="None"):
        fail()


def test_a_plain_object_comes_and_goes():
    x = torch.ones(2, requires_grad=True)
    thing = weakref.ref(x)
    y = x * 2
    del x
    assert thing() is None
    assert y.grad_fn.next_functions[0][0].variable.tolist() == [1, 1]


class Slotted(torch.Tensor):
    __slots__ = ("other",)


@pytest.mark.parametrize("make", [plain, Slotted])
def test_each_other_of_two_results(make):
    """The one that C++ lets go first is still the other's."""
    a, b = (make(torch.ones(2)) if make is Slotted else make() for _ in "ab")
    a.requires_grad_()
    b.requires_grad_()
    a.other, b.other = b, a
    y, z = a.sum(), b.sum()
    del a, b
    gc.collect()
    a = leaf_of(y)
    b = a.other
    del z
    assert b.tolist() == [1, 1]
    assert b.requires_grad
    assert b.other is a


def leaf_of(result):
    node = result.grad_fn
    while not hasattr(node, "variable"):
        node = node.next_functions[0][0]
    return node.variable


def test_the_collector_ends_nothing_that_lives():
    x = torch.ones(2, requires_grad=True)
    x.own, x.thing = x, Thing()
    thing = weakref.ref(x.thing)
    y = x * 2
    del x
    gc.collect()
    assert thing() is leaf_of(y).thing
    del y
    gc.collect()
    assert thing() is None


class Counted(torch.Tensor):
    gone: list = []  # noqa: RUF012

    def __del__(self):
        Counted.gone.append((self.tag, self.tolist()))


def test_a_finalizer_runs_once_and_at_the_end():
    Counted.gone.clear()
    x = torch.Tensor._make_subclass(Counted, torch.ones(2))
    x.tag = 5
    with torch._C.DisableTorchFunctionSubclass():
        y = x.requires_grad_().sum()
    for _ in range(2):
        del x
        gc.collect()
        assert Counted.gone == []
        x = leaf_of(y)
        assert type(x) is Counted
    del x, y
    assert Counted.gone == [(5, [1, 1])]
    x = torch.Tensor._make_subclass(Counted, torch.zeros(1))
    x.tag = 6
    del x
    assert Counted.gone[1:] == [(6, [0])]
