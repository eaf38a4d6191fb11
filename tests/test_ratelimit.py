"""What `typegate.guards.ratelimit` promises: never more than it says, and nobody is forgiven."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typegate import AccessPolicy, ConfigurationError, Context, MCPServer, Principal, RateLimit, RequestFailed
from typegate.guards.ratelimit import SECOND, MemoryStore, Need, RateLimiter, rule_of, spent

RATES = st.tuples(st.floats(0.01, 1000), st.integers(1, 50))
STEPS = st.lists(st.tuples(st.integers(0, 3 * SECOND), st.integers(1, 4)), min_size=1, max_size=80)


def need(rate: float = 1, burst: float = 3, key: Any = "key", cost: float = 1) -> Need:
    """What a call takes of a bucket."""
    rule = rule_of("rule", (rate, burst))
    return Need(rule, key, int(cost * rule.step))


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 10**18

    def __call__(self) -> int:
        return self.now


# --- the arithmetic ------------------------------------------------------------------------------


@given(RATES, STEPS)
def test_in_no_window_more_than_burst_and_rate(rate: tuple[float, int], steps: list[tuple[int, int]]) -> None:
    """However the calls come, and whatever they weigh."""
    rule, full_at, now, let_in = rule_of("r", rate), 0, 0, []
    for pause, weight in steps:
        now += pause
        then, wait = spent(full_at, Need(rule, "k", weight * rule.step), now)
        if not wait:
            full_at = then
            let_in.append((now, weight))
    for first, (start, _) in enumerate(let_in):
        total = 0
        for end, weight in let_in[first:]:
            total += weight
            assert total <= rate[1] + rate[0] * (end - start) / SECOND + 1e-6


@given(RATES, STEPS)
def test_after_the_wait_it_is_let_in(rate: tuple[float, int], steps: list[tuple[int, int]]) -> None:
    """`retry_after` is neither too short nor a nanosecond too long."""
    rule, full_at, now = rule_of("r", rate), 0, 0
    for pause, weight in steps:
        now += pause
        one = Need(rule, "k", min(weight, int(rate[1])) * rule.step)
        then, wait = spent(full_at, one, now)
        if wait:
            assert spent(full_at, one, now + wait)[1] == 0
            assert spent(full_at, one, now + wait - 1)[1] == 1
        else:
            full_at = then


@given(STEPS, st.integers(0, 10**12))
def test_attack_11_a_clock_that_steps_back_forgives_nobody(steps: list[tuple[int, int]], back: int) -> None:
    """Attack 11: an exhausted bucket stays so until the clock has caught up."""
    store, one, now = MemoryStore(), need(), 10**13
    while not store.spend([one], now):
        pass
    for pause, _ in steps:
        assert store.spend([one], now - back + min(pause, back)) > 0


# --- the store -----------------------------------------------------------------------------------


def test_E3_all_rules_or_none() -> None:
    """A call that one rule refuses spends nothing of the others."""
    store, wide, narrow = MemoryStore(), need(key="wide", burst=5), need(key="narrow", burst=2)
    for _ in range(2):
        assert store.spend([wide, narrow], 0) == 0
    for _ in range(10):
        assert store.spend([wide, narrow], 0) > 0
    assert [store.spend([wide], 0) > 0 for _ in range(4)] == [False, False, False, True]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, SECOND // 2)), max_size=300), st.integers(1, 20))
def test_memory_is_bounded_and_nobody_is_forgiven(calls: list[tuple[int, int]], most: int) -> None:
    """Beside a store without a bound: where that refuses, the bounded one does."""
    bounded, endless, now = MemoryStore(most), MemoryStore(10**9), 0
    for key, pause in calls:
        now += pause
        one = need(key=key)
        let_in = bounded.spend([one], now) == 0
        if let_in:
            assert endless.spend([one], now) == 0
        assert len(bounded) <= most


def test_attack_11_a_flood_of_keys_frees_nobody() -> None:
    """Attack 11: 10^5 other callers neither push the exhausted one out nor grow the memory."""
    store, mine = MemoryStore(1000), need(rate=0.001, key="mine")
    while not store.spend([mine], 0):
        pass
    for number in range(100_000):
        store.spend([need(rate=0.001, key=number)], number)
    assert len(store) <= 1000
    assert store.spend([mine], 100_000) > 0
    late = [store.spend([need(rate=0.001, key=f"late {number}")], 100_000) for number in range(10)]
    assert all(late)  # refused rather than let in unseen
    assert store.spend([mine], 10**4 * SECOND) == 0  # and time heals


def test_full_buckets_are_forgotten() -> None:
    """Which loses nothing: they are as good as new."""
    store = MemoryStore(100)
    for number in range(10_000):
        assert store.spend([need(key=number)], number * SECOND) == 0
    assert len(store) <= 100


# --- what authors write --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        *(
            ({"rate": value}, "two numbers above 0")
            for value in (0, -1, "5", True, float("nan"), float("inf"))
        ),
        ({"burst": 0.5}, "a burst below 1"),
        ({"listings": 5}, "listings="),
        ({"messages": (1, 0)}, "messages="),
        ({"tools": {"a": (0, 1)}}, "tools= of 'a'"),
        ({"tools": {"": (1, 1)}}, "1 to 512 characters"),
        ({"weights": {"a": 0}}, "for 'a'"),
        ({"weights": {"a": 21}}, "up to 20"),
        ({"weights": {"a": 3}, "tools": {"b": (1, 2)}}, "up to 2"),
        ({"most": 0}, "at least 1"),
    ],
)
def test_a_limit_that_cannot_work_is_refused(wrong: dict[str, Any], said: str) -> None:
    """Attack 11, cost > burst: a call that could never be let in is an error of the author."""
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        RateLimit(**wrong)


# --- around calls --------------------------------------------------------------------------------


def shop(limit: RateLimit, **options: Any) -> tuple[MCPServer, Clock]:
    """A server whose limiter has a clock of ours."""
    server, clock = MCPServer("shop", rate_limit=limit, **options), Clock()
    server._rates = RateLimiter(limit, clock)
    server._guards = (server._rates.guard,)
    for name in ("find", "export", "wipe"):
        server.add_tool(name, lambda: "ran", inline=True)
    server.prompt(name="explain")(lambda topic: topic)
    server.completion("explain", "topic")(lambda typed: ["one"])
    return server, clock


def ask(server: MCPServer, work: Callable[[Any], Awaitable[Any]], who: str | None = "a") -> Any:
    """What *work* gets from a client of the server."""

    async def main() -> Any:
        async with server.client(principal=who and Principal(subject=who)) as client:
            return await work(client)

    return asyncio.run(main())


async def passed(client: Any, names: Sequence[str]) -> list[bool]:
    """Which of these calls were let in."""
    return [(await client.call_tool(name)).problem is None for name in names]


def test_E3_a_refusal_says_when_to_come_back() -> None:
    """A result that the model reads, with `retry_after`; after that time the call is let in."""
    server, clock = shop(RateLimit(rate=2.0, burst=2))

    async def work(client: Any) -> None:
        assert await passed(client, ["find"] * 3) == [True, True, False]
        refusal = await client.call_tool("find")
        assert refusal.is_error
        assert refusal.problem["code"] == "rate_limited"
        assert refusal.problem["retry_after"] == 0.5
        assert "at most 2 calls a second, 2 at once" in refusal.text
        assert "Wait 0.5 seconds" in refusal.text
        clock.now += SECOND // 2
        assert await passed(client, ["find"] * 2) == [True, False]

    ask(server, work)


def test_E3_per_caller_and_tool() -> None:
    """Neither another tool nor another caller pays."""
    server, _ = shop(RateLimit(burst=1))
    assert ask(server, lambda client: passed(client, ["find", "find", "export"])) == [True, False, True]
    assert ask(server, lambda client: passed(client, ["find"]), "b") == [True]
    assert ask(server, lambda client: passed(client, ["find", "find"]), None) == [True, False]
    assert ask(server, lambda client: passed(client, ["find"]), "a") == [False]


def test_E3_per_caller_and_overall() -> None:
    """All tools of a caller together, and all callers."""
    server, _ = shop(RateLimit(per_caller=(1, 3), overall=(1, 4)))
    names = ["find", "export", "wipe", "find"]
    assert ask(server, lambda client: passed(client, names)) == [True, True, True, False]
    assert ask(server, lambda client: passed(client, names), "b") == [True, False, False, False]


def test_E3_weights_and_rates_of_tools() -> None:
    """A heavy call counts for several; a tool may have a rate of its own."""
    server, _ = shop(RateLimit(burst=6, weights={"exp*": 3}, tools={"wipe": (0.1, 3)}))
    calls = ["export", "export", "export", "wipe", "wipe", "wipe", "wipe"]
    assert ask(server, lambda client: passed(client, calls)) == [True, True, False, True, True, True, False]


def test_E3_access_comes_first_and_guessing_is_limited() -> None:
    """Hidden and unknown names spend one bucket together, and never that of a tool."""
    server, _ = shop(RateLimit(burst=3), access=AccessPolicy(deny=["wipe"]))

    async def work(client: Any) -> list[Any]:
        found: list[Any] = []
        for name in ("wipe", "x1", "x2", "x3", "wipe"):
            with pytest.raises(RequestFailed) as failed:
                await client.call_tool(name)
            found.append(failed.value.code)
        assert failed.value.data["dev.typegate/problem"]["retry_after"] > 0
        return [found, await passed(client, ["find"] * 3)]

    assert ask(server, work) == [[-32602, -32602, -32602, -31429, -31429], [True] * 3]


def test_E3_listings_completions_and_prompts_have_limits_of_their_own() -> None:
    """Refused with error -31429; a ping always passes."""
    server, _ = shop(RateLimit(burst=1, listings=(1, 2), completions=(1, 1)))
    reference = {"type": "ref/prompt", "name": "explain"}

    async def work(client: Any) -> list[int]:
        found: list[int] = []
        for verb in (
            *(lambda: client.request("tools/list"), lambda: client.request("prompts/list")) * 2,
            *(lambda: client.complete(reference, "topic", "x"),) * 2,
            *(lambda: client.get_prompt("explain", {"topic": "x"}),) * 2,
        ):
            try:
                await verb()
                found.append(0)
            except RequestFailed as error:
                found.append(error.code)
        assert await passed(client, ["find"]) == [True]
        return found

    got = ask(server, work)
    assert got[-4:] == [0, -31429, 0, -31429]
    assert got[3] == -31429


def test_E3_messages_beyond_the_limit_are_dropped() -> None:
    """The function goes on; only the client hears less. On a thread too."""
    server, _ = shop(RateLimit(messages=(1, 3)))

    @server.tool
    def work_hard(ctx: Context) -> str:
        for step in range(10):
            ctx.progress(step + 1)
            ctx.info("on it")
        return "done"

    async def work(client: Any) -> tuple[str, int]:
        meta = {"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"}
        result = await client.request("tools/call", {"name": "work_hard", "arguments": {}, "_meta": meta})
        return result["content"][0]["text"], len(client.notifications)

    assert ask(server, work) == ("done", 3)


def test_attack_11_the_burst_is_exact_under_many_tasks() -> None:
    """Attack 11: 50 at once, and 10 are let in."""
    server, _ = shop(RateLimit(rate=1, burst=10))

    async def work(client: Any) -> int:
        return sum(sum(each) for each in await asyncio.gather(*(passed(client, ["find"]) for _ in range(50))))

    assert ask(server, work) == 10


class Elsewhere:
    """A store that answers later, as a shared one does."""

    def __init__(self) -> None:
        self.inner = MemoryStore()

    async def spend(self, needs: Sequence[Need], now: int) -> int:
        """After a while."""
        await asyncio.sleep(0)
        return self.inner.spend(needs, now)


def test_E3_a_store_may_answer_later() -> None:
    """The interface of a shared one."""
    server, _ = shop(RateLimit(burst=2, store=Elsewhere()))
    assert ask(server, lambda client: passed(client, ["find"] * 3)) == [True, True, False]
