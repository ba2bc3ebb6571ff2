"""Which tests stay with one of several processes, and which of them are begun first."""

from __future__ import annotations

from tests.conftest import TESTS
from tests.support.distribution import piece_of_work


def test_the_tests_of_a_file_stay_together_and_all_faults():
    assert piece_of_work("tests/core/test_money.py::test_a[1]") == piece_of_work("tests/core/test_money.py::test_b")
    assert piece_of_work("tests/core/test_money.py::test_a") != piece_of_work("tests/core/test_frames.py::test_a")
    assert piece_of_work("tests/faults/test_money.py::test_a") == piece_of_work("tests/faults/test_api.py::test_b")


def test_the_faults_are_begun_first_and_then_what_has_no_folder(request):
    folders = list(dict.fromkeys(item.path.parent for item in request.session.items))
    first = [folder for folder in (TESTS / "faults", TESTS) if folder in folders]
    assert folders[: len(first)] == first
