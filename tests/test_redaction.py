"""What `typegate.guards.redaction` promises: nothing secret leaves, and nothing else is touched."""

import base64
import json
import time
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr, TypeAdapter
from test_detectors import BEGIN, END, NEAR, PEM, PRIVATE, TRUE, WAYS, made

from typegate.errors import ConfigurationError, InvalidResult
from typegate.guards.plans import Marks, Secret, marks_at, marks_of
from typegate.guards.redaction import Plan, Redactor, TooLargeToCheck

ABC = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"
TOKEN = "ghp_" + ABC[:36]
LABEL = "[redacted:github]"
SECRETS = [(kind, text) for kind, texts in TRUE.items() for text in texts]


@pytest.fixture(scope="module", params=WAYS)
def redactor(request: pytest.FixtureRequest) -> Redactor:
    """The default one, in every way to find literals that is here."""
    return made(request.param)


def line(result: Any, **members: Any) -> bytes:
    """An answer on its way out."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "result": result, **members})


def block(text: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": text}


def answer(structured: Any, text: str | None = None, indent: int = 2) -> bytes:
    """An answer whose text mirrors its structured content."""
    raw = msgspec.json.encode(structured)
    shown = msgspec.json.format(raw, indent=indent).decode() if text is None else text
    return line({"content": [block(shown)], "structuredContent": structured, "isError": False})


def cleaned(redactor: Redactor, message: bytes, plan: Plan | None = None) -> Any:
    """The result of the message as the client gets it."""
    return msgspec.json.decode(redactor.clean_line(message, plan))["result"]


# --- nothing is copied when nothing hits

CLEAN = [
    line({"content": [block("Order A-1001 was shipped on 2026-03-01.")], "isError": False}),
    line(
        {
            "content": [block('{\n  "id": 5,\n  "token_count": 12\n}')],
            "structuredContent": {"token_count": 12},
        }
    ),
    line({"content": [block("größe 订单 🍵 👩‍👩‍👧 ❤️ नमस्ते می‌خواهم")]}),
    line({"content": [block("ask ann@example.org at https://example.org/a?b=c#d")]}),
    line({"tools": [{"name": "x", "inputSchema": {"properties": {"password": {"type": "string"}}}}]}),
    line({"nextCursor": "eyJhbGciOiJIUzI1NiJ9.e30.abc", "tools": []}),
    line(
        {
            "content": [
                {
                    "type": "image",
                    "data": base64.b64encode(TOKEN.encode() * 9).decode(),
                    "mimeType": "image/png",
                }
            ]
        }
    ),
    line({"contents": [{"uri": "a:b", "blob": "AAECAwT/", "mimeType": "application/octet-stream"}]}),
    msgspec.json.encode({"jsonrpc": "2.0", "id": TOKEN, "result": {}}),
    msgspec.json.encode(
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": TOKEN}}
    ),
    line({"content": [block("C:\\bin\\new\\tmp and a \\u in a path")]}),
    line({"content": [block("page_token: abcdef123"), block("cursor sk-learn")]}),
]


@pytest.mark.parametrize("message", CLEAN)
def test_a_clean_line_is_the_same_object(redactor: Redactor, message: bytes) -> None:
    """Byte for byte, and not even copied; so is a clean tree."""
    assert redactor.clean_line(message) is message
    tree = msgspec.json.decode(message)
    assert redactor.clean_tree(tree) is tree


def test_clean_parts_of_a_tree_are_kept_as_they_are(redactor: Redactor) -> None:
    """Only what was hit is made anew."""
    tree = {"a": [1, {"b": "x"}], "c": [TOKEN]}
    result = redactor.clean_tree(tree)
    assert result == {"a": [1, {"b": "x"}], "c": [LABEL]}
    assert result["a"] is tree["a"]
    assert tree["c"] == [TOKEN]


# --- every place of a message


def placed(text: str) -> list[Any]:
    """Messages that carry *text*, in every place that leaves."""
    blob = base64.b64encode(text.encode()).decode()
    link = {"type": "resource_link", "uri": "x:y", "name": text}
    resource = {"uri": "x:y", "text": text}
    return [
        {"result": {"content": [block(text)]}},
        {"result": {"content": [], "structuredContent": {"a": [text]}}},
        {"result": {"content": [block(json.dumps({"a": text}))]}},
        {"result": {"content": [block(json.dumps({"a": json.dumps({"b": text})}))]}},
        {"result": {"structuredContent": {text: 1}}},
        {"result": {"content": [{"type": "resource", "resource": resource}]}},
        {"result": {"contents": [{"uri": "x:y", "blob": blob, "mimeType": "text/plain"}]}},
        {"result": {"contents": [{"uri": "x:y", "blob": blob}]}},
        {"result": {"content": [link]}},
        {"result": {"messages": [{"role": "user", "content": block(text)}]}},
        {"result": {"completion": {"values": [text]}}},
        {"result": {"resources": [{"uri": f"x://{text}/y", "name": "n"}]}},
        {"result": {"instructions": text}},
        {"result": {"_meta": {"x": text}}},
        {"error": {"code": 1, "message": f"failed: {text}"}},
        {"error": {"code": 1, "message": "", "data": {"x": text}}},
        {"method": "notifications/progress", "params": {"progressToken": 1, "message": text}},
        {"method": "notifications/message", "params": {"level": "info", "data": text}},
        {"method": "elicitation/create", "params": {"message": text}},
    ]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
def test_no_secret_leaves_by_any_way(redactor: Redactor, kind: str, secret: str) -> None:
    """Text, structured content, JSON in text, keys, resources, blobs, prompts, errors, progress, log."""
    for members in placed(f"before {secret} after"):
        message = msgspec.json.encode({"jsonrpc": "2.0", **members})
        result = redactor.clean_line(message)
        text = json.dumps(unblobbed(msgspec.json.decode(result)))
        assert secret not in text.replace("\\\\", "\\"), members
        assert f"[redacted:{kind}]" in text
        assert redactor.clean_line(result) is result


def unblobbed(value: Any) -> Any:
    """The tree with its blobs decoded."""
    if isinstance(value, dict):
        pairs = {key: unblobbed(item) for key, item in value.items()}
        return pairs | ({"blob": base64.b64decode(pairs["blob"]).decode()} if "blob" in pairs else {})
    return [unblobbed(item) for item in value] if isinstance(value, list) else value


def test_values_of_secret_names_leave_in_no_form(redactor: Redactor) -> None:
    """Strings, numbers and lists; members of a secret object; pairs of name and value."""
    tree = {
        "password": "hunter2",
        "pin": 1234,
        "api_key": 998877,
        "tokens": 5,
        "secrets": {"db": "x", "n": 5, "ok": True},
        "apiKeys": ["a", "b"],
        "env": [{"name": "DB_PASSWORD", "value": "y"}, {"name": "HOST", "value": "h"}],
        "token": None,
        "secret": "",
    }
    assert redactor.clean_tree(tree) == {
        "password": "[redacted:password]",
        "pin": 1234,
        "api_key": "[redacted:secret]",
        "tokens": 5,
        "secrets": {"db": "[redacted:secret]", "n": "[redacted:secret]", "ok": True},
        "apiKeys": ["[redacted:secret]"] * 2,
        "env": [{"name": "DB_PASSWORD", "value": "[redacted:password]"}, {"name": "HOST", "value": "h"}],
        "token": None,
        "secret": "",
    }


def test_two_secret_keys_stay_two() -> None:
    """No member is lost where two keys get the same placeholder."""
    tree = {TOKEN: 1, "ghs_" + ABC[:36]: 2}
    assert Redactor().clean_tree(tree) == {LABEL: 1, f"{LABEL} (2)": 2}


# --- structured content and text agree


@pytest.mark.parametrize("indent", [0, 1, 2, 4])
def test_text_and_structured_content_agree(redactor: Redactor, indent: int) -> None:
    """The same secret has the same placeholder in both, and the rest of the text is as it was."""
    value = {
        "id": 1.50,
        "password": 'corr"ect\n',
        "t": TOKEN,
        "pem": PEM,
        "note": "Bearer\tabcdefghijklmnop12",
        "é": "ü",
    }
    result = cleaned(redactor, answer(value, indent=indent))
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["structuredContent"]["note"] == "Bearer\t[redacted:bearer]"
    shown = msgspec.json.format(msgspec.json.encode(result["structuredContent"]), indent=indent).decode()
    assert result["content"][0]["text"] == shown


def test_the_form_of_json_in_text_stays(redactor: Redactor) -> None:
    """Numbers, spaces, escapes and order come out as they went in."""
    text = '{ "n": 1.50e3, "big":12345678901234567890,\t"u":"\\u00e9\\/", "password" : "x\\"y" , "z":[ ] }'
    assert redactor.clean_text(text) == text.replace('"x\\"y"', '"[redacted:password]"')


def test_letters_escaped_in_json_are_read(redactor: Redactor) -> None:
    """An escaped letter is the letter."""
    message = line({"content": [block('{"a": "\\u0067' + TOKEN[1:] + '"}')]})
    assert cleaned(redactor, message)["content"][0]["text"] == f'{{"a": "{LABEL}"}}'


def test_changed_places_are_told(redactor: Redactor) -> None:
    """For the caller, who judges structured content again."""
    done = redactor.examine_line(answer({"a": [{"b": TOKEN}], "c": 1}))
    assert ("result", "structuredContent", "a", 0, "b") in done.paths
    assert ("result", "content", 0, "text") in done.paths
    assert done.kinds["github"] >= 2
    assert redactor.examine_tree({"a": 1}).paths == ()


# --- what is broken up, encoded or in disguise


@pytest.mark.parametrize("cut", [2, 4, 10, 30])
def test_a_token_over_two_blocks_is_found(redactor: Redactor, cut: int) -> None:
    """A block that ends where the next one begins."""
    message = line({"content": [block("see " + TOKEN[:cut]), block(TOKEN[cut:] + " ok")]})
    result = cleaned(redactor, message)
    assert [each["text"] for each in result["content"]] == [f"see {LABEL}", f"{LABEL} ok"]


def test_blocks_that_only_follow_one_another_stay(redactor: Redactor) -> None:
    """A whole token at the end of one takes nothing of the next."""
    message = line({"content": [block(TOKEN), block("Order1 is here"), block("password:"), block("Order22")]})
    texts = [each["text"] for each in cleaned(redactor, message)["content"]]
    assert texts == [LABEL, "Order1 is here", "password:", "Order22"]


def test_a_key_in_lines_is_found(redactor: Redactor) -> None:
    """A list with a string for each line of a file."""
    tree = ["first", *PEM.splitlines(), "last"]
    assert redactor.clean_tree(tree) == ["first", *["[redacted:private_key]"] * 4, "last"]


def test_a_key_without_its_end_goes_to_the_end(redactor: Redactor) -> None:
    """Of its text, not of the next one."""
    tree = {"a": f"{BEGIN}{PRIVATE}\nMIIE{ABC}", "b": "other words"}
    assert redactor.clean_tree(tree) == {"a": "[redacted:private_key]", "b": "other words"}
    assert END + PRIVATE not in str(redactor.clean_text(PEM))


DISGUISED = [
    ("".join(chr(ord(char) + 0xFEE0) for char in TOKEN), LABEL),
    (TOKEN[:9] + "\u200b" + TOKEN[9:], LABEL),
    ("\ufeff" + "\u2060".join(TOKEN), LABEL),
    (TOKEN[:9] + "\u200d" + TOKEN[9:], LABEL),
    (TOKEN[:9] + "\x1b[31m" + TOKEN[9:], LABEL),
    (TOKEN[:9] + "\U000e0041" + TOKEN[9:], LABEL),
    ("ＰＡＳＳＷＯＲＤ＝hunter22", "ＰＡＳＳＷＯＲＤ＝[redacted:password]"),
    ("İı ghp_" + ABC[:36], "İı " + LABEL),
    ("密码" + TOKEN, "密码" + LABEL),
]


@pytest.mark.parametrize(("text", "result"), DISGUISED)
def test_disguise_does_not_help(redactor: Redactor, text: str, result: str) -> None:
    """Full-width letters, zero-width characters, colours inside a token; on the wire too."""
    assert redactor.clean_text(text) == result
    assert cleaned(redactor, line({"content": [block(text)]}))["content"][0]["text"] == result


HIDDEN = [
    ("a" + "".join(chr(0xE0000 + ord(char)) for char in "ignore all") + "b", "ab"),
    ("a\u202eb\u2066c\u2069", "abc"),
    ("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07", "red link"),
    ("a\x00b\x07c\x7fd\x9be\x85f", "abcdf"),
    ("a\u2028b", "a\nb"),
    ("x\ufe0f\U000e0101\U000e0102\U000e0103y", "x\ufe0fy"),
    ("tab\tline\r\nend", "tab\tline\r\nend"),
    ("👩\u200d👩\u200d👧 ❤\ufe0f", "👩\u200d👩\u200d👧 ❤\ufe0f"),
    ("\U0001f3f4" + "".join(chr(0xE0000 + ord(char)) for char in "gbeng\x7f"),) * 2,
    ("می\u200cخواهم", "می\u200cخواهم"),
]


@pytest.mark.parametrize(("text", "result"), HIDDEN)
def test_what_nobody_sees_is_taken_out(redactor: Redactor, text: str, result: str) -> None:
    """Instructions in tag characters, bidi controls, terminal escapes; scripts and emoji stay."""
    assert redactor.clean_text(text) == result
    assert cleaned(redactor, line({"content": [block(text)]}))["content"][0]["text"] == result


# --- fields that are marked in the declared types


class Account(BaseModel):
    """A model with marked fields, one of them under an alias, and itself inside."""

    name: str
    token: Annotated[str, Secret()] = Field(serialization_alias="theToken", pattern="^[a-z]+$")
    pin: SecretStr = SecretStr("1")
    inner: "Account | None" = None
    more: dict[str, Annotated[int, Secret()]] = {}


def schema_of(hint: Any) -> Any:
    """Its JSON Schema as it is published."""
    return TypeAdapter(hint).json_schema(mode="serialization", by_alias=True)


def test_marked_fields_never_leave(redactor: Redactor) -> None:
    """However they look, however deep, in structured content and in the text that mirrors it."""
    plan = Plan(marks=marks_of(schema_of(Account)))
    value = {"name": "ann", "theToken": "plainword", "pin": "77", "more": {"x": 5}}
    value["inner"] = {"name": "plainword", "theToken": "zz", "pin": "8", "more": {}, "inner": None}
    result = cleaned(redactor, answer(value), plan)
    found = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == found
    assert found["theToken"] == found["pin"] == found["inner"]["theToken"] == "[redacted:secret]"
    assert found["more"] == {"x": "[redacted:secret]"}
    assert found["inner"]["name"] == "plainword"


def test_marked_fields_are_taken_out_of_other_text(redactor: Redactor) -> None:
    """A text of the author's own that repeats them."""
    plan = Plan(marks=marks_at([("code",)]))
    result = cleaned(redactor, answer({"code": "plainword", "n": 1}, text="The code is plainword."), plan)
    assert result["content"][0]["text"] == "The code is [redacted:secret]."


