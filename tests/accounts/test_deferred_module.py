"""A module that is loaded when something of it is first used: once, whole, and by whichever thread comes first."""

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Event

import pytest

from chatsite.accounts.second_factors.deferred_module import DeferredModule, defer_module
from tests.support.patience import PATIENCE_SECONDS

NAME = "heavy_module_of_a_test"
begins, may_end = Event(), Event()
SLOW = f"""
from {__name__} import begins, may_end

early = 1
begins.set()
assert may_end.wait({PATIENCE_SECONDS})
late = 2
"""


@pytest.fixture
def write_module(tmp_path, monkeypatch):
    """Return a function that writes the module, and defers it."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(code):
        (tmp_path / f"{NAME}.py").write_text(code)
        defer_module(NAME)
        return import_module(NAME)

    yield write
    sys.modules.pop(NAME, None)


def is_loaded():
    return NAME in sys.modules and not isinstance(sys.modules[NAME], DeferredModule)


def test_it_is_loaded_when_something_of_it_is_used(write_module):
    module = write_module("value = [1]")
    assert not is_loaded()
    assert module.value == [1]
    assert is_loaded()
    assert module.value is import_module(NAME).value


def test_who_looks_through_all_modules_loads_nothing(write_module):
    module = write_module("value = 1")
    assert not hasattr(module, "__file__")
    assert not is_loaded()


def test_what_it_lacks_is_an_error_as_of_any_module(write_module):
    module = write_module("value = 1")
    with pytest.raises(AttributeError, match=f"module '{NAME}' has no attribute 'other'"):
        _ = module.other


def test_a_second_thread_waits_until_it_is_whole(write_module):
    module = write_module(SLOW)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(lambda: (module.early, module.late))
        assert begins.wait(PATIENCE_SECONDS)
        second = threads.submit(lambda: (module.early, module.late))
        may_end.set()
        assert first.result(PATIENCE_SECONDS) == second.result(PATIENCE_SECONDS) == (1, 2)


def test_one_that_can_t_be_loaded_is_tried_again(write_module, tmp_path):
    module = write_module("import no_such_module_of_a_test")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_a_test"):
        _ = module.value
    (tmp_path / f"{NAME}.py").write_text("value = 'mended, and longer than before'")
    assert module.value.startswith("mended")


def test_a_module_that_is_loaded_already_stays_as_it_is():
    defer_module("json")
    assert not isinstance(sys.modules["json"], DeferredModule)
