"""What `typegate.guards.access` promises: who may know of a component, and nothing in between."""

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from typegate import (
    AccessPolicy,
    ConfigurationError,
    Decision,
    MCPServer,
    RateLimit,
    RegistrationError,
    RequestFailed,
)
from typegate.guards.access import admits
from typegate.guards.globs import Glob
from typegate.types import Principal

SCOPES = ["read", "write", "orders:read"]
SETS = [frozenset(some) for count in range(4) for some in itertools.combinations(SCOPES, count)]


def caller(*scopes: str) -> Principal:
    """Somebody with these scopes."""
    return Principal(subject="c", scopes=frozenset(scopes))


@pytest.mark.parametrize("principal", [None, caller(), caller("read"), caller(*SCOPES)])
def test_what_asks_for_nothing_is_there_for_everyone(principal: Principal | None) -> None:
    """For nobody in particular too."""
    assert admits(frozenset(), principal) is True


@pytest.mark.parametrize("asked", SETS[1:], ids=sorted)
def test_nobody_in_particular_has_no_scopes(asked: frozenset[str]) -> None:
    """Whoever was not verified sees nothing that asks for one."""
    assert admits(asked, None) is False


@pytest.mark.parametrize("held", SETS, ids=sorted)
@pytest.mark.parametrize("asked", SETS, ids=sorted)
def test_a_caller_needs_every_scope(asked: frozenset[str], held: frozenset[str]) -> None:
    """One that is missing is enough to refuse, and more than are asked for do no harm."""
    assert admits(asked, caller(*held)) is all(scope in held for scope in asked)


NEARLY = [("read", "READ"), ("read", "rea"), ("read", "reads"), ("orders:read", "orders"), ("read", "*")]


@pytest.mark.parametrize(("asked", "held"), [*NEARLY, ("read", "orders:read"), ("read", "read write")])
def test_a_scope_is_a_whole_word(asked: str, held: str) -> None:
    """Nothing stands for another one: no part, no case, no pattern, no list in one string."""
    assert admits(frozenset({asked}), caller(held)) is False


def test_claims_are_no_scopes() -> None:
    """Only what was verified as a scope counts."""
    principal = Principal(subject="admin", client="admin", claims={"scopes": ["admin"], "scope": "admin"})
    assert admits(frozenset({"admin"}), principal) is False


# --- a policy: who may know of what --------------------------------------------------------------


def ask(server: MCPServer, work: Callable[[Any], Any], revision: str = "2026-07-28", **options: Any) -> Any:
    """What *work* gets from a client of the server."""

    async def main() -> Any:
        async with server.client(protocol_version=revision, **options) as client:
            return await work(client)

    return asyncio.run(main())


def shop(**options: Any) -> MCPServer:
    """Tools, prompts, resources and templates with names of one family."""
    server = MCPServer("shop", **options)
    for name in ("orders.list", "orders.delete", "users.list"):
        server.add_tool(name, lambda: "ran")
    server.prompt(name="orders.explain")(lambda topic: topic)
    server.completion("orders.explain", "topic")(lambda typed: ["one"])
    server.resource("config://limits", name="limits")(lambda: "limits")
    server.resource("orders://{number}", name="order")(lambda number: number)
    server.completion("orders://{number}", "number")(lambda typed: ["one"])
    return server


async def refused(client: Any, method: str, params: dict[str, Any]) -> str:
    """What an error says, without the name that was asked for and the one that comes closest."""
    with pytest.raises(RequestFailed) as failed:
        await client.request(method, params)
    text = json.dumps([failed.value.code, failed.value.message, failed.value.data])
    asked = params.get("uri") or params.get("name") or params["ref"].get("name") or params["ref"]["uri"]
    return re.sub(r"Did you mean '[^']*'\? ", "", text.replace(asked, "NAME"))


async def names(client: Any, method: str, key: str = "name") -> list[str]:
    """What a listing shows."""
    page = await client.request(method)
    return [entry[key] for entry in next(value for value in page.values() if isinstance(value, list))]


