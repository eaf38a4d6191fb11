"""The fixture that starts server processes."""

from .process import serve

__all__ = ["serve"]
