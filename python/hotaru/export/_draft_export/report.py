"""Findings of `draft_export`: what it guessed, and where."""

from __future__ import annotations

import enum
import linecache

__all__ = ["DraftExportReport", "FailureReport", "FailureType"]

_RULE = "#" * 99
_LONG = "#" * 94
_YELLOW, _GREEN, _END = "\033[93m", "\033[92m", "\033[0m"


class FailureType(enum.IntEnum):
    """Kinds of findings."""

    MISSING_FAKE_KERNEL = 1
    DATA_DEPENDENT_ERROR = 2
    GUARD_ADDED = 3
    MISMATCHED_FAKE_KERNEL = 4

    def __str__(self) -> str:
        return self.name


def stack_lines(stack: list[dict], files: dict) -> str:
    """The frames of a finding, a line each, and the text of the last."""
    text = "".join(
        f"\n        File {files[frame['filename']]}, lineno {frame['line']}, "
        f"in {frame['name']}"
        for frame in stack
        if frame["filename"] in files
    )
    return text + (f"\n            {stack[-1]['loc']}" if stack else "")


def frame_text(loc: str, locals: dict, symbols: dict) -> str:
    """The variables of the line, and the sizes in them."""
    shown = "\n".join(f"            {k}: {v}" for k, v in locals.items())
    text = f"\n        Locals:\n{shown}\n"
    if any(v is not None for v in symbols.values()):
        known = "\n".join(
            f"           {k}: {v}" for k, v in symbols.items() if v is not None
        )
        text += f"\n        Symbols:\n{known}\n"
    return text


class FailureReport:
    """One finding: its kind, and facts of it by name.

    Args:
        failure_type: the kind.
        data: of an operator `op` (and `reason`); of a guess `expr`, `result`,
            `occurrences`, `symbol_to_sources`, `user_stack`, `stack`,
            `frame_locals`; of a guard `new_dynamic_shapes`, too.
        xfail: whether it was expected, and does not count.
    """

    def __init__(self, failure_type: FailureType, data: dict, xfail=False) -> None:
        self.failure_type, self.data, self.xfail = failure_type, data, xfail

    def __repr__(self) -> str:
        return (
            f"FailureReport(failure_type={self.failure_type}, "
            f"xfail={self.xfail}, data={self.data})"
        )

    def print(self, str_to_filename: dict[int, str]) -> str:
        """The finding as a text, and what can be done about it."""
        return _TEXTS[self.failure_type](self.data, str_to_filename)


def _missing(data: dict, files: dict) -> str:
    return (
        "Missing fake kernel.\n"
        f"    torch.ops.{data['op']} is missing a fake kernel implementation.\n\n"
        "    Register one with torch.library.register_fake.\n"
    )


def _mismatched(data: dict, files: dict) -> str:
    return (
        "Mismatched fake kernel.\n"
        f"    torch.ops.{data['op']} has a fake kernel implementation, but it has "
        "incorrect behavior, based on the real kernel.\n"
        f"    The reason for the mismatch is: {data['reason']}.\n\n"
        "    Mend the function that torch.library.register_fake was given.\n"
    )


def _locals(data: dict) -> str:
    return frame_text(**data["frame_locals"]) if data["frame_locals"] else ""


def _guard(data: dict, files: dict) -> str:
    return (
        "Guard Added.\n"
        "    A guard was added during tracing, which might've resulted in some "
        "incorrect\n"
        "    tracing or constraint violation error.\n"
        f"    Specifically, this guard was added: {data['expr']}, where "
        f"{data['symbol_to_sources']}.\n"
        "    This occurred at the following stacktrace: "
        f"{stack_lines(data['user_stack'], files)}:\n"
        f"        {_locals(data)}\n"
        "    And the following framework stacktrace: "
        f"{stack_lines(data['stack'], files)}\n\n"
        "    Because of this, we have modified the dynamic shapes structure to be "
        "the\n"
        "    following. You can also use torch.export.Dim.AUTO instead to specify "
        "your\n"
        "    dynamic shapes, and we will automatically infer the dynamism for you.\n"
        "    ```\n"
        f"    dynamic_shapes = {data['new_dynamic_shapes']}\n"
        "    ```\n"
    )


def _dependent(data: dict, files: dict) -> str:
    return (
        "Data dependent error.\n"
        "    When exporting, we were unable to evaluate the value of "
        f"`{data['expr']}`.\n"
        f"    This was encountered {data['occurrences']} times.\n"
        "    This occurred at the following user stacktrace: "
        f"{stack_lines(data['user_stack'], files)}\n"
        f"        {_locals(data)}\n"
        "    And the following framework stacktrace: "
        f"{stack_lines(data['stack'], files)}\n\n"
        "    As a result, it was specialized to a constant (e.g. "
        f"`{data['result']}` in the 1st occurrence), and asserts were inserted "
        "into the graph.\n\n"
        "    Please add `torch._check(...)` to the original code to assert this "
        "data-dependent assumption.\n"
    )


