"""Models by name and weights by address, without a network."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import subprocess
import sys
import zipfile
from urllib.error import URLError

import pytest
from hotaru.hub import _repository

import hotaru as torch

HUBCONF = """
import helper_of_hubconf
dependencies = {dependencies}

def model(width, scale=1):
    "Makes a layer."
    return helper_of_hubconf.layer(width) * scale

def _hidden():
    pass
"""


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """Downloads go to a folder of the test's own."""
    before = torch.hub.get_dir()
    torch.hub.set_dir(tmp_path / "hub")
    yield tmp_path / "hub"
    torch.hub.set_dir(before)
    sys.modules.pop("helper_of_hubconf", None)


def files(dependencies=("os",)):
    return {
        "hubconf.py": HUBCONF.format(dependencies=list(dependencies)),
        "helper_of_hubconf.py": "def layer(width):\n    return [width]\n",
    }


@pytest.fixture
def local(tmp_path):
    for name, text in files().items():
        (tmp_path / name).write_text(text)
    return str(tmp_path)


def archive(entries: dict) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        packed.writestr("owner-repo-1234/", "")
        for name, text in entries.items():
            packed.writestr(f"owner-repo-1234/{name}", text)
    return data.getvalue()


@pytest.fixture
def github(tmp_path, monkeypatch):
    """Answers from files what is asked of GitHub; the addresses asked."""
    asked = []

    def address(owner, name, ref):
        asked.append((owner, name, ref))
        return (tmp_path / "archive.zip").as_uri()

    def read(url):
        if not url.endswith("tags?per_page=100&page=1"):
            return []
        return [{"name": "v1", "commit": {"sha": "abc123"}}]

    (tmp_path / "archive.zip").write_bytes(archive(files()))
    monkeypatch.setattr(_repository, "_archive_url", address)
    monkeypatch.setattr(_repository, "_read", read)
    return asked


def never(question):
    raise AssertionError("asked")


def test_a_function_of_a_folder_and_what_it_imports(local):
    found = torch.hub.load(local, "model", 3, source="local", scale=2)
    assert found == [3, 3]
    assert local not in sys.path


def test_what_a_folder_lacks(local):
    load = torch.hub.load
    with pytest.raises(RuntimeError, match="Cannot find callable nothing"):
        load(local, "nothing", source="local")
    with pytest.raises(ValueError, match="should be a string of function"):
        load(local, 3, source="local")
    with pytest.raises(ValueError, match='Unknown source: "x"'):
        load(local, "model", source="X")
    with open(os.path.join(local, "hubconf.py"), "w") as file:
        file.write(HUBCONF.format(dependencies=["no_such_a", "os"]))
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_a"):
        load(local, "model", 1, source="local")