def test_E2_deny_beats_allow_and_hidden_is_unknown() -> None:
    """The example of the requirement: what may not be used is not listed, and answers like nothing at all."""
    server = shop(access=AccessPolicy(allow=["orders.*"], deny=["orders.delete"]))

    async def work(client: Any) -> None:
        assert await names(client, "tools/list") == ["orders.list"]
        assert (await client.call_tool("orders.list")).text == "ran"
        unknown = await refused(client, "tools/call", {"name": "zzzzzz"})
        for name in ("orders.delete", "users.list"):
            hidden = await refused(client, "tools/call", {"name": name})
            assert hidden == unknown
        with pytest.raises(RequestFailed) as failed:
            await client.call_tool("orders.delet")
        assert "orders.delete" not in json.dumps([failed.value.message, failed.value.data])

    ask(server, work)


DENIED: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [  # pattern, method, what is hidden, nothing
    ("orders.list", "tools/call", {"name": "orders.list"}, {"name": "zzzzzzzzzzz"}),
    (
        "orders.explain",
        "prompts/get",
        {"name": "orders.explain", "arguments": {"topic": "x"}},
        {"name": "zzzzzzzzzzzzzz"},
    ),
    ("resource:config://*", "resources/read", {"uri": "config://limits"}, {"uri": "zzz://zzz"}),
    ("resource:orders://7*", "resources/read", {"uri": "orders://77"}, {"uri": "zzz://zzz"}),
    ("resource:orders://*", "resources/read", {"uri": "orders://1"}, {"uri": "zzz://zzz"}),
    ("resource:config://*", "resources/subscribe", {"uri": "config://limits"}, {"uri": "zzz://zzz"}),
    *(
        (
            pattern,
            "completion/complete",
            {"ref": ref, "argument": {"name": argument, "value": ""}},
            {"ref": {**ref, key: "zzz://zzz"}, "argument": {"name": argument, "value": ""}},
        )
        for pattern, ref, key, argument in (
            ("orders.explain", {"type": "ref/prompt", "name": "orders.explain"}, "name", "topic"),
            ("resource:orders://*", {"type": "ref/resource", "uri": "orders://{number}"}, "uri", "number"),
        )
    ),
]


@pytest.mark.parametrize(("pattern", "method", "hidden", "nothing"), DENIED)
def test_attack_6_hidden_answers_like_unknown(
    pattern: str, method: str, hidden: dict[str, Any], nothing: dict[str, Any]
) -> None:
    """Attack 6: the same code and text, whatever asks for it."""
    server = shop(access=AccessPolicy(deny=[pattern]))

    async def work(client: Any) -> None:
        shown = [await refused(client, method, params) for params in (hidden, nothing)]
        assert shown[0] == shown[1]

    ask(server, work, "2025-11-25")
    ask(shop(), lambda client: client.request(method, hidden), "2025-11-25")  # without a policy it is there


def test_attack_6_a_filtered_listing_is_private() -> None:
    """Attack 6: no cache gives it to somebody else; an unfiltered one may be shared."""

    async def scope(client: Any) -> list[str]:
        methods = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
        return [(await client.request(method))["cacheScope"] for method in methods]

    assert ask(shop(), scope) == ["public"] * 4
    only_tools = shop(access=AccessPolicy(deny=["tool:users.*"]))
    assert ask(only_tools, scope) == ["private", "public", "public", "public"]
    assert ask(shop(access=AccessPolicy(allow=["resource:*"])), scope)[2:] == ["private"] * 2
    assert ask(shop(access=AccessPolicy(decide=lambda *_: True)), scope) == ["private"] * 4


def test_attack_6_a_cursor_of_another_caller_is_refused() -> None:
    """Attack 6: a subject of another issuer is another caller."""
    server = shop(page_size=1)
    mine = Principal(subject="a", issuer="https://one.example")
    for other in (Principal(subject="a", issuer="https://two.example"), Principal(subject="b"), None):
        cursor = ask(server, lambda client: client.request("tools/list"), principal=mine)["nextCursor"]
        with pytest.raises(RequestFailed, match="Invalid cursor"):
            ask(
                server,
                lambda client, cursor=cursor: client.request("tools/list", {"cursor": cursor}),
                principal=other,
            )
    again = ask(server, lambda client: client.request("tools/list", {"cursor": cursor}), principal=mine)
    assert [tool["name"] for tool in again["tools"]] == ["orders.delete"]


