"""The ratios that this project has set itself, from one run's files: targets.py RESULTS_PREFIX.

CPU per call of the server process, median of the per-round ratios. "off": without the guards that are
not built yet. Exit status 0 always: the reader judges.
"""

import json
import statistics
import sys
from pathlib import Path

OURS, LIMIT = "typegate-stdio-off", "raw-stdio-aio"
MCP, FASTMCP, TS1 = "mcp-stdio-async", "fastmcp-stdio-async", "ts1-stdio"
MODES = {"legacy": "2025-11-25", "modern": "2026-07-28"}

TARGETS = [  # case, {other server: at most}
    ("add", {LIMIT: 2.5, MCP: 1 / 30, FASTMCP: 1 / 45, TS1: 1.0}),
    ("search_books", {LIMIT: 2.5, MCP: 1 / 30, FASTMCP: 1 / 45, TS1: 1.0}),
    ("add_book", {LIMIT: 1.8, MCP: 1 / 9, TS1: 1.1}),
    ("big", {LIMIT: 1.3, MCP: 1 / 8, TS1: 0.7}),
    ("invalid", {MCP: 1 / 15, FASTMCP: 1 / 45, TS1: 1.2}),
]


def load(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def ratio(rows, ours, other, field):
    """Median over the rounds of ours / other."""
    mine = {row["rep"]: row[field] for row in rows if row["server"] == ours}
    theirs = {row["rep"]: row[field] for row in rows if row["server"] == other}
    found = [mine[rep] / theirs[rep] for rep in mine if rep in theirs]
    return statistics.median(found) if found else None


def shown(value, target=None):
    if value is None:
        return "–"
    text = f"{value:.2f}" if value >= 0.1 else f"1/{1 / value:.0f}"
    if target is None:
        return text
    wanted = f"{target:.1f}" if target >= 0.5 else f"1/{1 / target:.0f}"
    return f"{text} (≤ {wanted}{'' if value <= target else '  SHORT'})"


def main(prefix):
    rows = [
        row for row in load(Path(f"{prefix}.jsonl")) if "failed" not in row and row["pattern"] == "pipe64"
    ]
    print("\nstdio, 64 in flight: our CPU per call as a share of theirs; in brackets what we want\n")
    print("| case | revision | µs | barest asyncio | official SDK | FastMCP | TypeScript 1.x |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for case, targets in TARGETS:
        for mode, revision in MODES.items():
            here = [row for row in rows if row["case"] == case and row["mode"] == mode]
            own = [row["cpu_us"] for row in here if row["server"] == OURS]
            if own:
                cells = [
                    shown(ratio(here, OURS, s, "cpu_us"), targets.get(s)) for s in (LIMIT, MCP, FASTMCP, TS1)
                ]
                print(f"| {case} | {revision} | {statistics.median(own):,.1f} | {' | '.join(cells)} |")
    here = [row for row in rows if row["case"] == "add" and row["mode"] == "legacy"]
    print("\n| what | ratio |\n|---|--:|")
    thread = ratio(here, "typegate-stdio-thread-off", OURS, "cpu_us")
    print(f"| `add` as a plain def on a worker thread, beside the async one | {shown(thread, 1.6)} |")
    cold = load(Path(f"{prefix}-cold.jsonl"))
    for other, target in ((LIMIT, 1.0), ("mcp-stdio", 0.5), (TS1, 1.0)):
        print(
            f"| cold start to the initialize answer, beside {other} | {shown(ratio(cold, OURS, other, 'init_ms'), target)} |"
        )
    listing = [row for row in load(Path(f"{prefix}-list500.jsonl")) if row.get("mode") == "legacy"]
    if listing:
        print(
            f"| tools/list with 504 tools, CPU, beside raw-stdio | {shown(ratio(listing, OURS, 'raw-stdio', 'cpu_us'), 2.0)} |"
        )
    register = load(Path(f"{prefix}-register.jsonl"))
    if register:
        print(
            f"| registering 500 tools, beside raw-stdio | {shown(ratio(register, OURS, 'raw-stdio', 'reg_ms'), 1.3)} |"
        )
        print(
            f"| registering 500 tools, beside mcp-stdio | {shown(ratio(register, OURS, 'mcp-stdio', 'reg_ms'), 0.6)} |"
        )
    for row in load(Path(f"{prefix}-mem.jsonl")):
        if row["mode"] == "legacy":
            points = row["points"]
            half = next(point for point in points if point[0] >= points[-1][0] / 2)
            growth = (points[-1][1] - half[1]) * 1024 / (points[-1][0] - half[0])
            print(
                f"| memory of {row['server']}: idle {points[0][1] / 1024:.1f} MB; last half of {points[-1][0]:,} calls, bytes a call | {growth:.1f} |"
            )
    print()


if __name__ == "__main__":
    main(sys.argv[1])
