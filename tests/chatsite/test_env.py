"""Settings from the environment: typed, from a file where that is safer, and loud when wrong."""

import os
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration.env import Environment, Setting, load_environment


def test_it_reads_a_value_in_the_type_that_was_declared():
    env = Environment({"PORT": " 9000 ", "DEBUG": "Yes", "NAMES": "a, b,,c"})
    assert env.integer("PORT", default=8000, help="Port.") == 9000
    assert env.switch("DEBUG", default=False, help="Debug.") is True
    assert env.words("NAMES", help="Names.") == ["a", "b", "c"]


def test_it_gives_the_default_when_nothing_or_blank_is_set():
    env = Environment({"PORT": "  "})
    assert env.integer("PORT", default=8000, help="Port.") == 8000
    assert env.number("MONEY", default=None, help="Money.") is None


@pytest.mark.parametrize("raw", ["many", "-1", "70000", "8000.0", "+-5", "1_000"])
def test_a_wrong_whole_number_is_refused_with_its_bounds_and_its_purpose(raw):
    with pytest.raises(ImproperlyConfigured) as caught:
        Environment({"PORT": raw}).integer("PORT", default=1, minimum=1, maximum=65535, help="Port to use.")
    assert str(caught.value) == "PORT must be a whole number from 1 to 65535. (Port to use.)"


@pytest.mark.parametrize("raw", ["lots", "-0.5", "nan", "inf"])
def test_an_amount_must_be_finite_and_not_below_zero(raw):
    with pytest.raises(ImproperlyConfigured, match="MONEY must be a number that is not below 0"):
        Environment({"MONEY": raw}).number("MONEY", default=None, help="Money.")


def test_a_switch_knows_eight_words_and_refuses_others():
    values = [Environment({"A": raw}).switch("A", default=False, help="A.") for raw in ("1", "ON", "0", "no")]
    assert values == [True, True, False, False]
    with pytest.raises(ImproperlyConfigured, match="A must be on or off"):
        Environment({"A": "perhaps"}).switch("A", default=False, help="A.")


def test_a_choice_names_what_it_accepts():
    with pytest.raises(ImproperlyConfigured, match="SIGN_UP must be one of open, closed"):
        Environment({"SIGN_UP": "ajar"}).choice("SIGN_UP", ("open", "closed"), default="open", help="Who.")


def test_addresses_and_networks_are_taken_as_they_are_written():
    env = Environment({"PROXIES": "127.0.0.1, ::1,172.16.0.0/12, 2001:db8::/32"})
    assert env.networks("PROXIES", help="Proxies.") == ["127.0.0.1", "::1", "172.16.0.0/12", "2001:db8::/32"]
    assert Environment({}).networks("PROXIES", help="Proxies.") == []


@pytest.mark.parametrize(
    "raw", ["*", "127.0.0.1, *", "0.0.0.0/0", "::/0", "proxy", "10.0.0.1/8", "10.0.0", "127.0.0.1:80"]
)
def test_what_is_no_network_or_all_of_them_is_refused(raw):
    with pytest.raises(ImproperlyConfigured, match="PROXIES must be addresses or networks"):
        Environment({"PROXIES": raw}).networks("PROXIES", help="Proxies.")


def test_a_refusal_never_repeats_the_value():
    env = Environment({"PORT": "sk-secret", "MONEY": "sk-secret"})
    with pytest.raises(ImproperlyConfigured) as port:
        env.integer("PORT", default=1, help="Port.")
    with pytest.raises(ImproperlyConfigured) as money:
        env.number("MONEY", default=1, help="Money.")
    assert "sk-secret" not in f"{port.value}{money.value}"


def test_a_relative_folder_starts_at_the_project_wherever_the_command_runs():
    env = Environment({"VAR_DIR": "data"}, folder=Path("/srv/windowseat"))
    assert env.path("VAR_DIR", default=Path("/x"), shown="var", help="Data.") == Path("/srv/windowseat/data")


def test_a_secret_can_come_from_a_file(tmp_path):
    (tmp_path / "key").write_text("sk-secret\n")
    env = Environment({"OPENAI_API_KEY_FILE": "key"}, folder=tmp_path)
    assert env.text("OPENAI_API_KEY", help="Key.") == "sk-secret"


def test_a_secret_file_that_is_not_there_is_said_by_name():
    with pytest.raises(ImproperlyConfigured, match="KEY_FILE can't be read: No such file"):
        Environment({"KEY_FILE": "/no/such/file"}).text("KEY", help="Key.")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\n", "KEY_FILE can't be read: the file is empty."),
        (b"sk-\xff", "KEY_FILE can't be read: it is not UTF-8 text."),
        (b"sk-1\nsk-2\n", "KEY must be one line of text. (Key.)"),
        (b"sk-\0", "KEY must be one line of text. (Key.)"),
        (b"k" * 70_000, "KEY_FILE can't be read: the file has more than 65,536 bytes."),
    ],
    ids=["empty", "not UTF-8", "two lines", "null", "large"],
)
def test_a_secret_file_that_holds_no_secret_is_refused(tmp_path, content, reason):
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(ImproperlyConfigured) as caught:
        Environment({"KEY_FILE": str(tmp_path / "key")}).secret("KEY", help="Key.")
    assert str(caught.value) == reason


