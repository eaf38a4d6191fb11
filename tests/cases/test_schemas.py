"""Cases O-SCH: schemas made from signatures."""

import functools
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from typegate import MCPServer, RegistrationError

from . import postponed
from .inside import REVISIONS, STYLES, call, fits, judge, nodes, schemas, tools

styles = pytest.mark.parametrize("style", STYLES)
revisions = pytest.mark.parametrize("revision", REVISIONS)


# --- O-SCH-1: nested models and enums arrive as $ref ---------------------------------------------


class Unit(Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


class Place(BaseModel):
    city: str
    unit: Unit = Unit.CELSIUS


def weather(style: Any = "compact") -> MCPServer:
    """The server of O-SCH-1."""
    server = MCPServer("t", schema_style=style)

    @server.tool
    def forecast(
        place: Annotated[Place, Field(description="where to look")],
        backup: Place | None = None,
        unit: Unit = Unit.FAHRENHEIT,
    ) -> str:
        return f"{place.city}:{place.unit.value}:{unit.value}"

    return server


@styles
def test_O_SCH_1_every_reference_resolves_inside_its_own_schema(style: str) -> None:
    """Whatever the style, a schema stands alone, passes its meta-schema and judges the case's call."""
    validator = judge(schemas(weather(style))["forecast"])
    assert validator.is_valid({"place": {"city": "Oslo"}, "unit": "c"})
    assert not validator.is_valid({"place": {"city": 1}})
    assert not validator.is_valid({"place": {"city": "Oslo"}, "unit": "k"})


def test_O_SCH_1_one_switch_inlines_all_that_is_not_recursive() -> None:
    """With `schema_style="inline"` no reference and no definition is left."""
    text = json.dumps(schemas(weather("inline"))["forecast"])
    assert "$ref" not in text
    assert "$defs" not in text


@pytest.mark.parametrize("style", ["compact", "inline"])
def test_O_SCH_1_what_stood_beside_a_reference_stays(style: str) -> None:
    """The enum's values, the default's value and the description are where a client looks for them."""
    properties = schemas(weather(style))["forecast"]["properties"]
    assert properties["unit"]["enum"] == ["c", "f"]
    assert properties["unit"]["default"] == "f"
    assert properties["place"]["description"] == "where to look"


@styles
def test_O_SCH_1_the_call_gets_its_models(style: str) -> None:
    """Models and enum members reach the function."""
    arguments = {"place": {"city": "Oslo"}, "unit": "c"}
    assert call(weather(style), "forecast", arguments).text == "Oslo:c:c"


# --- O-SCH-2: one recursive type takes down the whole list ---------------------------------------


class Folder(BaseModel):
    name: str
    children: list["Folder"] = []


@dataclass
class Locked:
    handle: Callable[[], None]


def folders(style: Any = "compact") -> MCPServer:
    """The server of O-SCH-2."""
    server = MCPServer("t", schema_style=style)

    @server.tool
    def tree() -> Folder:
        return Folder(name="root", children=[Folder(name="leaf")])

    @server.tool
    def count(folder: Folder) -> int:
        return 1 + sum(count(c) for c in folder.children)

    @server.tool
    def unrelated() -> str:
        return "still here"

    return server


@styles
@revisions
def test_O_SCH_2_recursive_types_are_listed(style: str, revision: str) -> None:
    """All three tools are there, with finite schemas whose references resolve."""
    listed = tools(folders(style), protocol_version=revision)
    assert list(listed) == ["tree", "count", "unrelated"]
    for tool in listed.values():
        judge(dict(tool.input_schema))
    output = listed["tree"].output_schema
    assert output is not None
    judge(dict(output))


@styles
@revisions
def test_O_SCH_2_recursive_values_travel(style: str, revision: str) -> None:
    """A tree comes back as its schema says, and one that is sent is read to its leaves."""
    server = folders(style)
    found = fits(server, "tree", call(server, "tree", protocol_version=revision), protocol_version=revision)
    assert found["children"][0]["name"] == "leaf"
    arguments = {"folder": {"name": "a", "children": [{"name": "b"}]}}
    assert call(server, "count", arguments, protocol_version=revision).text == "2"


@pytest.mark.parametrize("side", ["parameter", "return"])
def test_O_SCH_2_what_has_no_schema_fails_alone_and_early(side: str) -> None:
    """A type that cannot be described is refused at registration; the other tools are still listed."""
    server = folders()

    def bad(x: Any) -> Any:
        return x

    bad.__annotations__ = {"x": Locked} if side == "parameter" else {"return": Locked}
    with pytest.raises(RegistrationError, match="Locked"):
        server.tool(bad)
    assert list(tools(server)) == ["tree", "count", "unrelated"]


# --- O-SCH-3: parameters called title and type ---------------------------------------------------


class Meta(BaseModel):
    title: str
    type: str = "memo"
    description: str = ""


def memos(style: Any = "compact") -> MCPServer:
    """The server of O-SCH-3."""
    server = MCPServer("t", schema_style=style)

    @server.tool
    def save(
        title: str,
        type: str = "memo",
        description: str = "",
        default: int = 0,
        required: bool = True,
        properties: dict[str, str] | None = None,
        items: list[str] | None = None,
        enum: str = "",
        meta: Meta | None = None,
    ) -> str:
        return f"{title}/{type}/{meta.title if meta else '-'}"

    return server


@styles
def test_O_SCH_3_names_that_are_keywords_stay_properties(style: str) -> None:
    """All nine parameters have a real schema, and so have the three fields of the model."""
    schema = schemas(memos(style))["save"]
    judge(schema)
    names = ["title", "type", "description", "default", "required", "properties", "items", "enum", "meta"]
    assert list(schema["properties"]) == names
    assert all({"type", "anyOf", "$ref"} & node.keys() for node in schema["properties"].values())
    assert schema["required"] == ["title"]
    fields = [node["properties"] for node in nodes(schema) if len(node.get("properties", ())) == 3]
    assert [list(each) for each in fields] == [["title", "type", "description"]]


@styles
def test_O_SCH_3_the_call_works(style: str) -> None:
    """A tool with such parameters can be called."""
    arguments = {"title": "hello", "meta": {"title": "inner"}}
    assert call(memos(style), "save", arguments).text == "hello/memo/inner"


# --- O-SCH-4: string annotations -----------------------------------------------------------------


def plain(function: Any) -> Any:
    """Leave a function as it is."""
    return function


def logged(function: Any) -> Any:
    """Wrap a function, in another module than its own."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


wrappers = pytest.mark.parametrize("wrapper", [plain, logged])


@wrappers
def test_O_SCH_4_string_hints_of_a_module_are_resolved(wrapper: Callable[[Any], Any]) -> None:
    """Names of the function's own module are found, and the context is no argument."""
    server = MCPServer("t")
    server.tool(wrapper(postponed.pick))
    properties = schemas(server)["pick"]["properties"]
    assert list(properties) == ["mode", "note"]
    assert properties["mode"] == {"type": "string", "description": "speed", "enum": ["fast", "slow"]}
    assert call(server, "pick", {"mode": "fast"}).text == "fast"


@wrappers
def test_O_SCH_4_a_class_local_to_the_decorating_function_is_found(wrapper: Callable[[Any], Any]) -> None:
    """The hint means the class of the decorating frame, and the optional context is no argument."""
    server = MCPServer("t")
    postponed.build(server, wrapper)
    schema = schemas(server)["take"]
    judge(schema)
    assert list(schema["properties"]) == ["row"]
    assert schema["properties"]["row"]["properties"] == {"v": {"type": "integer"}}
    assert call(server, "take", {"row": {"v": 1}}).text == "Row"


@wrappers
def test_O_SCH_4_a_name_that_is_nowhere_is_refused_at_registration(wrapper: Callable[[Any], Any]) -> None:
    """The error names the tool, the parameter and the name; no untyped tool is left behind."""
    server = MCPServer("t")
    with pytest.raises(RegistrationError) as refusal:
        server.tool(wrapper(postponed.lost))
    assert all(f"'{word}'" in str(refusal.value) for word in ("lost", "row", "Nowhere"))
    server.tool(postponed.pick)
    assert list(tools(server)) == ["pick"]


# --- O-SCH-5: methods ----------------------------------------------------------------------------


class Greeter:
    prefix = "hi"

    def greet(self, name: Annotated[str, "who to greet"]) -> str:
        return f"{self.prefix} {name}"

    @classmethod
    def shout(cls, name: Annotated[str, "who"]) -> str:
        return f"{cls.__name__} {name.upper()}"

    @staticmethod
    def whisper(name: Annotated[str, "who"]) -> str:
        return name.lower()


@pytest.mark.parametrize(
    ("method", "note", "answer"),
    [
        (Greeter().greet, "who to greet", "hi Ada"),
        (Greeter.shout, "who", "Greeter ADA"),
        (Greeter.whisper, "who", "ada"),
    ],
)
def test_O_SCH_5_bound_methods_ask_for_name_only(method: Any, note: str, answer: str) -> None:
    """Neither `self` nor `cls` is an argument; a bare string in `Annotated` describes one."""
    server = MCPServer("t")
    server.tool()(method)
    name = method.__name__
    assert schemas(server)[name]["properties"] == {"name": {"type": "string", "description": note}}
    assert call(server, name, {"name": "Ada"}).text == answer


@pytest.mark.parametrize("bare", [True, False])
def test_O_SCH_5_a_method_decorated_in_its_class_is_refused(bare: bool) -> None:
    """The refusal comes when the class is made, and says to register the bound method."""
    server = MCPServer("t")
    with pytest.raises(RegistrationError, match="Register the bound method"):

        class Service:
            @(server.tool if bare else server.tool())
            def greet(self, name: Annotated[str, "who"]) -> str:
                return name


# --- O-SCH-6: positional-only and variable parameters --------------------------------------------


def numbers() -> MCPServer:
    """The tools of O-SCH-6 that can be registered."""
    server = MCPServer("t")

    @server.tool
    def double(x: int, /) -> int:
        return 2 * x

    @server.tool
    def scale(x: int, *, factor: int = 3) -> int:
        return x * factor

    @server.tool
    def label(name: str, **kwargs: str) -> str:
        return repr((name, kwargs))

    return server


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("double", {"x": 4}, "8"),
        ("scale", {"x": 4, "factor": 2}, "8"),
        ("scale", {"x": 4}, "12"),
        ("label", {"name": "n", "a": "1", "b": "2"}, "('n', {'a': '1', 'b': '2'})"),
        ("label", {"name": "n"}, "('n', {})"),
    ],
)
def test_O_SCH_6_what_is_listed_can_be_called(name: str, arguments: dict[str, Any], answer: str) -> None:
    """Positional-only, keyword-only and extra arguments are all passed by name."""
    assert call(numbers(), name, arguments).text == answer


