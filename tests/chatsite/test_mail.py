import pytest

from chatsite.configuration.mail import MailServer, parse_smtp_url


def test_smtps_speaks_tls_from_the_first_byte():
    server = parse_smtp_url("smtps://me:secret@mail.example.org")
    assert server == MailServer("mail.example.org", 465, "me", "secret", use_ssl=True, use_tls=False)


def test_smtp_asks_for_tls():
    server = parse_smtp_url("smtp://mail.example.org:2525")
    assert (server.port, server.use_ssl, server.use_tls) == (2525, False, True)


def test_only_plain_smtp_goes_without_tls():
    server = parse_smtp_url("smtp+plain://localhost")
    assert (server.port, server.use_ssl, server.use_tls) == (25, False, False)


def test_special_characters_come_as_percent_codes():
    server = parse_smtp_url("smtps://me%40example.org:p%2Fw%3A%40@mail.example.org")
    assert (server.user, server.password) == ("me@example.org", "p/w:@")


@pytest.mark.parametrize(
    "url",
    ["mail.example.org", "https://mail.example.org", "smtp://", "smtp://me:secret@", "smtp://me:sec/ret@host",
     "smtp://host?tls=off", "smtp://host:no", "smtp://host:99999"],
)  # fmt: skip
def test_what_is_no_mail_server_is_refused_without_repeating_the_secret(url):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- any sentence will do
        parse_smtp_url(url)
    assert "sec" not in str(caught.value).replace("user:password", "")
