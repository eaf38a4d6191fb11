"""How often a caller may call: GCRA, a leaky bucket that is one number per key.

The law of the file: the number is the time at which the bucket will be full again, in nanoseconds of a
clock that is given. Of all the rules of a call, either every one is spent or none; a bucket is forgotten
only when it is full, so that no number of other callers frees one that is exhausted.
"""

import logging
import math
import threading
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from typegate.errors import ConfigurationError, RateLimited
from typegate.guards.calls import Call, Handler, caller_of
from typegate.guards.globs import Pattern, parse_pattern
from typegate.types import Principal, Result

__all__ = ["MemoryStore", "Need", "RateLimit", "RateLimiter", "Rule", "Store", "rule_of"]

log: Final = logging.getLogger("typegate")

SECOND: Final = 1_000_000_000
Rate = tuple[float, float]
"""So many a second, and so many at once."""


# --- the pure part -------------------------------------------------------------------------------


class Rule(msgspec.Struct, frozen=True):
    """One limit, in nanoseconds.

    Attributes:
        name: what the record calls it.
        step: how long the bucket takes to regain one call.
        depth: how long it takes from empty to full.
        words: the limit as it is told.
    """

    name: str
    step: int
    depth: int
    words: str


class Need(msgspec.Struct, frozen=True):
    """What a call takes of one bucket: `cost` is in nanoseconds of the rule."""

    rule: Rule
    key: Hashable
    cost: int


def rule_of(name: str, rate: Rate, what: str = "calls") -> Rule:
    """A rate as a rule; rounded so that it never admits more than it says."""
    step = math.ceil(SECOND / rate[0])
    words = f"{rate[0]:g} {what} a second, {rate[1]:g} at once"
    return Rule(name, step, math.floor(rate[1] * step), words)


def spent(full_at: int, need: Need, now: int) -> tuple[int, int]:
    """When the bucket is full again if the call is let in, and how long it must wait: 0 lets it in."""
    after = max(full_at, now) + need.cost
    return after, max(0, after - need.rule.depth - now)


class Store(Protocol):
    """Where the buckets are; one that several processes share answers later."""

    def spend(self, needs: Sequence[Need], now: int) -> int | Awaitable[int]:
        """Take all of them, or none: 0 where they are taken, else nanoseconds until they may be."""
        ...


