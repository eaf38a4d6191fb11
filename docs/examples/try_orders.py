"""Ask the first server something, in this process and without a model."""

import asyncio

from orders import server


async def main() -> None:
    wrong = {"limit": 500, "placed_from": "last week", "stauts": "open"}
    async with server.client() as client:
        result = await client.call_tool("list_orders", wrong)
        print(result.text)


if __name__ == "__main__":
    asyncio.run(main())
