"""`init.trunc_normal_`: it ends, stays within its bounds and has the tail."""

from __future__ import annotations

import pytest

import hotaru

NAN, INF = float("nan"), float("inf")


@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
@pytest.mark.parametrize(
    "options",
    [
        {"std": NAN},
        {"mean": NAN},
        {"mean": INF},
        {"mean": -INF},
        {"std": INF},
        {"mean": 1e30},
        {"mean": -1e30},
        {"std": 1e-30},
        {"mean": 50.0},
        {"a": 1.0, "b": 1.0},
        {"mean": 3.0, "std": 1e-3},
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_every_mean_and_deviation_ends(options, dtype):
    t = hotaru.full((50,), 9.0, dtype=getattr(hotaru, dtype))
    hotaru.nn.init.trunc_normal_(t, **options)
    assert (t >= options.get("a", -2.0)).all()
    assert (t <= options.get("b", 2.0)).all()


@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
@pytest.mark.parametrize("side", [1, -1])
def test_far_from_the_mean_is_the_normals_tail(side):
    hotaru.manual_seed(1)
    t = hotaru.empty(4000, dtype=hotaru.float64)
    hotaru.nn.init.trunc_normal_(t, mean=side * 50.0)
    # The tail 48 deviations away is an exponential one of that rate.
    assert abs((2 - side * t).mean().item() - 1 / 48) < 2e-3