def test_a_whole_value_may_be_marked(redactor: Redactor) -> None:
    """Wrapped for a handshake client or not, and where only the text is sent."""
    plan = Plan(marks=marks_of(schema_of(Annotated[str, Secret()])))
    for structured in ({"result": "plainword"}, "plainword"):
        result = cleaned(redactor, answer(structured, text="plainword"), plan)
        assert "plainword" not in json.dumps(result)
    assert (
        cleaned(redactor, line({"content": [block("plainword")]}), plan)["content"][0]["text"]
        == "[redacted:secret]"
    )


def test_the_published_schema_says_so_and_admits_the_placeholder() -> None:
    """`writeOnly` stands there, `pattern` does not."""
    field = schema_of(Account)["$defs"]["Account"]["properties"]["theToken"]
    assert field["writeOnly"] is True
    assert marks_of(schema_of(int)) is None
    assert marks_at([]) is None
    assert isinstance(marks_at([("a", "*", "b"), ("c", 0)]), Marks)
    assert Secret() == Secret()
    assert repr(Secret()) == "Secret()"


# --- plans and options


def test_a_plan_switches_changes_and_adds() -> None:
    """For one tool: off, another redactor, more names."""
    server, message = (
        Redactor(),
        line({"content": [block(f"{TOKEN} EMP-12345")], "structuredContent": {"pin": "12"}}),
    )
    assert server.clean_line(message, Plan(redactor=False)) is message
    other = Redactor(extra={"employee_id": r"\bEMP-\d{5}\b"})
    text = cleaned(server, message, Plan(redactor=other))["content"][0]["text"]
    assert text == f"{LABEL} [redacted:employee_id]"
    plan = Plan(keys=["pin"])
    assert cleaned(server, message, plan)["structuredContent"] == {"pin": "[redacted:secret]"}
    assert plan.choose(server) is plan.choose(server)


