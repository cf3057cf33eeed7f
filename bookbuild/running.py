"""Running a notebook the way a stranger does: alone in an empty folder, without the network.

`execute` stores fresh outputs; `run_alone` compares the stored ones, cell by cell, with a fresh
run (strict nbval). Both run in the same fixed environment: one thread, no network, and of the
repository nothing but `qkvlib` itself.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nbclient import NotebookClient
from nbformat import NotebookNode

from bookbuild.address import ROOT
from bookbuild.normal import normalise

OFFLINE = Path(__file__).parent / "offline"

FIXED = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "JUPYTER_PREFER_ENV_PATH": "1",  # this environment's kernel, not one of the user's
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    # Programs other than Python (curl, wget, git) heed a proxy: this one answers nothing.
    **{f"{scheme}_proxy": "http://127.0.0.1:9" for scheme in ("http", "https", "all")},
}

# The plainest code that torch, OpenBLAS (in NumPy) and MKL (in torch) have for any x86 processor:
# outputs that survive it are the same on other machines.
PORTABLE = {
    "ATEN_CPU_CAPABILITY": "default",
    "OPENBLAS_CORETYPE": "Prescott",
    "MKL_CBWR": "COMPATIBLE",
}

# What would let the surroundings reach into the run.
LEFT_OUT = ("PYTEST_", "PYTHON", "COV_", "JUPYTER", "IPYTHON", "MPLBACKEND", "NO_PROXY", "no_proxy")


@dataclass(frozen=True)
class Run:
    """What came of a run: did every output match, what was printed, seconds, peak memory in MB."""

    passed: bool
    output: str
    seconds: float
    peak: float


@contextmanager
def alone(library: Path = ROOT, portable: bool = False) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield an empty folder and the environment for a run in it.

    `library` is the folder whose `qkvlib` the notebook gets: as a copy, so that nothing else of
    the repository can be imported.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder, lib, home = (Path(temporary, name) for name in ("notebook", "lib", "home"))
        folder.mkdir()
        home.mkdir()
        no_bytecode = shutil.ignore_patterns("__pycache__")
        shutil.copytree(library / "qkvlib", lib / "qkvlib", ignore=no_bytecode)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(LEFT_OUT)}
        paths = {
            "PYTHONPATH": os.pathsep.join([str(OFFLINE), str(lib)]),
            "IPYTHONDIR": str(home),
            "JUPYTER_CONFIG_DIR": str(home),
        }
        yield folder, kept | FIXED | paths | (PORTABLE if portable else {})


def execute(notebook: NotebookNode, progress: Callable[[str], None] = print) -> NotebookNode:
    """Return the notebook with the outputs of a fresh run; `notebook` itself is left alone.

    Raises nbclient's CellExecutionError, with the traceback, if a cell fails unexpectedly.
    """
    fresh = normalise(notebook)
    total = sum(cell.cell_type == "code" for cell in fresh.cells)
    done, start = 0, time.perf_counter()

    def report(cell, cell_index, execute_reply):
        nonlocal done
        done += 1
        progress(f"cell {done} of {total} ({time.perf_counter() - start:.1f} s)")

    with alone() as (folder, environment):
        NotebookClient(
            fresh,
            kernel_name="python3",
            timeout=None,
            resources={"metadata": {"path": str(folder)}},
            record_timing=False,
            extra_arguments=["--IPKernelApp.log_level=ERROR"],  # loopback needs no warning
            on_cell_executed=report,
        ).execute(env=environment)
    return normalise(fresh)


def run_alone(notebook: Path, library: Path = ROOT, portable: bool = False) -> Run:
    """Run one notebook with strict nbval in an empty folder that holds nothing else.

    `portable` switches to the plainest processor code, to show that outputs survive it.
    """
    with alone(library, portable) as (folder, environment):
        shutil.copy(notebook, folder)
        command = [sys.executable, "-m", "pytest", "-p", "nbval.plugin", "--nbval", notebook.name]
        # -c: no configuration but this empty one, wherever the temporary folder lies.
        command += ["-c", os.devnull, "--rootdir", ".", "-p", "no:cacheprovider", "-q"]
        command += ["--color=no"]
        start = time.perf_counter()
        with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=printed, stderr=subprocess.STDOUT
            )
            # Unlike wait(), this tells the peak memory of the process and of those it started.
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.perf_counter() - start
            printed.seek(0)
            output = printed.read()
    in_bytes = 1 if sys.platform == "darwin" else 1024  # what ru_maxrss counts in
    return Run(process.returncode == 0, output, seconds, usage.ru_maxrss * in_bytes / 1e6)
