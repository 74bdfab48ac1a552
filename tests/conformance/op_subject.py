"""hotaru's side of the operator database: runs the programs that PyTorch's side
wrote and says of each entry, dtype and form whether it is right.

Lines of JSON: [entry, dtype, form, "ok" or the first thing that is wrong].
With HOTARU_CONFORMANCE_DEVICE=cuda the tensors lie there; what PyTorch's CPU
makes of them stays the measure. Texts of errors name devices, so those cases
are left out then.
"""

from __future__ import annotations

import os
from contextlib import nullcontext

from judge import (
    LeftOutError,
    WrongError,
    check_raises,
    compare,
    compare_all,
    describe,
    main,
    tensors_in,
)
from on_device import DeviceDecoder, Mover, back
from plain import resolve

import hotaru as torch
from hotaru.autograd import forward_ad

DEVICE = os.environ.get("HOTARU_CONFORMANCE_DEVICE", "cpu")
DeviceDecoder.device = DEVICE


def placed(tensors) -> list:
    """Tensors where the operator shall run."""
    if DEVICE == "cpu":
        return tensors
    move = Mover(DEVICE)
    return [move(x) for x in tensors]


def seed() -> None:
    torch.manual_seed(0)
    if DEVICE == "cuda":
        torch.cuda.manual_seed(0)


def drew() -> bool:
    """True if random numbers were drawn that PyTorch's CPU does not draw."""
    return DEVICE == "cuda" and any(torch.cuda.get_rng_state()[8:].tolist())


def found(value) -> list:
    """The tensors of a result, where they can be compared."""
    tensors = tensors_in(value)
    if DEVICE == "cpu":
        return tensors
    return [back(x, DEVICE) for x in tensors]


def call(name: str, args, kwargs):
    if name.endswith(".__get__"):
        return getattr(args[0], name.split(".")[-2])
    if name.endswith(".__set__"):
        return setattr(args[0], name.split(".")[-2], args[1])
    try:
        function = resolve(torch, name)
    except (AttributeError, ImportError) as error:
        raise WrongError(f"missing {name}") from error
    args = [DEVICE if isinstance(x, str) and x == "cpu" else x for x in args]
    if kwargs.get("device") == "cpu":
        kwargs = {**kwargs, "device": DEVICE}
    return function(*args, **kwargs)


def run(case, tensors):
    """The program's result, and the decoder with its inputs."""
    first, count = case["first"], case["count"]
    inputs = placed(tensors[first : first + count])
    if case["kind"] == "grad":
        inputs = [
            x.detach().requires_grad_() if needs else x
            for x, needs in zip(inputs, case["needs"])
        ]
    if case["kind"] == "jvp":
        inputs = duals(case, tensors, inputs)
    decode = DeviceDecoder(torch, inputs)
    for name, args, kwargs in case["steps"]:
        decode.results.append(call(name, decode(args), decode(kwargs)))
    return decode, decode(case["result"])


def duals(case, tensors, inputs) -> list:
    """The inputs with the tangents that PyTorch's side gave them."""
    tangents = iter(placed([tensors[i] for i in case["tangents"]]))
    return [
        forward_ad.make_dual(x.detach(), next(tangents)) if needs else x
        for x, needs in zip(inputs, case["needs"])
    ]


def check_tangents(case, tensors) -> None:
    with forward_ad.dual_level():
        seed()
        _, result = run(case, tensors)
        got = [forward_ad.unpack_dual(y).tangent for y in tensors_in(result)]
        got = [None if x is None else found(x)[0] for x in got]
    if drew():
        return
    want = [None if i is None else tensors[i] for i in case["jvp"]]
    compare_all(got, want)


def check_gradients(case, tensors, decode, result) -> None:
    keep = lambda indices: [  # noqa: E731
        None if i is None else tensors[i] for i in indices
    ]
    inputs = [x for x in decode.tensors if x.requires_grad]
    outs = [y for y in tensors_in(result) if y.requires_grad]
    cotangents = placed(keep(case["cotangents"]))
    if len(outs) != len(cotangents):
        raise WrongError(f"{len(outs)} results need grad, not {len(cotangents)}")
    second = case.get("second_order")
    if second is not None:
        cotangents = [c.detach().requires_grad_() for c in cotangents]
    first = torch.autograd.grad(
        outs, inputs, cotangents, allow_unused=True, create_graph=second is not None
    )
    compare_all(on_host(first), keep(case["first_order"]))
    if second is None:
        return
    again = [g for g in first if g is not None and g.requires_grad]
    inputs += cotangents
    cotangents = placed(keep(case["second_cotangents"]))
    if len(again) != len(cotangents):
        raise WrongError(
            f"second: {len(again)} gradients need grad, not {len(cotangents)}"
        )
    try:
        got = torch.autograd.grad(again, inputs, cotangents, allow_unused=True)
        compare_all(on_host(got), keep(second))
    except Exception as error:
        raise WrongError(f"second: {describe(error)}") from error


def on_host(gradients) -> list:
    return [None if x is None else found(x)[0] for x in gradients]


def check(case, tensors) -> None:
    if case["kind"] == "error" and DEVICE != "cpu":
        raise LeftOutError
    with torch.device(DEVICE) if DEVICE != "cpu" else nullcontext():
        check_here(case, tensors)


def check_here(case, tensors) -> None:
    if case["kind"] == "error":
        return check_raises(case["error"], lambda: run(case, tensors))
    if case["kind"] == "jvp":
        return check_tangents(case, tensors)
    seed()
    decode, result = run(case, tensors)
    got = found(result)
    want = [tensors[i] for i in case["expected"]]
    if len(got) != len(want):
        raise WrongError(f"{len(got)} tensors, not {len(want)}")
    errors = case.get("errors", [])
    errors = errors + [0.0] * (len(got) - len(errors))
    for a, b, error in zip(got, want, errors):
        compare(a, b, case["values"] and not drew(), slack=error)
    if case["kind"] == "grad" and not drew():
        check_gradients(case, tensors, decode, result)


if __name__ == "__main__":
    main(__doc__, check)
