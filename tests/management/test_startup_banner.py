"""What the operator reads when the site is up."""

from conversations.management.startup import banner


def test_it_says_where_the_site_is_and_that_the_demo_model_answers(settings):
    settings.SITE_URL = "http://127.0.0.1:9000"
    shown = banner(first_admin_url=None)
    assert "Windowseat is ready: http://127.0.0.1:9000" in shown
    assert "built-in demo model" in shown
    assert "admin" not in shown


def test_it_names_the_language_models_on_offer_and_no_key(settings):
    settings.OPENAI_API_KEY = "sk-secret"
    settings.LANGUAGE_MODELS = "gpt-4o context_window=128000, gpt-4o-mini"
    shown = banner(first_admin_url=None)
    assert "Replies come from gpt-4o, gpt-4o-mini." in shown
    assert "sk-secret" not in shown


def test_it_says_where_data_and_settings_are(settings, tmp_path):
    file = tmp_path / ".env"
    file.touch()
    settings.DATABASE_URL, settings.VAR_DIR, settings.SETTINGS_FILE = "", "/srv/chat", file
    assert f"Data are in /srv/chat. Settings: {file}, and the environment." in banner(first_admin_url=None)
    file.unlink()
    assert f"Settings: the environment; there is no file {file}." in banner(first_admin_url=None)
    settings.DATABASE_URL = "postgres://site:secret@db/site"
    shown = banner(first_admin_url=None)
    assert "Data are in /srv/chat and in the database of DATABASE_URL." in shown
    assert "secret" not in shown


def test_a_site_without_admin_gets_its_link(settings):
    assert "http://127.0.0.1:8000/first-admin/#abc" in banner(first_admin_url=f"{settings.SITE_URL}/first-admin/#abc")


def test_a_secret_key_that_is_not_the_one_of_before_is_told_with_what_to_ask():
    assert "SECRET_KEY" not in banner(first_admin_url=None)
    assert "doctor secrets" in banner(first_admin_url=None, has_another_key=True)
