"""One wrong call for each code of an issue: the table in docs/problems.md is made from this file."""

from typing import Any

from pydantic import BaseModel, field_validator

from typegate import MCPServer

server = MCPServer("codes")

RULES = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1, "maximum": 100},
        "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.25},
        "name": {"type": "string", "minLength": 2, "maxLength": 4},
        "code": {"type": "string", "pattern": "^[A-Z]+$"},
        "state": {"enum": ["open", "done"]},
        "day": {"type": "string", "format": "date"},
        "tags": {"type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": True},
        "parts": {"type": "array", "contains": {"const": "lid"}},
        "way": {"oneOf": [{"required": ["phone"]}, {"required": ["email"]}]},
        "word": {"type": "string", "not": {"const": "none"}},
        "size": {"type": "number"},
        "labels": {"type": "object", "minProperties": 1, "maxProperties": 1},
    },
    "required": ["count"],
    "additionalProperties": False,
}


@server.tool(schema=RULES)
def ruled(**arguments: Any) -> str:
    """Take what the schema allows."""
    return "taken"


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_even(cls, number: int) -> int:
        """Refuse odd numbers."""
        if number % 2:
            raise ValueError("must be even")
        return number


@server.tool
def validated(even: Even) -> str:
    """Take an even number."""
    return "taken"


TRIED: list[tuple[str, dict[str, Any]]] = [
    ("ruled", {}),
    ("ruled", {"count": 1, "nmae": "tea"}),
    ("ruled", {"count": "1"}),
    ("ruled", {"count": 1, "state": "opne"}),
    ("ruled", {"count": 1, "day": "today"}),
    ("ruled", {"count": 1, "code": "a1"}),
    ("ruled", {"count": 0}),
    ("ruled", {"count": 101}),
    ("ruled", {"count": 1, "ratio": 0}),
    ("ruled", {"count": 1, "ratio": 1}),
    ("ruled", {"count": 1, "ratio": 0.3}),
    ("ruled", {"count": 1, "name": "a"}),
    ("ruled", {"count": 1, "name": "abcde"}),
    ("ruled", {"count": 1, "tags": []}),
    ("ruled", {"count": 1, "tags": [1, 2, 3]}),
    ("ruled", {"count": 1, "tags": [1, 1]}),
    ("ruled", {"count": 1, "parts": ["pot"]}),
    ("ruled", {"count": 1, "way": {"phone": "1", "email": "a"}}),
    ("ruled", {"count": 1, "word": "none"}),
    ("validated", {"even": {"number": 3}}),
]

if __name__ == "__main__":
    server.run()
