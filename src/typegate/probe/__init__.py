"""Malformed calls made from each tool's own schema, sent through the real transport and judged (B7)."""
