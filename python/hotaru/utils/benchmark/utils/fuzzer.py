"""Tensors of random sizes and orders of memory, to measure operators with.

Draws are NumPy's, in PyTorch's order: a seed gives the same tensors there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import hotaru

from .... import Tensor, float32

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias"]

_DISTRIBUTIONS = ("loguniform", "uniform")
# How often parameters are drawn before they count as impossible.
_ATTEMPTS = 1000


class FuzzedParameter:
    """A number, or whatever else, that is drawn for each set of tensors.

    Args:
        name: by which tensors know it.
        minval, maxval: both included.
        distribution: "uniform", of whole numbers if both bounds are;
            "loguniform", of whole numbers; or a dict from values to their
            probabilities, which are 1 together.
        strict: drawn once, and kept while the others are drawn anew because
            they do not fit.

    Raises:
        AssertionError: another distribution, or bounds beside a dict.
    """

    def __init__(
        self,
        name: str,
        minval: float | None = None,
        maxval: float | None = None,
        distribution: str | dict | None = None,
        strict: bool = False,
    ) -> None:
        self._name = name
        self._minval, self._maxval = minval, maxval
        self._distribution = distribution
        self.strict = strict
        self._check()

    @property
    def name(self) -> str:
        """By which tensors know it."""
        return self._name

    def sample(self, state):
        """A value, drawn from a `numpy.random.RandomState`."""
        if self._distribution == "loguniform":
            return self._loguniform(state)
        if self._distribution == "uniform":
            return self._uniform(state)
        chances = tuple(self._distribution.values())
        at = state.choice(range(len(chances)), p=chances)
        return list(self._distribution)[at]

    def _check(self) -> None:
        given = self._distribution
        if not isinstance(given, dict):
            if given not in _DISTRIBUTIONS:
                raise AssertionError(f"Unknown distribution: {given}")
            return
        if any(chance < 0 for chance in given.values()):
            raise AssertionError("Probabilities cannot be negative")
        # PyTorch 2.13 refuses those that are 1 together: nothing would be left.
        if abs(sum(given.values()) - 1) > 1e-5:
            raise AssertionError("Distribution is not normalized")
        for name in ("minval", "maxval"):
            if getattr(self, f"_{name}") is not None:
                raise AssertionError(
                    f"When passing a custom distribution, '{name}' must be None"
                )

    def _loguniform(self, state) -> int:
        low, high = self._minval, self._maxval
        drawn = int(2 ** state.uniform(low=math.log2(low), high=math.log2(high)))
        return min(max(drawn, low), high)

    def _uniform(self, state):
        low, high = self._minval, self._maxval
        if isinstance(low, int) and isinstance(high, int):
            return int(state.randint(low=low, high=high + 1))
        return state.uniform(low=low, high=high)


class ParameterAlias:
    """As a value of a parameter: the value of another one."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedTensor:
    """A tensor whose sizes are parameters.

    Args:
        name: by which it is given.
        size: numbers and names of parameters.
        steps: of slices of a larger tensor that it is, as `size`; 1 if missing.
        probability_contiguous: otherwise dimensions lie in another order in
            memory, where there are several.
        min_elements, max_elements: parameters that give others do not fit.
        max_allocation_bytes: the same of the larger tensor.
        dim_parameter: the name of the parameter that is the number of
            dimensions; more sizes are left out, missing ones are 1.
        roll_parameter: without effect, as in PyTorch.
        dtype, cuda: of what it is, and where.
        tensor_constructor: called with size, dtype and all parameters in the
            place of `default_tensor_constructor`.
    """

    def __init__(
        self,
        name: str,
        size: tuple,
        steps: tuple | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype=float32,
        cuda: bool = False,
        tensor_constructor: Callable | None = None,
    ) -> None:
        self._name = name
        self._size = size
        self._steps = steps
        self._probability_contiguous = probability_contiguous
        self._min_elements = min_elements
        self._max_elements = max_elements
        self._max_allocation_bytes = max_allocation_bytes
        self._dim_parameter = dim_parameter
        self._dtype = dtype
        self._cuda = cuda
        self._tensor_constructor = tensor_constructor

    @property
    def name(self) -> str:
        """By which it is given."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size, dtype, **kwargs) -> Tensor:
        """Numbers of [0, 1), whole ones of 1 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return hotaru.rand(size=size, dtype=dtype, device="cpu")
        return hotaru.randint(1, 127, size=size, dtype=dtype, device="cpu")

    def satisfies_constraints(self, params: dict) -> bool:
        """True if there are neither too few elements nor too many."""
        size, _, allocated = self._get_size_and_steps(params)
        count = math.prod(size)
        if count < 0:
            raise AssertionError("Computed number of elements is negative")
        bounds = (
            (self._min_elements, count),
            (count, self._max_elements),
            (math.prod(allocated) * self._dtype.itemsize, self._max_allocation_bytes),
        )
        return all(low is None or high is None or low <= high for low, high in bounds)

    def _make_tensor(self, params: dict, state) -> tuple[Tensor, dict]:
        """The tensor, and what is to be known of it."""
        import numpy as np

        size, steps, allocated = self._get_size_and_steps(params)
        make = self._tensor_constructor or self.default_tensor_constructor
        raw = make(size=allocated, dtype=self._dtype, **params)
        if self._cuda:
            raw = raw.cuda()
        kept = order = np.arange(len(size))
        if state.rand() > self._probability_contiguous:
            while len(size) > 1 and np.array_equal(order, kept):
                order = state.permutation(raw.dim())
            raw = raw.permute(order.tolist()).contiguous()
            raw = raw.permute(np.argsort(order).tolist())
        tensor = raw[tuple(slice(0, n * s, s) for n, s in zip(size, steps))]
        return tensor, {
            "numel": tensor.numel(),
            "order": order,
            "steps": steps,
            "is_contiguous": tensor.is_contiguous(),
            "dtype": str(self._dtype),
        }

    def _get_size_and_steps(self, params: dict) -> tuple[tuple, tuple, tuple]:
        """The sizes, the steps, and the sizes of what it is a slice of."""
        dim = len(self._size)
        if self._dim_parameter is not None:
            dim = params[self._dim_parameter]

        def resolved(values: tuple) -> tuple:
            known = tuple(params.get(v, v) for v in values[:dim])
            return known + (1,) * (dim - len(known))

        size, steps = resolved(self._size), resolved(self._steps or ())
        return size, steps, tuple(n * s for n, s in zip(size, steps))


