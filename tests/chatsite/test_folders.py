"""Where the data of an installed package go. tests/test_release.py starts one."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from chatsite import folders


def test_a_checkout_has_its_pages_beside_the_code():
    assert folders.IS_CHECKOUT
    assert (folders.TEMPLATES / "page.html").is_file()
    assert (folders.STATIC / "icon.svg").is_file()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "/home/ada/.local/share/windowseat"),
        ({"VAR_DIR": " ", "XDG_DATA_HOME": ""}, "/home/ada/.local/share/windowseat"),
        ({"XDG_DATA_HOME": "/srv/share"}, "/srv/share/windowseat"),
        ({"XDG_DATA_HOME": "not/absolute"}, "/home/ada/.local/share/windowseat"),
        ({"XDG_DATA_HOME": "/srv/share", "VAR_DIR": "/srv/chat"}, "/srv/chat"),
        ({"VAR_DIR": "~/chat"}, "/home/ada/chat"),
    ],
)
def test_data_go_where_var_dir_says_or_where_the_account_keeps_its_own(monkeypatch, environment, expected):
    monkeypatch.setenv("HOME", "/home/ada")
    assert folders.data_folder(environment) == Path(expected)


def test_a_relative_var_dir_starts_in_the_current_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert folders.data_folder({"VAR_DIR": "my data"}) == tmp_path / "my data"
    assert folders.data_folder({"VAR_DIR": "."}) == tmp_path


@pytest.mark.parametrize("named", [{}, {"VAR_DIR": "~/chat"}], ids=["nothing", "VAR_DIR"])
def test_a_blank_home_is_not_the_root_folder(monkeypatch, named):
    monkeypatch.setenv("HOME", "")
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert folders.data_folder(named) == home / ("chat" if named else ".local/share/windowseat")


def test_an_account_without_a_home_has_to_name_a_folder(monkeypatch):
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2**30)  # an account that has no name, as containers may give one
    with pytest.raises(folders.NoDataFolder, match="VAR_DIR must be a folder"):
        folders.data_folder({})
