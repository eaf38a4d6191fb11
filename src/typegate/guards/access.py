"""Who may know of what, and who may do what with which arguments.

The law of the file: a component that a caller may not use does not exist for that caller. Listings,
look-ups, completions and subscriptions ask the same question, so that hidden and unknown cannot be told
apart; what depends on arguments is asked once, of the values that the function will get. Deny beats allow,
and a rule that fails or does not say `True` denies.
"""

import asyncio
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from typegate.errors import ConfigurationError, Denied
from typegate.guards.approval import Approver, approver_of, decision_of
from typegate.guards.calls import Call, Decision
from typegate.guards.globs import Glob, Kind, any_matches, parse_pattern
from typegate.types import Principal

__all__ = ["Access", "AccessPolicy", "Decide", "View", "Where", "admits"]

log: Final = logging.getLogger("typegate")

Where = Callable[[Principal | None, Mapping[str, Any]], bool | Decision]
Decide = Callable[
    [Principal | None, str, str, Mapping[str, Any] | None], bool | Decision | Awaitable[bool | Decision]
]

KINDS: Final[dict[str, Kind]] = {"tools/call": "tool", "prompts/get": "prompt", "resources/read": "resource"}
MAX_KNOWN: Final = 10_000
"""How many names a view remembers its answer for."""


def admits(scopes: frozenset[str], principal: Principal | None) -> bool:
    """Whether a caller has all the *scopes*; nobody in particular has none."""
    return not scopes or (principal is not None and scopes <= principal.scopes)


class AccessPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Who may use what.

    A pattern is `orders.*` for tools and prompts, `resource:orders://*` for URIs; `tool:` and `prompt:`
    name one of the two. `*` stands for any run of characters, `?` for one. A kind of component for which
    `allow` has no pattern is not restricted by it.

    Attributes:
        allow: what may be used; `None`: everything.
        deny: what may not, whatever `allow` says.
        where: pattern -> rule(principal, arguments), asked before the function runs, with the values that
            it will get; `True` lets the call pass.
        decide: the seam for a policy engine: decide(principal, action, target, arguments) -> `True`,
            `False` or a `Decision`. It is asked before a function runs (`tools/call`, `resources/read`,
            `prompts/get`); a plain function also for what is listed (`tools/list` and so on, with `None`
            for the arguments), an async one is not.
        decide_timeout: seconds after which silence of an async `decide` is no.
        approve: pattern -> who must approve a tool call; see `Approver`.

    Raises:
        ConfigurationError: a pattern is none, or a rule cannot be called.
    """

    allow: Sequence[str] | None = None
    deny: Sequence[str] = ()
    where: Mapping[str, Where] = {}
    decide: Decide | None = None
    decide_timeout: float = 5.0
    approve: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        if self.allow is not None and not self.allow:
            raise ConfigurationError(
                "AccessPolicy(allow=[]) would restrict nothing, since no kind has a pattern in it; "
                "leave it out, or write deny=['*', 'resource:*']"
            )
        for option in ("allow", "deny"):
            patterns = getattr(self, option)
            if isinstance(patterns, str) or not isinstance(patterns, Sequence | None):
                raise ConfigurationError(f"AccessPolicy({option}=) takes a list of patterns")
            for pattern in patterns or ():
                parse_pattern(pattern, f"AccessPolicy({option}=)")
        for pattern, rule in self.where.items():
            parse_pattern(pattern, "AccessPolicy(where=)")
            if not callable(rule) or _is_async(rule):
                raise ConfigurationError(
                    f"AccessPolicy(where=) takes a plain function for '{pattern}': "
                    "lambda principal, arguments: True; an async one belongs in decide="
                )
        if self.decide is not None and not callable(self.decide):
            raise ConfigurationError(
                "AccessPolicy(decide=) takes a function: decide(principal, action, target, arguments)"
            )
        for pattern, ask in self.approve.items():
            if "tool" not in parse_pattern(pattern, "AccessPolicy(approve=)").kinds:
                raise ConfigurationError("AccessPolicy(approve=) takes patterns of tools")
            approver_of(ask)


# --- a policy, worked out ------------------------------------------------------------------------


class View:
    """What a policy shows of one kind of component.

    Attributes:
        filters: whether anything may be hidden; a listing is private then.
        varies: whether that depends on who looks.
    """

    def __init__(self, policy: AccessPolicy, kind: Kind) -> None:
        self._kind = kind
        self._allow = _globs(policy.allow or (), kind)
        self._deny = _globs(policy.deny, kind)
        self._decide = None if _is_async(policy.decide) else policy.decide
        self._known: dict[str, bool] = {}
        self.varies = self._decide is not None
        self.filters = self.varies or bool(self._allow or self._deny)

    def shows(self, key: str, principal: Principal | None) -> bool:
        """Whether a caller may know of the component of this name, URI or template."""
        known = self._known.get(key)
        if known is None:
            known = self._passes(key)
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = known
        return known and (self._decide is None or self._decides(key, principal))

    def shows_member(self, template: str, uri: str, principal: Principal | None) -> bool:
        """Whether a caller may know of a resource that a template makes.

        A URI can be written in more than one way: with `%73` for `s` it is denied where `s` is, and allowed
        where both are.
        """
        if not self.filters:
            return True
        forms = (uri, unquote(uri))
        if any_matches(self._deny, template) or any(any_matches(self._deny, form) for form in forms):
            return False
        allowed = (
            not self._allow
            or any_matches(self._allow, template)
            or all(any_matches(self._allow, form) for form in forms)
        )
        return allowed and (self._decide is None or self._decides(uri, principal))

    def _passes(self, key: str) -> bool:
        return not any_matches(self._deny, key) and (not self._allow or any_matches(self._allow, key))

    def _decides(self, key: str, principal: Principal | None) -> bool:
        decide: Any = self._decide
        try:
            return _verdict(decide(principal, f"{self._kind}s/list", key, None)).allowed
        except Exception:
            log.exception("decide failed; '%s' is hidden", key)
            return False


class Access:
    """A policy, worked out for a server."""

    def __init__(self, policy: AccessPolicy) -> None:
        self.tools = View(policy, "tool")
        self.prompts = View(policy, "prompt")
        self.resources = View(policy, "resource")
        self._policy = policy
        self._rules: dict[tuple[Kind, tuple[str, ...]], list[Where]] = {}
        self._where = [(parse_pattern(text, "where"), rule) for text, rule in policy.where.items()]
        self._approve = [
            (parse_pattern(text, "approve"), approver_of(ask)) for text, ask in policy.approve.items()
        ]

    @property
    def judges(self) -> bool:
        """Whether arguments are looked at."""
        return bool(self._where) or self._policy.decide is not None

    @property
    def asks(self) -> bool:
        """Whether the policy wants approvals."""
        return bool(self._approve)

    def approvers(self, call: Call) -> list[Approver]:
        """Who must approve a call, beside those that the tool itself names."""
        if call.request.method != "tools/call":
            return []
        key = call.target.key
        return [
            who for pattern, who in self._approve if "tool" in pattern.kinds and pattern.glob.matches(key)
        ]

    def admit(self, call: Call, values: Mapping[str, Any]) -> Awaitable[None] | None:
        """The step at the seam: the rules of the policy, then the policy engine.

        Raises:
            Denied: one of them does not let the call pass.
        """
        kind, names = KINDS[call.request.method], _names(call)
        rules = self._rules.get((kind, names))
        if rules is None:
            rules = self._rules_of(kind, names)
        if not rules and self._policy.decide is None:
            return None
        seen = call.target.callback.seen(values)
        for rule in rules:
            _check(call, "access.where", functools.partial(rule, call.principal, seen))
        return None if self._policy.decide is None else self._ask(call, names[0], seen)

    def _rules_of(self, kind: Kind, names: tuple[str, ...]) -> list[Where]:
        """The rules for a component; those of tools and prompts are kept, URIs are without number."""
        rules = [
            rule
            for pattern, rule in self._where
            if kind in pattern.kinds and any(map(pattern.glob.matches, names))
        ]
        if kind != "resource":
            if len(self._rules) >= MAX_KNOWN:
                self._rules.clear()
            self._rules[kind, names] = rules
        return rules

    def _ask(self, call: Call, name: str, seen: Mapping[str, Any]) -> Awaitable[None] | None:
        """Ask the policy engine; a plain one answers at once."""
        decide: Any = self._policy.decide
        answer = _check(
            call, "access.decide", lambda: decide(call.principal, call.request.method, name, seen), True
        )
        return None if answer is None else self._wait(call, answer)

    async def _wait(self, call: Call, answer: Awaitable[object]) -> None:
        decided: object = None
        try:
            async with asyncio.timeout(self._policy.decide_timeout) as deadline:
                decided = await answer
            decided = None if deadline.expired() else decided
        except Exception:
            log.exception("decide failed; '%s' is denied", call.target.key)
        _check(call, "access.decide", lambda: decided)


def _is_async(function: object) -> bool:
    """Whether it is a coroutine function, or an object that is called like one."""
    called = getattr(function, "__call__", None)  # noqa: B004  (the method itself)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _globs(patterns: Sequence[str], kind: Kind) -> list[Glob]:
    parsed = (parse_pattern(text, "a policy") for text in patterns)
    return [pattern.glob for pattern in parsed if kind in pattern.kinds]


def _names(call: Call) -> tuple[str, ...]:
    """What a component is called, in every way in which a pattern may mean it."""
    if call.request.method != "resources/read":
        return (str(call.target.key),)
    uri = str(call.request.params.get("uri"))
    return tuple(dict.fromkeys((uri, unquote(uri), str(call.target.key))))


def _verdict(answer: object) -> Decision:
    if not isinstance(answer, bool | Decision):
        log.error("a rule of the policy answered with a value of type %s; that is no", type(answer).__name__)
    return decision_of(answer)


def _check(
    call: Call, rule: str, ask: Callable[[], object], may_wait: bool = False
) -> Awaitable[object] | None:
    """Ask, and refuse unless the answer is yes; an answer that is to be waited for is given back."""
    try:
        answer = ask()
    except Exception:
        log.exception("a rule of the policy failed; '%s' is denied", call.target.key)
        answer = False
    if inspect.isawaitable(answer):
        if may_wait:
            return answer
        if inspect.iscoroutine(answer):
            answer.close()
    decision = _verdict(answer)
    if not decision.allowed:
        call.notes.rule = rule
        raise Denied(
            f"'{call.target.key}' may not be used with these arguments by this caller",
            hint=decision.reason or "Other arguments may be allowed; the same ones will not be.",
        )
    return None
