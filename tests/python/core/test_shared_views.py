"""Memory that several tensors look into moves and is copied as one."""

from __future__ import annotations

import copy

import hotaru.multiprocessing as mp


def test_views_go_along_into_shared_memory(hotaru):
    x = hotaru.arange(6.0)
    view, alias, part = x.view(2, 3), x.detach(), x[2:]
    part.share_memory_()
    for t in (x, view, alias, part):
        assert t.is_shared()
    x[3] = 30
    assert view[1, 0] == 30
    assert alias[3] == 30
    assert part[1] == 30
    assert part.storage_offset() == 2


def test_a_parameter_and_its_views_are_shared(hotaru):
    net = hotaru.nn.Linear(3, 2)
    flat = net.weight.detach().view(-1)
    net.share_memory()
    flat[0] = 5
    assert net.weight[0, 0] == 5


def test_a_numpy_array_stays_where_it_was(hotaru):
    x = hotaru.arange(1000.0)
    array = x.numpy()
    x.share_memory_()
    hotaru.ones(1000)
    assert array.tolist() == list(range(1000))
    assert x.tolist() == list(range(1000))


def test_a_queue_keeps_views_together(hotaru):
    x = hotaru.arange(4.0)
    view = x[1:]
    queue = mp.get_context("fork").SimpleQueue()
    queue.put(view)
    sent = queue.get()
    view[0] = 10
    assert x[1] == 10
    assert sent[0] == 10
    sent[1] = 20
    assert x[2] == 20


def test_copies_of_views_share_a_copy(hotaru):
    x = hotaru.arange(6.0)
    a, b, c = copy.deepcopy([x, x[1:], x.view(2, 3).t()])
    a[1] = 10
    assert b[0] == 10
    assert c[1, 0] == 10
    assert c.stride() == (1, 3)
    assert b.storage_offset() == 1
    assert x[1] == 1


def test_copies_of_other_dtypes_share_a_copy(hotaru):
    x = hotaru.zeros(4)
    a, b = copy.deepcopy([x, x.view(hotaru.int32)])
    a[0] = 1
    assert b[0] == 0x3F800000


def test_a_copy_is_a_leaf_with_its_gradient(hotaru):
    p = hotaru.ones(2, 3, requires_grad=True)
    (p * 2).sum().backward()
    q = copy.deepcopy(p)
    assert q.is_leaf
    assert q.requires_grad
    assert q.grad.tolist() == p.grad.tolist()
    q.data[0, 0] = 7
    q.grad[0, 0] = 9
    assert p[0, 0] == 1
    assert p.grad[0, 0] == 2


def test_tied_parameters_stay_tied(hotaru):
    net = hotaru.nn.Sequential(hotaru.nn.Linear(2, 2), hotaru.nn.Linear(2, 2))
    net[1].weight = net[0].weight
    twin = copy.deepcopy(net)
    assert twin[0].weight is twin[1].weight
    assert copy.deepcopy(hotaru.zeros(0, 3)).shape == (0, 3)
