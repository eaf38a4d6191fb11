"""An audit log: where it may go, and what becomes of one that somebody changed."""

import tempfile
from pathlib import Path

from typegate import AuditLog, MCPServer
from typegate.guards.archive import check_log, read_records

# region settings
to_stderr = AuditLog()
to_file = AuditLog("calls.jsonl", fsync="each", rotate_bytes=16 * 2**20, keep=30, key="AUDIT_KEY")
to_database = AuditLog.sqlite("calls.db", arguments="shape")
one_for_each_process = AuditLog("calls-{pid}.jsonl")
# endregion

server = MCPServer("orders")


@server.tool
def lookup_order(order_id: str) -> str:
    """Find an order by its id."""
    return f"{order_id} is on its way"


def test_tampering_is_found() -> None:
    """One word is changed, and the record is named."""
    with tempfile.TemporaryDirectory() as folder:
        changed_log(Path(folder))


def changed_log(folder: Path) -> None:
    """Write a log, change it, and ask whether it is whole."""
    # region check
    path = folder / "calls.jsonl"
    log = AuditLog(path, key=b"at least 16 bytes, kept elsewhere")
    log.start("orders 1.4.0")
    log.note("unparseable", reason="no JSON", in_bytes=17)
    log.note("denied", reason="too many attempts")
    log.stop()

    assert [record["seq"] for record in read_records(path)] == [1, 2, 3, 4, 5]
    assert check_log(path).sound
    path.write_text(path.read_text().replace("denied", "ok"))
    [finding] = check_log(path).findings
    assert finding.message == "record 3 was changed: its hash is another"
    # endregion


if __name__ == "__main__":
    server.run()