@pytest.mark.parametrize("pattern", [r"\bEMP-\d{5}\b", r"(?i)emp-[0-9]+", r"[A-Z]{3}-\d{5}"])
@pytest.mark.parametrize("fast", WAYS)
def test_patterns_of_the_authors_own(pattern: str, fast: bool) -> None:
    """They are found on the wire too, behind an escaped line break."""
    redactor = made(fast, extra={"employee_id": pattern})
    assert cleaned(redactor, line({"a": "x\nEMP-12345, y"}))["a"] == "x\n[redacted:employee_id], y"


def test_names_of_the_authors_own() -> None:
    """In trees, JSON in text and settings, whatever their form."""
    redactor = Redactor(keys=["cardPin"])
    tree = {"card_pin": 7, "CardPin": "x", "t": "card-pin=12345", "j": '{"cardpin": 5}', "card_pin_tries": 3}
    label = "[redacted:secret]"
    wanted = {"card_pin": label, "CardPin": label, "t": f"card-pin={label}", "j": f'{{"cardpin": "{label}"}}'}
    assert redactor.clean_tree(tree) == wanted | {"card_pin_tries": 3}
    assert cleaned(redactor, line(tree)) == wanted | {"card_pin_tries": 3}


def test_equal_secrets_have_equal_hashes() -> None:
    """And different ones do not; the hash is keyed, so that nobody guesses."""
    redactor = Redactor(mode="hash")
    first, again, other = redactor.clean_text(f"{TOKEN} {TOKEN} ghs_{ABC[:36]}").split()
    assert first == again != other
    assert len(first) == len("[redacted:github:12345678]")
    assert redactor.clean_text(first) is first


