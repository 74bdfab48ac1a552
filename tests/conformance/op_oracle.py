"""PyTorch's side of the operator database: what every entry does, as files.

For each entry and dtype one file: samples as programs (see plain.py), their
results and gradients, and what wrong arguments raise. Runs under PyTorch.
"""

from __future__ import annotations

import torch
import torch.autograd.forward_ad as fwAD
from case_file import WIDE, Copies, File, main, snapshot, widened
from plain import NotPlainError
from recorder import record, tensors_in
from torch.testing._internal.common_methods_invocations import op_db

# Samples of an entry that count, and those of its other forms.
MOST_SAMPLES, MOST_OTHERS = 40, 6
LARGEST = 200_000  # elements of a sample
# Operators whose results were never written.
UNWRITTEN = ("empty", "new_empty", "resize_", "resize_as_")
_EXACT = (torch.float64, torch.complex128)


def by_direction(values, vectors=None):
    """Eigenvalues in an order that rounding does not change: LAPACK's is that
    in which it finds them.
    """
    order = (values.real * 0.6 + values.imag * 0.8).argsort(-1)
    sorted_values = values.gather(-1, order)
    if vectors is None:
        return sorted_values
    places = order.unsqueeze(-2).expand_as(vectors)
    return sorted_values, vectors.gather(-1, places).abs()


def by_product(U, S, Vh):
    """Singular vectors are unique only together, and where values are equal
    only as a space: compared are their products and that they are orthonormal.
    """
    k = S.shape[-1]
    product = (U[..., :k] * S.unsqueeze(-2)) @ Vh[..., :k, :]
    return S, product, U.mH @ U, Vh @ Vh.mH


def by_product_of_v(found):
    U, S, V = found
    return by_product(U, S, V.mH)


# Comparable parts of results that are unique only up to signs, phases or an
# order: these of values, of gradients what the database says, which PyTorch
# differentiates for the same reason.
UNIQUE = {
    "linalg.eig": lambda found: by_direction(*found),
    "linalg.eigvals": by_direction,
    "linalg.eigh": lambda found: (found[0], found[1].abs()),
    "linalg.svd": lambda found: by_product(*found),
    "svd": by_product_of_v,
    "svd_lowrank": by_product_of_v,
    "pca_lowrank": by_product_of_v,
}
_UNIQUE_GRADIENTS = ("linalg.eig", "linalg.eigvals")


def entry_name(op) -> str:
    variant = op.variant_test_name
    return f"{op.name}.{variant}" if variant else op.name


def same(a, b) -> bool:
    xs = [x for _, x in tensors_in((a,))]
    ys = [y for _, y in tensors_in((b,))]
    return all(
        x.shape == y.shape and torch.equal(x.nan_to_num(), y.nan_to_num())
        if x.dtype != torch.bool and x.layout == torch.strided
        else torch.equal(x, y)
        for x, y in zip(xs, ys)
    )


def errors_of_torch(op, sample, result, finish) -> list[float]:
    """How far each result is, at most, from that of the same in 64 bits: a
    difference up to twice that much says nothing against the other side.
    """
    got = [x for _, x in tensors_in((result,))]
    try:
        torch.manual_seed(0)
        wide = op.op(*widened([sample.input, *sample.args]), **widened(sample.kwargs))
        wide = finish(wide) if finish else wide
    except Exception:
        return [0.0] * len(got)
    exact = [x for _, x in tensors_in((wide,))]
    out = []
    for a, b in zip(got, exact):
        error = 0.0
        if a.dtype in WIDE and b.shape == a.shape and a.numel():
            gap = (a.to(b.dtype) - b).abs().double()
            gap = gap[gap.isfinite()]
            error = float(gap.max()) if gap.numel() else 0.0
        out.append(error)
    return out