class Fuzzer:
    """Draws sets of tensors.

    Args:
        parameters, tensors: what is drawn; lists among them are unpacked.
        constraints: functions of the dict of parameters, which fit if all
            return True.
        seed: of NumPy's draws and of the global generator; of chance if None.

    Raises:
        ValueError: a parameter and a tensor have the same name.
    """

    def __init__(
        self,
        parameters: list,
        tensors: list,
        constraints: list[Callable] | None = None,
        seed: int | None = None,
    ) -> None:
        if seed is None:
            import numpy as np

            fresh = np.random.RandomState()
            seed = int(fresh.randint(0, 2**32 - 1, dtype=np.int64))
        self._seed = seed
        self._parameters = _unpacked(parameters, FuzzedParameter)
        self._tensors = _unpacked(tensors, FuzzedTensor)
        self._constraints = constraints or ()
        self._rejections = 0
        self._total_generated = 0
        twice = {p.name for p in self._parameters} & {t.name for t in self._tensors}
        if twice:
            raise ValueError(f"Duplicate names in parameters and tensors: {twice}")

    def take(self, n: int) -> Iterator[tuple[dict, dict, dict]]:
        """Gives `n` sets: the tensors, what is to be known of them, and the
        parameters, each by name. Seeds the global generator.
        """
        import numpy as np

        state = np.random.RandomState(self._seed)
        hotaru.manual_seed(int(state.randint(low=0, high=2**63, dtype=np.int64)))
        for _ in range(n):
            params = self._generate(state)
            made = {t.name: t._make_tensor(params, state) for t in self._tensors}
            yield (
                {name: tensor for name, (tensor, _) in made.items()},
                {name: known for name, (_, known) in made.items()},
                params,
            )

    @property
    def rejection_rate(self) -> float:
        """Share of the parameters that were drawn and did not fit."""
        if not self._total_generated:
            return 0.0
        return self._rejections / self._total_generated

    def _generate(self, state) -> dict:
        """Parameters that fit.

        ValueError: none were found.
        """
        strict: dict = {}
        for _ in range(_ATTEMPTS):
            drawn = {}
            for p in self._parameters:
                if p.name not in strict:
                    drawn[p.name] = p.sample(state)
                    if p.strict:
                        strict[p.name] = drawn[p.name]
                else:
                    drawn[p.name] = strict[p.name]
            drawn = _without_aliases(drawn)
            self._total_generated += 1
            if all(fits(drawn) for fits in self._constraints) and all(
                t.satisfies_constraints(drawn) for t in self._tensors
            ):
                return drawn
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")


def _unpacked(values: list, kind: type) -> tuple:
    return tuple(
        itertools.chain.from_iterable([v] if isinstance(v, kind) else v for v in values)
    )


def _without_aliases(params: dict) -> dict:
    """ValueError: aliases go round in a circle."""
    found = dict(params)
    for name, value in params.items():
        seen = {name}
        while isinstance(value, ParameterAlias):
            if value.alias_to in seen:
                raise ValueError(f"ParameterAlias cycle detected\n{params}")
            seen.add(value.alias_to)
            value = params[value.alias_to]
        found[name] = value
    return found
