"""What `typegate.contract.uritemplate` promises: RFC 6570 both ways, safe and in linear time."""

import re
import time
import timeit
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typegate.contract import uritemplate
from typegate.contract.uritemplate import MAX_URI, TemplateError, UriTemplate, is_template

RFC_VALUES: dict[str, object] = {
    "count": ("one", "two", "three"),
    "dom": ("example", "com"),
    "dub": "me/too",
    "hello": "Hello World!",
    "half": "50%",
    "var": "value",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "keys": {"semi": ";", "dot": ".", "comma": ","},
    "v": "6",
    "x": 1024,
    "y": "768",
    "empty": "",
    "empty_keys": {},
    "undef": None,
}

# Sections 3.2.1 to 3.2.9, without the four examples of RFC_REFUSED.
RFC_EXAMPLES = """
{count} one,two,three
{count*} one,two,three
{/count} /one,two,three
{/count*} /one/two/three
{;count} ;count=one,two,three
{;count*} ;count=one;count=two;count=three
{?count} ?count=one,two,three
{?count*} ?count=one&count=two&count=three
{&count*} &count=one&count=two&count=three

{var} value
{hello} Hello%20World%21
{half} 50%25
O{empty}X OX
O{undef}X OX
{x,y} 1024,768
{x,hello,y} 1024,Hello%20World%21,768
?{x,empty} ?1024,
?{x,undef} ?1024
?{undef,y} ?768
{var:3} val
{var:30} value
{list} red,green,blue
{list*} red,green,blue
{keys} semi,%3B,dot,.,comma,%2C
{keys*} semi=%3B,dot=.,comma=%2C

{+var} value
{+hello} Hello%20World!
{+half} 50%25
{base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
{+base}index http://example.com/home/index
O{+empty}X OX
O{+undef}X OX
{+path}/here /foo/bar/here
here?ref={+path} here?ref=/foo/bar
{+x,hello,y} 1024,Hello%20World!,768
{+path,x}/here /foo/bar,1024/here
{+path:6}/here /foo/b/here
{+list} red,green,blue
{+list*} red,green,blue
{+keys} semi,;,dot,.,comma,,
{+keys*} semi=;,dot=.,comma=,

{#var} #value
{#hello} #Hello%20World!
{#half} #50%25
foo{#empty} foo#
foo{#undef} foo
{#x,hello,y} #1024,Hello%20World!,768
{#path,x}/here #/foo/bar,1024/here
{#path:6}/here #/foo/b/here
{#list} #red,green,blue
{#list*} #red,green,blue
{#keys} #semi,;,dot,.,comma,,
{#keys*} #semi=;,dot=.,comma=,

{.who} .fred
{.half,who} .50%25.fred
www{.dom*} www.example.com
X{.var} X.value
X{.empty} X.
X{.undef} X
X{.var:3} X.val
X{.list} X.red,green,blue
X{.list*} X.red.green.blue
X{.keys} X.semi,%3B,dot,.,comma,%2C
X{.keys*} X.semi=%3B.dot=..comma=%2C
X{.empty_keys} X
X{.empty_keys*} X

{/who} /fred
{/half,who} /50%25/fred
{/who,dub} /fred/me%2Ftoo
{/var} /value
{/var,empty} /value/
{/var,undef} /value
{/var,x}/here /value/1024/here
{/list} /red,green,blue
{/list*} /red/green/blue
{/list*,path:4} /red/green/blue/%2Ffoo
{/keys} /semi,%3B,dot,.,comma,%2C
{/keys*} /semi=%3B/dot=./comma=%2C

{;who} ;who=fred
{;half} ;half=50%25
{;empty} ;empty
{;v,empty,who} ;v=6;empty;who=fred
{;v,bar,who} ;v=6;who=fred
{;x,y} ;x=1024;y=768
{;x,y,empty} ;x=1024;y=768;empty
{;x,y,undef} ;x=1024;y=768
{;hello:5} ;hello=Hello
{;list} ;list=red,green,blue
{;list*} ;list=red;list=green;list=blue
{;keys} ;keys=semi,%3B,dot,.,comma,%2C
{;keys*} ;semi=%3B;dot=.;comma=%2C

{?who} ?who=fred
{?half} ?half=50%25
{?x,y} ?x=1024&y=768
{?x,y,empty} ?x=1024&y=768&empty=
{?x,y,undef} ?x=1024&y=768
{?var:3} ?var=val
{?list} ?list=red,green,blue
{?list*} ?list=red&list=green&list=blue
{?keys} ?keys=semi,%3B,dot,.,comma,%2C
{?keys*} ?semi=%3B&dot=.&comma=%2C

{&who} &who=fred
{&half} &half=50%25
?fixed=yes{&x} ?fixed=yes&x=1024
{&x,y,empty} &x=1024&y=768&empty=
{&x,y,undef} &x=1024&y=768
{&var:3} &var=val
{&list} &list=red,green,blue
{&list*} &list=red&list=green&list=blue
{&keys} &keys=semi,%3B,dot,.,comma,%2C
{&keys*} &semi=%3B&dot=.&comma=%2C
"""
RFC_REFUSED = ["up{+path}{var}/here", "{.who,who}", "{/who,who}", "{/var:1,var}"]

