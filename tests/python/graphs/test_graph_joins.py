"""Joins of graphs are written into the result at once, where they may be."""

import pytest

import hotaru as torch

pytestmark = pytest.mark.cpu_graphs("other devices join by one call")


def captured(run):
    """A graph of run() and its result, which a replay filled."""
    graph = torch.cpu.Graph()
    with torch.no_grad(), torch.cpu.graph(graph):
        out = run()
    graph.replay()
    return graph, out


def check(run, joins, copies=None):
    """The graph computes what run() does, with so many joins and copies."""
    with torch.no_grad():
        want = run()
    graph, got = captured(run)
    assert torch.equal(got, want)
    graph.replay()
    assert torch.equal(got, want)
    names = [name for name, _ in graph._nodes()]
    assert names.count("cat") == joins
    if copies is not None:
        assert names.count("copy_") == copies


# Calls that no pass changes or joins to others: sorted rows.
def made(x):
    return torch.sort(x, -1).values


@pytest.fixture
def x():
    torch.manual_seed(0)
    return torch.randn(16, 32)


def test_parts_are_written_into_the_result(x):
    check(lambda: made(torch.cat([made(x), made(-x)])), 0, 0)


def test_joins_that_go_on_with_each_other(x):
    """As dense blocks do: each result is the beginning of the next one."""

    def run():
        parts = [made(x)]
        for i in range(4):
            parts.append(made(torch.cat(parts)[:16] * (i + 2)))
        return made(torch.cat(parts))

    check(run, 0, 0)


def test_parts_of_joins_between(x):
    def run():
        a, b, c = made(x), made(-x), made(2 * x)
        inner = torch.cat([b, c])
        return made(torch.cat([a, b, c])) + made(inner).sum()

    check(run, 0, 0)


def test_a_part_of_two_joins_is_copied_into_one(x):
    def run():
        a, b, c = made(x), made(-x), made(2 * x)
        first = made(torch.cat([a, b]))
        return made(torch.cat([c, b])) + first.sum()

    check(run, 0, 1)


def test_the_same_part_twice_and_what_comes_from_outside(x):
    def twice():
        a = made(x)
        return made(torch.cat([a, a]))

    check(twice, 0, 1)
    check(lambda: made(torch.cat([made(x), x])), 0, 1)
    check(lambda: made(torch.cat([x, x])), 1)


def test_what_changes_afterwards_is_not_moved(x):
    def part():
        a = made(x)
        joined = torch.cat([a, made(-x)])
        a.index_fill_(0, torch.tensor([1, 3]), 7.0)
        return made(joined) + a.sum()

    check(part, 0, 1)

    def result():
        a = made(x)
        joined = torch.cat([a, made(-x)])
        joined.index_fill_(0, torch.tensor([1, 3]), 7.0)
        return made(joined) + a.sum()

    check(result, 1)


def test_a_part_that_changes_between_two_joins(x):
    def run():
        a, b = made(x), made(-x)
        first = torch.cat([a, b])
        b.index_fill_(0, torch.tensor([1, 3]), 7.0)
        return made(torch.cat([a, b, made(2 * x)])) + made(first).sum()

    check(run, 1)


def test_rows_beside_each_other_stay_joins(x):
    check(lambda: made(torch.cat([made(x), made(-x)], 1)), 1)
    one = torch.randn(1, 3, 8)
    check(lambda: made(torch.cat([made(one), made(-one)], 1)), 0)


def test_parts_that_begin_within_lines_are_copied():
    x, y = torch.randn(3, 5), torch.randn(4, 5)
    check(lambda: made(torch.cat([made(x), made(y)])), 0, 1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float16, torch.bool])
def test_other_dtypes_and_no_elements(dtype):
    x = torch.arange(64).reshape(2, 32).to(dtype)
    none = torch.empty(0, 32, dtype=dtype)
    check(lambda: made(torch.cat([made(x), none, made(x)])), 0)


def test_views_of_parts_and_of_results(x):
    def run():
        a, b = made(x), made(-x)
        joined = torch.cat([a, b])
        return made(joined[8:24].t()) + a[3:5].sum() + b.t()[4].sum()

    check(run, 0, 0)


def test_the_result_of_the_graph_is_no_place_for_parts(x):
    check(lambda: torch.cat([made(x), made(-x)]), 1)


def test_branches_side_by_side():
    torch.manual_seed(0)
    x = torch.randn(1, 64, 14, 14)
    convs = [torch.nn.Conv2d(64, 32, k, padding=k // 2) for k in (1, 3, 5)]
    last = torch.nn.Conv2d(96, 16, 1)

    def run():
        return last(torch.cat([c(x).relu() for c in convs], 1)).exp()

    with torch.no_grad():
        want = run()
    saved = torch.get_num_threads()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            graph, got = captured(run)
            assert torch.allclose(got, want, rtol=1e-4, atol=1e-5)
            assert "cat" not in {name for name, _ in graph._nodes()}
    finally:
        torch.set_num_threads(saved)
