"""The suite of PyTorch's test files: what it makes of tests, and its lists."""

from __future__ import annotations

import os
import signal
import sys
import unittest
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "conformance"))

from suite import counts, files, forked, known, names


class _Tests(unittest.TestCase):
    left_behind = False

    def fails(self):
        type(self).left_behind = True
        raise self.failureException

    def is_clean(self):
        assert not self.left_behind

    def raises(self):
        raise ValueError("said")

    def wraps(self):
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise Exception("outer") from error

    def crashes(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def hangs(self):
        signal.pause()

    def skips(self):
        self.skipTest("why")

    def has_parts(self):
        with self.subTest(1):
            self.fail("part")


class _BadClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no set-up")

    def first(self):
        pass

    def second(self):
        pass


def _run(cls, *methods, **options):
    tests = {f"{cls.__name__}.{m}": cls(m) for m in methods}
    rows = []
    options = {"limit": 20, "budget": 100, **options}
    forked.run_tests(
        tests, "test_conformance_suite", emit=lambda *r: rows.append(r), **options
    )
    return {name.split(".")[1]: tuple(row) for name, *row in rows}


def test_results_of_tests_in_children():
    rows = _run(
        _Tests, "fails", "is_clean", "raises", "wraps", "crashes", "skips", "has_parts"
    )
    assert {name: row[0] for name, row in rows.items()} == {
        "fails": "F",
        "is_clean": "P",
        "raises": "E",
        "wraps": "E",
        "crashes": "C",
        "skips": "S",
        "has_parts": "F",
    }
    assert rows["raises"][2] == "ValueError: said"
    assert rows["raises"][3].startswith("test_conformance_suite.py:")
    assert rows["wraps"][2] == "KeyError: 'inner' || Exception: outer"
    assert rows["crashes"][2] == "signal SIGKILL"
    assert rows["skips"][2] == "why"


def test_a_test_without_end_is_ended():
    rows = _run(_Tests, "hangs", "is_clean", limit=1)
    assert rows["hangs"][0] == "H"
    assert rows["is_clean"][0] == "P"


def test_a_class_that_can_not_be_set_up_fails_all_its_tests():
    rows = _run(_BadClass, "first", "second")
    assert [row[0] for row in rows.values()] == ["E", "E"]
    assert "no set-up" in rows["second"][2]


def test_tests_beyond_the_time_of_a_file_are_told():
    assert _run(_Tests, "is_clean", budget=-1)["is_clean"][0] == "T"


@pytest.mark.parametrize("passed", [{"a"}, {"a", "b", "c"}, set("abcd"), set()])
def test_promises_are_kept_as_the_shorter_list(tmp_path, monkeypatch, passed):
    monkeypatch.setattr(known, "FOLDER", tmp_path)
    counted = set("abcd")
    known.promise("nn/test_x.py", counted, passed)
    text = (tmp_path / "nn__test_x.py.txt").read_text().splitlines()
    assert len(text) - 1 == min(len(passed), 4 - len(passed))
    assert known.promised("nn/test_x.py", counted) == passed
    assert known.promised("nn/test_x.py", {"a"}) == passed & {"a"}


def test_nothing_is_promised_of_an_unknown_file(tmp_path, monkeypatch):
    monkeypatch.setattr(known, "FOLDER", tmp_path)
    assert known.promised("test_y.py", {"a"}) == set()


def test_the_page_counts_by_file_and_names_what_is_missed():
    found = {
        "test_x.py": {
            "A.one": ("P", 0.1, "", ""),
            "A.two": ("E", 0.1, "MissingName: MISSING torch.some", ""),
            "A.three": ("C", 0.1, "signal SIGSEGV", ""),
        }
    }
    page = counts.page(found, "2.13.0")
    assert page.startswith(counts.TITLE + "\n")
    assert "| `test_x.py` | 1 of 3 (33.3 %) | – | 1 | 1 | – | – |" in page
    assert "`torch.some` 1" in page
    text = [line for line in page.splitlines() if not line.startswith("|")]
    assert max(map(len, text)) <= 96


@pytest.mark.parametrize(
    ("test", "text", "name"),
    [
        ("t", "MissingName: MISSING torch.a.b", "torch.a.b"),
        ("t", "AttributeError: module 'hotaru.nn' has no attribute 'x'", "torch.nn.x"),
        ("t", "AttributeError: 'Tensor' object has no attribute 'x'", "Tensor.x"),
        ("t", "ModuleNotFoundError: No module named 'torch.fx'", "torch.fx"),
        ("t_chalf", "TypeError: Missing", "torch.complex32"),
        ("t", "AssertionError: other", None),
    ],
)
def test_missing_names_are_recognised(test, text, name):
    assert counts.missing_name(test, text) == name


def test_placeholders_raise_once_the_file_is_loaded(monkeypatch):
    value = names.Missing("torch.absent")
    assert isinstance(value.more, names.Missing)
    assert str(value.more) == "torch.absent.more"

    def helper():
        return 1

    assert names.Missing("torch._dynamo.disable")(helper) is helper
    derived = type("Derived", (names._MissingClass,), {"_missing": "torch.K"})
    monkeypatch.setattr(names.State, "loading", False)
    for use in (lambda: value.more, value, lambda: list(value), derived):
        with pytest.raises(names.MissingName, match="MISSING torch"):
            use()


def test_files_are_chosen_by_parts_of_their_paths():
    assert files.chosen(None) == list(files.FILES)
    assert files.chosen(["nn/test_init"]) == ["nn/test_init.py"]
