"""A stricter reading of the conformance suite's results than its own exit code.

    python conformance_summary.py RESULTS_DIR [--scenarios N] [--allow SCENARIO[:CHECK]]...

RESULTS_DIR is what ``conformance server ... -o RESULTS_DIR`` wrote. Prints the counts and every
check that is not SUCCESS or INFO. Exit 1 when a FAILURE, a WARNING or a SKIPPED check is not
allowed, when a scenario has no SUCCESS of its own (``wire-schema-valid`` alone proves nothing: it
also passes against a dead server), or when fewer than N scenarios ran. The suite itself lets all
but FAILURE pass.
"""

import argparse
import collections
import json
import re
import sys
from pathlib import Path


def main() -> int:
    """Print what the results come to; 1 when something is wrong."""
    ap = argparse.ArgumentParser()
    ap.add_argument("results", type=Path)
    ap.add_argument("--scenarios", type=int, default=1)
    ap.add_argument("--allow", action="append", default=[])
    a = ap.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    seen: set[str] = set()
    problems: list[str] = []
    allowed: list[str] = []
    for path in sorted(a.results.glob("server-*/checks.json")):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\dZ-]+$", "", path.parent.name)
        seen.add(scenario)
        checks = json.loads(path.read_text())
        counts.update(c["status"] for c in checks)
        found = [
            (c["status"], c["id"], c.get("errorMessage") or json.dumps(c.get("details", "")))
            for c in checks
            if c["status"] in ("FAILURE", "WARNING", "SKIPPED")
        ]
        if not any(c["status"] == "SUCCESS" and c["id"] != "wire-schema-valid" for c in checks) and not found:
            found.append(("VACUOUS", "-", "no check of its own passed"))
        for status, check, why in found:
            into = allowed if {scenario, f"{scenario}:{check}"} & set(a.allow) else problems
            into.append(f"{status:8}{scenario}:{check}  {why[:160]}")
    for line in problems:
        print(line)
    for line in allowed:
        print("allowed", line)
    if len(seen) < a.scenarios:
        problems.append("")
        print(f"only {len(seen)} scenarios ran, {a.scenarios} wanted")
    print(
        f"{len(seen)} scenarios: " + ", ".join(f"{n} {s}" for s, n in sorted(counts.items())),
        file=sys.stderr,
    )
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