def test_attack_6_it_appears_with_the_scope() -> None:
    """Attack 6: one caller's scopes are nobody else's."""
    server = MCPServer("x")
    server.add_tool("wipe", lambda: "ran", scopes=["admin"])
    admin, other = caller("admin"), caller("read")
    for _ in range(2):
        assert ask(server, lambda client: names(client, "tools/list"), principal=other) == []
        assert ask(server, lambda client: names(client, "tools/list"), principal=admin) == ["wipe"]


@pytest.mark.parametrize("uri", ["orders://secret1", "orders://%73ecret1", "orders://s%65cret1"])
def test_a_uri_is_denied_however_it_is_written(uri: str) -> None:
    """The template decodes it, so the policy does too."""
    server = shop(access=AccessPolicy(deny=["resource:orders://secret*"]))
    with pytest.raises(RequestFailed, match="Resource not found"):
        ask(server, lambda client: client.read_resource(uri))
    assert ask(server, lambda client: client.read_resource("orders://5")).text == "5"


def test_a_uri_is_allowed_where_both_forms_are() -> None:
    """What a template makes of a URI counts, not only how the URI begins."""
    server = shop(access=AccessPolicy(allow=["resource:orders://%37*"]))
    with pytest.raises(RequestFailed, match="Resource not found"):
        ask(server, lambda client: client.read_resource("orders://%37"))
    server = shop(access=AccessPolicy(allow=["resource:orders://7"]))
    assert ask(server, lambda client: client.read_resource("orders://7")).text == "7"
    with pytest.raises(RequestFailed, match="Resource not found"):
        ask(server, lambda client: client.read_resource("orders://8"))


def test_attack_6_nobody_is_told_of_changes_of_what_is_hidden() -> None:
    """Attack 6: a subscription honours only what the caller may know of."""
    policy = AccessPolicy(deny=["resource:config://*", "resource:orders://7"])
    server, uris = shop(access=policy), ["config://limits", "orders://7", "orders://%37", "orders://8"]

    async def work(client: Any) -> Any:
        listening = asyncio.ensure_future(
            client.request("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
        )
        await asyncio.sleep(0.01)
        for uri in uris:
            server.notify_resource_updated(uri)
        await asyncio.sleep(0.01)
        listening.cancel()
        return [
            (params["notifications"]["resourceSubscriptions"] if "notifications" in params else params["uri"])
            for _, params in client.notifications
        ]

    assert ask(server, work) == [["orders://8"], "orders://8"]


def test_E2_a_kind_without_a_pattern_is_not_restricted() -> None:
    """Bare patterns are for tools and prompts, `resource:` for URIs."""
    server = shop(access=AccessPolicy(allow=["tool:users.*"]))

    async def work(client: Any) -> list[list[str]]:
        return [
            await names(client, "tools/list"),
            await names(client, "prompts/list"),
            await names(client, "resources/list", "uri"),
        ]

    assert ask(server, work) == [["users.list"], ["orders.explain"], ["config://limits"]]
    assert ask(shop(access=AccessPolicy(allow=["users.*"])), work) == [
        ["users.list"],
        [],
        ["config://limits"],
    ]


def test_E2_what_is_added_at_run_time_is_judged_too() -> None:
    """The policy is asked at each look-up."""
    server = shop(access=AccessPolicy(allow=["orders.*"], deny=["*.delete"]))

    async def work(client: Any) -> list[str]:
        await client.call_tool("orders.list")
        for name in ("orders.new", "users.new", "new.delete", "orders.wipe.delete"):
            server.add_tool(name, lambda: "ran")
        return await names(client, "tools/list")

    assert ask(server, work) == ["orders.list", "orders.new"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"allow": []}, "would restrict nothing"),
        ({"allow": "orders.*"}, "takes a list of patterns"),
        ({"deny": "orders.*"}, "takes a list of patterns"),
        ({"deny": [""]}, "patterns of 1 to 512 characters"),
        ({"deny": ["x" * 513]}, "patterns of 1 to 512 characters"),
        ({"deny": [3]}, "patterns of 1 to 512 characters"),
        ({"deny": ["orders://*"]}, "write 'resource:orders://*'"),
        ({"where": {"a": 3}}, "takes a plain function for 'a'"),
        ({"decide": 3}, "takes a function"),
        ({"approve": {"resource:a": print}}, "patterns of tools"),
        ({"approve": {"a": 3}}, "takes a function of the request"),
    ],
)
def test_a_policy_that_would_not_hold_is_refused(wrong: dict[str, Any], said: str) -> None:
    """At construction, by name: a rule that means nothing must not look like one."""
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        AccessPolicy(**wrong)


