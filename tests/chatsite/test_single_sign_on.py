import pytest
from django.core.exceptions import ImproperlyConfigured

from chatsite.configuration.single_sign_on import social_providers

SET = {"server_url": "https://id.example.org/", "client_id": "us", "client_secret": "s3cret", "name": "Team"}


def test_with_nothing_set_there_is_no_provider():
    assert social_providers(server_url="", client_id="", client_secret="", name="Team")["openid_connect"]["APPS"] == []


def test_with_all_set_there_is_one():
    (app,) = social_providers(**SET)["openid_connect"]["APPS"]
    assert (app["name"], app["settings"]) == ("Team", {"server_url": "https://id.example.org"})


@pytest.mark.parametrize(
    ("unset", "named"),
    [
        (["server_url"], "OIDC_SERVER_URL"),
        (["client_id"], "OIDC_CLIENT_ID"),
        (["client_secret"], "OIDC_CLIENT_SECRET"),
        (["client_id", "client_secret"], "OIDC_CLIENT_ID and OIDC_CLIENT_SECRET"),
    ],
)
def test_what_is_missing_is_named(unset, named):
    with pytest.raises(ImproperlyConfigured, match=f"needs {named}\\."):
        social_providers(**{**SET, **dict.fromkeys(unset, "")})


@pytest.mark.parametrize("address", ["http://id.example.org", "id.example.org", "ftp://id.example.org", "https://"])
def test_sign_ins_go_over_no_bare_connection(address):
    with pytest.raises(ImproperlyConfigured, match="https"):
        social_providers(**{**SET, "server_url": address})


def test_on_this_machine_a_bare_connection_will_do():
    assert social_providers(**{**SET, "server_url": "http://127.0.0.1:9000/realms/team"})
