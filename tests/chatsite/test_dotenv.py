"""The file `.env`: what may stand in it, and what it says when something else does."""

import os
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration.dotenv import read_dotenv


def read(tmp_path, content):
    path = tmp_path / ".env"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_dotenv(path)


def test_a_file_that_is_not_there_sets_nothing(tmp_path):
    assert read_dotenv(tmp_path / ".env") == {}


def test_blank_lines_comments_and_export_are_understood(tmp_path):
    assert read(tmp_path, "# site\n\nexport PORT = 9000\nHOST=::1  # all\n") == {"PORT": "9000", "HOST": "::1"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"a # b"', "a # b"),
        ("'it is' # so", "it is"),
        ("a#b", "a#b"),
        ('"', '"'),
        ("# only a comment", ""),
        ("a=b", "a=b"),
    ],
)
def test_quotes_and_comments_end_where_a_shell_would_end_them(tmp_path, written, value):
    assert read(tmp_path, f"NAME={written}") == {"NAME": value}


def test_windows_line_ends_and_its_byte_order_mark_do_no_harm(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbfPORT=9000\r\n") == {"PORT": "9000"}


@pytest.mark.parametrize("line", ["PORT 9000", "=9000", "MY PORT=1"])
def test_a_line_that_is_no_pair_is_named_by_its_number(tmp_path, line):
    with pytest.raises(ImproperlyConfigured, match=r"\.env, line 2: expected NAME=value"):
        read(tmp_path, f"A=1\n{line}\n")


def test_a_file_in_another_encoding_is_refused_in_words(tmp_path):
    with pytest.raises(ImproperlyConfigured, match="can't be read: it is not UTF-8 text"):
        read(tmp_path, b"NAME=caf\xe9\n")


def test_a_folder_of_that_name_is_refused_and_not_taken_for_no_settings(tmp_path):
    (tmp_path / ".env").mkdir()  # as container engines make it where a file to be mounted is missing
    with pytest.raises(ImproperlyConfigured, match="can't be read: Is a directory"):
        read_dotenv(tmp_path / ".env")


def test_a_pipe_that_nothing_writes_to_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("chatsite.configuration.dotenv.PIPE_SECONDS", 0.05)
    os.mkfifo(tmp_path / ".env")
    with pytest.raises(ImproperlyConfigured, match="it is a pipe, and nothing was written to it"):
        read_dotenv(tmp_path / ".env")


def test_a_pipe_of_a_command_is_read_to_its_end():
    reading, writing = os.pipe()
    os.write(writing, b"PORT=9000\n")
    os.write(writing, b"HOST=::1\n")
    os.close(writing)
    assert read_dotenv(Path(f"/dev/fd/{reading}")) == {"PORT": "9000", "HOST": "::1"}
    os.close(reading)


def test_a_file_without_end_is_refused(tmp_path):
    (tmp_path / ".env").symlink_to("/dev/zero")
    with pytest.raises(ImproperlyConfigured, match="it has more than 1,048,576 bytes"):
        read_dotenv(tmp_path / ".env")
