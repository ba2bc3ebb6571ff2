"""What docstrings say of functions and parameters, in the common styles."""

from __future__ import annotations

import pytest

from conversations.tools.docstrings import LONGEST_DESCRIPTION, parse_docstring

GOOGLE = """Tell the weather.

    For any city.

    Args:
        city: Its name,
            in English.
        days (int): How many days.

    Returns:
        What it will be.
"""
NUMPY = """Tell the weather.

    For any city.

    Parameters
    ----------
    city : str
        Its name,
        in English.
    days : int, optional
        How many days.

    Returns
    -------
    str
        What it will be.
"""
SPHINX = """Tell the weather.

    For any city.

    :param city: Its name,
        in English.
    :param int days: How many days.
    :returns: What it will be.
"""
STYLES = {"Google": GOOGLE, "NumPy": NUMPY, "Sphinx": SPHINX}


def documented(docstring: str | None):
    def weather(city: str, days: int = 1): ...

    weather.__doc__ = docstring
    return parse_docstring(weather)


@pytest.mark.parametrize("docstring", STYLES.values(), ids=STYLES)
def test_the_common_styles_say_the_same(docstring):
    docs = documented(docstring)
    assert docs.description == "Tell the weather.\n\nFor any city."
    assert docs.parameters == {"city": "Its name, in English.", "days": "How many days."}


@pytest.mark.parametrize("docstring", ["Tell it.\n\n:param city: Its name.", "Tell it.\n\nArgs:\n    city: Its name."])
def test_a_parameter_in_the_last_line_is_found(docstring):
    assert documented(docstring).parameters == {"city": "Its name."}


def test_a_line_alone_is_the_description():
    assert documented("Tell the weather.") == ("Tell the weather.", {})


@pytest.mark.parametrize("docstring", [None, "", "  \n "])
def test_no_docstring_says_nothing(docstring):
    assert documented(docstring) == ("", {})


def test_a_docstring_with_parameters_only_has_no_description():
    docs = documented("\n    Args:\n        city: Its name.\n    ")
    assert docs.description == ""
    assert docs.parameters == {"city": "Its name."}


def test_a_long_description_is_cut_to_what_providers_take():
    assert len(documented("long " * 1_000).description) == LONGEST_DESCRIPTION
