"""A team's task tracker: the example to read first.

    python examples/tasks_server.py        # serves MCP on stdin and stdout

The tasks lie in SQLite, filled from `tasks.csv` at the first start; the environment variable
TASKS_DB says where (default: the system's temporary folder). A model's mistakes meet three guards,
and each tells it what to send instead:

- types: a `date` or a `Literal` refuses "today" and "todo" before the function runs;
- ranges: `Field(ge=1, le=100)` refuses 999;
- rules that no schema can hold: `reject(...)` refuses a reversed date range.
"""

import csv
import hashlib
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import date
from pathlib import Path
from sqlite3 import Connection
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, Field

from typegate import Context, MCPServer, ToolAnnotations, ToolError, reject

CSV = Path(__file__).with_name("tasks.csv")

Owner = Literal["amara", "jonas", "mei", "priya", "tomas"]
Priority = Literal["low", "normal", "high", "urgent"]
Status = Literal["open", "doing", "done"]
TaskId = Annotated[int, Field(ge=1, le=999_999)]
Title = Annotated[str, Field(min_length=3, max_length=120)]


class Task(BaseModel):
    """One row of the table."""

    id: int
    title: str
    owner: Owner
    priority: Priority
    status: Status
    due: date


@asynccontextmanager
async def open_database(server: MCPServer) -> AsyncIterator[Connection]:
    """Open the database when the server starts, close it when it stops."""
    version = hashlib.sha256(CSV.read_bytes()).hexdigest()[:12]
    path = os.environ.get("TASKS_DB") or Path(tempfile.gettempdir(), f"tasks-{version}.db")
    db = sqlite3.connect(  # shared by the worker threads on which plain functions run
        path, isolation_level=None, check_same_thread=False, cached_statements=0
    )
    with closing(db):
        db.row_factory = sqlite3.Row
        with db, CSV.open(newline="", encoding="utf-8") as rows:
            db.execute("BEGIN IMMEDIATE")  # a second server that starts now waits here
            db.execute(
                "CREATE TABLE IF NOT EXISTS tasks"
                " (id INTEGER PRIMARY KEY, title, owner, priority, status, due)"
            )
            db.executemany(  # a row that exists already stays as the team left it
                "INSERT OR IGNORE INTO tasks VALUES (:id, :title, :owner, :priority, :status, :due)",
                csv.DictReader(rows),
            )
        yield db


def run(ctx: Context[Connection], sql: str, **values: object) -> list[Task]:
    """Run one SQL statement, its values bound and never pasted in, and return the rows."""
    bound = {k: v.isoformat() if isinstance(v, date) else v for k, v in values.items()}
    return [Task.model_validate(dict(row)) for row in ctx.lifespan.execute(sql, bound)]


def only(tasks: list[Task], task_id: int) -> Task:
    """Return the one task found, or tell the model what to do next."""
    if not tasks:
        raise ToolError(f"no task has the id {task_id}; call list_tasks for valid ids")
    return tasks[0]


server = MCPServer(
    "tasks",
    version="1.0.0",
    instructions="The tasks of one team. Get ids from list_tasks before you read or change a task.",
    lifespan=open_database,  # what it yields is `ctx.lifespan` in every function below
)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def list_tasks(
    ctx: Context[Connection],
    due_from: date | None = None,
    due_to: date | None = None,
    status: Status | None = None,
    owner: Owner | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> list[Task]:
    """List tasks, earliest due date first. A filter that is left out lets every task through.

    Args:
        due_from: The first due date to include.
        due_to: The last due date to include.
        status: Only tasks in this state.
        owner: Only tasks of this person.
        limit: The most tasks to return; when as many come back, there may be more.
    """
    if due_from and due_to and due_from > due_to:
        reject(
            "INVALID_RANGE",
            f"due_from {due_from} is after due_to {due_to}",
            hint="send the earlier date as due_from, or leave one of the two out",
        )
    sql = """
        SELECT * FROM tasks
        WHERE (:due_from IS NULL OR due >= :due_from) AND (:due_to IS NULL OR due <= :due_to)
          AND (:status IS NULL OR status = :status) AND (:owner IS NULL OR owner = :owner)
        ORDER BY due, id LIMIT :limit
    """
    return run(ctx, sql, due_from=due_from, due_to=due_to, status=status, owner=owner, limit=limit)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def get_task(ctx: Context[Connection], task_id: TaskId) -> Task:
    """Read one task.

    Args:
        task_id: The id that list_tasks gave.
    """
    return only(run(ctx, "SELECT * FROM tasks WHERE id = :id", id=task_id), task_id)


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False))
def create_task(
    ctx: Context[Connection], title: Title, owner: Owner, due: date, priority: Priority = "normal"
) -> Task:
    """Add a task and return it with its new id.

    Args:
        title: What is to be done, in one line.
        owner: Who does it.
        due: The day by which it is to be done.
        priority: How much it matters.
    """
    sql = """
        INSERT INTO tasks (title, owner, priority, status, due)
        VALUES (:title, :owner, :priority, 'open', :due) RETURNING *
    """
    return run(ctx, sql, title=title, owner=owner, priority=priority, due=due)[0]


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True))
def complete_task(ctx: Context[Connection], task_id: TaskId) -> Task:
    """Mark one task as done and return it. Doing so twice changes nothing more.

    Args:
        task_id: The id that list_tasks gave.
    """
    sql = "UPDATE tasks SET status = 'done' WHERE id = :id RETURNING *"
    return only(run(ctx, sql, id=task_id), task_id)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def summarize(ctx: Context[Connection], by: Literal["owner", "priority"]) -> dict[str, int]:
    """Count the tasks that are not done yet.

    Args:
        by: What to count them by.
    """
    sql = """
        SELECT CASE :by WHEN 'owner' THEN owner ELSE priority END, count(*)
        FROM tasks WHERE status <> 'done' GROUP BY 1 ORDER BY 2 DESC
    """
    return dict(ctx.lifespan.execute(sql, {"by": by}).fetchall())


@server.resource("tasks://limits", mime_type="application/json")
def limits() -> dict[str, int | list[str]]:
    """What a call may ask for."""
    return {"max_limit": 100, "owners": list(get_args(Owner)), "statuses": list(get_args(Status))}


@server.resource("tasks://task/{task_id}", mime_type="application/json")
def read_task(ctx: Context[Connection], task_id: TaskId) -> Task:
    """One task, by its id."""
    return get_task(ctx, task_id)


@server.prompt()
def weekly_review(owner: Owner, until: date) -> str:
    """Review what one person has to do.

    Args:
        owner: Whose tasks to review.
        until: The last due date to look at.
    """
    return (
        f"List the tasks of {owner} that are due until {until} and not done yet. Say which of them"
        " are late or urgent, and propose an order to do them in."
    )


@server.completion(weekly_review, "owner")
def complete_owner(value: str) -> list[str]:
    """Complete the name of a team member."""
    return [name for name in get_args(Owner) if name.startswith(value)]


if __name__ == "__main__":
    server.run()