def test_a_placeholder_of_the_authors_own() -> None:
    """With the kind or without."""
    assert Redactor(placeholder="***").clean_text(f"a {TOKEN}") == "a ***"
    assert Redactor(placeholder="<{kind}>").clean_text(f"password={TOKEN}") == "password=<github>"


WRONG = [
    *(
        {"profile": "all"},
        {"mode": "x"},
        {"max_bytes": 0},
        {"max_bytes": True},
        {"placeholder": ""},
        {"keys": "pin"},
    ),
    *({"keys": [1]}, {"extra": ["x"]}, {"extra": {"A b": "x"}}, {"extra": {"a": 1}}, {"placeholder": " "}),
    *({"placeholder": 1}, {"placeholder": "{kind}"}, {"placeholder": "x{kind}>"}),
]


@pytest.mark.parametrize("options", WRONG)
def test_options_are_checked_at_once(options: Any) -> None:
    """With what would be right."""
    with pytest.raises(ConfigurationError, match="Redactor"):
        Redactor(**options)


def test_a_redactor_is_a_value() -> None:
    """Equal when its options are."""
    assert Redactor(keys=["a"]) == Redactor(keys=("a",)) != Redactor()
    assert len({Redactor(), Redactor()}) == 1
    assert "profile='pii'" in repr(Redactor(profile="pii"))


