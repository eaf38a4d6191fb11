"""Real MCP clients and wire checks: judges of the example server that share no code with it."""
