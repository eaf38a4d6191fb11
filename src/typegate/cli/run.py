"""`typegate run`: serve what a file or module holds."""

from typegate.cli.target import load

__all__ = ["run"]


def run(target: str) -> int:
    """Serve TARGET on standard input and output.

    Args:
        target: `file.py`, `file.py:server` or `package.module:server`.
    """
    load(target).server.run()
    return 0
