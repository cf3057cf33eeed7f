"""What holds the repository together: versions, imports, the package, workflows, traces."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bookbuild.address import ROOT, address, places
from bookbuild.picture import FILE, picture

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))


def listed(name):
    """Return the requirements in a file, without its comments."""
    lines = (ROOT / name).read_text("utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#")]


def tracked():
    """Return {name: text} of what is, or would be, in git; a binary file has no text."""
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(git, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    files = (ROOT / name for name in names.split("\0") if name)
    return {
        file.relative_to(ROOT).as_posix(): file.read_bytes().decode("utf-8", errors="ignore")
        for file in files if file.is_file()
    }


# --- versions

def test_requirements_and_pyproject_list_the_same():
    declared = [*PROJECT["dependencies"], *EXTRAS["learn"], *EXTRAS["book"], *EXTRAS["test"]]
    assert listed("requirements.txt") == declared


def test_constraints_pin_every_requirement_within_its_range():
    pins = [line.split("==") for line in listed("constraints.txt")]
    versions = {canonicalize_name(name): version for name, version in pins}
    assert len(versions) == len(pins) > 100  # the indirect ones too, each once
    for requirement in map(Requirement, listed("requirements.txt")):
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} is pinned to {version}"


def test_what_qkvlib_imports_is_declared():
    """A package that only happens to be there is missing on a reader's machine."""
    declared = [*PROJECT["dependencies"], *EXTRAS["learn"]]
    names = {canonicalize_name(Requirement(line).name) for line in declared}
    names |= {"ipython", "pillow", "cycler"}  # parts of ipywidgets and of matplotlib
    providers = packages_distributions()
    for path in ROOT.glob("qkvlib/**/*.py"):
        for module in imported(path.read_text("utf-8")) - sys.stdlib_module_names:
            found = {canonicalize_name(name) for name in providers.get(module, [module])}
            assert found & names, f"{path.relative_to(ROOT)} imports {module}, not declared"


def imported(source):
    """Return the top names of all absolute imports."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.partition(".")[0])
    return names


# --- the package

def test_the_package_imports_without_torch():
    modules = ["qkvlib", *(f"qkvlib.{name}" for name in ("bias", "check", "explore", "figures"))]
    code = f"import sys; sys.modules['torch'] = None; import {', '.join(modules)}"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_wheel_holds_the_library_and_nothing_else(tmp_path):
    source = tmp_path / "source"
    for name in ("qkvlib", "bookbuild", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    # Without isolation: the setuptools that is here, and no network.
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", tmp_path, source], check=True)
    [wheel] = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = [*ROOT.glob("qkvlib/**/*.py"), *ROOT.glob("qkvlib/results/*.json")]
    assert names == {p.relative_to(ROOT).as_posix() for p in files}


@pytest.mark.parametrize("folder", ["qkvlib", "bookbuild"])
def test_a_file_stays_within_two_hundred_lines(folder):
    lengths = {p.name: p.read_text("utf-8").count("\n") for p in ROOT.glob(f"{folder}/**/*.py")}
    assert {name: length for name, length in lengths.items() if length > 200} == {}


def test_the_code_is_clean():
    ruff = [sys.executable, "-m", "ruff", "check", "--quiet", "--output-format", "concise"]
    run = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


# --- what people read first

def test_the_picture_is_what_the_library_draws():
    assert FILE.read_text("utf-8") == picture(), "run python -m bookbuild.picture"
    assert FILE.relative_to(ROOT).as_posix() in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "chapters/appendix/testing.md"])
def test_every_command_that_is_named_exists(name):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
    text = (ROOT / name).read_text("utf-8")
    named = set(re.findall(r"(?:^|`|&& )make\s+([a-z]+)", text, re.MULTILINE))
    assert named and named <= targets, f"no such target: {named - targets}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_file_that_is_named_exists(name):
    text = (ROOT / name).read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    paths = re.findall(r"`((?:\w+/)+[\w.-]*)`", text)
    paths = [path.replace("NAME", "bias-cancellation") for path in links + paths]
    assert [path for path in paths if not (ROOT / path).exists()] in ([], ["_build/html/"])


def test_the_build_folder_explains_every_module():
    text = (ROOT / "bookbuild" / "README.md").read_text("utf-8")
    modules = {path.name for path in ROOT.glob("bookbuild/*.py")} - {"__init__.py"}
    assert set(re.findall(r"`(\w+\.py)`", text)) == modules


# --- what must not be in it

def test_no_file_names_a_registry_or_a_place_on_somebodys_machine():
    hosts = [".".join(parts) for parts in (
        ("pypi", "org"), ("files", "python" + "hosted", "org"), ("npmjs", "org"), ("npmjs", "com"),
        ("deb", "debian", "org"), ("download", "pytorch", "org"), ("anaconda", "org"))]
    place = r"(?<![\w.~/-])/(?:home|Users|root|work)/\w"
    forbidden = re.compile("|".join([*map(re.escape, hosts), place]))
    found = {name: forbidden.findall(text) for name, text in tracked().items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_the_address_stands_nowhere_but_in_its_places():
    known = {*places(), "bookbuild/address.py"}
    assert {name for name, text in tracked().items() if address() in text} <= known


def test_the_lock_file_holds_checksums_and_no_addresses():
    npmrc = (ROOT / ".npmrc").read_text("utf-8").split("\n")
    assert "omit-lockfile-registry-resolved=true" in npmrc
    packages = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    for name, package in packages.items():
        assert "resolved" not in package
        assert not name or package["integrity"].startswith("sha512-")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_takes_fixed_actions_and_few_rights(path):
    text = path.read_text("utf-8")
    workflow = yaml.safe_load(text)
    uses = re.findall(r"uses: (.*)", text)
    assert uses and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v[\d.]+", use) for use in uses)
    assert workflow["permissions"] == {} and workflow["concurrency"]
    writes = {"deploy": {"pages": "write", "id-token": "write"}, "release": {"contents": "write"}}
    for name, job in workflow["jobs"].items():
        assert job["permissions"] == writes.get(name, {"contents": "read"})
        assert job["timeout-minutes"] <= 60
    assert text.count("persist-credentials: false") == text.count("uses: actions/checkout@")
    assert "secrets." not in text and "pull_request_target" not in text


def test_the_whole_check_runs_what_the_readme_says():
    check = ROOT / ".ci" / "run"
    assert check.stat().st_mode & 0o111 and "make test" in check.read_text("utf-8")