def test_an_async_rule_is_refused() -> None:
    """Its answer would be a coroutine, which is true."""

    async def rule(principal: Any, arguments: Any) -> bool:
        return False

    with pytest.raises(ConfigurationError, match="plain function"):
        AccessPolicy(where={"a": rule})  # type: ignore[dict-item]


def test_a_policy_is_not_lost_by_including_its_server() -> None:
    """What would widen access silently is a configuration error."""
    for options in ({"access": AccessPolicy(deny=["*"])}, {"rate_limit": RateLimit()}):
        with pytest.raises(RegistrationError, match="give them to this server"):
            MCPServer("trunk").include(shop(**options))


# --- a policy: what may be done with which arguments ---------------------------------------------


def bank(**policy: Any) -> tuple[MCPServer, list[Any]]:
    """A tool that moves money, with a policy, and what it did."""
    server, moved = MCPServer("bank", access=AccessPolicy(**policy)), []

    @server.tool
    def pay(to: str, amount: Annotated[int, Field(ge=1)] = 5) -> str:
        """Pay."""
        moved.append((to, amount))
        return "paid"

    @server.resource("accounts://{number}")
    def account(number: int) -> str:
        return f"account {number}"

    @server.prompt
    def explain(topic: str) -> str:
        return topic

    return server, moved


def small(principal: Principal | None, arguments: Mapping[str, Any]) -> bool:
    """Whether a payment is small."""
    return isinstance(arguments["amount"], int) and arguments["amount"] <= 10


def test_E2_where_sees_the_validated_values() -> None:
    """Defaults included, after the gate: a refused argument never reaches the rule."""
    server, moved = bank(where={"pay": small})

    async def work(client: Any) -> list[Any]:
        return [
            await client.call_tool("pay", arguments)
            for arguments in (
                {"to": "a"},
                {"to": "b", "amount": 10},
                {"to": "c", "amount": 11},
                {"amount": "x"},
            )
        ]

    results = ask(server, work)
    assert [result.problem and result.problem["code"] for result in results] == [
        *(None, None, "denied", "invalid_arguments")
    ]
    assert [result.is_error for result in results] == [False, False, True, True]
    assert moved == [("a", 5), ("b", 10)]
    assert "11" not in results[2].text


