"""Compares with what PyTorch's side of a suite wrote."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import signal
import sys
import warnings

from plain import decoder

if "torch" in sys.modules:  # of files that hotaru wrote, PyTorch judges
    import torch
else:
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


class WrongError(Exception):
    """Difference from PyTorch."""


class LeftOutError(Exception):
    """The case has no meaning here, and does not count."""


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
            a, b, rtol=rtol * scale, atol=atol * scale + 2 * slack, equal_nan=True
        )
    else:
        close = got == want
    if not bool(close.all()):
        at = (~close).nonzero()[0].tolist()
        raise WrongError(f"value {got[tuple(at)].item()}, not {want[tuple(at)].item()}")


def compare_values(got, want, **how) -> None:
    """The same for plain data with tensors in it."""
    if isinstance(want, torch.Tensor):
        return compare(got, want, **how)
    if isinstance(want, dict):
        if list(got) != list(want):
            raise WrongError(f"names {list(got)}, not {list(want)}"[:200])
        for name, value in want.items():
            try:
                compare_values(got[name], value, **how)
            except WrongError as error:
                raise WrongError(f"{name}: {error}") from None
    elif isinstance(want, (tuple, list)):
        if not isinstance(got, (tuple, list)):
            raise WrongError(f"a {type(got).__name__}, not {want!r}"[:200])
        if len(got) != len(want):
            raise WrongError(f"{len(got)} values, not {len(want)}")
        for a, b in zip(got, want):
            compare_values(a, b, **how)
    elif isinstance(want, float) and isinstance(got, float):
        if not math.isclose(got, want, rel_tol=1e-9) and got != want:
            raise WrongError(f"{got!r}, not {want!r}")
    elif type(got) is not type(want) or got != want:
        raise WrongError(f"{got!r}, not {want!r}"[:200])


def compare_all(got, want) -> None:
    """None is not zeros, which a graph has that names an input: second
    derivatives exist, and optimizers pass over what has none.
    """
    for a, b in zip(got, want, strict=True):
        if b is None and a is not None and bool((a == 0).all()):
            continue  # PyTorch's graph ends, where ours says zeros
        if (a is None) != (b is None):
            raise WrongError("a gradient that is None only on one side")
        if a is not None:
            compare(a, b, scale=10)


def check_raises(error, function) -> None:
    """Checks that `function` raises what PyTorch does: [names of its classes,
    its text, a pattern that counts].
    """
    names, text, pattern = error
    try:
        function()
    except WrongError:
        raise
    except Exception as raised:
        if type(raised).__name__ not in names:
            raise WrongError(
                f"{type(raised).__name__}, not {names[0]}: {raised}"
            ) from raised
        if not re.search(pattern, str(raised)):
            raise WrongError(f"says {str(raised)!r}, not {text!r}") from raised
        return
    raise WrongError(f"accepts what PyTorch refuses: {text}")


def check_trial(trials: dict):
    """Checks a case by the trial of its kind against what PyTorch found."""

    def check(case, tensors) -> None:
        decode = decoder(torch, case, tensors)
        trial = lambda: trials[case["kind"]](torch, case, decode)  # noqa: E731
        if case["kind"] == "error":
            with warnings.catch_warnings():
                if case["warns"]:
                    warnings.simplefilter("error", UserWarning)
                return check_raises(case["error"], trial)
        want = decoder(torch, case["want"], tensors)(case["want"]["found"])
        scale = 10 if case["kind"] == "grad" else 1
        compare_values(trial(), want, scale=scale, slack=case["slack"])

    return check


def describe(error: BaseException) -> str:
    text = str(error).split("\n")[0]
    if isinstance(error, WrongError):
        return text
    return f"{type(error).__name__}: {text}"


def judge(path: str, check) -> list[list[str]]:
    """[entry, dtype, form, outcome] of each form in a file."""
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
        except LeftOutError:
            continue
        except Exception as error:
            outcomes[key] = describe(error)[:240]
    return [[entry, dtype, kind, text] for kind, text in outcomes.items()]


def work(paths: list[str], out: str, seconds: int, check) -> None:
    """Judges files in children, so that a crash or a hang costs one file."""
    while paths:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            for path in paths:
                os.write(write, b".")
                signal.alarm(seconds)
                lines = judge(path, check)
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


def main(description: str, check) -> None:
    """The command line of hotaru's side: `check(case, tensors)` raises for what
    differs from PyTorch.
    """
    parser = argparse.ArgumentParser(description=description)
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
    work([os.path.join(options.folder, n) for n in names], options.out, 60, check)
