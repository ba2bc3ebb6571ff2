"""Whole files: every format that is known, in the shapes that spreadsheets give them, and what can't be read."""

from __future__ import annotations

import datetime as dt
import io
import tracemalloc
from decimal import Decimal

import pytest

from conversations.reconciliation.comparison import DayAndModel, Measure
from conversations.reconciliation.usage_exports.errors import UnreadableExport
from conversations.reconciliation.usage_exports.formats import FORMATS
from conversations.reconciliation.usage_exports.read_export import LONGEST_LINE_BYTES, read_export

PLAIN = "day,model,input_tokens,cached_input_tokens,output_tokens,requests,cost_usd\n"
ROW = "2026-11-01,letters,10,4,3,1,0.5\n"
FIRST = DayAndModel(dt.date(2026, 11, 1), "letters")
OPENAI_USAGE = (
    "start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,api_key_id,model,batch,"
    "service_tier,input_tokens,output_tokens,input_cached_tokens,input_uncached_tokens\n"
    "1793491200,1793577600,2026-11-01T00:00:00+00:00,2026-11-02T00:00:00+00:00,p1,2,,,gpt-4o-mini-2024-07-18,False,,"
    "100,20,40,60\n"
    "1793491200,1793577600,2026-11-01T00:00:00+00:00,2026-11-02T00:00:00+00:00,p2,1,,,gpt-4o-mini-2024-07-18,False,,"
    "50,10,0,50\n"
    "1793577600,1793664000,2026-11-02T00:00:00+00:00,2026-11-03T00:00:00+00:00,,,,,,,,,,,\n"
)
OPENAI_COST = (
    "start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,line_item,project_id\n"
    '1793491200,1793577600,,,0.0250000000000000000,usd,"gpt-4o-mini-2024-07-18, input",p1\n'
    '1793491200,1793577600,,,0.5,usd,"gpt-4o-mini-2024-07-18, output",p1\n'
)
OPENROUTER = (
    "generation_id,created_at,cost_total,cost_cache,tokens_prompt,tokens_completion,tokens_cached,model_permaslug\n"
    "gen-1,2026-11-01 02:37:51.271,0.01,0,100,20,40,openai/gpt-4o-mini\n"
    "gen-2,2026-11-01 02:37:51.271,0.02,-0.001,50,10,0,openai/gpt-4o-mini\n"
)
ANTHROPIC_USAGE = (
    "usage_date_utc,model_version,api_key,workspace,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,"
    "usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens\n"
    "2026-11-01,claude-sonnet-4-20250514,k,Default,50,7,3,40,20\n"
)
ANTHROPIC_COST = (
    "usage_date_utc,model,workspace,token_type,cost_usd,list_price_usd\n"
    "2026-11-01,Claude Sonnet 4,Default,input_no_cache,1.50,1.50\n"
    "2026-11-01,Claude Sonnet 4,Default,output,0.50,0.50\n"
)


def figures(*counts, cost=None):
    """Return amounts in the order of `Measure`, without those that are None."""
    amounts = [*counts, *[None] * (len(Measure) - 1 - len(counts)), cost] if len(counts) < len(Measure) else counts
    return {measure: amount for measure, amount in zip(Measure, amounts, strict=True) if amount is not None}


def read(text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read_export(io.BytesIO(content), **options)


def amounts_of(text):
    return read(text).amounts[FIRST]


def refusal_of(text, **options):
    with pytest.raises(UnreadableExport) as refused:
        read(text, **options)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "name", "model", "amounts"),
    [
        (OPENAI_USAGE, "openai-usage", "gpt-4o-mini", figures(3, 150, 40, 30)),
        (OPENAI_COST, "openai-cost", "gpt-4o-mini", figures(cost=Decimal("0.525"))),
        (OPENROUTER, "openrouter", "gpt-4o-mini", figures(2, 150, 40, 30, Decimal("0.03"))),
        (ANTHROPIC_USAGE, "anthropic-usage", "claude-sonnet-4", figures(None, 100, 40, 20)),
        (ANTHROPIC_COST, "anthropic-cost", "claude-sonnet-4", figures(cost=2)),
        (PLAIN + ROW, "plain", "letters", figures(1, 10, 4, 3, Decimal("0.5"))),
    ],
    ids=[each.name for each in FORMATS],
)  # fmt: skip
def test_each_format_is_known_by_its_header(text, name, model, amounts):
    export = read(text)
    assert export.format.name == name
    assert export.amounts == {DayAndModel(dt.date(2026, 11, 1), model): amounts}


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + PLAIN + ROW,
        (PLAIN + ROW).replace("\n", "\r\n"),
        (PLAIN + ROW).replace(",", ";"),
        (PLAIN + ROW).replace(",", "\t"),
        PLAIN.upper() + ROW,
        PLAIN.replace("_", " ") + ROW,
        PLAIN + "\n" + ROW + "\n\n",
        PLAIN + ROW.rstrip(),
        "cost_usd,requests,output_tokens,cached_input_tokens,input_tokens,model,day\n0.5,1,3,4,10,letters,2026-11-01\n",
        PLAIN + '"2026-11-01","letters","10","4","3","1","0.5"\n',
    ],
)
def test_the_shape_of_the_file_does_not_matter(text):
    assert amounts_of(text) == amounts_of(PLAIN + ROW)


