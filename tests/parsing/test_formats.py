"""What the readers make of Markdown, HTML, tables, JSON and plain text."""

from __future__ import annotations

import codecs

import pytest

from tests.parsing.blocks import blocks_of, texts_of


def test_markdown_stands_under_its_headings():
    blocks = blocks_of("# Map\n\n## Sea\n\nblue\n\nSouth\n-----\n\nwarm\n", "map.md")
    assert [(block.headings, block.text) for block in blocks] == [(("Map", "Sea"), "blue"), (("Map", "South"), "warm")]


def test_a_heading_with_nothing_under_it_is_not_lost():
    assert texts_of("# One\n# Two\n", "a.md") == ["One", "Two"]


def test_headings_in_code_are_code():
    [block] = blocks_of("```sh\n# not a heading\n\nls\n```\n", "a.md")
    assert block.lines
    assert "# not a heading\n\nls" in block.text


def test_code_that_is_never_closed_is_code_to_the_end():
    assert len(texts_of("~~~\na\n\nb\n", "a.md")) == 1


def test_html_stands_under_its_headings_without_menus_and_scripts():
    page = "<html><nav>Home</nav><h1>Map</h1><script>x()</script><h2>Sea</h2><p>deep <b>blue</b>\nsea<style>p{}</style>"
    [block] = blocks_of(page)
    assert (block.headings, block.text) == (("Map", "Sea"), "deep blue sea")


def test_html_keeps_the_lines_of_a_listing():
    [block] = blocks_of("<html><pre>if a:\n    b()</pre>")
    assert (block.text, block.lines) == ("if a:\n    b()", True)


def test_words_after_what_is_passed_over_are_kept():
    assert texts_of("<html><p>before <button>Press</button> after</p> <h1>Title</h1> tail") == ["before after", "tail"]


def test_a_table_of_a_page_names_its_columns_in_each_row():
    page = "<html><table><tr><th>Port<th>Ships<tr><td>Hull<td>3<tr><td>Kiel<td>7</table>"
    assert texts_of(page) == ["Port: Hull; Ships: 3", "Port: Kiel; Ships: 7"]


def test_a_table_that_lays_out_a_page_is_read_as_the_page():
    assert texts_of("<html><table><tr><td><p>left</p><td><p>right</p></table>") == ["left", "right"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_row_names_its_columns(delimiter):
    rows = [["name", "city"], ["Ada", "London"], ["Grace", ""]]
    text = "\n".join(delimiter.join(row) for row in rows)
    assert texts_of(text, "people.csv") == ["name: Ada; city: London", "name: Grace"]


def test_quotes_hold_delimiters_and_line_breaks():
    assert texts_of('name,says\r\nAda,"one, ""two""\r\nthree"\r\n', "a.csv") == ['name: Ada; says: one, "two" three']


def test_rows_without_names_are_read_as_they_are():
    assert texts_of("1,2\n3,4\n", "a.csv") == ["1; 2", "3; 4"]


def test_a_cell_beyond_the_header_is_not_lost():
    assert texts_of("a,b\n1,2,3\n1,2\n1,2\n", "a.csv")[0] == "a: 1; b: 2; 3"


def test_a_record_stands_alone_under_its_title():
    [block] = blocks_of('[{"id": 7, "Title": "Build times", "tags": ["ci", "c++"], "live": true, "notes": null}]')
    assert (block.headings, block.text, block.alone) == (("Build times",), "id: 7\ntags: ci, c++\nlive: yes", True)


def test_what_is_nested_in_a_record_is_read_aloud():
    [text] = texts_of('[{"speakers": [{"name": "Ada", "of": {"city": "London"}}, {"name": "Grace"}]}]')
    assert text == "speakers: name: Ada, of: city: London; name: Grace"


def test_a_record_that_is_nothing_but_its_title_is_shown():
    assert texts_of('[{"title": "Lunch"}]') == ["Lunch"]


def test_records_inside_an_object_are_records():
    blocks = blocks_of('{"year": 2026, "talks": [{"title": "One", "room": "A"}, {"title": "Two"}]}')
    assert [(block.headings, block.text) for block in blocks] == [
        ((), "year: 2026"),
        (("talks", "One"), "room: A"),
        (("talks",), "Two"),
    ]


def test_numbers_are_kept_as_they_are_written():
    assert texts_of('{"price": 1.10, "id": 00012345678901234567890}'.replace("000", "")) == [
        "price: 1.10\nid: 12345678901234567890"
    ]


def test_paragraphs_of_a_text_are_blocks():
    assert texts_of("one\ntwo\n\n \nthree\n") == ["one\ntwo", "three"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_letters_are_read_in_any_common_encoding(encoding):
    text = "Grüße aus Köln, schöne Straßen überall. Bäume säumen die Flüsse."
    assert texts_of(text.encode(encoding)) == [text]


def test_chinese_is_read_in_its_own_encoding():
    text = "今天天气很好，我们去公园散步。然后在湖边喝茶，聊了很久的天。" * 4
    assert texts_of(text.encode("gb18030")) == [text]


def test_a_few_bytes_that_are_wrong_do_not_change_the_encoding():
    content = "Grüße aus Köln. ".encode() * 200 + b"\xff"
    assert "Grüße aus Köln." in texts_of(content)[0]


def test_controls_are_taken_out():
    text = "bell\x07 and NUL\x00, " + "words " * 100
    assert texts_of(text)[0].startswith("bell and NUL, words")


def test_what_only_language_models_see_is_taken_out():
    unseen = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert texts_of(f"Herons{unseen} stand. " + "words " * 500)[0].startswith("Herons stand.")


def test_a_mark_of_byte_order_is_no_text():
    assert texts_of(codecs.BOM_UTF8 + b"name,city\nAda,Bonn\n", "a.csv") == ["name: Ada; city: Bonn"]
