"""Passes one behind the other, in an order that constraints say."""

from __future__ import annotations

import functools
import inspect
import warnings

from ... import GraphModule
from ..._compatibility import compatibility
from .pass_base import PassResult

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]


@compatibility(is_backward_compatible=False)
def pass_result_wrapper(fn):
    """The pass, which gives a PassResult; it counts as changing the module."""
    if fn is None:
        return None

    @functools.wraps(fn, updated=())
    def call(module):
        result = fn(module)
        if result is None:
            return PassResult(module, True)
        if isinstance(result, PassResult):
            return result
        return PassResult(result, True)

    if not inspect.isfunction(fn):
        call.__name__ = type(fn).__name__
    return call


@compatibility(is_backward_compatible=False)
def this_before_that_pass_constraint(this, that):
    """A constraint: `that` does not run before `this`."""

    def depends_on(a, b) -> bool:
        return a != that or b != this

    return depends_on


def _validate_pass_schedule_constraint(constraint, passes) -> None:
    for i, first in enumerate(passes):
        for second in passes[i + 1 :]:
            if not constraint(first, second):
                raise RuntimeError(
                    "pass schedule constraint violated. Expected "
                    f"{first} before {second} but found {first} at index {i} "
                    f"and {second} at index{passes.index(second)} in pass list."
                )


def _topological_sort_passes(passes, constraints) -> list:
    """The passes in an order that no constraint forbids.

    RuntimeError where there is none.
    """
    if not constraints:
        return passes
    behind: dict = {p: [] for p in passes}
    before = dict.fromkeys(passes, 0)
    for first in passes:
        for second in passes:
            if first is second:
                continue
            if any(not allowed(first, second) for allowed in constraints):
                behind[second].append(first)
                before[first] += 1
    ready = [p for p in passes if before[p] == 0]
    done = []
    while ready:
        now = ready.pop(0)
        done.append(now)
        for later in behind[now]:
            before[later] -= 1
            if before[later] == 0:
                ready.append(later)
    if len(done) != len(passes):
        circle = [p for p in passes if p not in done]
        raise RuntimeError(
            f"Circular dependency detected within the following passes: {circle}"
        )
    return done


@compatibility(is_backward_compatible=False)
class PassManager:
    """Runs passes, up to `steps` times while they change the module.

    With `run_checks_after_each_pass` checks run behind each pass, else behind
    the last.
    """

    def __init__(
        self,
        passes=None,
        constraints=None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self.steps = 1 if steps is None else steps
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass) -> None:
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint) -> None:
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """RuntimeError where the order violates a constraint."""
        if self._validated:
            return
        for constraint in self.constraints:
            _validate_pass_schedule_constraint(constraint, self.passes)
        self._validated = True

    def solve_constraints(self) -> None:
        """Puts the passes in an order that the constraints allow."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check) -> None:
        """`check(module)` raises where the module is not right.

        TypeError for a function with other parameters.
        """
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError(
                "PassManager check function should only take in one variable, a module"
            )
        self.check = check

    def check(self, module) -> None:
        pass

    def __call__(self, module) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            module, modified = self._run_once(module)
            changed = changed or modified
            if not modified:
                break
        return PassResult(module, changed)

    def _run_once(self, module) -> tuple:
        modified = False
        for i, fn in enumerate(self.passes):
            try:
                result = fn(module)
                if not isinstance(result, PassResult):
                    raise TypeError(
                        f"The result of the pass {_name(fn)} should be type "
                        "PassResult. Please wrap it with pass_result_wrapper()"
                    )
                module = result.graph_module
                modified = modified or result.modified
                if isinstance(module, GraphModule):
                    module.recompile()
                if self.run_checks_after_each_pass:
                    self._check(module)
            except Exception as error:
                before = [_name(p) for p in self.passes[:i]]
                raise Exception(
                    f"An error occurred when running the '{_name(fn)}' pass "
                    f"after the following passes: {before}"
                ) from error
        self._check(module)
        return module, modified

    def _check(self, module) -> None:
        if not self.suppress_check_failures:
            self.check(module)
            return
        try:
            self.check(module)
        except Exception as error:
            warnings.warn(f"Check failed: {error}", stacklevel=3)


def _name(fn) -> str:
    return fn.__name__ if inspect.isfunction(fn) else type(fn).__name__
