"""Cases O-SEC-1 and O-SEC-3: what the URI of a resource template can do."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from typegate import MCPServer, RegistrationError, RequestFailed
from typegate.transports.memory import Client
from typegate.types import PROBLEM_KEY

from .inside import call, duration, refused, talk
from .process import Serve, request

# --- O-SEC-1: encoded separators -----------------------------------------------------------------


def notes(unsafe: tuple[str, ...] = ()) -> tuple[MCPServer, list[str]]:
    """The server of O-SEC-1, and a list of what its functions were given."""
    server, given = MCPServer("t"), []

    @server.resource("notes://{name}", unsafe=unsafe)
    def note(name: str) -> str:
        given.append(name)
        return f"<{name}>"

    @server.resource("tree://{path*}")
    def tree(path: str) -> str:
        given.append(path)
        return f"<{path}>"

    @server.resource("item://v1.0/{id}.json")
    def item(id: str) -> str:
        given.append(id)
        return id

    return server, given


def read(server: MCPServer, uri: str, **options: Any) -> str:
    """Read a resource."""
    return talk(server, lambda client: client.read_resource(uri), **options).text


UNSAFE = [
    "notes://..%2F..%2Fetc%2Fpasswd",
    "notes://%2e%2e",
    "notes://a%00.txt",
    "notes://..%5C..%5Cwin.ini",
    "tree://docs/../../etc/passwd",
    "item://v1X0/7Xjson",
    "notes://..%2fetc",
    "notes://.",
    "notes://%2Fetc%2Fpasswd",
    "notes://C%3A%5Cboot.ini",
    "notes://C:",
    "notes://a%0Ab",
    "notes://%c0%ae%c0%ae",
    "notes://%ff",
    "notes://%zz",
    "tree://%2fetc/passwd",
    "tree:///etc/passwd",
    "tree://docs/%2e%2e/x",
    "tree://docs/..%2fx",
    "tree://docs/..",
    "tree://docs%5C..%5Cx",
    "item://v1.0/7.xml",
]


@pytest.mark.parametrize("uri", UNSAFE)
@pytest.mark.parametrize(("revision", "code"), [("2025-11-25", -32002), ("2026-07-28", -32602)])
def test_O_SEC_1_an_unsafe_value_is_an_unknown_resource(uri: str, revision: str, code: int) -> None:
    """The function is not called, and the answer is the one for a resource that nobody knows."""
    server, given = notes()
    error = refused(server, "resources/read", {"uri": uri}, protocol_version=revision)
    unknown = refused(server, "resources/read", {"uri": "nothing://here"}, protocol_version=revision)
    assert error.code == unknown.code == code
    assert error.message.replace(uri, "") == unknown.message.replace("nothing://here", "")
    assert error.data["uri"] == uri
    assert error.data[PROBLEM_KEY]["code"] == "unknown_resource"
    assert not given


@pytest.mark.parametrize(
    ("uri", "value"),
    [
        ("notes://%252e%252e%252fetc", "%2e%2e%2fetc"),
        ("notes://caf%C3%A9", "café"),
        ("notes://café", "café"),
        ("notes://a..b", "a..b"),
        ("notes://...", "..."),
        ("notes://a+b%20c", "a+b c"),
        ("tree://docs/v1..v2/a.txt", "docs/v1..v2/a.txt"),
        ("tree://docs/..a/b..", "docs/..a/b.."),
    ],
)
def test_O_SEC_1_a_safe_value_is_decoded_once(uri: str, value: str) -> None:
    """Only a whole segment of dots counts, and what decodes to an escape stays one."""
    server, given = notes()
    assert read(server, uri) == f"<{value}>"
    assert given == [value]


def test_O_SEC_1_the_fixed_text_of_a_template_is_literal() -> None:
    """A dot is a dot."""
    server, given = notes()
    assert read(server, "item://v1.0/7.json") == "7"
    assert given == ["7"]


def test_O_SEC_1_a_template_can_opt_out_by_name() -> None:
    """`unsafe=["name"]` lets any text through for that variable, and for no other template."""
    server, given = notes(unsafe=("name",))
    assert read(server, UNSAFE[0]) == "<../../etc/passwd>"
    assert refused(server, "resources/read", {"uri": "tree://docs/../../etc/passwd"})
    assert given == ["../../etc/passwd"]


def test_O_SEC_1_opting_out_of_what_is_no_variable_is_refused() -> None:
    """A misspelt name does not go unnoticed."""
    with pytest.raises(RegistrationError, match="'nam' is to be unsafe but is not a variable"):
        notes(unsafe=("nam",))


# --- O-SEC-3: an address that makes the matcher run for ever -------------------------------------

MATCHERS = """
    from typing import Annotated
    from pydantic import AfterValidator, BaseModel, ConfigDict, Field

    @server.resource("users:///{id*}/view")
    def users(id: str) -> str:
        return id

    @server.resource("pair://{a}-{b}-{c}-{d}/end")
    def pair(a: str, b: str, c: str, d: str) -> str:
        return a

    @server.resource("q://search{?tags*,limit}")
    def search(tags: list[str] = [], limit: int = 1) -> str:
        return f"{tags} {limit}"

    @server.resource("deep:///{p1*}/view/{p2*}/edit/{p3*}/x")
    def deep(p1: str, p2: str, p3: str) -> str:
        return p1

    @server.tool
    def pattern(text: Annotated[str, Field(pattern=r"^(a+)+$")]) -> str:
        return "matched"
