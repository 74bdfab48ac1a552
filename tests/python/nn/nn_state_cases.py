"""Cases of what modules hold: conversion, state, copies, gradients."""

from __future__ import annotations

import copy
import pickle

from nn_scope import Cases, net
from outcomes import tensor

cases = Cases()
CASES = cases.found


cases.each(
    "conversion",
    "{n: str(v.dtype) for n, v in m.double().state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.half().state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.bfloat16().float().state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.to(lib.float64).state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.to('cpu', lib.float16).state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.to(dtype=lib.float16).state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.to(t.double()).state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.type(lib.float64).state_dict().items()}",
    "m.to() is m, m.to(None) is m, m.cpu() is m",
    "m.to(lib.int32)",
    "m.to(lib.complex64).scale",
    "m.to(3, 4, 5, 6)",
    "m.to([1])",
    "m.to(lib.float64, 'cpu')",
    "m.to('cpu', 3)",
    "m.to(foo=3)",
    "m.to('cpu', device='cpu')",
    "m.to('cpu', non_blocking=True) is m",
    "m.to('foo')",
    "(lambda q: (m.double(), m.scale is q))(m.scale)[1]",
    "m.to_empty(device='cpu').scale.shape",
)


cases.each(
    "modes",
    "m.eval().training, m.fc.training, m.train().blocks[2].training",
    "m.train(3)",
    "m.train(False).blocks.training",
    "[q.requires_grad for q in m.requires_grad_(False).parameters()]",
    "m.zero_grad()",
)


cases.each(
    "state",
    "m.state_dict()",
    "m.state_dict()._metadata",
    "list(m.state_dict(prefix='q.'))",
    "m.state_dict(keep_vars=True)['scale'].requires_grad",
    "m.state_dict()['scale'].requires_grad",
    "m.state_dict(OrderedDict(), 'z.')",
    "m.load_state_dict(m.state_dict())",
    "m.load_state_dict({})",
    "m.load_state_dict(3)",
    "m.load_state_dict({}, strict=False)",
    "m.load_state_dict({'scale': lib.ones(4), 'z': 3}, strict=False)",
    "m.load_state_dict({'scale': 3, 'blocks.0.foo.bar': t, 'fc.z': t, 'q.z': t})",
    "m.load_state_dict({**m.state_dict(), 'scale': lib.zeros(3)}), m.scale",
    "m.load_state_dict({**m.state_dict(), 'scale': lib.zeros(3).double()}), m.scale",
    "m.load_state_dict({k: v.double() for k, v in m.state_dict().items()},"
    " assign=True), m.scale, m.count",
    "m.load_state_dict({k: v for k, v in m.state_dict().items() if 'num' not in k})",
)


@cases.case
def extra_state(lib):
    class Extra(lib.nn.Module):
        def get_extra_state(self):
            return {"v": 3}

        def set_extra_state(self, state):
            self.v = state["v"]

    m = lib.nn.Sequential(Extra(), lib.nn.ReLU())
    state = m.state_dict()
    m.load_state_dict(state)
    found = [list(state), m[0].v]
    try:
        m.load_state_dict({})
    except RuntimeError as error:
        found.append(str(error))
    return found


@cases.case
def copies(lib):
    m = net(lib)
    m.eval()
    twin = copy.deepcopy(m)
    with lib.no_grad():
        twin.scale.zero_()
    shared = twin.shared is twin.fc and twin.fc is not m.fc
    return shared, m.scale, twin.scale, twin.training, list(twin.state_dict())


@cases.case
def pickles(lib):
    m = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.BatchNorm1d(2), lib.nn.ReLU())
    m[0].register_buffer("x", lib.ones(1), persistent=False)
    twin = pickle.loads(pickle.dumps(m))
    same = all(
        bool((a == b).all()) for a, b in zip(m.state_dict().values(), twin.parameters())
    )
    return repr(twin), same, twin[0].weight.requires_grad, twin[0].x


@cases.case
def parameter_pickle_keeps_attributes(lib):
    p = lib.nn.Parameter(tensor(lib, 2), requires_grad=False)
    p.note = "kept"
    twin = pickle.loads(pickle.dumps(p))
    return type(twin).__name__, twin.requires_grad, twin.note, twin


@cases.case
def zero_grad(lib):
    m = lib.nn.Linear(2, 1)
    m(tensor(lib, 2)).backward()
    m.zero_grad(set_to_none=False)
    kept = [p.grad for p in m.parameters()]
    m.zero_grad()
    return kept, [p.grad for p in m.parameters()]


@cases.case
def clipping(lib):
    utils = lib.nn.utils
    m = lib.nn.Linear(2, 2)
    m(tensor(lib, 3, 2)).sum().backward()
    found = [utils.clip_grad_norm_(m.parameters(), 0.5), m.weight.grad.clone()]
    found += [utils.clip_grad_norm_(m.weight, 0.1, norm_type=float("inf"))]
    found += [m.weight.grad.clone(), utils.clip_grad_norm_([], 1.0)]
    utils.clip_grad_value_(m.parameters(), 0.01)
    found += [m.bias.grad.clone()]
    m.bias.grad[0] = float("nan")
    try:
        utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)
    except RuntimeError as error:
        found.append(str(error))
    return found
