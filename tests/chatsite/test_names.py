"""Names that people give: what is stored of them, and how they stand in sentences."""

import unicodedata

import pytest
from django import forms
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from chatsite.names import BIDI_CONTROLS, NameInput, clean_name, isolate_name

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
FSI, PDI = "\u2068", "\u2069"
ALL_CONTROLS = "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
TRICKY = st.text(
    st.sampled_from([*"aאع1 !", *ALL_CONTROLS, *"\u200b\u200c\u200d\u200e\u200f\ufe0f\u2800\u3164\n\u2029\x00\u034f"])
)


@pytest.mark.parametrize(
    "name",
    [
        "Lofoten",
        "שלום!",
        "C++\u200e ו־Python",  # a mark gives the signs their direction
        "مرحبا بالعالم",
        "می\u200cخواهم",  # Persian: without the joiner two letters would grow together
        "क्\u200dष",
        "\u2764\ufe0f\u200d\U0001f525",
        FAMILY,
        ENGLAND,
        "葛\U000e0100城",  # the shape that the family writes
        "日本語 的 名字",
        "1️⃣ 🇳🇴",
        "e\u0301",
        "\U0001fadf",  # newer than Python's tables, perhaps
        "C# & <b> \"quotes\" 'too'",
    ],
)
def test_names_of_every_script_stay_as_they_are(name):
    assert clean_name(name) == name


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("  two \t words\r\n", "two words"),
        ("a\u00a0\u3000b", "a b"),
        ("\u202eevil\u202c", "evil"),
        ("\u2066a\u2069\u2069\u202e", "a"),
        ("a\u200bb\u00ad\ufeffc\u2060", "abc"),
        ("a\x00\x1b\x7fb\ud800", "ab"),
        ("a\u200c", "a"),
        ("\u200da", "a"),
        ("a\u200c\u200c\u200db", "a\u200cb"),
        ("a\ufe0f\ufe01\ufe02", "a\ufe0f"),  # a run of them can hold a hidden text
        ("hi\U000e0068\U000e0069", "hi"),
        ("⠓⠊\u2800\u2800⠽⠕⠥", "⠓⠊ ⠽⠕⠥"),
        ("a \u200f b", "a b"),
    ],
)
def test_a_name_is_stored_on_one_line_as_it_is_seen(raw, stored):
    assert clean_name(raw) == stored


@pytest.mark.parametrize(
    "raw", ["", " ", "\u200b", "\u202e", "\u3164", "\u2800", "\u200d\u200c", "\u115f\uffa0", "\ufe0f", "\u200f \u200e"]
)
def test_what_can_not_be_seen_is_no_name(raw):
    assert clean_name(raw) == clean_name(raw * 10) == ""


@given(TRICKY | st.text())
def test_a_stored_name_stays_as_it_is_and_holds_no_control(raw):
    name = clean_name(raw)
    assert clean_name(name) == name
    assert not set(name) & set(ALL_CONTROLS)
    assert name == " ".join(name.split())
    assert not any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in name)


@given(TRICKY, st.integers(1, 9))
def test_a_name_is_shortened_to_one_that_could_be_stored(raw, most):
    name = clean_name(raw, most_characters=most)
    assert len(name) <= most
    assert clean_name(name) == name


def test_a_name_is_isolated_where_it_could_turn_a_sentence():
    with translation.override("en"):
        assert isolate_name("Lofoten (2)!") == "Lofoten (2)!"
        assert isolate_name("日本語") == "日本語"
        for name in ("שלום!", "مرحبا", "Lofoten \u200f", "١٢"):
            assert isolate_name(name) == f"{FSI}{name}{PDI}"
        assert isolate_name("") == ""
    with translation.override("he"):  # where every name from left to right could do that
        assert isolate_name("Lofoten!") == f"{FSI}Lofoten!{PDI}"


@given(TRICKY)
def test_nothing_gets_out_of_an_isolated_name(name):
    with translation.override("en"):
        isolated = isolate_name(name)
        assert isolate_name(isolated) == isolated
    within = isolated.removeprefix(FSI).removesuffix(PDI)
    assert not set(within) & set(ALL_CONTROLS)
    assert not any(unicodedata.bidirectional(each) == "B" for each in isolated)


class NameForm(forms.Form):
    name = NameInput(max_length=5)


def test_a_form_says_that_nothing_can_be_seen_and_keeps_what_was_typed():
    form = NameForm({"name": "\u200b\u3164"})
    assert form.errors == {"name": ["A name needs at least one character that can be seen."]}
    assert "\u3164" in str(form["name"])
    assert NameForm({"name": " "}).errors == {"name": ["This field is required."]}
    shortened = NameForm({"name": "\u202eab\u202c\n  cd"})
    assert shortened.is_valid()
    assert shortened.cleaned_data == {"name": "ab cd"}


def test_the_controls_are_those_of_unicode():
    explicit = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    found = {chr(code) for code in range(0x110000) if unicodedata.bidirectional(chr(code)) in explicit}
    assert found == set(ALL_CONTROLS)
    assert BIDI_CONTROLS == "\u202a-\u202e\u2066-\u2069"