def test_O_SCH_6_every_schema_is_an_object_and_describes_the_extra_arguments() -> None:
    """The root is an object; extra arguments are described by their hint."""
    found = schemas(numbers())
    for schema in found.values():
        judge(schema)
    assert found["label"]["additionalProperties"] == {"type": "string"}
    assert list(found["label"]["properties"]) == ["name"]


def test_O_SCH_6_an_extra_argument_of_another_type_is_refused() -> None:
    """The hint of `**kwargs` holds."""
    result = call(numbers(), "label", {"name": "n", "a": 1})
    assert result.is_error
    assert "'a' must be string, got integer" in result.text


def test_O_SCH_6_variable_positional_parameters_are_refused() -> None:
    """`*args` cannot be called by name: the registration says so."""
    server = MCPServer("t")

    def gather(name: str, *args: int, **kwargs: str) -> str:
        return repr((name, args, kwargs))

    with pytest.raises(RegistrationError, match=r"'gather' takes \*args"):
        server.tool(gather)


# --- O-SCH-7: names that are members of the model base class -------------------------------------

ELEVEN = "schema copy json validate model_config model_dump model_fields dict fields cls self".split()  # noqa: SIM905


def exports() -> MCPServer:
    """The server of O-SCH-7."""
    server = MCPServer("t")

    @server.tool
    def export(
        schema: str,
        copy: bool = False,
        json: dict | None = None,
        validate: bool = True,
        model_config: str = "default",
        model_dump: bool = True,
        model_fields: str = "",
        dict: str = "",
        fields: str = "",
        cls: str = "",
        self: int = 1,
    ) -> str:
        return f"{schema}|{copy}|{json}|{validate}|{model_config}|{model_dump}|{cls}|{self}"

    return server