NOTES, TREE, ITEM = "notes://{name}", "tree://{path*}", "item://v1.0/{id}.json"
USERS, PAIR = "users:///{id*}/view", "pair://{a}-{b}-{c}-{d}/end"
SEARCH, DEEP = "q://search{?tags*,limit}", "deep:///{p1*}/{p2*}/{p3*}/x"


def match(template: str, uri: str) -> dict[str, str | list[str]] | None:
    """Match a URI with a template parsed for the occasion."""
    return UriTemplate.parse(template).match(uri)


# Expanding


@pytest.mark.parametrize("example", [line for line in RFC_EXAMPLES.splitlines() if line])
def test_expand_writes_the_examples_of_the_rfc(example: str) -> None:
    """Every example of RFC 6570 section 3.2 expands to the text printed there."""
    template, uri = example.split()
    assert UriTemplate.parse(template).expand(RFC_VALUES) == uri


@pytest.mark.parametrize(
    ("template", "values", "uri"),
    [
        (TREE, {"path": "docs/a b.txt"}, "tree://docs/a%20b.txt"),
        (TREE, {"path": ["a/b", "c"]}, "tree://a%2Fb,c"),
        ("caf\xe9://{x}", {"x": "\xe9"}, "caf%C3%A9://%C3%A9"),
        ("caf%c3%a9", {}, "caf%C3%A9"),
        ("{+x}", {"x": "50%25 50%"}, "50%25%2050%25"),
        ("{x}", {"x": "50%25"}, "50%2525"),
        ("x{?on,off,n}", {"on": True, "off": False, "n": 1.5}, "x?on=true&off=false&n=1.5"),
        ("x{?a*}{&b}", {"a": [None, "1", None, ""], "b": 2}, "x?a=1&a=&b=2"),
        ("x{?m*}", {"m": {"k": "", "none": None}}, "x?k="),
        ("x{;m*}", {"m": {"k": "", "none": None}}, "x;k"),
        ("x{/m*}", {"m": {"k": ""}}, "x/k="),
        ("x{?a}", {"a": []}, "x"),
    ],
)
def test_expand_beyond_the_examples(template: str, values: dict[str, object], uri: str) -> None:
    """Slashes of the wildcard, non-ASCII text, numbers, booleans and holes have one form each."""
    assert UriTemplate.parse(template).expand(values) == uri


@pytest.mark.parametrize(
    ("template", "value", "says"),
    [
        ("{x}", b"raw", "'x' cannot be written from a bytes"),
        ("{x}", {"k": ["nested"]}, "'x' cannot be written from a list"),
        ("{x:3}", ["red"], "takes a string, not a list or mapping"),
        ("{x}", "\ud800", "'x' has a lone surrogate"),
        ("{+x}", "\ud800", "'x' has a lone surrogate"),
    ],
)
def test_expand_refuses_what_has_no_text(template: str, value: object, says: str) -> None:
    """A value that no URI can carry is refused by name, never written as its repr."""
    with pytest.raises(TemplateError, match=says):
        UriTemplate.parse(template).expand({"x": value})


