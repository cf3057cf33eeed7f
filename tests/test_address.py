"""The book's address: the same everywhere, set by one command, and a placeholder until then."""

import importlib.util
import shutil
import subprocess
import sys
import tomllib

import pytest

from bookbuild import address
from bookbuild.address import PLACEHOLDER, ROOT, bootstrap_cell, checked, places, set_address

URL = "https://github.com/some-teacher/attention.class"


@pytest.fixture
def copy(tmp_path):
    """The places of the real book, and the command, in a folder of their own."""
    for name in [*places(), *(f"bookbuild/{name}.py" for name in ("__init__", "address", "files"))]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def command(root, *arguments):
    """Run `python -m bookbuild.address` in a copy of the book."""
    python = [sys.executable, "-m", "bookbuild.address"]
    return subprocess.run([*python, *arguments], cwd=root, capture_output=True, text=True)


def contents(root):
    """Return {name: bytes} of the places."""
    return {name: (root / name).read_bytes() for name in places(root)}


def test_every_place_holds_the_same_address():
    assert {found for addresses in places().values() for found in addresses} == {address.address()}


def test_every_notebook_is_a_place():
    notebooks = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("chapters/**/*.ipynb")}
    assert notebooks and notebooks <= places().keys()


def test_the_command_changes_every_place_and_nothing_else(copy):
    before, old = contents(copy), address.address()
    run = command(copy, URL)
    assert run.returncode == 0 and URL in run.stdout
    assert {found for addresses in places(copy).values() for found in addresses} == {URL}
    for name, text in contents(copy).items():
        assert text == before[name].replace(old.encode(), URL.encode()) != before[name], name


def test_the_command_repairs_places_that_differ(copy):
    set_address("https://github.com/somebody/else", copy)
    pyproject = copy / "pyproject.toml"
    pyproject.write_bytes((ROOT / "pyproject.toml").read_bytes())
    assert len({found for addresses in places(copy).values() for found in addresses}) == 2
    command(copy, URL)
    assert {found for addresses in places(copy).values() for found in addresses} == {URL}


def test_a_second_time_changes_nothing_and_the_way_back_restores_every_byte(copy):
    before = contents(copy)
    set_address(URL, copy)
    assert set_address(URL + "/", copy) == set_address(URL + ".git", copy) == []
    set_address(address.address(), copy)
    assert contents(copy) == before


@pytest.mark.parametrize(("url", "problem"), [
    ("http://github.com/you/book", "does not start with https://"),
    ("git@github.com:you/book.git", "does not start with https://"),
    ("https://gitlab.com/you/book", "not on github.com"),
    ("https://github.com.evil.example/you/book", "not on github.com"),
    ("https://github.com/_owner_/book", "no GitHub account"),
    ("https://github.com/-you/book", "no GitHub account"),
    ("https://github.com/you", "one account and one repository"),
    ("https://github.com/you/", "one account and one repository"),
    ("https://github.com/you/book/tree/main", "one account and one repository"),
    ("https://github.com/you/..", "no repository"),
    ('https://github.com/you/book"; import os', "no repository"),
    ("https://github.com/you/book\n", "no repository"),
    ("", "does not start with https://"),
])
def test_an_address_that_cannot_be_right_is_refused_and_nothing_is_written(copy, url, problem):
    before = contents(copy)
    with pytest.raises(ValueError, match=problem):
        checked(url)
    run = command(copy, url)
    assert run.returncode and problem in run.stderr and "https://github.com/you/" in run.stderr
    assert contents(copy) == before


def test_a_place_without_an_address_stops_the_command_before_it_writes(copy):
    (copy / "CITATION.cff").write_text("title: no address here\n")
    before = (copy / "pyproject.toml").read_bytes()
    run = command(copy, URL)
    assert run.returncode and "CITATION.cff holds no address" in run.stderr
    assert (copy / "pyproject.toml").read_bytes() == before


def test_the_placeholder_is_never_taken_for_an_address(copy):
    set_address(PLACEHOLDER, copy)
    assert not address.is_set(copy)
    set_address(URL, copy)
    assert address.is_set(copy)


# --- the first cell of a notebook

def run_bootstrap(monkeypatch, url, installed=("qkvlib", "torch")):
    """Run the cell where these packages are installed; return the commands that it starts."""
    commands = []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in installed or None)
    monkeypatch.setattr(subprocess, "run", lambda command, check: commands.append(command))
    exec(compile(bootstrap_cell(url), "bootstrap", "exec"), {})
    return commands


def test_the_bootstrap_cell_is_silent_where_the_library_is(monkeypatch, capsys):
    assert run_bootstrap(monkeypatch, PLACEHOLDER) == []
    assert run_bootstrap(monkeypatch, URL) == []
    assert capsys.readouterr() == ("", "")


def test_the_bootstrap_cell_gets_the_library_from_the_address(monkeypatch):
    [pip] = run_bootstrap(monkeypatch, URL, ["torch"])
    assert pip[:4] == [sys.executable, "-m", "pip", "install"]
    assert pip[-1] == f"qkvlib @ {URL}/archive/HEAD.zip"
    assert "torch" not in " ".join(pip)


def test_the_bootstrap_cell_installs_nothing_from_the_placeholder(monkeypatch):
    with pytest.raises(ModuleNotFoundError, match="pip install"):
        run_bootstrap(monkeypatch, PLACEHOLDER, ["torch"])


def test_the_bootstrap_cell_never_installs_torch_and_says_so(monkeypatch):
    with pytest.raises(ModuleNotFoundError, match="pip install torch"):
        run_bootstrap(monkeypatch, URL, ["qkvlib"])


def test_what_the_bootstrap_cell_installs_is_light():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert not [name for name in project["dependencies"] if name.startswith("torch")]
    assert [name for name in project["optional-dependencies"]["learn"] if name.startswith("torch")]