def test_repositories_that_import_torch_get_this_package(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "import torch\ndef model(): return torch.nn.Linear(2, 2)\n"
    )
    code = (
        "import hotaru\n"
        f"m = hotaru.hub.load({str(tmp_path)!r}, 'model', source='local')\n"
        "assert type(m) is hotaru.nn.Linear\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_repository_is_downloaded_once(github, monkeypatch, caplog, folder):
    monkeypatch.setattr("builtins.input", lambda question: "y")
    caplog.set_level(logging.INFO, "hotaru.hub")
    load = torch.hub.load
    assert load("owner/repo:v1", "model", 1) == [1]
    assert load("owner/repo:v1", "model", 2) == [2]
    assert github == [("owner", "repo", "v1")]
    assert caplog.messages[1].startswith("Using cache found in")
    assert load("owner/repo:v1", "model", 3, force_reload=True) == [3]
    assert len(github) == 2
    assert sorted(os.listdir(folder)) == ["owner_repo_v1", "trusted_list"]


def test_names_and_documentation(github):
    known = {"trust_repo": True}
    assert torch.hub.list("owner/repo:v1", **known) == ["model"]
    assert torch.hub.help("owner/repo:v1", "model") == "Makes a layer."


def test_strangers_are_asked_for_once(github, monkeypatch, folder):
    load = torch.hub.load
    for answer, error in (("n", "Untrusted repository"), ("x", "Unrecognized")):
        monkeypatch.setattr("builtins.input", lambda question, a=answer: a)
        with pytest.raises(Exception, match=error):
            load("owner/repo:v1", "model", 1)
        assert github == []
        assert (folder / "trusted_list").read_text() == ""
    monkeypatch.setattr("builtins.input", lambda question: "yes")
    load("owner/repo:v1", "model", 1)
    monkeypatch.setattr("builtins.input", never)
    load("owner/repo:abc", "model", 1)  # the repository, not the branch
    load("pytorch/repo:v1", "model", 1)
    assert (folder / "trusted_list").read_text() == "owner_repo\n"


def test_commits_of_forks_are_refused_before_the_download(github):
    with pytest.raises(ValueError, match="commit from a forked repo"):
        torch.hub.load("pytorch/repo:ffff", "model", 1)
    assert github == []
    torch.hub.load("pytorch/repo:ffff", "model", 1, skip_validation=True)


def test_archives_do_not_write_elsewhere(github, tmp_path, folder):
    (tmp_path / "archive.zip").write_bytes(archive({"../../../x": "evil"}))
    with pytest.raises(ValueError, match="contains directory traversal"):
        torch.hub.load("pytorch/repo:v1", "model", 1)
    assert not (tmp_path / "x").exists()
    assert os.listdir(folder) == ["trusted_list"]


def test_without_a_network_the_default_branch_is_the_one_that_is_there(
    monkeypatch, folder
):
    def none(url):
        raise URLError("no network")

    monkeypatch.setattr(_repository, "urlopen", none)
    with pytest.raises(RuntimeError, match="no internet connection"):
        _repository._parse_repo_info("owner/repo")
    (folder / "owner_repo_master").mkdir(parents=True)
    assert _repository._parse_repo_info("owner/repo")[2] == "master"
    assert _repository._parse_repo_info("a/b:c/d") == ("a", "b", "c/d")


@pytest.fixture
def weights(tmp_path):
    torch.save({"w": torch.arange(3)}, tmp_path / "weights")
    data = (tmp_path / "weights").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    path = tmp_path / f"net-{digest[:8]}.pth"
    path.write_bytes(data)
    return path


def test_weights_are_downloaded_once(weights, folder):
    load = torch.hub.load_state_dict_from_url
    address = weights.as_uri()
    assert load(address, check_hash=True)["w"].tolist() == [0, 1, 2]
    assert (folder / "checkpoints" / weights.name).exists()
    weights.unlink()
    assert load(address, weights_only=True)["w"].tolist() == [0, 1, 2]
    with pytest.raises(URLError):
        load(address, file_name="other")
    assert os.listdir(folder / "checkpoints") == [weights.name]


def test_another_hash_leaves_nothing_behind(weights, tmp_path, capfd):
    target = tmp_path / "target"
    target.write_text("before")
    with pytest.raises(RuntimeError, match=r'invalid hash value \(expected "ff"'):
        torch.hub.download_url_to_file(weights.as_uri(), str(target), "ff")
    assert target.read_text() == "before"
    assert not list(tmp_path.glob(".hotaru-*"))
    torch.hub.download_url_to_file(weights.as_uri(), str(target))
    assert target.read_bytes() == weights.read_bytes()
    assert capfd.readouterr() == ("", "")


def test_an_archive_of_one_file_is_taken_apart(weights, tmp_path):
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(weights, "inner.pth")
    with pytest.warns(FutureWarning, match="old format < 1.6"):
        found = torch.hub.load_state_dict_from_url(packed.as_uri())
    assert found["w"].tolist() == [0, 1, 2]


def test_the_folder_comes_from_the_environment(monkeypatch):
    monkeypatch.setattr("hotaru.hub._places._folder", None)
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    monkeypatch.delenv("TORCH_HOME", raising=False)
    assert torch.hub.get_dir() == "/cache/torch/hub"
    monkeypatch.setenv("TORCH_HOME", "/home")
    assert torch.hub.get_dir() == "/home/hub"
    torch.hub.set_dir("~/x")
    assert torch.hub.get_dir() == os.path.expanduser("~/x")
