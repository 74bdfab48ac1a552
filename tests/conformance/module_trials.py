"""Trials of a module, on either side: the same program over plain data.

A case says how the module is made ("make"), its state, its dtype and what it is
called with; each trial returns plain data with tensors in it.
"""

from __future__ import annotations


def tensors_in(torch, value) -> list:
    """The tensors of a result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [x for v in value.values() for x in tensors_in(torch, v)]
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in tensors_in(torch, v)]
    return []


def wave(torch, x):
    """Cotangents of a result: numbers that no generator has to agree on."""
    steps = torch.arange(1, x.numel() + 1, dtype=torch.float64)
    return steps.cos().reshape(x.shape).to(x.dtype)


def make(torch, case, decode):
    torch.manual_seed(0)
    module = decode(case["make"]).to(decode(case["dtype"]))
    return module.train(case["training"])


def loaded(torch, case, decode):
    module = make(torch, case, decode)
    module.load_state_dict(decode(case["state"]))
    return module


def call(torch, case, decode, module):
    torch.manual_seed(0)
    return module(*decode(case["args"]), **decode(case["kwargs"]))


def initial(torch, case, decode):
    """The state that a seed gives, and what is in the module."""
    module = make(torch, case, decode)
    if case["lazy"]:
        call(torch, case, decode, module)
    return {
        "state": dict(module.state_dict()),
        "parameters": [
            [name, x.requires_grad] for name, x in module.named_parameters()
        ],
        "modules": [[name, type(x).__name__] for name, x in module.named_modules()],
    }


def described(torch, case, decode):
    """The text, of a lazy module before and after it has seen an input."""
    module = make(torch, case, decode)
    before = repr(module)
    if case["lazy"]:
        call(torch, case, decode, module)
    return [before, repr(module)]


def forward(torch, case, decode):
    """The result."""
    return call(torch, case, decode, loaded(torch, case, decode))


def after(torch, case, decode):
    """The state behind a forward pass."""
    module = loaded(torch, case, decode)
    call(torch, case, decode, module)
    return dict(module.state_dict())


def gradients(torch, case, decode):
    """Gradients of the inputs and of the parameters, by name."""
    module = loaded(torch, case, decode)
    inputs = {f"input {i}": x for i, x in enumerate(decode.tensors) if x.requires_grad}
    inputs |= dict(module.named_parameters())
    inputs = {name: x for name, x in inputs.items() if x.requires_grad}
    outs = [
        y
        for y in tensors_in(torch, call(torch, case, decode, module))
        if y.requires_grad
    ]
    found = {}
    for order in ("first", "second")[: case["orders"]]:
        grads = (
            torch.autograd.grad(
                outs,
                list(inputs.values()),
                [wave(torch, y) for y in outs],
                allow_unused=True,
                create_graph=order == "first",
            )
            if outs
            else [None] * len(inputs)
        )
        # Zeros and nothing at all are the same here.
        found[order] = {
            name: torch.zeros_like(x) if g is None else g
            for (name, x), g in zip(inputs.items(), grads)
        }
        outs = [g for g in grads if g is not None and g.requires_grad]
    return found


def refused(torch, case, decode):
    """Records what raises: making the module, or calling it."""
    return call(torch, case, decode, make(torch, case, decode))


TRIALS = {
    "init": initial,
    "repr": described,
    "train": forward,
    "eval": forward,
    "state": after,
    "grad": gradients,
    "error": refused,
}