_TEXTS = {
    FailureType.MISSING_FAKE_KERNEL: _missing,
    FailureType.DATA_DEPENDENT_ERROR: _dependent,
    FailureType.GUARD_ADDED: _guard,
    FailureType.MISMATCHED_FAKE_KERNEL: _mismatched,
}


class DraftExportReport:
    """All findings of an export.

    Args:
        failures: them.
        str_to_filename: files by the numbers that frames have for them.
        expressions_created: none here; sizes are fitted, not derived.
        op_profiles: for operators without a (right) fake kernel what went in
            and came out, for `unsafe_generate_fake_kernels`.
    """

    def __init__(
        self, failures: list, str_to_filename, expressions_created, op_profiles
    ) -> None:
        self.failures: list[FailureReport] = failures
        self.str_to_filename: dict[int, str] = str_to_filename
        self.expressions_created = expressions_created
        self.op_profiles: dict[str, set] = op_profiles

    def successful(self) -> bool:
        """True if nothing was guessed: the program is that of `export`."""
        return all(failure.xfail for failure in self.failures)

    def __repr__(self) -> str:
        return f"DraftExportReport({self.failures})"

    def __str__(self) -> str:
        if self.successful():
            return f"{_GREEN}{CONGRATULATIONS}{_END}"
        text = (
            f"{_YELLOW}\n{_RULE}\nWARNING: {len(self.failures)} issue(s) found "
            "during export, and it was not able to soundly produce a graph.\n"
            f"Please follow the instructions to fix the errors.\n{_RULE}\n\n"
        )
        for place, failure in enumerate(self.failures, 1):
            text += f"{place}. {failure.print(self.str_to_filename)}\n"
        return text + _END

    def warning(self) -> str:
        """Text of the warning that `draft_export` gives."""
        text = (
            f"\n{_RULE}\nWARNING: {len(self.failures)} issue(s) found during "
            "export, and it was not able to soundly produce a graph.\n"
            "You can view the errors in python by inspecting "
            "`print(ep._report)`.\n"
        )
        if self.op_profiles:
            text += (
                f"\nWhile tracing we found {len(self.op_profiles)} operator(s) "
                "which do not have a fake kernel registered.\nIf you intend to "
                "retrace the exported graph or run it with fake tensors, please "
                "run it under the\nfollowing context manager, which will register "
                "a fake kernel for those operators.\n```\nwith torch._library."
                "fake_profile.unsafe_generate_fake_kernels(ep._report."
                "op_profiles):\n    # run with fake tensors\n```\n"
            )
        return text + _RULE

    def apply_suggested_fixes(self) -> None:
        """NotImplementedError, as in PyTorch."""
        raise NotImplementedError("Not implemented yet")


CONGRATULATIONS = (
    f"\n{_LONG}\nCongratulations: No issues are found during export, and it was "
    "able to soundly produce a graph.\nYou can now change back to "
    f"torch.export.export()\n{_LONG}\n"
)


class Findings:
    """Findings of a trace while it runs: one for each place and kind.

    Traces begin again as they learn of sizes; what each of them finds of
    values is found anew, and what was learned stays.
    """

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self._found: dict[tuple, tuple] = {}

    def begin(self) -> None:
        """Forgets all but guards, as a trace begins again."""
        self._found = {
            key: one
            for key, one in self._found.items()
            if one[0] is FailureType.GUARD_ADDED
        }

    def add(self, kind: FailureType, data: dict) -> None:
        """Notes a finding; of one place only the first, and how many."""
        place = data.get("user_stack")
        key = (kind, repr(place) if place is not None else repr(data))
        known = self._found.get(key)
        if known is None:
            if kind is FailureType.DATA_DEPENDENT_ERROR:
                data["occurrences"] = 1
            self._found[key] = (kind, data)
        elif "occurrences" in known[1]:
            known[1]["occurrences"] += 1

    def operators(self) -> set[str]:
        """Names of operators whose fake kernels are missing or wrong."""
        return {data["op"] for _, data in self._found.values() if "op" in data}

    def stack(self, frames: list) -> list[dict]:
        """Frames as findings have them."""
        return [
            {
                "line": line,
                "name": function,
                "filename": self.files.setdefault(name, len(self.files)),
                "loc": linecache.getline(name, line).strip(),
            }
            for name, line, function in frames
        ]

    def report(self, new_shapes, profiles: dict) -> DraftExportReport:
        """The report; guards count if the dimensions had to be changed."""
        failures = []
        for kind, data in self._found.values():
            if kind is FailureType.GUARD_ADDED:
                if new_shapes is None:
                    continue
                data["new_dynamic_shapes"] = new_shapes
            failures.append(FailureReport(kind, data))
        files = {number: name for name, number in self.files.items()}
        return DraftExportReport(failures, files, {}, profiles)