# Parsing


def test_parse_says_what_the_template_asks_for() -> None:
    """Variables come in order; those of a query are optional; `*` marks the exploded ones."""
    template = UriTemplate.parse("x://{b}/{a*}{?q,t*}{&z}{#f}")
    assert template.text == "x://{b}/{a*}{?q,t*}{&z}{#f}"
    assert template.variables == ("b", "a", "q", "t", "z", "f")
    assert template.required == {"b", "a", "f"}
    assert template.exploded == {"a", "t"}


def test_templates_are_values() -> None:
    """Templates are equal and hash alike by their text and what they allow, and cannot change."""
    template = UriTemplate.parse(NOTES)
    assert {template, UriTemplate.parse(NOTES)} == {template}
    assert template != UriTemplate.parse(NOTES, unsafe=("name",))
    assert "_plan" not in repr(template)
    with pytest.raises(AttributeError):
        template.text = TREE  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{x", "'{' has no partner"),
        ("x}", "'}' has no partner"),
        ("{{x}}", "'{' has no partner"),
        ("{}", "'' is not a variable"),
        ("{x,}", "'' is not a variable"),
        ("{?}", "'' is not a variable"),
        ("{ x}", "' x' is not a variable"),
        ("{user-id}", "'user-id' is not a variable.*letters, digits"),
        ("{a..b}", "'a..b' is not a variable"),
        ("{*x}", "is not a variable"),
        ("{x:int}", "'x:int' is not a variable.*1 to 9999"),
        ("{x:0}", "is not a variable"),
        ("{x:10000}", "is not a variable"),
        ("{x*:3}", "is not a variable"),
        ("{caf\xe9}", "is not a variable"),
        *((f"{{{mark}x}}", f"operator '{re.escape(mark)}'.*no meaning yet") for mark in "=,!@|"),
        ("{$x}", "is not a variable"),
        ("{a%20b}", "is not a variable"),
        ("my notes/{x}", "' ' cannot stand in a URI.*%20"),
        ("a\\b", "cannot stand in a URI"),
        ("50%/{x}", "'%' cannot stand in a URI.*%25"),
        ("\ud800", "cannot stand in a URI"),
        ("{x}/{x}", "'x' appears twice"),
        ("{a}{b}", "nothing tells where 'a' ends and 'b' begins"),
        ("{a}{+b}", "nothing tells where"),
        ("{;a}{b}", "nothing tells where"),
        ("{+a}/{+b}", "'a' and 'b' may both hold slashes"),
        ("{+a}//{b}/{c*}", "'a' and 'c' may both hold slashes"),
        ("{/a*}{/b*}", "'a' and 'b' may both hold slashes"),
        (DEEP, "'p1' and 'p2' may both hold slashes.*single segment"),
        ("x{?a}/y", "something follows the query"),
        ("x{?a}{b}", "something follows the query"),
        ("x{?a}/y{&b}", "something follows the query"),
        ("x{?a}{?b}", "the query begins twice.*Go on with"),
        ("x?a=1{?b}", "the query begins twice"),
        ("x{&a}{?b}", "the query begins twice"),
        ("x{#f}{?a}", "the query follows a fragment"),
    ],
)
def test_parse_refuses_with_advice(template: str, says: str) -> None:
    """What is malformed, unsupported or ambiguous is refused, with what to write instead."""
    with pytest.raises(TemplateError, match=rf"URI template .*{says}.*\.$"):
        UriTemplate.parse(template)


@pytest.mark.parametrize("template", RFC_REFUSED)
def test_four_examples_of_the_rfc_are_refused(template: str) -> None:
    """The RFC's own templates that no URI can be read back with are refused."""
    with pytest.raises(TemplateError, match=r"nothing tells where|appears twice"):
        UriTemplate.parse(template)