# --- what is too large is refused


def test_what_is_too_large_is_refused_and_never_skipped() -> None:
    """As an error of the tool, clean or not."""
    redactor = Redactor(max_bytes=1000)
    message = line({"content": [block("x" * 1000)]})
    for clean in (
        lambda: redactor.clean_line(message),
        lambda: redactor.clean_line(message, Plan(marks=marks_at([("a",)]))),
        lambda: redactor.clean_tree({"a": "x " * 600}),
        lambda: redactor.clean_text("x " * 600),
    ):
        with pytest.raises(TooLargeToCheck, match="1000 that are checked for secrets"):
            clean()
    assert issubclass(TooLargeToCheck, InvalidResult)


def test_what_is_too_deep_is_refused() -> None:
    """It is not sent unread."""
    deep: Any = TOKEN
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(TooLargeToCheck):
        Redactor().clean_tree(deep)
    with pytest.raises(TooLargeToCheck):
        Redactor().clean_line(b'{"a":' + b"[" * 50000 + b'"' + TOKEN.encode() + b'"' + b"]" * 50000 + b"}")


# --- time

SIZE = 20_000
HOSTILE = [
    *(
        "a",
        "1",
        "0f",
        "A",
        "eyJ",
        "-eyJ",
        "eyJ.",
        ".eyJ",
        "-----BEGIN",
        f"{BEGIN}{PRIVATE}",
        "a@",
        "@",
        "://",
    ),
    *(
        "://a:",
        "password:",
        "password=",
        "token",
        "token_",
        "sk-",
        "xoxb-",
        "ghp_",
        "AKIA",
        "Bearer ",
        "basic ",
    ),
    *(
        "Q~",
        "SG.",
        "ZXlK",
        ":AA",
        "twilio ",
        "+1 ",
        "(1) ",
        "1111-",
        "4111 ",
        "AB12",
        "123-45-6789",
        "\\",
        '"',
        "{[",
    ),
    *("\u200b", "\x1b[", "\x1b]", "Ａ", "İ", "\ufe0f", "1.", "a.", "https://a:b"),
]


