"""Tools that come and go while the server runs, and a schema that is only known then."""

from typing import Any

from typegate import MCPServer, RegistrationError

server = MCPServer("reports")


# region add
def run_report(**arguments: Any) -> dict[str, Any]:
    """Run a report; what it takes is in the schema that comes with it."""
    return {"rows": 0, "filter": arguments}


@server.tool
def publish(report: str, columns: list[str]) -> str:
    """Make a report callable as a tool of its own."""
    schema = {
        "type": "object",
        "properties": {column: {"type": "string", "minLength": 1} for column in columns},
        "minProperties": 1,
        "additionalProperties": False,
    }
    server.add_tool(f"report.{report}", run_report, description=f"The report {report}.", schema=schema)
    return f"report.{report} can be called now"


@server.tool
def withdraw(report: str) -> str:
    """Take a report away."""
    try:
        server.remove_tool(f"report.{report}")
    except RegistrationError:
        return f"there is no report {report}"
    return f"report.{report} is gone"


# endregion

if __name__ == "__main__":
    server.run()