@pytest.mark.parametrize(
    "answer",
    [False, None, 1, "yes", object(), Decision(False), Decision("yes"), ValueError("postgres://u:p@h")],
)  # type: ignore[arg-type]
def test_a_rule_that_does_not_say_true_denies(answer: Any) -> None:
    """What merely looks like a yes is none, and an exception stays in the log."""

    def rule(principal: Any, arguments: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    for policy in (
        {"where": {"pay": rule}},
        {"decide": lambda p, action, t, a: action == "tools/list" or rule(p, a)},
    ):
        server, moved = bank(**policy)
        result = ask(server, lambda client: client.call_tool("pay", {"to": "a"}))
        assert result.problem["code"] == "denied"
        assert "postgres" not in json.dumps(result.raw)
        assert moved == []


def test_a_rule_says_why() -> None:
    """A `Decision` has words for the one who reads the refusal."""
    server, _ = bank(where={"p*": lambda principal, arguments: Decision(False, "Only in office hours.")})
    assert (
        ask(server, lambda client: client.call_tool("pay", {"to": "a"})).problem["hint"]
        == "Only in office hours."
    )


def test_a_rule_sees_defaults_however_they_are_written() -> None:
    """In the signature, in a `Field`, in its metadata, and what `**more` takes."""
    seen: list[Any] = []
    server = MCPServer(
        "x", access=AccessPolicy(where={"*": lambda principal, given: seen.append(dict(given))})
    )

    @server.tool
    def order(
        a: int = 1,
        b: int = Field(2, ge=0),
        c: Annotated[int, Field(ge=0)] = 3,
        d: list[int] = Field(default_factory=list),  # noqa: B008
        **more: int,
    ) -> None:
        """Order."""

    assert ask(server, lambda client: client.call_tool("order", {"e": 5})).problem["code"] == "denied"
    assert seen == [{"a": 1, "b": 2, "c": 3, "d": [], "e": 5}]


def test_rules_hold_for_resources_and_prompts() -> None:
    """With error -31403, which is ours."""
    server, _ = bank(
        where={
            "resource:accounts://*": lambda principal, arguments: arguments["number"] < 10,
            "prompt:explain": lambda principal, arguments: arguments["topic"] == "rain",
        }
    )

    async def work(client: Any) -> list[str]:
        for verb, args in (
            (client.read_resource, ("accounts://10",)),
            (client.get_prompt, ("explain", {"topic": "x"})),
        ):
            with pytest.raises(RequestFailed) as failed:
                await verb(*args)
            assert failed.value.code == -31403
            assert failed.value.data["dev.typegate/problem"]["code"] == "denied"
        return [
            (await client.read_resource("accounts://9")).text,
            (await client.get_prompt("explain", {"topic": "rain"})).text,
        ]

    assert ask(server, work) == ["account 9", "rain"]


@pytest.mark.parametrize("is_async", [False, True])
def test_E2_decide_is_the_seam_for_a_policy_engine(is_async: bool) -> None:
    """It learns who does what to what with which arguments; a plain one also rules the listings."""
    asked: list[Any] = []

    def decide(principal: Any, action: str, target: str, arguments: Any) -> bool:
        asked.append((principal and principal.subject, action, target, arguments and dict(arguments)))
        return target != "users.list" and not (arguments and arguments.get("to") == "eve")

    async def decide_later(*given: Any) -> bool:
        await asyncio.sleep(0)
        return decide(*given)

    server, moved = bank(decide=decide_later if is_async else decide)
    server.add_tool("users.list", lambda: moved.append("ran"))

    async def work(client: Any) -> tuple[Any, ...]:
        codes = [(await client.call_tool("pay", {"to": to})).problem for to in ("bob", "eve")]
        return codes, await names(client, "tools/list")

    (paid, refusal), listed = ask(server, work, principal=caller())
    assert (paid, refusal["code"], moved) == (None, "denied", [("bob", 5)])
    assert ("c", "tools/call", "pay", {"to": "bob", "amount": 5}) in asked
    assert listed == (["pay", "users.list"] if is_async else ["pay"])


def test_a_policy_engine_that_does_not_answer_denies() -> None:
    """In its time."""

    async def decide(*given: Any) -> bool:
        await asyncio.sleep(60)
        return True

    server, moved = bank(decide=decide, decide_timeout=0.05)
    assert ask(server, lambda client: client.call_tool("pay", {"to": "a"})).problem["code"] == "denied"
    assert moved == []


# --- patterns ------------------------------------------------------------------------------------


@given(st.text("ab.?*", max_size=12), st.text("ab.", max_size=16))
def test_a_pattern_means_what_it_says(pattern: str, text: str) -> None:
    """Compared with a regular expression that means the same."""
    expected = re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), text, re.DOTALL)
    assert Glob(pattern).matches(text) is (expected is not None)


@pytest.mark.parametrize("pattern", ["[ab]", "Orders.*", "orders", "o.ders.x", "orders.x\n"])
def test_nothing_else_is_special(pattern: str) -> None:
    """No classes, no dots, no ignoring of case, no line ends."""
    assert not Glob(pattern).matches("orders.x")


def test_matching_is_linear() -> None:
    """What makes a backtracking matcher hang for years is done at once."""
    assert not Glob("*a" * 200 + "*b").matches("a" * 100_000)
    assert Glob("*?a" * 100 + "*").matches("ba" * 5_000)
