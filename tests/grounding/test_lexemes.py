from __future__ import annotations

import pytest

from conversations.grounding.lexemes import LONGEST_WORD, normalize_words
from conversations.models import Passage
from tests.grounding.documents import store_document
from tests.support.people import begin, make_user


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Build times, cut!", "Build times cut"),
        ("CI/CD in node.js", "CI CD in node js"),
        ("-5 a_b", "5 a b"),
        ("构建时间", "构建 建时 时间"),
        ("Go语言入门", "Go 语言 言入 入门"),
        ("猫", "猫"),
        ("有关于启动的演讲吗？", "有关 启动 演讲"),
        ("ﾃｽﾄ", "テス スト"),
        ("Ｂｕｉｌｄ", "Build"),
        ("' & | ! ( ) :* <->", ""),
    ],
)
def test_a_text_becomes_words(text, words):
    assert normalize_words(text) == words


def test_a_word_without_end_is_cut():
    assert normalize_words("x" * 5000) == "x" * LONGEST_WORD


@pytest.mark.django_db
def test_a_passage_is_stored_with_its_lexemes_and_those_of_its_heading():
    document = store_document(begin(make_user("alice")), [("Testing › 测试工具", "Builds were running faster.")])
    [passage] = Passage.objects.filter(document=document)
    assert passage.search == "'build':5 'faster':8 'run':7 'test':1A '工具':4A '测试':2A '试工':3A"
