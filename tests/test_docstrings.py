"""What `typegate.contract.docstrings` promises: a description, and one text per parameter."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

from typegate.contract.docstrings import Documentation, document


def documented(text: str | None) -> Callable[..., None]:
    """A function with this docstring."""

    def function(a: int, b: int) -> None: ...

    function.__doc__ = text
    return function


def read(text: str | None) -> Documentation:
    """What a docstring says."""
    return document(documented(text))


STYLES = {
    "google": """Move a file.

        It stays what it is.

        Args:
            a: where it is
            b (str): where it
                shall be,   with
                its name

        Returns:
            The new place.

        Raises:
            OSError: it cannot be moved.
        """,
    "sphinx": """Move a file.

        It stays what it is.

        :param a: where it is
        :param str b: where it
            shall be,   with
            its name
        :returns: The new place.
        :raises OSError: it cannot be moved.
        """,
    "numpy": """Move a file.

        It stays what it is.

        Parameters
        ----------
        a
            where it is
        b : str
            where it
            shall be,   with
            its name

        Returns
        -------
        str
            The new place.
        """,
}

HEADINGS = ["Args:", "Arguments:", "Parameters:", "Params:", "Keyword Args:", "Keyword Arguments:"]

WHOLE = [  # docstrings without a parameter section: what they say, all of it
    ("Move a file.", "Move a file."),
    ("  Move a file.  \n\n", "Move a file."),
    (
        "Move a file.\n\n    By its name.\n\n        indented\n    ",
        "Move a file.\n\nBy its name.\n\n    indented",
    ),
    ("Move a file.\n\n    Returns:\n        The place.\n    ", "Move a file.\n\nReturns:\n    The place."),
    ("Move a file.\n\n    Note: a: b\n    ", "Move a file.\n\nNote: a: b"),
    ("Args: and nothing else on this line", "Args: and nothing else on this line"),
    ("Move it.\n\n    Args:\n    ", "Move it.\n\nArgs:"),
    ("Of the args:\n    a and b\n    ", "Of the args:\na and b"),
    ("Move :the file: away", "Move :the file: away"),
]


@pytest.mark.parametrize("style", STYLES)
def test_three_styles_say_the_same(style: str) -> None:
    """The text above the section is the description; wrapped lines of a parameter are joined."""
    assert read(STYLES[style]) == Documentation(
        "Move a file.\n\nIt stays what it is.", {"a": "where it is", "b": "where it shall be, with its name"}
    )


@pytest.mark.parametrize("text", [None, "", "   ", "\n\n    \n"])
def test_without_a_docstring_there_is_no_description(text: str | None) -> None:
    """Neither is there where it holds white space only."""
    assert read(text) in (Documentation(None, {}), Documentation("", {}))
    assert not read(text).description


@pytest.mark.parametrize(("text", "said"), WHOLE)
def test_a_docstring_without_parameters_is_taken_whole(text: str, said: str) -> None:
    """With its blank lines and its indentation, but not with that of the code around it."""
    assert read(text) == Documentation(said, {})


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_section_has_several_names(heading: str) -> None:
    """What follows it is about parameters; nothing of it is left in the description."""
    found = read(f"Move it.\n\n    {heading}\n        a: the first\n        b: the second\n    ")
    assert found.description == "Move it."
    assert found.parameters == {"a": "the first", "b": "the second"}


@pytest.mark.parametrize(
    "text",
    [
        ":param a: the first",
        "Parameters\n----------\na\n    the first",
        "\n    Args:\n        a: the first\n    ",
    ],
)
def test_a_section_without_text_above_it_leaves_no_description(text: str) -> None:
    """Rather `None` than an empty text."""
    assert read(text) == Documentation(None, {"a": "the first"})


def test_a_parameter_without_a_text_is_not_described() -> None:
    """Nothing is better than an empty text."""
    assert read("Move it.\n\n    :param a:\n    :param b: the second\n    ").parameters == {"b": "the second"}


def test_the_stars_of_a_name_are_no_part_of_it() -> None:
    """`**options` is described under `options`."""
    found = read("Move it.\n\n    Args:\n        *a: many\n        **options: more\n    ")
    assert found.parameters == {"a": "many", "options": "more"}


def test_two_sections_describe_what_they_name() -> None:
    """Parameters that can only be given by name often have one of their own."""
    text = "Move it.\n\n    Args:\n        a: the first\n\n    Keyword Args:\n        b: the second\n    "
    assert read(text) == Documentation("Move it.", {"a": "the first", "b": "the second"})


def test_two_names_may_share_a_text() -> None:
    """NumPy style writes them in one line."""
    text = "Move it.\n\n    Parameters\n    ----------\n    a, b : int\n        the places\n    "
    assert read(text).parameters == {"a": "the places", "b": "the places"}


def test_words_with_a_colon_stay_in_their_text() -> None:
    """Only the first one ends the name."""
    found = read('Move it.\n\n    Args:\n        a: one of: "x", "y"\n        b: http://host/:id\n    ')
    assert found.parameters == {"a": 'one of: "x", "y"', "b": "http://host/:id"}


@pytest.mark.parametrize("text", ["Move it.\n\n:param", "Move it.\n\n:param a b c d: the first"])
def test_a_docstring_that_cannot_be_parsed_is_taken_whole(text: str) -> None:
    """A slip of the pen costs no registration."""
    assert read(text) == Documentation(text, {})


def test_the_docstring_of_a_method_may_stand_in_its_base_class() -> None:
    """It is found as Python finds it, and so is that of a class, and of what a wrapper stands for."""

    class Base:
        """A place."""

        def move(self, a: int) -> None:
            """Move it."""

    class Derived(Base):
        def move(self, a: int) -> None: ...

    @functools.wraps(Base.move)
    def wrapper(*args: Any) -> None: ...

    found = [document(each).description for each in (Derived().move, wrapper, Base)]
    assert found == ["Move it.", "Move it.", "A place."]