def run_form(file, kind, function, args, kwargs, values=True, finish=None):
    """Records one call and its result; what PyTorch refuses does not count."""
    before = Copies()
    before(list(args))
    before(dict(kwargs))

    torch.manual_seed(0)
    try:
        recorder, result, plain = record(function, args, kwargs, finish)
    except NotPlainError as error:
        file.skipped.append(f"{kind}: {error}")
        return None
    except Exception:
        return None
    try:
        saved = [
            before.made[id(x)] if id(x) in before.made else snapshot(x)
            for x in recorder.encode.tensors
        ]
        case = file.add(kind, recorder, saved, result, plain, values=values)
    except NotPlainError as error:
        file.skipped.append(f"{kind}: {error}")
        return None
    return case, recorder, result


def add_gradients(file, op, sample) -> None:
    """First and second derivatives of a sample."""
    finish = sample.output_process_fn_grad
    if op.name in _UNIQUE_GRADIENTS:
        finish = UNIQUE[op.name]
    made = run_form(
        file, "grad", op.op, (sample.input, *sample.args), sample.kwargs, finish=finish
    )
    if not made:
        return
    case, recorder, result = made
    inputs = [x for x in recorder.encode.tensors if x.requires_grad]
    outs = [y for _, y in tensors_in((result,)) if y.requires_grad]
    if not inputs or not outs:
        file.cases.remove(case)
        return
    torch.manual_seed(1)
    cotangents = [torch.randn_like(y.detach()) for y in outs]
    case["cotangents"] = file.keep(cotangents)
    if op.supports_gradgrad:  # second derivatives are of both
        for c in cotangents:
            c.requires_grad_()
    try:
        first = torch.autograd.grad(
            outs,
            inputs,
            cotangents,
            allow_unused=True,
            create_graph=op.supports_gradgrad,
        )
    except Exception:
        file.cases.remove(case)
        return
    case["first_order"] = file.keep(first)
    if not op.supports_gradgrad:
        return
    again = [g for g in first if g is not None and g.requires_grad]
    if not again:
        return
    inputs += cotangents
    cotangents = [torch.randn_like(y.detach()) for y in again]
    try:
        second = torch.autograd.grad(again, inputs, cotangents, allow_unused=True)
    except Exception:
        return
    case["second_cotangents"] = file.keep(cotangents)
    case["second_order"] = file.keep(second)


def by_identity(value, places: dict):
    """`value` with the tensors that `places` knows by id replaced."""
    if isinstance(value, torch.Tensor):
        return places.get(id(value), value)
    if type(value) in (tuple, list):
        return type(value)(by_identity(v, places) for v in value)
    if type(value) is dict:
        return {k: by_identity(v, places) for k, v in value.items()}
    return value


def add_tangents(file, op, sample) -> None:
    """Jacobian-vector products of a sample, by forward mode."""
    finish = sample.output_process_fn_grad
    if op.name in _UNIQUE_GRADIENTS:
        finish = UNIQUE[op.name]
    args, kwargs = (sample.input, *sample.args), sample.kwargs
    made = run_form(file, "jvp", op.op, args, kwargs, finish=finish)
    if not made:
        return
    case, recorder, _ = made
    inputs = [x for x in recorder.encode.tensors if x.requires_grad]
    torch.manual_seed(2)
    tangents = [torch.randn_like(x.detach()) for x in inputs]
    with fwAD.dual_level():
        duals = {id(x): fwAD.make_dual(x.detach(), v) for x, v in zip(inputs, tangents)}
        torch.manual_seed(0)
        try:
            result = op.op(*by_identity(args, duals), **by_identity(kwargs, duals))
            found = [
                fwAD.unpack_dual(y).tangent
                for _, y in tensors_in((finish(result) if finish else result,))
            ]
        except Exception:
            found = []
    if not inputs or not any(v is not None for v in found):
        file.cases.remove(case)
        return
    case["tangents"] = file.keep(tangents)
    case["jvp"] = file.keep(found)


