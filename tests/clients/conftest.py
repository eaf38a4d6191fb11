"""Where the judges come from: real clients, the specification's schemas, and bare connections.

A prerequisite that is absent (the schemas, Node, the Python client) skips the tests that need it,
and fails them where the environment variable CI is ``true``.
"""

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pytest

from .connection import Connection
from .wire_schema import Spec, schema_folder

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
BUILD = REPO / "build" / "clients"  # git-ignored: node_modules, and copies of the scripts beside it
PYTHON_CLIENT = "2.3.0"
# TYPEGATE_EVERYTHING names another server to judge, to try the tests themselves.
EVERYTHING = os.environ.get("TYPEGATE_EVERYTHING") or REPO / "examples" / "everything_server.py"
SERVER = [sys.executable, str(EVERYTHING)]

Absent = Callable[[str], NoReturn]


@pytest.fixture(scope="session")
def absent() -> Absent:
    """What a missing prerequisite does to the test that needs it."""

    def fail(reason: str) -> NoReturn:
        pytest.fail(f"CI=true needs this: {reason}", pytrace=False)

    return fail if os.environ.get("CI") == "true" else pytest.skip


@pytest.fixture(scope="session")
def schemas(absent: Absent) -> Path:
    """The folder of the specification's JSON Schemas, which are not part of this repository."""
    if not Spec.usable:
        absent(f"jsonschema is not installed beside {sys.executable}")
    if not schema_folder().is_dir():
        absent(f"no MCP schemas at {schema_folder()}; TYPEGATE_SHARED names what holds spec/schema")
    return schema_folder()


@pytest.fixture(scope="session")
def python_clients(absent: Absent) -> list[str]:
    """The start of a command that runs a Python client script: ``[*python_clients, script]``."""
    try:
        found = importlib.metadata.version("mcp")
    except importlib.metadata.PackageNotFoundError:
        found = "none"
    if found != PYTHON_CLIENT:
        absent(f"mcp=={PYTHON_CLIENT} is not installed beside {sys.executable} (found: {found})")
    return [sys.executable, str(HERE)]


@pytest.fixture(scope="session")
def node_clients(absent: Absent) -> list[str]:
    """The same for a TypeScript client; installs them unless the lock file is the installed one."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        absent("the TypeScript clients need node and npm (Node 20 or newer) on PATH")
    BUILD.mkdir(parents=True, exist_ok=True)
    for source in [*HERE.glob("*.mjs"), *HERE.glob("package*.json")]:
        shutil.copy(source, BUILD)
    stamp = BUILD / "installed.sha256"
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        stamp.unlink(missing_ok=True)
        command = [npm, "ci", "--no-audit", "--no-fund"]
        npm_ci = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, timeout=600, check=False)
        if npm_ci.returncode:
            absent(f"npm ci failed in {BUILD}: {npm_ci.stderr[-500:]}")
        stamp.write_text(wanted)
    return [node, str(BUILD)]


@pytest.fixture
def connect() -> Iterator[Callable[..., Connection]]:
    """Open bare connections to new server processes, with a session where a revision is given."""
    with ExitStack() as opened:

        def connect(revision: str | None = None) -> Connection:
            connection = opened.enter_context(Connection(SERVER))
            if revision:
                connection.initialize(revision)
            return connection

        yield connect
