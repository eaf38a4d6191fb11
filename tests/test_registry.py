"""What `typegate.server.registry` promises: order, unique keys, stable pages, and nothing that is hidden."""

import json
from typing import Any, NamedTuple

import pytest

from typegate import MCPServer, Principal, RegistrationError
from typegate.server.options import Options
from typegate.server.registry import Catalogue, Page, Registry
from typegate.types import Tool
from typegate.versions import VERSIONS

NEWEST = VERSIONS["2026-07-28"]
READER = Principal(subject="r", scopes=frozenset({"read"}))


class Plan(NamedTuple):
    """As much of a plan as a registry looks at."""

    key: str
    listed: Tool
    options: Options = Options()


def plan(name: str, title: str | None = None, scopes: frozenset[str] = frozenset()) -> Plan:
    """A component of this name."""
    return Plan(name, Tool(name=name, title=title, input_schema={"type": "object"}), Options(scopes=scopes))


def holding(*names: str, on_duplicate: Any = "warn") -> Registry[Plan]:
    """A registry with components of these names."""
    registry: Registry[Plan] = Registry("tool", on_duplicate)
    for name in names:
        registry.add(plan(name))
    return registry


def names(page: Page) -> list[str]:
    """What a page shows."""
    return [item["name"] for item in json.loads(page.items)]


def walked(registry: Registry[Plan], size: int, between: Any = lambda: None) -> list[str]:
    """What is seen page by page; *between* happens after each page."""
    found, after = [], 0
    for _ in range(100):
        page = registry.page(NEWEST, None, after, size)
        found += names(page)
        if page.last is None:
            return found
        after = page.last
        between()
    raise AssertionError("there is no last page")


# --- adding and removing -------------------------------------------------------------------------


def test_components_stand_in_the_order_of_their_registration() -> None:
    """Not in that of their names."""
    registry = holding("c", "a", "b")
    assert [each.key for each in registry] == ["c", "a", "b"]
    assert len(registry) == 3
    assert names(registry.page(NEWEST, None)) == ["c", "a", "b"]


def test_a_component_is_found_by_its_key_alone() -> None:
    """Case matters, and nothing is found for a part of it."""
    registry = holding("Ab")
    assert registry.get("Ab", None) == plan("Ab")
    assert [registry.get(key, None) for key in ("ab", "A", "", "Ab ")] == [None] * 4


def test_a_component_that_is_removed_is_gone() -> None:
    """It is given back once, and its name may be registered again, behind the others."""
    registry = holding("a", "b")
    assert registry.remove("a") == plan("a")
    assert registry.remove("a") is None
    assert registry.get("a", None) is None
    assert registry.add(plan("a"))
    assert names(registry.page(NEWEST, None)) == ["b", "a"]


def test_removing_while_going_through_them_is_safe() -> None:
    """Whoever began before sees what there was."""
    registry = holding("a", "b", "c")
    assert [each.key for each in registry if registry.remove(each.key)] == ["a", "b", "c"]
    assert len(registry) == 0


DUPLICATES = [  # on_duplicate, whether anything changed, whose title is kept, whether it is said
    ("warn", False, None, True),
    ("ignore", False, None, False),
    ("replace", True, "second", False),
]


@pytest.mark.parametrize(("on_duplicate", "changed", "title", "said"), DUPLICATES)
def test_a_key_that_is_taken(
    caplog: pytest.LogCaptureFixture, on_duplicate: str, changed: bool, title: str | None, said: bool
) -> None:
    """The first is kept, with or without a warning, or the second takes its place in the order."""
    registry = holding("a", "b", on_duplicate=on_duplicate)
    assert registry.add(plan("a", title="second")) is changed
    found = registry.get("a", None)
    assert found is not None
    assert found.listed.title == title
    assert names(registry.page(NEWEST, None)) == ["a", "b"]
    assert ("tool 'a' is registered already" in caplog.text) is said


def test_a_key_that_is_taken_may_be_an_error() -> None:
    """The text names it, and the first one stays."""
    registry = holding("a", on_duplicate="error")
    with pytest.raises(RegistrationError, match="tool 'a' is registered already"):
        registry.add(plan("a", title="second"))
    assert registry.get("a", None) == plan("a")


# --- pages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)
def test_a_listing_shows_what_there_is_now(version: Any) -> None:
    """What was encoded before does not outlive a change."""
    registry = holding("a")
    assert names(registry.page(version, None)) == ["a"]
    registry.add(plan("b"))
    assert names(registry.page(version, None)) == ["a", "b"]
    registry.remove("a")
    assert names(registry.page(version, None)) == ["b"]


