"""Functions that were never written: any parameters, any defaults, made at run time.

The law of the file: a made function records what it is called with and does nothing else.
"""

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Annotated, Any

from hypothesis import strategies as st
from pydantic import Field

from .forms import NAMES, UNSET, Form, forms, nullable

__all__ = ["Made", "functions", "taking"]

ALIASES = ("from", "$ref", "user-id", "first name", "class", "$defs")


@dataclasses.dataclass
class Parameter:
    """A parameter as it was declared."""

    name: str
    wire_name: str
    form: Form
    default: Any
    description: str | None

    def __repr__(self) -> str:
        alias = f" as {self.wire_name!r}" if self.wire_name != self.name else ""
        return f"{self.name}{alias}: {self.form.hint}" + ("" if self.is_required else f" = {self.default!r}")

    @property
    def is_required(self) -> bool:
        """Whether a caller must give it."""
        return self.default is UNSET


@dataclasses.dataclass
class Made:
    """A made function: `calls` holds the values of each call."""

    function: Any
    parameters: list[Parameter]
    extra: Form | None
    calls: list[dict[str, Any]]

    def __repr__(self) -> str:
        extra = f", **others: {self.extra.hint}" if self.extra is not None else ""
        return f"def tool({', '.join(map(repr, self.parameters))}{extra})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def faults(self, arguments: Mapping[str, Any]) -> list[str]:
        """What the last call got that is not of the declared type, or not the default that was declared."""
        values = self.calls[-1]
        found = []
        for each in self.parameters:
            value = values.pop(each.name)
            if each.wire_name in arguments:
                if not each.form.holds(value):
                    found.append(f"{each.name}: {value!r} is no {each.form.hint}")
            elif type(value) is not type(each.default) or value != each.default:
                found.append(f"{each.name}: {value!r} is not its default {each.default!r}")
        if self.extra is not None:
            found += [f"{key}: {value!r}" for key, value in values.items() if not self.extra.holds(value)]
        return found


@st.composite
def parameters(draw: st.DrawFn, name: str, alias: str, kind: Any) -> tuple[Parameter, inspect.Parameter]:
    form = draw(forms())
    default = draw(st.just(UNSET) | st.just(UNSET) | form.values)
    if default is UNSET and draw(st.integers(0, 7)) == 0:
        form, default = nullable(form), None  # x: int = None means int | None
    wire_name = alias if draw(st.integers(0, 5)) == 0 else name
    described, hint, written_default = None, form.hint, default
    note = draw(
        st.sampled_from([None, "What it is.", 'With "quotes"\nand lines.', Field(description="In a field.")])
    )
    if note is not None:
        described = note if isinstance(note, str) else note.description
        hint = Annotated[hint, note]
    if wire_name == alias:
        hint = Annotated[hint, Field(alias=alias)]
    if default is not UNSET and draw(st.integers(0, 3)) == 0:
        written_default = Field(default)
    made = inspect.Parameter(
        name,
        draw(st.sampled_from([kind, inspect.Parameter.KEYWORD_ONLY])),
        default=inspect.Parameter.empty if written_default is UNSET else written_default,
        annotation=hint,
    )
    if default is UNSET and form.nullable:
        default = None
    return Parameter(name, wire_name, form, default, described), made


@st.composite
def functions(draw: st.DrawFn, most: int = 6) -> Made:
    """A function with up to *most* parameters, some by name only, some by position only."""
    names = draw(st.lists(st.sampled_from(NAMES), max_size=most, unique=True))
    aliases = draw(st.permutations(ALIASES))
    kind = draw(st.sampled_from([inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY]))
    found = [draw(parameters(name, alias, kind)) for name, alias in zip(names, aliases, strict=False)]
    found.sort(key=lambda each: (each[1].kind, each[1].default is not inspect.Parameter.empty))
    declared = [parameter for _, parameter in found]
    extra = draw(forms(depth=1)) if draw(st.integers(0, 5)) == 0 else None
    if extra is not None:
        declared.append(inspect.Parameter("others", inspect.Parameter.VAR_KEYWORD, annotation=extra.hint))
    calls: list[dict[str, Any]] = []
    made = Made(written(declared, calls), [parameter for parameter, _ in found], extra, calls)
    if draw(st.booleans()):
        document(made)
    return made


def taking(hint: Any) -> Made:
    """A function with one parameter, `x`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    calls: list[dict[str, Any]] = []
    return Made(written([inspect.Parameter("x", kind, annotation=hint)], calls), [], None, calls)


def document(made: Made) -> None:
    """Give the function a docstring that says what each parameter means that has no text of its own."""
    lines = ["Do something.", "", "Args:"]
    for each in made.parameters:
        each.description = each.description or f"What {each.name} is."
        lines.append(f"    {each.name}: What {each.name} is.")
    made.function.__doc__ = "\n".join(lines)


def written(declared: list[inspect.Parameter], calls: list[dict[str, Any]]) -> Any:
    """A real function with this signature: compiled, not imitated."""
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in declared]
    named = [
        each if each.default is inspect.Parameter.empty else each.replace(default=Name(f"_default_{index}"))
        for index, each in enumerate(plain)
    ]
    space = {f"_default_{index}": each.default for index, each in enumerate(declared)}
    kept = "".join(f"{each.name!r}: {each.name}, " for each in declared if each.kind is not each.VAR_KEYWORD)
    rest = "".join(f"**{each.name}" for each in declared if each.kind is each.VAR_KEYWORD)
    exec(
        f"def tool{inspect.Signature(named)}: _calls.append({{{kept}{rest}}})",
        {**space, "_calls": calls},
        space,
    )
    function = space["tool"]
    function.__annotations__ = {each.name: each.annotation for each in declared}
    function.__module__ = __name__
    return function


class Name(str):
    """Text that stands in code as it is."""

    def __repr__(self) -> str:
        return str(self)