def test_only_its_own_variables_can_be_unsafe() -> None:
    """A misspelt opt-out is an error, so that it cannot silently stay without effect."""
    with pytest.raises(TemplateError, match=r"'nam' is to be unsafe.*The variables are name"):
        UriTemplate.parse(NOTES, unsafe=("nam",))


@pytest.mark.parametrize(
    ("text", "answer"),
    [(NOTES, True), ("x{?a}", True), ("{}", True), ("config://limits", False), ("}x{", False)],
)
def test_is_template(text: str, answer: bool) -> None:
    """A text with an expression is a template, even one that `parse` refuses."""
    assert is_template(text) is answer


# Matching


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("config://limits", "config://limits", {}),
        ("config://limits", "config://limits/", None),
        ("users/{id}/posts/{post}", "users/7/posts/9", {"id": "7", "post": "9"}),
        ("users/{id}/posts", "users/7/8/posts", None),
        ("users/{id}", "users/7?x=1", None),
        ("users/{id}", "users/7#top", None),
        ("users/{id}", "users/", None),
        ("{id}.json", "a.json.json", {"id": "a.json"}),
        ("{a}-{b}", "x-y-z", {"a": "x", "b": "y-z"}),
        ("{a}--{b}", "---y", {"a": "-", "b": "y"}),
        ("ab{a}ba", "aba", None),
        (PAIR, "pair://1-2-3-4-5/end", {"a": "1", "b": "2", "c": "3", "d": "4-5"}),
        (PAIR, "pair://-------/end", {"a": "-", "b": "-", "c": "-", "d": "-"}),
        (PAIR, "pair://1-2-3/end", None),
        ("{a,b}", "1,2,3", {"a": "1", "b": "2,3"}),
        (USERS, "users:///a,b/c/view", {"id": "a,b/c"}),
        (USERS, "users:///view/view/view", {"id": "view/view"}),
        ("{+a}/{b}", "x/y/z", {"a": "x/y", "b": "z"}),
        ("{a}/{+b}", "x/y/z", {"a": "x", "b": "y/z"}),
        ("{+a}-{b}/x", "p-q/r-s/x", {"a": "p-q/r", "b": "s"}),
        ("{+a}..{+b}", "x/1..y/2..z", {"a": "x/1", "b": "y/2..z"}),
        ("{+a}", "x?y#z", {"a": "x?y#z"}),
        ("{a*}", "x?y", None),
        ("m{/a}", "m/x", {"a": "x"}),
        ("m{/a,b}", "m/x/y", {"a": "x", "b": "y"}),
        ("m{/a*}", "m/x/y", {"a": ["x", "y"]}),
        ("m{/a*}/{b}", "m/x/y/z", {"a": ["x", "y"], "b": "z"}),
        ("m{/a*}", "m/x//y", None),
        ("m{/a*}", "m//etc", None),
        ("m{/a*}", "m/x/../y", None),
        ("m{.a}", "m.x", {"a": "x"}),
        ("m{.a*}", "m.x.y", {"a": ["x", "y"]}),
        ("m{.a*}", "m.x/y", None),
        ("m{;a,b}", "m;a=1;b", {"a": "1", "b": ""}),
        ("m{;a}", "m;ab=1", None),
        ("m{;a*}", "m;a=1;a=2", {"a": ["1", "2"]}),
        ("m{;a*}", "m;a=1;b=2", None),
        ("m{#a}", "m#x/y", {"a": "x/y"}),
        ("m{#a}", "m", None),
        ("{a:3}", "abc", {"a": "abc"}),
        ("{a:3}", "%C3%A9%C3%A9%C3%A9", {"a": "\xe9\xe9\xe9"}),
        ("{a:3}", "abcd", None),
        ("{a:3}-{b}", "abcd-e-f", None),
    ],
)
def test_match_reads_paths(template: str, uri: str, values: dict[str, str | list[str]] | None) -> None:
    """Fixed text decides, from left to right, each variable the shortest that lets the rest fit."""
    assert match(template, uri) == values


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        (SEARCH, "q://search", {}),
        (SEARCH, "q://search?limit=5", {"limit": "5"}),
        (SEARCH, "q://search?tags=a", {"tags": ["a"]}),
        (SEARCH, "q://search?tags=a&limit=5&tags=b", {"tags": ["a", "b"], "limit": "5"}),
        (SEARCH, "q://search?limit=", {"limit": ""}),
        (SEARCH, "q://search?limit=1&limit=2", None),
        (SEARCH, "q://search?limit=1&other=2", None),
        (SEARCH, "q://search?limit", None),
        (SEARCH, "q://search?limit=1&", None),
        (SEARCH, "q://search?", None),
        (SEARCH, "q://search?limit=1#top", None),
        (SEARCH, "q://search/x?limit=1", None),
        ("x{?q}", "x?q=a/b?c%26d+e", {"q": "a/b?c&d+e"}),
        ("x{?q:2}", "x?q=abc", None),
        ("x/{id}{?a}{&b}#top", "x/7?b=2&a=1#top", {"id": "7", "a": "1", "b": "2"}),
        ("x/{id}{?a}{#f}", "x/7#top", {"id": "7", "f": "top"}),
        ("x/{id}{?a}#top", "x/7?a=1", None),
        ("x?id={id}{&a,b}", "x?id=7&b=2&a=1", {"id": "7", "a": "1", "b": "2"}),
        ("x?id={id}{&a}", "x?id=7", {"id": "7"}),
        ("x?id={id}{&a}", "x?id=7&admin=1&a=2", None),
        ("x?id={id}", "x?id=7&admin=1", None),
        ("x?id={+id}", "x?id=7&admin=1", {"id": "7&admin=1"}),
        ("{&a}", "a=1", None),
        ("x?id={id}{&a}", "x?id=7&a=1&a=2", None),
    ],
)
def test_match_reads_queries(template: str, uri: str, values: dict[str, str | list[str]] | None) -> None:
    """Query pairs are optional and in any order; an unknown or repeated one is no match."""
    assert match(template, uri) == values


