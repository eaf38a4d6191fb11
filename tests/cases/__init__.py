"""Field cases: what went wrong in other servers, and the right outcome here.

A test names its case: `test_O_SCH_1_...`. Most talk to a server in the same process (`inside`); where a
case is about bytes, processes or the standard streams, they talk to a real one (`process`).
"""