def test_a_file_without_money_tells_of_no_money():
    assert read("day,model,input_tokens\n2026-11-01,letters,10\n").measures == (Measure.INPUT,)


def test_rows_of_one_day_that_something_else_parts_are_added_up():
    text = "day,model,project,input_tokens\n2026-11-01,letters,a,10\n2026-11-01,letters,b,5\n"
    assert amounts_of(text)[Measure.INPUT] == 15


def test_a_model_may_be_taken_for_another():
    assert list(read(PLAIN + ROW, same_as={"letters": "words"}).amounts) == [DayAndModel(FIRST.day, "words")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The file is empty."),
        ("\n\n", "The file is empty."),
        (PLAIN, "The file has a header and no usage."),
        ("name,colour\na,b\n", "Line 1: no known format has these columns: name, colour"),
        ("day,input_tokens\n2026-11-01,1\n", "Line 1: the plain format also has the columns model"),
        ("day,model\n2026-11-01,letters\n", "Line 1: there is nothing to compare"),
        ("day,model,cost_eur\n2026-11-01,letters,1\n", "Line 1: the column cost_eur is in another currency"),
        ("day,model,day,input_tokens\n", "Line 1: the column day is there twice"),
        (PLAIN + "2026-11-01,letters,1\n", "Line 2: 3 cells, where the header has 7"),
        (PLAIN + ROW + ROW, "Line 3: tells the same as line 2"),
        (PLAIN + ROW + ROW.replace("10", "11"), "Line 3: tells the same as line 2"),
        (PLAIN + ROW.replace("letters", " "), "Line 2: no language model is named"),
        (PLAIN + ROW.replace("2026-11-01", "01/11/2026"), "Line 2: “01/11/2026” may be read in two ways"),
        (PLAIN + ROW.replace("2026-11-01", "9999-12-31"), "Line 2: “9999-12-31” is a day of which there is no usage"),
        (PLAIN + ROW.replace("2026-11-01", "0001-01-01"), "Line 2: “0001-01-01” is a day of which there is no usage"),
        (PLAIN + "\n" + ROW.replace("0.5", "-0.5"), "Line 3: “-0.5” is negative"),
        (PLAIN + '2026-11-01,"letters,1,1,1,1,1\n' + ROW, "Line 2: a quotation mark is not closed"),
        (PLAIN + '2026-11-01,"letters\n' + "a long cell\n" * 20_000, "Line 2: a quotation mark is not closed"),
        (PLAIN + "a" * LONGEST_LINE_BYTES + "\n", "Line 2: is too long"),
        (OPENAI_COST.replace("usd,", "eur,"), "Line 2: “eur” is another currency"),
        (b"PK\x03\x04\x00\x00", "Line 1: this is no text"),
        (PLAIN + ROW.replace("letters", "\x1b[2Jletters"), "Line 2: there are control characters"),
        (PLAIN + ROW.replace("letters", "\x9b2Jletters"), "Line 2: there are control characters"),
        ("day\x1b]0;x\x07,input_tokens\n", "Line 1: there are control characters"),
        ((PLAIN + ROW).encode("utf-16"), "Line 1: this is no"),
        (PLAIN.encode() + ROW.replace("letters", "buchstäblich").encode("latin-1"), "Line 2: this is not UTF-8"),
    ],
)
def test_what_would_be_guesswork_is_refused_in_a_sentence(text, sentence):
    assert sentence in refusal_of(text)


def test_a_format_that_is_asked_for_names_what_it_lacks():
    assert "OpenAI's cost export also has the columns" in refusal_of(PLAIN + ROW, format_name="openai-cost")


def test_more_days_and_models_than_anybody_has_are_refused(monkeypatch):
    monkeypatch.setattr("conversations.reconciliation.usage_exports.read_export.MOST_PLACES", 2)
    rows = "".join(ROW.replace("letters", f"model {number}") for number in range(3))
    assert "Line 4: more than 2 days and models" in refusal_of(PLAIN + rows)


def test_a_long_file_takes_little_memory():
    rows = 10_000
    content = io.BytesIO(
        ("day,model,id,input_tokens\n" + "".join(f"2026-11-01,letters,{number},1\n" for number in range(rows))).encode()
    )
    tracemalloc.start()
    export = read_export(content)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert export.amounts[FIRST][Measure.INPUT] == rows
    assert peak_bytes < 100 * rows
