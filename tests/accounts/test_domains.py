import pytest

from chatsite.accounts.sign_up.domains import ascii_domain, email_domain


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("example.org", "example.org"),
        (" Example.ORG. ", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("bu\u0308cher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("例子.测试", "xn--fsqu00a.xn--0zwm56d"),
    ],
)
def test_a_domain_has_one_spelling(written, compared):
    assert ascii_domain(written) == compared


@pytest.mark.parametrize(
    "written", ["", "org", "@example.org", "*.example.org", "example..org", ".org", "exa mple.org", "a" * 64 + ".org",
                "[127.0.0.1]", "example.org,", "-a.org", "x.\ud800", "é" * 300 + ".org"],
)  # fmt: skip
def test_what_is_no_domain_has_none(written):
    assert ascii_domain(written) is None


@pytest.mark.parametrize(
    "written", ["straße.de", "ＥＸＡＭＰＬＥ.org", "example。org", "exam\u200dple.org", "ex\u00adample.org"]
)
def test_what_two_rules_spell_differently_has_none(written):
    assert ascii_domain(written) is None


def test_the_domain_of_an_address_is_behind_its_last_at():
    assert email_domain('"eve@example.org"@evil.example') == "evil.example"