def test_each_revision_has_a_listing_of_its_own() -> None:
    """The one that was encoded for a newer client is not shown to an older one."""
    registry = holding()
    registry.add(plan("a", title="T"))
    titles = [json.loads(registry.page(version, None).items)[0].get("title") for version in VERSIONS.values()]
    assert titles == [None, None, "T", "T", "T"]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 100])
@pytest.mark.parametrize("count", range(6))
def test_pages_show_everything_once(count: int, size: int) -> None:
    """Whatever the size, and the last page is never an empty one."""
    registry = holding(*map(str, range(count)))
    assert walked(registry, size) == list(map(str, range(count)))
    full = registry.page(NEWEST, None, 0, size)
    assert (full.last is None) == (count <= size)


def test_pages_are_stable_while_components_come_and_go() -> None:
    """What is there all the time is seen once, what is new is seen at the end, what is gone is not."""
    registry = holding(*"abcdef")
    steps = iter([("remove", "a"), ("remove", "c"), ("add", "x"), ("add", "y"), ("remove", "x")])

    def change() -> None:
        verb, name = next(steps, ("", ""))
        if verb:
            getattr(registry, verb)(plan(name) if verb == "add" else name)

    assert walked(registry, 1, change) == [*"abdef", "y"]


def test_a_page_after_the_last_one_is_empty() -> None:
    """The end does not move back when components go away."""
    registry = holding("a", "b")
    after = registry.page(NEWEST, None, 0, 1).last
    assert after is not None
    registry.remove("b")
    page = registry.page(NEWEST, None, after, 1)
    assert (names(page), page.last) == ([], None)


# --- who sees what -------------------------------------------------------------------------------


@pytest.mark.parametrize(("principal", "seen"), [(None, ["a"]), (READER, ["a", "b"])])
@pytest.mark.parametrize("size", [None, 1, 5])
def test_a_caller_without_the_scopes_does_not_see_a_component(
    principal: Principal | None, seen: list[str], size: int | None
) -> None:
    """It is neither listed, nor found, nor counted as one more page."""
    registry = holding("a")
    registry.add(plan("b", scopes=frozenset({"read"})))
    registry.add(plan("c", scopes=frozenset({"read", "write"})))
    first = registry.page(NEWEST, principal, 0, size)
    rest = registry.page(NEWEST, principal, first.last, size) if first.last is not None else None
    assert names(first) + (names(rest) if rest is not None else []) == seen
    assert rest is None or rest.last is None
    assert first.private
    assert [key for key in "abc" if registry.get(key, principal) is not None] == seen
    assert [each.key for each in registry.visible(principal)] == seen


def test_a_listing_that_is_the_same_for_everyone_is_public() -> None:
    """With pages as without."""
    registry = holding("a", "b")
    assert not registry.page(NEWEST, None).private
    assert not registry.page(NEWEST, READER, 0, 1).private


# --- the catalogue -------------------------------------------------------------------------------


def library() -> Catalogue:
    """A catalogue with resources that overlap."""
    server = MCPServer("t")
    server.resource("book://{id}", name="by id")(lambda id: "")
    server.resource("book://one", name="itself")(lambda: "")
    server.resource("book://{id}/{page}", name="by page")(lambda id, page: "")
    server.resource("book://{other}", name="never reached")(lambda other: "")
    return server.catalogue


FOUND = [
    ("book://one", "book://one", {}),
    ("book://two", "book://{id}", {"id": "two"}),
    ("book://two/3", "book://{id}/{page}", {"id": "two", "page": "3"}),
    ("film://two", None, {}),
    ("book://two/3/4", None, {}),
    ("", None, {}),
]


@pytest.mark.parametrize(("uri", "key", "variables"), FOUND)
def test_a_resource_is_found_by_its_URI_then_by_the_first_template(
    uri: str, key: str | None, variables: dict[str, str]
) -> None:
    """Whatever the order of their registration, a fixed URI goes before a template."""
    found, values = library().find_resource(uri, None)
    assert ((found.key if found else None), dict(values)) == (key, variables)


@pytest.mark.parametrize(
    ("uri", "key"),
    [
        ("book://{id}", "book://{id}"),
        ("book://{other}", "book://{other}"),
        ("book://two", "book://{id}"),
        ("x:", None),
    ],
)
def test_what_is_completed_is_named_by_its_template_or_a_URI(uri: str, key: str | None) -> None:
    """The template as it is written goes before what matches it."""
    found = library().find_completable(uri, None)
    assert (found.key if found else None) == key
