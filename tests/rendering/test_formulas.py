"""TeX to MathML, and money that stays money."""

import re
from html import unescape
from xml.etree.ElementTree import tostring

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from latex2mathml.converter import Converter

from conversations.rendering import formulas, render_markdown
from conversations.rendering.formulas import MATH_ATTRIBUTES, render_formula
from conversations.rendering.sanitizer import sanitize
from tests.rendering.payloads import FORMULAS

PIECES = [
    *("a", "1", "+", "=", "<", ">", "&", "'", '"', "_", "^", "{", "}", " ", "(", ")", "|", "~", "的", "&amp;"),
    *(r"\frac", r"\sqrt", r"\sum", r"\left(", r"\right)", r"\text{<b>}", r"\mathbb{R}", r"\hspace{2em}", r"\le"),
    *(r"\color{red}", r"\hspace{99em}", r"\begin{matrix}", r"\end{matrix}", r"\\", r"\%", r"\&", r"\unicode{x3C}"),
]
SOURCES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@pytest.mark.parametrize("written", ["$x^2$", r"\(x^2\)"])
def test_a_formula_in_a_line_becomes_mathml(written):
    html = render_markdown(f"So {written}.")
    assert '<math display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>.' in html


@pytest.mark.parametrize("written", ["$$x$$", r"\[x\]", "$$\nx\n$$", "\\[\nx\n\\]", "  $$ x\n$$"])
def test_a_formula_on_its_own_lines_is_set_apart(written):
    assert render_markdown(written) == (
        '<div class="math-display"><math display="block"><mrow><mi>x</mi></mrow></math></div>\n'
    )


def test_a_formula_set_apart_interrupts_a_paragraph_and_holds_what_looks_like_a_list():
    html = render_markdown("The sum\n$$\na\n+ b\n=\nc\n$$\nends.")
    assert html.startswith("<p>The sum</p>\n<div")
    assert html.endswith("<p>ends.</p>\n")
    assert "<ul>" not in html


@pytest.mark.parametrize("written", ["from $5 to $6", "$ 5$", "US$5 and US$10 a month", r"\$x\$", "`$x$`", "$", "$$"])
def test_money_and_code_are_not_formulas(written):
    assert "<m" not in render_markdown(written)


def test_a_formula_in_a_list_and_in_a_quotation():
    assert render_markdown("- a\n  $$\n  x\n  $$\n- b").count("math-display") == 1
    assert render_markdown("> $$\n> x\n> $$").count("math-display") == 1


def test_a_formula_that_is_not_closed_before_a_blank_line_is_text():
    assert "<math" not in render_markdown("$$\nx\n\ny\n$$")


REFUSED = [r"\frac", "a_b_c", r"\left(", r"\newcommand{\a}{b}\a", r"\def\a{b}\a", "x" * 2_001, "{" * 70]


@pytest.mark.parametrize("source", REFUSED)
def test_a_formula_that_cannot_be_converted_is_shown_as_it_was_written(source):
    assert render_markdown(f"${source}$") == f'<p><code class="math-error">${source}$</code></p>\n'


@pytest.mark.parametrize("name", ["aligned", "align", "align*", "matrix", "pmatrix", "cases", "dcases"])
def test_the_environments_that_models_write_become_tables(name):
    html = render_markdown(f"$$\n\\begin{{{name}}}\na &= b \\\\\n&= c\n\\end{{{name}}}\n$$")
    assert html.count("<mtr>") == 2
    assert "&amp;" not in html
    assert "(1)" not in html


def test_text_in_a_formula_is_escaped():
    assert "<mtext>&lt;b&gt;</mtext>" in render_markdown(r"$\text{<b>}$")


def test_a_formula_cannot_cover_the_page():
    html = render_markdown(r"$\hspace{500em}\rule{100em}{100em}\raise{50em}{x}$")
    assert "em" not in html


def test_colours_and_small_spaces_are_kept():
    html = render_markdown(r"$\color{red}a\hspace{2em}b$")
    assert 'mathcolor="red"' in html
    assert 'width="2em"' in html


@given(SOURCES)
@example(r"\text{a&lt;b&#x3C;c}")
@example(r"\begin{matrix}a & b \\ c & d\end{matrix}")
def test_what_is_written_is_what_the_standard_library_writes_of_the_same_elements(source):
    try:
        root = Converter().convert_to_element(source)
    except Exception:
        return
    for element in root.iter():
        element.text = re.sub("&#x[0-9A-Fa-f]{1,6};", lambda match: unescape(match[0]), element.text or "")
        for name, value in list(element.items()):
            if not re.fullmatch(MATH_ATTRIBUTES.get(name, "(?!)"), value):
                del element.attrib[name]
    written = render_formula(source, display=False, written="")
    assert sanitize(written) == sanitize(tostring(root, encoding="unicode"))


@given(SOURCES | st.sampled_from([formula[1:-1] for formula in FORMULAS]), st.booleans())
def test_a_formula_that_is_kept_is_what_it_would_be_if_it_were_converted_again(source, display):
    first = render_formula(source, display=display, written=source)
    kept = render_formula(source, display=display, written=source)
    formulas._to_kept_mathml.cache_clear()
    assert first == kept == render_formula(source, display=display, written=source)


def test_few_formulas_are_kept_and_no_long_ones():
    formulas._to_kept_mathml.cache_clear()
    for number in range(formulas.KEPT_FORMULAS + 9):
        render_formula(f"x_{{{number}}}", display=False, written="")
        render_formula("x" * formulas.KEPT_FORMULA_CHARACTERS + f"+{number}", display=False, written="")
    assert formulas._to_kept_mathml.cache_info().currsize == formulas.KEPT_FORMULAS
    assert formulas._to_kept_mathml.cache_info().misses == formulas.KEPT_FORMULAS + 9
