"""typegate for the benchmark.  argv: stdio.  BENCH_GUARDS=off: the guards that exist so far."""

import tools

from typegate import MCPServer

server = MCPServer("bench", redactor=None, audit=None)
tools.register_all(lambda name, fn: server.add_tool(name, fn))
server.run(transport="stdio")
