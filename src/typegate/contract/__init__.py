"""The gate: a signature read once, arguments judged, results shaped; no waiting and no I/O."""