def seconds(redactor: Redactor, text: str) -> float:
    """The best of three."""
    return min(_timed(redactor, text) for _ in range(3))


def _timed(redactor: Redactor, text: str) -> float:
    start = time.process_time()
    redactor.clean_tree({"a": text})
    return time.process_time() - start


@pytest.mark.parametrize("profile", ["secrets", "pii"])
def test_no_input_takes_long(profile: Any) -> None:
    """Twice as much of it takes about twice as long: by ratio within one run, never by the clock alone."""
    redactor = Redactor(profile=profile)
    for each in HOSTILE:
        once, twice = each * (SIZE // len(each)), each * (2 * SIZE // len(each))
        for _ in range(4):
            ratio = seconds(redactor, twice) / seconds(redactor, once)
            if ratio < 3:
                break
        assert ratio < 3, each


# --- properties

WORDS = st.sampled_from(
    (
        *("order", "token_count", "A-1001", "2026-03-01T12:00:00Z", "550e8400-e29b-41d4-a716-446655440000"),
        *("nextPageToken", "sk-learn", "größe", "", "a" * 40, "0f" * 20, "https://example.org/a", "🍵", "{"),
        *('{"a": 1}', "[1, 2]", "Bearer of"),
    )
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
ANY_TEXT = st.text(max_size=30) | st.sampled_from(
    [text for texts in (*TRUE.values(), *NEAR.values()) for text in texts]
)
MIXED = st.lists(
    ANY_TEXT | st.sampled_from(["password=", "://u:", "@h", "Bearer ", '"', "\\n", "{", ": "]), max_size=6
)
SHARED = {
    (profile, mode): Redactor(profile=profile, mode=mode)
    for profile in ("secrets", "pii")
    for mode in ("label", "hash")
}  # type: ignore[arg-type]


@given(TREES)
def test_trees_without_secrets_are_the_same_object(tree: Any) -> None:
    """Whatever their form."""
    for redactor in SHARED.values():
        assert redactor.clean_tree(tree) is tree


@settings(deadline=None)
@given(st.data(), TREES, st.sampled_from(SECRETS))
def test_no_planted_secret_survives(data: st.DataObject, tree: Any, planted: tuple[str, str]) -> None:
    """In any string position of a tree, as a value or as a key; what is left holds nothing more."""
    kind, secret = planted
    text = data.draw(WORDS) + " " + secret + data.draw(st.sampled_from(["", " ", ", x", '"', "\n"]))
    for whole in (
        [tree, {"a": text}],
        {"a": {text: tree}},
        {"x": tree, "y": [[text]]},
        json.dumps([tree, text]),
    ):
        for redactor in SHARED.values():
            result = redactor.clean_tree(whole)
            assert secret not in json.dumps(result, ensure_ascii=False).replace("\\\\", "\\").replace(
                "\\n", "\n"
            )
            assert f"[redacted:{kind}" in json.dumps(result)
            assert redactor.clean_tree(result) == result


@settings(deadline=None)
@given(MIXED)
def test_cleaning_twice_is_cleaning_once(parts: list[str]) -> None:
    """Of any text; and a line that is screened as clean is clean."""
    text = "".join(parts)
    for redactor in SHARED.values():
        once = redactor.clean_text(text)
        assert redactor.clean_text(once) == once
        message = line({"content": [block(text)], "structuredContent": {"a": text}})
        result = redactor.clean_line(message)
        tree = msgspec.json.decode(message)
        assert msgspec.json.decode(result) == redactor.clean_tree(tree)
        assert (result is message) == (redactor.clean_tree(tree) is tree)


@settings(deadline=None)
@given(MIXED)
def test_both_ways_find_the_same(parts: list[str]) -> None:
    """With `ahocorasick_rs` and without."""
    text = "".join(parts)
    assert len({each.clean_text(text) for each in BOTH}) == 1


BOTH = [made(fast, profile="pii") for fast in WAYS]
