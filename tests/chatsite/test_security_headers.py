import pytest

from chatsite.accounts.models import User
from chatsite.middleware.security_headers import DIRECTIVES
from tests.support.site_commands import read_settings

pytestmark = pytest.mark.django_db
SECONDS_OF_A_YEAR = 365 * 24 * 60 * 60


def policy_of(response) -> dict[str, list[str]]:
    parts = (part.split() for part in response.headers["Content-Security-Policy"].split("; "))
    return {name: sources for name, *sources in parts}


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_superuser("ada@example.org"))
    return client


@pytest.mark.parametrize("path", ["/accounts/login/", "/account/", "/nowhere/", "/admin/"])
def test_every_page_keeps_browsers_strict(staff, path):
    headers = staff.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert "Content-Security-Policy-Report-Only" not in headers  # the same again, reported nowhere


def test_an_answer_of_json_has_all_that_holds_for_it(staff):
    """Which features a document may use, and where its scripts come from, says nothing there."""
    answer = staff.post("/estimate/", {"content": "Hello"}, headers={"accept": "application/json"})
    assert answer.headers["Content-Type"] == "application/json"
    assert "Permissions-Policy" not in answer.headers
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert policy_of(answer) == {"default-src": ["'none'"], "frame-ancestors": ["'none'"]}


@pytest.mark.parametrize("path", ["/accounts/login/", "/account/", "/nowhere/", "/admin/"])
def test_no_page_of_a_person_is_kept(staff, path):
    assert "no-store" in staff.get(path).headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/accounts/login/", "/account/", "/nowhere/", "/administrators/"])
def test_pages_run_no_script_but_ours(staff, path):
    policy = policy_of(staff.get(path))
    assert policy["script-src"] == policy["style-src"] == ["'self'"]
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == ["'none'"]


def test_the_admin_alone_may_evaluate_expressions(staff):
    policy = policy_of(staff.get("/admin/"))
    assert "'unsafe-eval'" in policy["script-src"]
    assert "'unsafe-inline'" not in policy["script-src"]
    assert policy.keys() == DIRECTIVES.keys()


def test_a_static_file_is_in_no_frame_and_not_for_other_sites(client, settings):
    settings.SERVESTATIC_USE_FINDERS = True
    headers = client.get("/static/css/tokens.css").headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers


def test_a_static_file_may_be_kept(client, settings):
    settings.SERVESTATIC_USE_FINDERS = True
    assert "no-store" not in client.get("/static/css/tokens.css").headers["Cache-Control"]


@pytest.mark.parametrize(("hsts", "reach"), [
    ("host", (SECONDS_OF_A_YEAR, False, False)),
    ("subdomains", (SECONDS_OF_A_YEAR, True, False)),
    ("preload", (SECONDS_OF_A_YEAR, True, True)),
])  # fmt: skip
def test_browsers_are_told_how_far_https_alone_reaches(tmp_path, hsts, reach):
    told = "SECURE_HSTS_SECONDS", "SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_HSTS_PRELOAD"
    address = {
        "SITE_URL": "https://chat.example.org",
        "SECRET_KEY": "a-secret-of-a-test-that-is-long-enough-to-be-taken",
    }
    assert read_settings(*told, VAR_DIR=tmp_path, HSTS=hsts, **address) == reach