class MemoryStore:
    """The buckets of one process, in bounded memory; may be used from any thread.

    Full buckets are forgotten, which loses nothing. Where `most` are not full, new keys share one bucket
    per rule, and a key that gets one of its own starts no fuller than that was.

    Args:
        most: how many buckets there are at most.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._full_at: dict[Hashable, int] = {}
        self._shared: dict[str, int] = {}
        self._sweep_at = min(most, 1024)
        self._next_sweep: int | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._full_at)

    def spend(self, needs: Sequence[Need], now: int) -> int:
        """Take all of them, or none."""
        with self._lock:
            full_at = self._full_at.get(needs[0].key) if len(needs) == 1 else None
            if full_at is not None:  # the usual case
                then, wait = spent(full_at, needs[0], now)
                if not wait:
                    self._full_at[needs[0].key] = then
                return wait
            after: list[tuple[Need, bool, int]] = []
            wait = added = 0
            for need in needs:
                full_at = self._full_at.get(need.key)
                own = full_at is not None or self._has_room(now, added)
                if full_at is None:
                    added += own
                    full_at = self._shared.get(need.rule.name, 0)
                then, needed = spent(full_at, need, now)
                wait = max(wait, needed)
                after.append((need, own, then))
            if wait:
                return wait
            for need, own, then in after:
                if own:
                    self._full_at[need.key] = then
                else:
                    self._shared[need.rule.name] = then
            return 0

    def _has_room(self, now: int, added: int) -> bool:
        """Whether one more bucket may be kept beside those just *added*; the full ones go first."""
        if len(self._full_at) + added < self._sweep_at:
            return True
        if self._next_sweep is None or now >= self._next_sweep:
            self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
            self._sweep_at = min(self._most, max(1024, 2 * len(self._full_at)))
            self._next_sweep = now + SECOND if len(self._full_at) >= self._sweep_at else None
        return len(self._full_at) + added < self._sweep_at


# --- what authors write --------------------------------------------------------------------------


class RateLimit(msgspec.Struct, frozen=True, kw_only=True):
    """How often a caller may call; every rate is so many a second, and so many at once.

    Attributes:
        rate: calls per second, per caller and tool, resource or prompt.
        burst: how many of them at once.
        tools: pattern -> a rate of its own, such as `{"orders.export": (0.1, 2)}`.
        weights: pattern -> how many calls one call counts for.
        per_caller: of all calls of one caller together; `None`: no limit.
        overall: of all calls of all callers; `None`: no limit.
        listings: requests for listings, discovery and subscriptions, per caller.
        completions: requests for completions, per caller.
        messages: log and progress messages, per caller; more of them are dropped.
        failed_auth: failed attempts to authenticate, per address (where there is a transport that has it).
        most: how many buckets are kept in memory.
        store: where the buckets are; `None`: in this process.

    Raises:
        ConfigurationError: a rate or a weight is not above 0, or a weight is more than a burst ever holds.
    """

    rate: float = 5.0
    burst: float = 20
    tools: Mapping[str, Rate] = {}
    weights: Mapping[str, float] = {}
    per_caller: Rate | None = None
    overall: Rate | None = None
    listings: Rate = (10.0, 100)
    completions: Rate = (20.0, 60)
    messages: Rate = (50.0, 200)
    failed_auth: Rate = (0.2, 5)
    most: int = 100_000
    store: Store | None = None

    def __post_init__(self) -> None:
        bursts = [_check_rate("rate=, burst=", (self.rate, self.burst))[1]]
        for name in ("per_caller", "overall", "listings", "completions", "messages", "failed_auth"):
            value = getattr(self, name)
            if value is not None:
                burst = _check_rate(f"{name}=", value)[1]
                bursts += [burst] if name in ("per_caller", "overall") else []
        for pattern, value in self.tools.items():
            parse_pattern(pattern, "RateLimit(tools=)")
            bursts.append(_check_rate(f"tools= of '{pattern}'", value)[1])
        for pattern, weight in self.weights.items():
            parse_pattern(pattern, "RateLimit(weights=)")
            if not _is_positive(weight) or weight > min(bursts):
                raise ConfigurationError(
                    f"RateLimit(weights=) takes numbers above 0 and up to {min(bursts):g} for '{pattern}': "
                    f"no burst would ever let a heavier call in"
                )
        if isinstance(self.most, bool) or not isinstance(self.most, int) or self.most < 1:
            raise ConfigurationError("RateLimit(most=) takes an integer of at least 1")


def _check_rate(name: str, value: Any) -> Rate:
    if not (isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_positive, value))):
        raise ConfigurationError(f"RateLimit({name}) takes two numbers above 0: so many a second, at once")
    if value[1] < 1:
        raise ConfigurationError(f"RateLimit({name}) lets nothing in with a burst below 1")
    return value[0], value[1]


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9


# --- the guard -----------------------------------------------------------------------------------

_FREE: Final = frozenset({"initialize", "ping"})
_TARGETED: Final = {"tools/call": "tool", "resources/read": "resource", "prompts/get": "prompt"}
MAX_PLANNED: Final = 10_000
_UNKNOWN: Final = ""
"""Names that lead nowhere for a caller share one bucket, so that guessing them is limited too."""

Planned = tuple[tuple[Rule, int, bool, bool], ...]
"""Rule, cost, whether it is per caller and whether it is per target."""


class RateLimiter:
    """The limits of one server.

    Args:
        limit: what the author wrote.
        clock: monotonic nanoseconds.
    """

    def __init__(self, limit: RateLimit, clock: Callable[[], int]) -> None:
        self._limit = limit
        self._clock = clock
        self._store: Store = MemoryStore(limit.most) if limit.store is None else limit.store
        self._messages = MemoryStore(limit.most)
        self._message = rule_of("rate.messages", limit.messages, "messages")
        self._listing = rule_of("rate.listings", limit.listings, "requests")
        self._completion = rule_of("rate.completions", limit.completions, "requests")
        self._rates = [(parse_pattern(text, "tools"), text, rate) for text, rate in limit.tools.items()]
        self._weights = [(parse_pattern(text, "weights"), cost) for text, cost in limit.weights.items()]
        self._planned: dict[tuple[str, str], Planned] = {}

    def guard(self, call: Call, handler: Handler) -> Awaitable[Result]:
        """Let a call pass, or refuse it.

        Raises:
            RateLimited: with the seconds after which it will be let in.
        """
        if call.request.method in _FREE:
            return handler(call)
        needs = self._needs(call)
        wait = self._store.spend(needs, self._clock())
        if isinstance(wait, int):
            if wait:
                raise _refused(call, needs, wait)
            return handler(call)
        return self._later(call, handler, needs, wait)

    async def _later(
        self, call: Call, handler: Handler, needs: Sequence[Need], wait: Awaitable[int]
    ) -> Result:
        seconds = await wait
        if seconds:
            raise _refused(call, needs, seconds)
        return await handler(call)

    def may_say(self, principal: Principal | None) -> bool:
        """Whether one more log or progress message is sent to a caller; from any thread."""
        need = Need(self._message, (self._message.name, caller_of(principal)), self._message.step)
        return self._messages.spend((need,), self._clock()) == 0

    # --- what a call takes

    def _needs(self, call: Call) -> list[Need]:
        method, caller = call.request.method, caller_of(call.principal)
        kind = _TARGETED.get(method)
        if kind is None:
            rule = self._completion if method == "completion/complete" else self._listing
            return [Need(rule, (rule.name, caller), rule.step)]
        target = _UNKNOWN if call.target is None else call.target.key
        planned = self._planned.get((kind, target))
        if planned is None:
            if len(self._planned) >= MAX_PLANNED:  # names come and go at run time
                self._planned.clear()
            planned = self._planned[kind, target] = self._plan(kind, target)
        return [
            Need(rule, (rule.name, target if on else None, caller if by else None), cost)
            for rule, cost, by, on in planned
        ]

    def _plan(self, kind: str, target: str) -> Planned:
        """Which rules hold for a target, worked out at its first call."""
        weight = next((cost for pattern, cost in self._weights if _is_about(pattern, kind, target)), 1)
        name, rate = f"rate.{kind}", (self._limit.rate, self._limit.burst)
        for pattern, text, own in self._rates:
            if _is_about(pattern, kind, target):
                name, rate = f"rate.tools:{text}", own
                break
        rules = [(rule_of(name, rate), True, True)]
        if self._limit.per_caller is not None:
            rules.append((rule_of("rate.per_caller", self._limit.per_caller), True, False))
        if self._limit.overall is not None:
            rules.append((rule_of("rate.overall", self._limit.overall), False, False))
        return tuple((rule, math.ceil(weight * rule.step), by, on) for rule, by, on in rules)


def _is_about(pattern: Pattern, kind: str, target: str) -> bool:
    return kind in pattern.kinds and pattern.glob.matches(target)


def _refused(call: Call, needs: Sequence[Need], wait: int) -> RateLimited:
    call.notes.rule = "|".join(need.rule.name for need in needs)
    seconds = math.ceil(wait / 1_000_000) / 1000
    what = call.request.method if call.target is None else f"'{call.target.key}'"
    return RateLimited(
        f"Too many calls of {what}: at most {'; together '.join(need.rule.words for need in needs)}",
        hint=f"Wait {seconds:g} seconds, then call again.",
        retry_after=seconds,
    )
