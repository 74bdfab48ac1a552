"""hotaru's side of the operator database: runs the programs that PyTorch's side
wrote and says of each entry, dtype and form whether it is right.

Lines of JSON: [entry, dtype, form, "ok" or the first thing that is wrong].
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import signal
import sys
import warnings

from plain import Decoder

import hotaru as torch

# assert_close's, by dtype: relative and absolute.
TOLERANCES = {
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
}
_EXCEPTIONS = {
    name: getattr(torch, name, RuntimeError)
    for name in ("OutOfMemoryError", "AcceleratorError")
}


class WrongError(Exception):
    """What differs from PyTorch."""


def resolve(name: str):
    """A function by its public name."""
    value = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def call(name: str, args, kwargs):
    if name.endswith(".__get__"):
        return getattr(args[0], name.split(".")[-2])
    if name.endswith(".__set__"):
        return setattr(args[0], name.split(".")[-2], args[1])
    try:
        function = resolve(name)
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
    decode = Decoder(torch, inputs)
    for name, args, kwargs in case["steps"]:
        decode.results.append(call(name, decode(args), decode(kwargs)))
    return decode, decode(case["result"])


def tensors_in(value) -> list:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in tensors_in(v)]
    return []


def compare(got, want, values=True, scale=1.0, slack=0.0) -> None:
    if not isinstance(got, torch.Tensor):
        raise WrongError(f"a {type(got).__name__} where PyTorch has a tensor")
    if got.dtype != want.dtype:
        raise WrongError(f"dtype {got.dtype}, not {want.dtype}")
    if got.shape != want.shape:
        raise WrongError(f"shape {tuple(got.shape)}, not {tuple(want.shape)}")
    if not values:
        return
    name = str(want.dtype).split(".")[-1]
    if name in TOLERANCES:
        rtol, atol = TOLERANCES[name]
        wide = torch.complex128 if want.is_complex() else torch.float64
        a, b = got.detach().to(wide), want.to(wide)
        close = torch.isclose(
            a,
            b,
            rtol=rtol * scale,
            atol=atol * scale + 2 * slack,
            equal_nan=True,
        )
    else:
        close = got == want
    if not bool(close.all()):
        at = (~close).nonzero()[0].tolist()
        raise WrongError(
            f"value {got[tuple(at)].item()}, not {want[tuple(at)].item()}"
        )


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


def compare_all(got, want) -> None:
    for a, b in zip(got, want, strict=True):
        if a is None and b is not None and bool((b == 0).all()):
            continue  # PyTorch says zeros where nothing arrives
        if b is None and a is not None and bool((a == 0).all()):
            continue
        if (a is None) != (b is None):
            raise WrongError("a gradient that is None only on one side")
        if a is not None:
            compare(a, b, scale=10)


def check_error(case, tensors) -> None:
    names, text, pattern = case["error"]
    try:
        run(case, tensors)
    except WrongError:
        raise
    except Exception as error:
        if type(error).__name__ not in names:
            raise WrongError(
                f"{type(error).__name__}, not {names[0]}: {error}"
            ) from error
        if not re.search(pattern, str(error)):
            raise WrongError(f"says {str(error)!r}, not {text!r}") from error
        return
    raise WrongError(f"accepts what PyTorch refuses: {text}")


def check(case, tensors) -> None:
    if case["kind"] == "error":
        return check_error(case, tensors)
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


def describe(error: BaseException) -> str:
    text = str(error).split("\n")[0]
    if isinstance(error, WrongError):
        return text
    return f"{type(error).__name__}: {text}"


def judge(path: str) -> list[list[str]]:
    """[form, outcome] of each form in a file."""
    name = os.path.basename(path).removesuffix(".pt")
    entry, _, dtype = name.rpartition(".")
    stored = torch.load(path, weights_only=False)
    plain = json.loads(stored["plain"])
    outcomes: dict[str, str] = {}
    for text in plain["skipped"]:
        kind, _, reason = text.partition(": ")
        outcomes[kind] = f"needs {reason}"
    refusals = itertools.count()
    for case in plain["cases"]:
        kind = case["kind"]
        # Every error counts for itself, of the other forms the entry.
        key = f"error{next(refusals)}" if kind == "error" else kind
        if outcomes.get(key, "ok") != "ok":
            continue
        try:
            check(case, stored["tensors"])
            outcomes[key] = "ok"
        except Exception as error:
            outcomes[key] = describe(error)[:240]
    return [[entry, dtype, kind, text] for kind, text in outcomes.items()]


def work(paths: list[str], out: str, seconds: int) -> None:
    """Judges files in children, so that a crash or a hang costs one file."""
    while paths:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            for path in paths:
                os.write(write, b".")
                signal.alarm(seconds)
                lines = judge(path)
                signal.alarm(0)
                with open(out, "a", encoding="utf-8") as file:
                    file.writelines(json.dumps(x) + "\n" for x in lines)
            os._exit(0)
        os.close(write)
        begun = 0
        while data := os.read(read, 1 << 16):
            begun += len(data)
        os.close(read)
        _, status = os.waitpid(child, 0)
        if status == 0:
            return
        what = "hang" if os.WTERMSIG(status) == signal.SIGALRM else "crash"
        if os.WIFEXITED(status):
            what = "cannot be read"
        name = os.path.basename(paths[begun - 1]).removesuffix(".pt")
        entry, _, dtype = name.rpartition(".")
        with open(out, "a", encoding="utf-8") as file:
            file.write(json.dumps([entry, dtype, "forward", what]) + "\n")
        paths = paths[begun:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--dtype", action="append", required=True)
    parser.add_argument("--op", action="append")
    parser.add_argument("--part", default="0/1")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    names = sorted(
        name
        for name in os.listdir(options.folder)
        if name.endswith(".pt")
        and name.split(".")[-2] in options.dtype
        and (
            not options.op
            or name.rsplit(".", 2)[0] in options.op
            or any(name.startswith(op + ".") for op in options.op)
        )
    )[part::parts]
    open(options.out, "w").close()
    work([os.path.join(options.folder, n) for n in names], options.out, 60)


if __name__ == "__main__":
    sys.exit(main())