def add_out(file, op, args, kwargs, result, finish) -> None:
    given = Copies()
    outs = Copies()
    args, kwargs = given(list(args)), given(dict(kwargs))
    result = outs(tuple(result) if isinstance(result, tuple) else result)
    if not list(tensors_in((result,))):
        return
    run_form(file, "out", op.op, args, {**kwargs, "out": result}, finish=finish)


def add_errors(file, op) -> None:
    for error in op.error_inputs("cpu"):
        sample = error.sample_input
        args = (sample.input, *sample.args)
        try:
            record(op.op, args, sample.kwargs)
        except NotPlainError as reason:
            file.skipped.append(f"error: {reason}")
        except Exception as raised:
            recorder = getattr(raised, "recorder", None)
            if not isinstance(raised, error.error_type) or not recorder:
                continue
            try:
                saved = [snapshot(x) for x in recorder.encode.tensors]
            except NotPlainError as reason:
                file.skipped.append(f"error: {reason}")
                continue
            case = file.add("error", recorder, saved, (), None)
            case["error"] = [
                [t.__name__ for t in type(raised).__mro__],
                str(raised),
                error.error_regex,
            ]


def small_samples(op, dtype) -> list:
    """Samples of an entry whose tensors are small enough to be written."""
    samples = []
    for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
        sizes = [
            x.numel()
            for _, x in tensors_in(
                [sample.input, *sample.args, *sample.kwargs.values()]
            )
        ]
        if sum(sizes) <= LARGEST:
            samples.append(sample)
        if len(samples) == MOST_SAMPLES:
            break
    return samples


def write_entry(op, dtype, path) -> None:
    file = File()
    torch.manual_seed(0)
    differentiable = (
        op.supports_autograd
        and dtype in _EXACT
        and dtype in op.supported_backward_dtypes("cpu")
    )
    samples = small_samples(op, dtype)
    written = not op.name.startswith(UNWRITTEN)
    method, inplace = op.get_method(), op.get_inplace()
    finish = UNIQUE.get(op.name)
    for index, sample in enumerate(samples):
        args = (sample.input, *sample.args)
        torch.manual_seed(0)
        try:
            once = op.op(*Copies()(list(args)), **Copies()(dict(sample.kwargs)))
            torch.manual_seed(0)
            twice = op.op(*Copies()(list(args)), **Copies()(dict(sample.kwargs)))
            values = written and same(once, twice)
        except Exception:
            values = written
        copies = Copies()
        made = run_form(
            file,
            "forward",
            op.op,
            copies(list(args)),
            copies(dict(sample.kwargs)),
            values,
            finish,
        )
        if not made:
            continue
        errors = [0.0]
        if dtype in WIDE and values:
            errors = errors_of_torch(op, sample, made[2], finish)
        made[0]["errors"] = errors
        if index >= MOST_OTHERS:
            continue
        others = len(file.cases)
        for kind, form in (("method", method), ("inplace", inplace)):
            if form is None or not isinstance(sample.input, torch.Tensor):
                continue
            if kind == "inplace" and sample.broadcasts_input:
                continue
            copies = Copies()
            run_form(
                file,
                kind,
                form,
                copies(list(args)),
                copies(dict(sample.kwargs)),
                values,
                finish,
            )
        if op.supports_out and values:
            add_out(file, op, args, sample.kwargs, once, finish)
        for case in file.cases[others:]:
            case["errors"] = errors
    if differentiable:
        torch.manual_seed(0)
        for index, sample in enumerate(
            op.sample_inputs("cpu", dtype, requires_grad=True)
        ):
            if index == MOST_OTHERS * 2:
                break
            add_gradients(file, op, sample)
            if op.supports_forward_ad:
                add_tangents(file, op, sample)
    if op.error_inputs_func is not None and dtype == torch.float32:
        add_errors(file, op)
    file.write(path)


if __name__ == "__main__":
    main(
        __doc__,
        {entry_name(op): op for op in op_db},
        lambda op: op.supported_dtypes("cpu"),
        write_entry,
    )
