"""hotaru's side of the operator database: runs the programs that PyTorch's side
wrote and says of each entry, dtype and form whether it is right.

Lines of JSON: [entry, dtype, form, "ok" or the first thing that is wrong].
"""

from __future__ import annotations

from judge import (
    WrongError,
    check_raises,
    compare,
    compare_all,
    describe,
    main,
    tensors_in,
)
from plain import Decoder, resolve

import hotaru as torch
from hotaru.autograd import forward_ad


def call(name: str, args, kwargs):
    if name.endswith(".__get__"):
        return getattr(args[0], name.split(".")[-2])
    if name.endswith(".__set__"):
        return setattr(args[0], name.split(".")[-2], args[1])
    try:
        function = resolve(torch, name)
    except (AttributeError, ImportError) as error:
        raise WrongError(f"missing {name}") from error
    return function(*args, **kwargs)


def run(case, tensors):
    """The program's result, and the decoder with its inputs."""
    first, count = case["first"], case["count"]
    inputs = tensors[first : first + count]
    if case["kind"] == "grad":
        inputs = [
            x.detach().requires_grad_() if needs else x
            for x, needs in zip(inputs, case["needs"])
        ]
    if case["kind"] == "jvp":
        inputs = duals(case, tensors, inputs)
    decode = Decoder(torch, inputs)
    for name, args, kwargs in case["steps"]:
        decode.results.append(call(name, decode(args), decode(kwargs)))
    return decode, decode(case["result"])


def duals(case, tensors, inputs) -> list:
    """The inputs with the tangents that PyTorch's side gave them."""
    tangents = (tensors[i] for i in case["tangents"])
    return [
        forward_ad.make_dual(x.detach(), next(tangents)) if needs else x
        for x, needs in zip(inputs, case["needs"])
    ]


def check_tangents(case, tensors) -> None:
    with forward_ad.dual_level():
        torch.manual_seed(0)
        _, result = run(case, tensors)
        got = [forward_ad.unpack_dual(y).tangent for y in tensors_in(result)]
    want = [None if i is None else tensors[i] for i in case["jvp"]]
    compare_all(got, want)


def check_gradients(case, tensors, decode, result) -> None:
    keep = lambda indices: [  # noqa: E731
        None if i is None else tensors[i] for i in indices
    ]
    inputs = [x for x in decode.tensors if x.requires_grad]
    outs = [y for y in tensors_in(result) if y.requires_grad]
    cotangents = keep(case["cotangents"])
    if len(outs) != len(cotangents):
        raise WrongError(
            f"{len(outs)} results need grad, not {len(cotangents)}"
        )
    second = case.get("second_order")
    if second is not None:
        cotangents = [c.detach().requires_grad_() for c in cotangents]
    first = torch.autograd.grad(
        outs, inputs, cotangents, allow_unused=True,
        create_graph=second is not None,
    )  # fmt: skip
    compare_all(first, keep(case["first_order"]))
    if second is None:
        return
    again = [g for g in first if g is not None and g.requires_grad]
    inputs += cotangents
    cotangents = keep(case["second_cotangents"])
    if len(again) != len(cotangents):
        raise WrongError(
            f"second: {len(again)} gradients need grad, not {len(cotangents)}"
        )
    try:
        got = torch.autograd.grad(again, inputs, cotangents, allow_unused=True)
        compare_all(got, keep(second))
    except Exception as error:
        raise WrongError(f"second: {describe(error)}") from error


def check(case, tensors) -> None:
    if case["kind"] == "error":
        return check_raises(case["error"], lambda: run(case, tensors))
    if case["kind"] == "jvp":
        return check_tangents(case, tensors)
    torch.manual_seed(0)
    decode, result = run(case, tensors)
    got = tensors_in(result)
    want = [tensors[i] for i in case["expected"]]
    if len(got) != len(want):
        raise WrongError(f"{len(got)} tensors, not {len(want)}")
    errors = case.get("errors", [])
    errors = errors + [0.0] * (len(got) - len(errors))
    for a, b, error in zip(got, want, errors):
        compare(a, b, case["values"], slack=error)
    if case["kind"] == "grad":
        check_gradients(case, tensors, decode, result)


if __name__ == "__main__":
    main(__doc__, check)
