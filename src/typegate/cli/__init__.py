"""The `typegate` command: one thin module for each of its commands."""
