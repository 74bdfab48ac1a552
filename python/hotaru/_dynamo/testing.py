"""Tests that run once more with switches set, and backends that count."""

from __future__ import annotations

import functools
import unittest
from unittest.mock import patch

from .backends.registry import lookup_backend


class CompileCounter:
    """A backend that counts graphs and the calls in them, and runs them as they
    are.
    """

    def __init__(self):
        self.clear()

    def __call__(self, gm, example_inputs):
        self.frame_count += 1
        self.op_count += sum("call" in node.op for node in gm.graph.nodes)
        return gm.forward

    def clear(self) -> None:
        """Counts from zero again."""
        self.frame_count = 0
        self.op_count = 0


class CompileCounterWithBackend(CompileCounter):
    """As `CompileCounter`, keeps the graphs, and another backend compiles them."""

    def __init__(self, backend: str):
        self.backend = backend
        super().__init__()

    def __call__(self, gm, example_inputs):
        super().__call__(gm, example_inputs)
        self.graphs.append(gm)
        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self) -> None:
        """Counts from zero again, and drops the graphs."""
        super().clear()
        self.graphs = []


class EagerAndRecordGraphs:
    """A backend that keeps the graphs and runs them as they are."""

    def __init__(self):
        self.graphs = []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        return gm.forward


def make_test_cls_with_patches(
    cls, cls_prefix, fn_suffix, *patches, xfail_prop=None, decorator=None
):
    """A subclass of a class of tests whose tests run under patches.

    Args:
        cls: the class; tests are its `test_...`.
        cls_prefix: before its name, for the name of the new one.
        fn_suffix: behind the names of tests.
        patches: (object, name of an attribute, value while a test runs).
        xfail_prop: tests with this attribute are expected to fail.
        decorator: for each test.
    """
    made = type(f"{cls_prefix}{cls.__name__}", cls.__bases__, {})
    for name in dir(cls):
        value = getattr(cls, name)
        if not name.startswith("test_"):
            if name not in dir(made):
                setattr(made, name, vars(cls).get(name, value))
            continue
        if not callable(value):
            continue
        test = _patched(value, patches)
        if xfail_prop is not None and hasattr(value, xfail_prop):
            test = unittest.expectedFailure(test)
        if decorator is not None:
            test = decorator(test)
        setattr(made, name + fn_suffix, test)
    return made


def _patched(function, patches):
    @functools.wraps(function)
    def test(*args, **kwargs):
        before = function
        for target, name, value in patches:
            before = patch.object(target, name, value)(before)
        return before(*args, **kwargs)

    return test
