"""Containers that `vmap` takes whole, by PyTorch's protocol for them."""

from __future__ import annotations

import pytest
from hotaru.func import vmap
from hotaru.utils import _pytree

import hotaru as torch


class Box:
    """A container of tensors with batch dimensions of its own, as TensorDict."""

    def __init__(self, values: dict, batch_size, locked: bool = False):
        self._values = dict(values)
        self.batch_size = torch.Size(batch_size)
        self.is_locked = locked
        self.names = [None] * len(self.batch_size)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        assert func is torch.stack
        boxes, dim = args
        values = {
            key: torch.stack([box._values[key] for box in boxes], dim)
            for key in boxes[0]._values
        }
        shape = list(boxes[0].batch_size)
        shape.insert(dim % (len(shape) + 1), len(boxes))
        return Box(values, shape)

    def _add_batch_dim(self, *, in_dim, vmap_level):
        raise AssertionError("no batched tensors here")

    def _maybe_remove_batch_dim(self, *args, **kwargs):
        raise AssertionError("no batched tensors here")

    @property
    def ndim(self) -> int:
        return len(self.batch_size)

    def values(self, include_nested=False, leaves_only=False):
        return self._values.values()

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._values[key]
        parts = {name: value[key] for name, value in self._values.items()}
        gone = sum(isinstance(part, int) for part in key)
        kept = self.batch_size[: len(key) - gone] + self.batch_size[len(key) :]
        if isinstance(key[-1], slice):
            kept = next(iter(parts.values())).shape[: self.ndim]
        return Box(parts, kept)

    def __setitem__(self, key, value):
        if self.is_locked:
            raise RuntimeError("Cannot modify a locked box")
        self._values[key] = value

    def clone(self, recurse=True):
        return Box(self._values, self.batch_size)

    def apply(self, function, batch_size):
        return Box({k: function(v) for k, v in self._values.items()}, batch_size)

    def lock_(self):
        self.is_locked = True
        return self


_pytree.register_pytree_node(
    Box,
    lambda box: (list(box._values.values()), list(box._values)),
    lambda values, keys: Box(dict(zip(keys, values)), []),
)


def test_a_container_is_cut_along_its_batch_dimensions():
    box = Box({"a": torch.arange(12.0).view(3, 2, 2)}, [3, 2])
    seen = []

    def double(part):
        seen.append(tuple(part.batch_size))
        part["b"] = part["a"] * 2
        return part

    for in_dim, out_dim, shape in ((0, 0, (3, 2)), (1, 1, (3, 2)), (-1, 0, (2, 3))):
        got = vmap(double, in_dim, out_dim)(box)
        assert isinstance(got, Box)
        assert tuple(got.batch_size) == shape
        want = box["a"].movedim(in_dim % 2, out_dim) * 2
        assert got["b"].equal(want)
    assert seen == [(2,)] * 3 + [(3,)] * 4
    assert list(box._values) == ["a"]


def test_a_container_that_is_not_mapped_keeps_its_keys():
    box = Box({"a": torch.ones(2)}, [2])

    def add(given, x):
        given["b"] = given["a"] + x
        return given

    got = vmap(add, (None, 0), 1)(box, torch.arange(3.0))
    assert tuple(got.batch_size) == (2, 3)
    assert got["b"].tolist() == [[1.0, 2.0, 3.0]] * 2
    assert list(box._values) == ["a"]


def test_slices_of_a_locked_container_are_locked():
    box = Box({"a": torch.ones(2)}, [2]).lock_()
    with pytest.raises(RuntimeError, match="locked"):
        vmap(lambda part: part.__setitem__("b", part["a"]))(box)


def test_batch_dimensions_are_found_where_tensors_agree():
    box = Box({"a": torch.ones(3, 2), "b": torch.zeros(3)}, [])
    got = vmap(lambda part: part["a"].sum() + part["b"])(box)
    assert got.tolist() == [2.0, 2.0, 2.0]
    other = Box({"a": torch.ones(3, 2), "b": torch.zeros(2)}, [])
    with pytest.raises(ValueError, match="dimensionality 0"):
        vmap(lambda part: part["a"])(other)


def test_sizes_have_to_agree_with_tensors_beside_it():
    box = Box({"a": torch.ones(3)}, [3])
    with pytest.raises(ValueError, match="same size in the mapped"):
        vmap(lambda part, x: x)(box, torch.ones(2))


def test_a_size_of_zero_gives_an_empty_container():
    box = Box({"a": torch.ones(0, 2)}, [0])
    got = vmap(lambda part: part)(box)
    assert tuple(got["a"].shape) == (0, 2)


def test_gradients_go_through_containers():
    weight = torch.ones(3, 2, requires_grad=True)
    box = Box({"w": weight}, [3])
    vmap(lambda part, x: (part["w"] * x).sum())(box, torch.arange(3.0)).sum().backward()
    assert weight.grad.tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


def test_parameters_that_have_no_shape_yet_are_cut_once_they_have_one():
    from hotaru._functorch.vmap import _add_batch_dim
    from hotaru.nn.parameter import UninitializedParameter, is_lazy

    class Lazy(Box):
        def _add_batch_dim(self, *, in_dim, vmap_level):
            def cut(value):
                if not is_lazy(value):
                    return _add_batch_dim(value, in_dim, vmap_level)
                value.place = in_dim, vmap_level
                return value

            kept = self.batch_size[:in_dim] + self.batch_size[in_dim + 1 :]
            return Box({k: cut(v) for k, v in self._values.items()}, kept)

    weight = UninitializedParameter()
    shift = torch.tensor([10.0, 20.0, 30.0])
    box = Lazy({"weight": weight, "shift": shift}, [3])

    def f(box, x):
        w = box["weight"]
        if is_lazy(w):
            w.materialize((3, *x.shape))
            with torch.no_grad():
                w.copy_(torch.arange(1.0, 7).view(3, 2))
            w = _add_batch_dim(w, *w.place)
        return (w * x).sum() + box["shift"]

    x = torch.ones(3, 2)
    first = vmap(f)(box, x)
    assert first.tolist() == [13, 27, 41]
    assert vmap(f)(box, x).equal(first)
    first.sum().backward()
    assert weight.grad.equal(torch.ones(3, 2))
    with pytest.raises(RuntimeError, match="no batched tensors"):
        _add_batch_dim(shift, 0, 1)