@pytest.mark.parametrize("template", ["caf\xe9://{x}", "caf%C3%A9://{x}", "caf%c3%a9://{x}"])
@pytest.mark.parametrize("uri", ["caf\xe9://1", "caf%C3%A9://1", "caf%c3%a9://1"])
def test_non_ascii_text_matches_raw_and_encoded(template: str, uri: str) -> None:
    """A literal and its percent-encoded form are the same text, in the template and the URI."""
    assert match(template, uri) == {"x": "1"}
    assert match(template, uri.replace("1", "\xe9")) == {"x": "\xe9"}
    assert match(template, "cafe://1") is None


@pytest.mark.parametrize("raw", ["%", "%4", "%zz", "a%", "%C3", "%C0%AF", "%ED%A0%80", "\ud800"])
def test_broken_encodings_do_not_match(raw: str) -> None:
    """An escape without two digits, or bytes that are not UTF-8, is no match even when unsafe."""
    assert match(NOTES, f"notes://{raw}") is None
    assert UriTemplate.parse("{+x}", unsafe=("x",)).match(raw) is None
    assert match(SEARCH, f"q://search?tags={raw}") is None


def test_long_uris_do_not_match() -> None:
    """The cap counts the characters of the URI as it is written in ASCII."""
    assert MAX_URI == 8_192
    room = MAX_URI - len("notes://")
    assert match(NOTES, "notes://" + "a" * room) == {"name": "a" * room}
    assert match(NOTES, "notes://" + "a" * (room + 1)) is None
    assert match(NOTES, "notes://" + "\xe9" * (room // 6)) is not None
    assert match(NOTES, "notes://" + "\xe9" * (room // 6 + 1)) is None


# Safety


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        (NOTES, "notes://..%2F..%2Fetc%2Fpasswd", None),
        (NOTES, "notes://%2e%2e", None),
        (NOTES, "notes://%252e%252e%252fetc", {"name": "%2e%2e%2fetc"}),
        (NOTES, "notes://a%00.txt", None),
        (NOTES, "notes://..%5C..%5Cwin.ini", None),
        (TREE, "tree://docs/../../etc/passwd", None),
        (TREE, "tree://docs/v1..v2/a.txt", {"path": "docs/v1..v2/a.txt"}),
        (ITEM, "item://v1X0/7Xjson", None),
        (ITEM, "item://v1.0/7.json", {"id": "7"}),
        (NOTES, "notes://caf%C3%A9", {"name": "caf\xe9"}),
    ],
)
def test_no_value_climbs_out_of_its_folder(template: str, uri: str, values: dict[str, str] | None) -> None:
    """O-SEC-1: what could leave the author's folder is as unknown as any other URI."""
    assert match(template, uri) == values


ALWAYS_UNSAFE = [
    ".",
    "..",
    "a\\b",
    "..\\x",
    "a\0b",
    "a\nb",
    "a\x7f",
    "a\x85",
    "C:",
    "c:x",
    "/",
    "/x",
]
UNSAFE_PATHS = ["a/..", "../a", "a/./b", "./a", "//a", "a/b\\c", "C:/x"]


@pytest.mark.parametrize("value", [*ALWAYS_UNSAFE, *UNSAFE_PATHS, "a/b"])
@pytest.mark.parametrize("template", ["t:{x}", "t:{/x}", "t:{.x}", "t:{;x}", "t:{/x*}", "t:{;x*}"])
def test_unsafe_segments_do_not_match(template: str, value: str) -> None:
    """A segment never holds a slash, a dot segment, a drive, a backslash or a control character."""
    parsed = UriTemplate.parse(template)
    assert parsed.match(parsed.expand({"x": "safe"})) is not None
    assert parsed.match(parsed.expand({"x": "safe"}).replace("safe", quote(value, safe=""))) is None


@pytest.mark.parametrize("value", [*ALWAYS_UNSAFE, *UNSAFE_PATHS])
@pytest.mark.parametrize("template", ["t:{x*}", "t:{+x}", "t:{#x}", "t:{?x}", "t:{?x*}"])
def test_unsafe_paths_do_not_match(template: str, value: str) -> None:
    """A path may hold slashes, however encoded, but stays relative and has no dot segment."""
    parsed = UriTemplate.parse(template)
    for safe in ("", "/"):
        uri = parsed.expand({"x": "SAFE"}).replace("SAFE", quote(value, safe=safe))
        assert parsed.match(uri) is None


@pytest.mark.parametrize("value", ["a/.b/c..", "v1..v2", "...", "a//b", "a/", "ab:c", "a b", "~"])
@pytest.mark.parametrize("template", ["t:{x*}", "t:{+x}", "t:{#x}", "t:{?x}"])
def test_safe_paths_match(template: str, value: str) -> None:
    """Dots inside a segment, later empty segments and longer prefixes with a colon are safe."""
    parsed = UriTemplate.parse(template)
    for safe in ("", "/"):
        uri = parsed.expand({"x": "SAFE"}).replace("SAFE", quote(value, safe=safe))
        assert parsed.match(uri) == {"x": value}


def test_single_variables_opt_out_of_safety() -> None:
    """`unsafe` frees the variables it names and leaves the others as they are."""
    template = UriTemplate.parse("git://{repo}/{+range}", unsafe=("range",))
    assert template.allow_unsafe == {"range"}
    assert template.match("git://r//a/../b") == {"repo": "r", "range": "/a/../b"}
    assert template.match("git://../main") is None
    assert UriTemplate.parse("m{.x*}", unsafe=("x",)).match("m.a/b") is None


# Time


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        (USERS, "users:///" + "a," * 50_000 + "!"),
        (PAIR, "pair://" + "-" * 20_000 + "/en"),
        (SEARCH, "q://search?" + "tags=a&" * 20_000 + "%"),
        (USERS, "users:///" + "%25" * 100_000),
    ],
)
@pytest.mark.parametrize("cap", [MAX_URI, 10**9])
def test_hostile_uris_are_unknown(monkeypatch: pytest.MonkeyPatch, template: str, uri: str, cap: int) -> None:
    """O-SEC-3: the URIs that ran for ever are answered, with the cap and without it."""
    monkeypatch.setattr(uritemplate, "MAX_URI", cap)
    assert match(template, uri) is None


