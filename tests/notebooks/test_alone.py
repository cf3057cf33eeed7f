"""What a notebook can reach when it runs alone: itself, installed packages and `qkvlib`."""

import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from bookbuild.chapter import as_json
from bookbuild.normal import normalise
from bookbuild.running import execute, run_alone

REACHED = """\
import os, socket
import qkvlib
print(set(os.listdir()) - {"notebook.ipynb"}, os.environ["OMP_NUM_THREADS"])
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()"""

REFUSED = """\
import socket, subprocess, sys, urllib.request
def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return "without the network" in str(error) or "refused" in str(error)  # by the proxy
    return False
print(refused(socket.create_connection, ("192.0.2.1", 80), 1),
      refused(socket.socket().connect_ex, ("192.0.2.1", 80)),
      refused(socket.getaddrinfo, "example.org", 80),
      refused(urllib.request.urlopen, "http://192.0.2.1/", None, 1))
child = [sys.executable, "-c", "import socket; socket.create_connection(('192.0.2.1', 80), 1)"]
print("without the network" in subprocess.run(child, capture_output=True, text=True).stderr)"""

MEMORY = "block = bytearray(400_000_000)"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small notebook after `execute`, and what `run_alone` says of it."""
    cells = [new_code_cell(source) for source in (REACHED, REFUSED, MEMORY)]
    steps = []
    fresh = execute(new_notebook(cells=cells), steps.append)
    path = tmp_path_factory.mktemp("alone") / "notebook.ipynb"
    path.write_text(as_json(fresh), encoding="utf-8")
    return fresh, steps, run_alone(path)


def test_the_folder_is_empty_and_one_thread_runs(run):
    printed = run[0].cells[0].outputs[0].text
    assert printed == "set() 1\n"


def test_nothing_outside_this_machine_answers(run):
    assert run[0].cells[1].outputs[0].text == "True True True True\nTrue\n"


def test_progress_is_told_cell_by_cell(run):
    assert [step.split(" (")[0] for step in run[1]] == [f"cell {n} of 3" for n in (1, 2, 3)]


def test_what_execute_stores_is_in_the_fixed_form(run):
    assert run[0] == normalise(run[0])
    assert [cell.execution_count for cell in run[0].cells] == [1, 2, 3]


def test_a_fresh_run_agrees_and_its_peak_memory_is_known(run):
    assert run[2].passed, run[2].output
    assert 400 < run[2].peak < 1500
    assert run[2].seconds > 0


@pytest.mark.parametrize("module", ["bookbuild", "tests"])
def test_the_rest_of_the_repository_is_out_of_reach(module):
    notebook = new_notebook(cells=[new_code_cell(f"import {module}.lookup")])
    with pytest.raises(CellExecutionError, match="ModuleNotFoundError"):
        execute(notebook, lambda done: None)
