"""Which tests stay with one of several processes, which kind each process does, and what is begun first."""

from __future__ import annotations

from tests.conftest import TESTS
from tests.support.distribution import BROWSER, FAULTS, OTHERS, choose_piece, kind_of, piece_of_work

LEFT = ["tests/test_a.py", "tests/browser/test_b.py", "tests/core/test_c.py", "tests/browser/test_d.py"]


def test_the_tests_of_a_file_stay_together_and_all_faults():
    assert piece_of_work("tests/core/test_money.py::test_a[1]") == piece_of_work("tests/core/test_money.py::test_b")
    assert piece_of_work("tests/core/test_money.py::test_a") != piece_of_work("tests/core/test_frames.py::test_a")
    assert piece_of_work("tests/faults/test_money.py::test_a") == piece_of_work("tests/faults/test_api.py::test_b")


def test_each_piece_is_of_the_kind_of_its_folder():
    pieces = ["tests/faults/", "tests/browser/firefox/test_a.py", "tests/core/test_a.py", "tests/test_a.py"]
    assert [kind_of(piece) for piece in pieces] == [FAULTS, BROWSER, OTHERS, OTHERS]


def test_processes_begin_with_kinds_of_their_own():
    assert choose_piece([*LEFT, FAULTS], None, []) == FAULTS
    assert choose_piece(LEFT, None, [FAULTS]) == "tests/browser/test_b.py"
    assert choose_piece(LEFT, None, [FAULTS, BROWSER]) == "tests/test_a.py"


def test_a_process_stays_with_its_kind_and_goes_on_where_fewest_are_when_that_is_done():
    assert choose_piece(LEFT, OTHERS, [BROWSER]) == "tests/test_a.py"
    assert choose_piece(LEFT[2:], OTHERS, [BROWSER]) == "tests/core/test_c.py"
    assert choose_piece(LEFT, FAULTS, [BROWSER, OTHERS]) == "tests/browser/test_b.py"
    assert choose_piece(LEFT, FAULTS, [BROWSER, BROWSER, OTHERS]) == "tests/test_a.py"
    assert choose_piece([LEFT[1]], OTHERS, [BROWSER, BROWSER]) == "tests/browser/test_b.py"


def test_the_faults_are_begun_first_and_then_what_has_no_folder(request):
    folders = list(dict.fromkeys(item.path.parent for item in request.session.items))
    first = [folder for folder in (TESTS / "faults", TESTS) if folder in folders]
    assert folders[: len(first)] == first
