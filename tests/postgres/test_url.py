from __future__ import annotations

import pytest

from chatsite.postgres.url import parse_database_url

PLAIN = {
    "ENGINE": "chatsite.postgres",
    "NAME": "seat",
    "USER": "ann",
    "PASSWORD": "pw",
    "HOST": "db.example.org",
    "PORT": "5433",
    "OPTIONS": {},
}


@pytest.mark.parametrize(
    ("url", "differences"),
    [
        ("postgres://ann:pw@db.example.org:5433/seat", {}),
        ("postgresql://ann:pw@db.example.org:5433/seat", {}),
        ("  postgres://ann:pw@db.example.org:5433/seat\n", {}),
        ("postgres://ann:pw@db.example.org/seat", {"PORT": ""}),
        ("postgres://a%40b:p%2Fw%3A%23%3F%25@db.example.org:5433/seat", {"USER": "a@b", "PASSWORD": "p/w:#?%"}),
        ("postgres://ann:p:w@db.example.org:5433/seat", {"PASSWORD": "p:w"}),
        ("postgres://ann:pw@[::1]:5433/seat", {"HOST": "::1"}),
        ("postgres://ann:pw@[::1]/seat", {"HOST": "::1", "PORT": ""}),
        ("postgres://ann:pw@%2Frun%2FPostgres:5433/seat", {"HOST": "/run/Postgres"}),
        ("postgres://ann:pw@/seat?host=/run/a%20b&port=5433", {"HOST": "/run/a b"}),
        ("postgres:///seat", {"USER": "", "PASSWORD": "", "HOST": "", "PORT": ""}),
        (
            "postgres://ann:pw@db.example.org:5433/seat?sslmode=verify-full&connect_timeout=5",
            {"OPTIONS": {"sslmode": "verify-full", "connect_timeout": "5"}},
        ),
    ],
)
def test_it_understands(url, differences):
    assert parse_database_url(url) == PLAIN | differences


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "must begin with"),
        ("seat", "must begin with"),
        ("mysql://ann:s3cret@host/seat", "must begin with"),
        ("postgres:seat", "must begin with"),
        ("postgres://ann:s3cret@host", "name of the database is missing"),
        ("postgres://ann:s3cret@host/", "name of the database is missing"),
        ("postgres://ann:s3cret@host:x/seat", "port must be a number"),
        ("postgres://ann:s3cret@host:70000/seat", "port must be a number"),
        ("postgres://ann:s3cret@[::1/seat", "not a URL"),
        ("postgres://ann:s3cret\u2100@host/seat", "not a URL"),
        ("postgres://ann:s3cret/more@host/seat", "percent-encoded"),
        ("postgres://ann:s3cret?more@host/seat", "percent-encoded"),
        ("postgres://ann:s3cret#more@host/seat", "percent-encoded"),
        ("postgres://ann:s3cret@host/seat?colour=red", "'colour' is none of PostgreSQL's"),
        ("postgres://ann:s3cret@host/seat?sslmode", "name=value"),
        ("postgres://ann:s3cret@host/seat?sslmode=require&sslmode=disable", "given twice"),
        ("postgres://ann:s3cret@host/seat?host=/run", "given twice"),
    ],
)
def test_it_refuses_the_rest_without_repeating_the_password(url, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        parse_database_url(url)
    assert "s3cret" not in str(caught.value)
    assert "more" not in str(caught.value)