def test_a_folder_in_place_of_a_secret_file_is_refused(tmp_path):
    with pytest.raises(ImproperlyConfigured, match="KEY_FILE can't be read: Is a directory"):
        Environment({"KEY_FILE": str(tmp_path)}).secret("KEY", help="Key.")


def test_a_pipe_in_place_of_a_secret_file_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("chatsite.configuration.dotenv.PIPE_SECONDS", 0.05)
    os.mkfifo(tmp_path / "key")
    with pytest.raises(ImproperlyConfigured, match="KEY_FILE can't be read: it is a pipe"):
        Environment({"KEY_FILE": str(tmp_path / "key")}).secret("KEY", help="Key.")


def test_it_knows_the_values_that_no_output_may_repeat(tmp_path):
    (tmp_path / "key").write_text("sk-secret\r\n")
    env = Environment({"KEY_FILE": str(tmp_path / "key"), "TOKEN": "t-1", "NAME": "Chat"})
    env.secret("KEY", help="Key.")
    env.secret("TOKEN", help="Token.")
    env.secret("UNSET", help="Not set.")
    env.text("NAME", help="Name.")
    assert env.secrets() == {"sk-secret", "t-1"}


def old_and_new(**values):
    env = Environment(values)
    return env, env.integer("REPLIES", default=1, formerly="ANSWERS", help="Replies.")


def test_a_renamed_setting_is_understood_under_its_old_name_with_a_warning():
    env, value = old_and_new(ANSWERS="5")
    assert value == 5
    assert list(env.name_warnings()) == ["ANSWERS is called REPLIES now. The next version will not know the old name."]


def test_old_and_new_name_may_say_the_same_and_nothing_else():
    assert old_and_new(ANSWERS="5", REPLIES="5")[1] == 5
    with pytest.raises(ImproperlyConfigured, match="REPLIES and ANSWERS, its old name, are set to different values"):
        old_and_new(ANSWERS="5", REPLIES="6")


def test_the_new_name_alone_gives_no_warning():
    assert not list(old_and_new(REPLIES="6")[0].name_warnings())


def test_a_name_in_dotenv_that_looks_like_a_setting_is_warned_of(tmp_path):
    lines = ["OPENAI_APIKEY=sk-1", "OPENAI_API_KYE_FILE=x", "OPENAI_API_KEY_FILE=", "POSTGRES_PASSWORD=x"]
    (tmp_path / ".env").write_text("\n".join([*lines, "MY_OWN=1", "OTEL_EXPORTER_OTLP_ENDPOINTS=x"]))
    env = load_environment(tmp_path, {"OPENAI_APIKEYS": "not in the file"})
    env.secret("OPENAI_API_KEY", help="Key.")
    env.text("OTEL_EXPORTER_OTLP_ENDPOINT", help="Collector.")
    assert list(env.name_warnings()) == [
        "OPENAI_APIKEY is not a setting and has no effect. Is OPENAI_API_KEY meant?",
        "OPENAI_API_KYE_FILE is not a setting and has no effect. Is OPENAI_API_KEY_FILE meant?",
    ]


def test_a_value_and_its_file_together_are_refused(tmp_path):
    with pytest.raises(ImproperlyConfigured, match="both set"):
        Environment({"KEY": "a", "KEY_FILE": str(tmp_path)}).text("KEY", help="Key.")


def test_it_remembers_what_was_declared_for_the_table_in_readme():
    env = Environment({})
    env.switch("DEBUG", default=False, help="Debug pages.")
    env.path("VAR_DIR", default=Path("/long/var"), shown="var", help="Data.")
    assert list(env.declared.values()) == [
        Setting("DEBUG", "on/off", "off", "Debug pages."),
        Setting("VAR_DIR", "folder", "var", "Data."),
    ]


def test_the_process_wins_over_the_file(tmp_path):
    (tmp_path / ".env").write_text("PORT=1\nHOST=::1\n")
    env = load_environment(tmp_path, {"PORT": "2"})
    assert env.text("PORT", help="Port.") == "2"
    assert env.text("HOST", help="Host.") == "::1"


def test_a_blank_in_the_process_switches_off_what_the_file_sets(tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-1\n")
    assert load_environment(tmp_path, {"OPENAI_API_KEY": ""}).text("OPENAI_API_KEY", help="Key.") == ""


def test_another_file_can_take_the_place_of_dotenv(tmp_path):
    (tmp_path / ".env").write_text("PORT=1\n")
    (tmp_path / "other").write_text("PORT=2\n")
    assert load_environment(tmp_path, {"ENV_FILE": "other"}).text("PORT", help="Port.") == "2"


def test_a_named_file_that_is_not_there_is_refused_and_a_blank_name_is_none(tmp_path):
    (tmp_path / ".env").write_text("PORT=1\n")
    with pytest.raises(ImproperlyConfigured, match="ENV_FILE names a file that is not there"):
        load_environment(tmp_path, {"ENV_FILE": "othr"})
    assert load_environment(tmp_path, {"ENV_FILE": " "}).text("PORT", help="Port.") == "1"
