"""Tests of the first server, without a process and without a model."""

import asyncio

from orders import server


# region tests
def test_an_order_is_found() -> None:
    """A good call gives structured content for programs and text for the model."""

    async def ask() -> None:
        async with server.client() as client:
            result = await client.call_tool("get_order", {"order_id": "A-1001"})
            assert not result.is_error
            assert result.structured["status"] == "shipped"
            assert "42.5" in result.text

    asyncio.run(ask())


def test_a_wrong_call_is_refused() -> None:
    """Both mistakes are reported, and the function does not run."""

    async def ask() -> None:
        async with server.client(protocol_version="2025-06-18") as client:
            result = await client.call_tool("list_orders", {"limit": 500, "stauts": "open"})
            assert result.is_error
            assert result.problem is not None
            assert {issue["code"] for issue in result.problem["issues"]} == {"less_than_equal", "unexpected"}
            assert "did you mean 'status'?" in result.text

    asyncio.run(ask())


def test_the_schema_is_what_was_agreed() -> None:
    """What is published can be held against what was promised."""

    async def ask() -> None:
        async with server.client() as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            assert tools["get_order"].input_schema["required"] == ["order_id"]

    asyncio.run(ask())


# endregion
