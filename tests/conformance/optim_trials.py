"""Trials of an optimizer, on either side: the same program over plain data.

A case says how it is made ("make": its class and named arguments), over which
parameters, and their gradients at each step.
"""

from __future__ import annotations

from plain import resolve


def parameters(torch, case, decode) -> list:
    return [torch.nn.Parameter(x.detach().clone()) for x in decode(case["params"])]


def make(torch, case, decode, params):
    kind = resolve(torch, case["optimizer"])
    return kind(params, **decode(case["options"]))


def sparse(torch, x):
    """The rows that are not zero, as a sparse gradient has them."""
    rows = (x != 0).any(-1).nonzero().reshape(1, -1)
    return torch.sparse_coo_tensor(rows, x[rows[0]], x.shape)


def step(torch, case, decode, optimizer, params, steps) -> None:
    """Steps with the gradients of the case, or, where an optimizer asks for
    it, with those of a closure.
    """

    def closure():
        optimizer.zero_grad()
        loss = sum(
            (i + 1) * ((p - i) ** 2).sum() + 0.1 * (p**4).sum()
            for i, p in enumerate(params)
        )
        loss.backward()
        return loss

    for k in steps:
        if case["closure"]:
            optimizer.step(closure)
            continue
        for p, g in zip(params, decode(case["grads"])[k]):
            p.grad = sparse(torch, g) if case["sparse"] else g.detach().clone()
        optimizer.step()


def initial(torch, case, decode):
    """Options and state before the first step."""
    params = parameters(torch, case, decode)
    return plain_state(make(torch, case, decode, params))


def described(torch, case, decode):
    params = parameters(torch, case, decode)
    return repr(make(torch, case, decode, params))


def plain_state(optimizer):
    state = optimizer.state_dict()
    items = state["state"].items()
    return {
        # In whatever order an optimizer came to note them.
        "state": {k: dict(sorted(v.items())) for k, v in items},
        "groups": [dict(group) for group in state["param_groups"]],
    }


def stepped(torch, case, decode):
    """The parameters behind each step."""
    params = parameters(torch, case, decode)
    optimizer = make(torch, case, decode, params)
    found = []
    for k in range(case["steps"]):
        step(torch, case, decode, optimizer, params, [k])
        found.append([p.detach().clone() for p in params])
    return found


def state(torch, case, decode):
    params = parameters(torch, case, decode)
    optimizer = make(torch, case, decode, params)
    step(torch, case, decode, optimizer, params, range(case["steps"]))
    return plain_state(optimizer)


def groups(torch, case, decode):
    """Two groups with options of their own; the second one is added later."""
    params = parameters(torch, case, decode)
    optimizer = make(torch, case, decode, [{"params": params[:1], "lr": 0.05}])
    step(torch, case, decode, optimizer, params, [0])
    optimizer.add_param_group({"params": params[1:], "lr": 0.01, "weight_decay": 0.1})
    step(torch, case, decode, optimizer, params, range(1, case["steps"]))
    return [[p.detach() for p in params], plain_state(optimizer)["groups"]]


def resumed(torch, case, decode):
    """Another optimizer goes on with the state of the first."""
    params = parameters(torch, case, decode)
    first = make(torch, case, decode, params)
    half = case["steps"] // 2
    step(torch, case, decode, first, params, range(half))
    copies = [torch.nn.Parameter(p.detach().clone()) for p in params]
    second = make(torch, case, decode, copies)
    second.load_state_dict(first.state_dict())
    step(torch, case, decode, second, copies, range(half, case["steps"]))
    return [[p.detach() for p in copies], plain_state(second)]


def scheduled(torch, case, decode):
    """Learning rates, momenta and the schedulers' states at each step."""
    params = parameters(torch, case, decode)
    optimizer = make(torch, case, decode, params)
    made = decode(case["schedulers"])
    schedulers = [
        resolve(torch, name)(optimizer, *args, **kwargs) for name, args, kwargs in made
    ]
    found = []
    for k in range(case["steps"]):
        step(torch, case, decode, optimizer, params, [k])
        for scheduler, (name, *_) in zip(schedulers, made):
            if name.endswith("ReduceLROnPlateau"):
                scheduler.step(1.0 + k % 3)
            else:
                scheduler.step()
        found.append(
            [
                [float(group["lr"]) for group in optimizer.param_groups],
                [
                    {
                        name: value
                        for name, value in scheduler.state_dict().items()
                        if isinstance(value, (int, float, list, str))
                    }
                    for scheduler in schedulers
                ],
            ]
        )
    return [found, [p.detach() for p in params]]


def mapped(params, function):
    """A list of tensors, or of groups of them, with the function of each."""
    if isinstance(params, list):
        return [mapped(p, function) for p in params]
    if isinstance(params, dict):
        return {k: mapped(v, function) for k, v in params.items()}
    return function(params) if hasattr(params, "is_sparse") else params


def refused(torch, case, decode):
    """Records what raises: making the optimizer, or its step."""
    params = decode(case["params"])
    if case["sparse_params"]:
        params = mapped(params, lambda x: x.to_sparse())
    optimizer = make(torch, case, decode, params)
    if case["steps"]:
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = torch.ones_like(p)
        optimizer.step()


TRIALS = {
    "init": initial,
    "repr": described,
    "step": stepped,
    "state": state,
    "groups": groups,
    "resume": resumed,
    "schedule": scheduled,
    "error": refused,
}