"""

URIS: dict[str, Callable[[int], str]] = {  # of a given length, more or less
    "commas": lambda n: "users:///" + "a," * (n // 2) + "!",
    "dashes": lambda n: "pair://" + "-" * n + "/en",
    "pairs": lambda n: "q://search?" + "tags=a&" * (n // 7) + "%",
    "slashes": lambda n: "deep:///" + "a/" * (n // 2) + "y",
    "words": lambda n: "deep:///" + "view/edit/" * (n // 10) + "y",
    "percents": lambda n: "users:///" + "%25" * (n // 3),
    "percents to the end": lambda n: "users:///" + "%25" * (n // 3) + "/view/",
}
SIZES = {"commas": 100_000, "dashes": 20_000, "pairs": 140_000, "slashes": 6_000, "percents": 300_000}


def test_O_SEC_3_each_address_of_the_case_is_answered_and_so_is_a_ping(serve: Serve) -> None:
    """Not found, every one of them, and the ping right behind each has its answer."""
    server = serve(MATCHERS).handshake()
    for number, (name, size) in enumerate(SIZES.items(), 2):
        server.send(request(number, "resources/read", uri=URIS[name](size)), request(99, "ping"))
        answers = {answer["id"]: answer for answer in (server.read(), server.read())}
        assert answers[number]["error"]["code"] == -32002
        assert answers[99]["result"] == {}
    assert all(len(line) < 2 * max(SIZES.values()) for line in server.received)


def matchers() -> MCPServer:
    """The same templates in this process."""
    server = MCPServer("t")
    exec(MATCHERS.replace("\n    ", "\n"), {"server": server})
    return server


@pytest.mark.parametrize("name", URIS)
def test_O_SEC_3_time_grows_with_the_length(name: str) -> None:
    """Sixteen times the address, up to the longest that can match, takes sixteen times as long, not 256."""

    async def times(client: Client) -> list[float]:
        loop = asyncio.get_running_loop()
        found = []
        for length in (500, 8_000):
            spans = []
            for _ in range(5):
                begin = loop.time()
                with pytest.raises(RequestFailed):
                    await client.read_resource(URIS[name](length))
                spans.append(loop.time() - begin)
            found.append(min(spans))
        return found

    short, long = talk(matchers(), times)
    assert long < 100 * short


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("deep:///{p1*}/{p2*}/{p3*}/x", "share them"),
        ("a://{p1}{p2}", "nothing tells where"),
        ("a://{+p1}/{+p2}", "share them"),
        ("a://{=p1}", "no meaning yet"),
        ("a://{!p1}", "no meaning yet"),
        ("a://{|p1}", "no meaning yet"),
        ("a://{p1*2}", "is not a variable"),
        ("a://{p1", "a://"),
        ("a://{p1}/{p1}", "appears twice"),
    ],
)
def test_O_SEC_3_what_cannot_be_matched_in_one_way_is_refused(template: str, said: str) -> None:
    """Ambiguous templates and operators without a meaning fail at registration, with advice."""
    server = MCPServer("t")
    with pytest.raises(RegistrationError, match=said) as refusal:
        server.resource(template, name="x")(lambda p1="", p2="", p3="": p1)
    assert template in str(refusal.value)


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("users:///a/b/view", "a/b"),
        ("users:///a/view/view", "a/view"),
        ("pair://a-b-c-d-e/end", "a"),
        ("q://search?tags=a&tags=b&limit=3", "['a', 'b'] 3"),
        ("q://search", "[] 1"),
        ("deep:///a/b/view/c/edit/d/x", "a/b"),
    ],
)
def test_O_SEC_3_the_rule_decides_who_gets_what(uri: str, text: str) -> None:
    """From left to right, each variable takes the shortest text with which the rest still fits."""
    assert read(matchers(), uri) == text


def test_O_SEC_3_a_list_is_never_lost_on_the_way_to_a_string() -> None:
    """The case's `tags: str` for `{?tags*}` is refused, or gets the text; it is not left out in silence."""
    server = MCPServer("t")
    try:

        @server.resource("q://search{?tags*,limit}")
        def search(tags: str = "", limit: int = 1) -> str:
            return tags

        found = read(server, "q://search?tags=a")
    except (RegistrationError, RequestFailed):
        return
    assert found == "a"


