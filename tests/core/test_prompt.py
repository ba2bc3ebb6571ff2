from conversations.core.prompt import GROUNDING_HEADER, Passage, render_passage, render_question


def test_a_passage_shows_its_number_and_source():
    assert render_passage(2, Passage("It is far.", "a.txt")) == "[2] a.txt\nIt is far."


def test_a_passage_without_a_source_shows_its_number():
    assert render_passage(1, Passage("It is far.")) == "[1]\nIt is far."


def test_the_question_follows_its_grounding_best_first():
    rendered = render_question("How far?", [Passage("best"), Passage("second")])
    assert rendered == f"{GROUNDING_HEADER}\n\n[1]\nbest\n\n[2]\nsecond\n\nQuestion:\nHow far?"


def test_a_question_without_grounding_is_left_alone():
    assert render_question("How far?", [], left_out=3) == "How far?"