@pytest.mark.parametrize(
    ("template", "start", "again", "end"),
    [
        (USERS, "users:///", "a,", "/view"),
        (USERS, "users:///", "%25", "/view"),
        (PAIR, "pair://", "-", "/end"),
        (PAIR, "pair://", "-", "/x/end"),
        (SEARCH, "q://search?", "tags=a&", "%"),
        ("{&a*}", "", "&a=1", "&"),
        ("deep:///{+a}:{+b}:{+c}/x", "deep:///", "a/:", "y/x"),
        ("m{/a*}/{b}{.c*}", "m", "/a.b", ""),
        ("m{;a*}", "m", ";a=1", ""),
        (NOTES, "notes://", "\U0001f600", ""),
    ],
)
def test_match_takes_linear_time(
    monkeypatch: pytest.MonkeyPatch, template: str, start: str, again: str, end: str
) -> None:
    """Three doublings of the length cost about 8 times as much; a square would cost 64 times."""
    monkeypatch.setattr(uritemplate, "MAX_URI", 10**9)
    parsed = UriTemplate.parse(template)

    def best(times: int) -> float:
        uri = start + again * times + end
        return min(timeit.repeat(lambda: parsed.match(uri), timer=time.process_time, number=1, repeat=5))

    assert best(16_000) < 20 * best(2_000)