def test_O_SCH_7_registration_is_silent_and_keeps_all_names(capfd: pytest.CaptureFixture[str]) -> None:
    """No warning is raised or printed, and the names on the wire are Python's."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = schemas(exports())["export"]
    assert not caught
    assert capfd.readouterr() == ("", "")
    assert list(schema["properties"]) == ELEVEN


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (
            {"schema": "public", "copy": True, "json": {"a": 1}, "validate": False}
            | {"model_config": "x", "model_dump": False, "cls": "k", "self": 7},
            "public|True|{'a': 1}|False|x|False|k|7",
        ),
        ({"schema": "public"}, "public|False|None|True|default|True||1"),
    ],
)
def test_O_SCH_7_values_and_defaults_arrive(arguments: dict[str, Any], answer: str) -> None:
    """What is sent arrives under its name; what is left out is the function's own default."""
    assert call(exports(), "export", arguments).text == answer


# --- O-SCH-8: names that begin with an underscore ------------------------------------------------


def odata() -> MCPServer:
    """The server of O-SCH-8."""
    server = MCPServer("t")

    @server.tool
    def query(_filter: str, __top: int = 10, _: int = 0, normal: str = "n") -> str:
        return f"{_filter}:{__top}:{_}:{normal}"

    return server


def test_O_SCH_8_underscores_travel_as_they_are() -> None:
    """The wire names are exactly the parameter names."""
    schema = schemas(odata())["query"]
    judge(schema)
    assert list(schema["properties"]) == ["_filter", "__top", "_", "normal"]
    assert schema["required"] == ["_filter"]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"_filter": "a eq 1", "__top": 3}, "a eq 1:3:0:n"),
        ({"_filter": "a", "_": 5, "normal": "m"}, "a:10:5:m"),
    ],
)
def test_O_SCH_8_no_argument_is_dropped(arguments: dict[str, Any], answer: str) -> None:
    """Each value reaches the parameter that it names."""
    assert call(odata(), "query", arguments).text == answer