HOSTILE = "a" * 40 + "!"


@pytest.mark.parametrize("pattern", [r"^(a+)+$", r"^(a|a)*$", r"^(?=a)(a+)+$"])
def test_O_SEC_3_a_pattern_of_a_schema_takes_bounded_time(pattern: str) -> None:
    """A text made to defeat the pattern of `schema=` is refused as any other is."""
    server, properties = MCPServer("t"), {"text": {"type": "string", "pattern": pattern}}
    server.tool(name="match", schema={"type": "object", "properties": properties})(lambda text="": "matched")
    assert call(server, "match", {"text": "a" * 40}).text == "matched"
    result = call(server, "match", {"text": HOSTILE})
    assert result.is_error
    assert "'text' must match the pattern" in result.text


@pytest.mark.parametrize("pattern", [r"^(a+)+$", r"^(a|a)*$"])
def test_O_SEC_3_a_pattern_of_a_hint_takes_bounded_time(pattern: str) -> None:
    """The same for the pattern of a parameter, and for one further down."""
    server = MCPServer("t")
    text = Annotated[str, Field(pattern=pattern)]

    def match(text, more=()) -> str:
        return "matched"

    match.__annotations__.update(text=text, more=list[text])
    server.tool(match)
    assert call(server, "match", {"text": "a" * 40, "more": ["a"]}).text == "matched"
    result = call(server, "match", {"text": "aa", "more": ["a", HOSTILE]})
    assert result.is_error
    assert "'more[1]' must match the pattern" in result.text


class Backtracking(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    text: Annotated[str, Field(pattern=r"^(a+)+$")]
    other: Annotated[int, AfterValidator(lambda value: value)] = 0


def test_O_SEC_3_a_pattern_of_a_backtracking_model_takes_bounded_time() -> None:
    """A model may ask for Python's own engine: what the schema refuses does not get as far as that."""
    server = MCPServer("t")

    @server.tool
    def match(x: Backtracking) -> str:
        return "matched"

    def send(length: int) -> Callable[[], object]:
        return lambda: call(server, "match", {"x": {"text": "a" * length + "!"}})

    assert duration(send(22)) < 32 * duration(send(8))