# Both ways

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\"), min_size=1)
SEGMENT = TEXT.filter(lambda text: text not in (".", "..") and not re.match("[A-Za-z]:", text))
WORD = st.text("abz019_~\xe9\u20ac", min_size=1)
PATH = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join)


@given(
    st.fixed_dictionaries({"s": SEGMENT, "w": WORD, "v": WORD, "p": PATH, "l": st.lists(WORD, min_size=1)})
)
@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("x://{s}", "s"),
        ("x://{w}-{s}/end", "ws"),
        ("x://{w}.{v}", "wv"),
        ("x://{p*}", "p"),
        ("x://{w}/{p*}/{s}", "wps"),
        ("caf\xe9{/l*}", "l"),
        ("x{/w,s}", "ws"),
        ("x{.w,s}", "ws"),
        ("x{.l*}", "l"),
        ("x{;s,w}", "sw"),
        ("x{;l*}/{s}", "ls"),
        ("x://{w}{?s,l*,p}", "wslp"),
        ("x?w={w}{&s,l*}{#v}", "wslv"),
    ],
)
def test_match_reads_what_expand_wrote(template: str, names: str, values: dict[str, str | list[str]]) -> None:
    """Values whose raw text has no separator of the template come back as they went in."""
    parsed = UriTemplate.parse(template)
    given_values = {name: values[name] for name in names}
    assert parsed.match(parsed.expand(given_values)) == given_values


@given(st.text("ab-/:?", max_size=24))
@pytest.mark.parametrize(
    ("template", "lazy"),
    [
        ("{a}-{b}", "([^/?#]+?)-([^/?#]+?)"),
        ("a{p*}-{b}/{c}", "a([^?#]+?)-([^/?#]+?)/([^/?#]+?)"),
        ("{+a}-{b}:{+c}--", "(.+?)-([^/?#]+?):(.+?)--"),
        ("{+a}aba{b}-{c}", "(.+?)aba([^/?#]+?)-([^/?#]+?)"),
        ("{a}?{b}-{+c}", "([^/?#]+?)[?]([^/?#&]+?)-(.+?)"),
    ],
)
def test_match_splits_as_a_lazy_expression(template: str, lazy: str, uri: str) -> None:
    """The linear split finds exactly what backtracking over the shortest texts would find."""
    parsed = UriTemplate.parse(template)
    unsafe = UriTemplate.parse(template, unsafe=parsed.variables)
    expected = re.fullmatch(lazy, uri)
    found = unsafe.match(uri)
    assert (found and tuple(found.values())) == (expected and expected.groups())
