"""Which coding a client gets, by the weights that it names (RFC 9110, section 12.5.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatsite.middleware.accept_encoding import IDENTITY, choose_coding, read_weights, refuses_identity

OFFERED = ("br", "gzip")


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        (None, IDENTITY),
        ("", IDENTITY),
        ("gzip, deflate, br", "br"),
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("GZip ; Q=1.000", "gzip"),
        ("x-gzip", "gzip"),
        ("br;q=0", IDENTITY),
        ("gzip;q=0", IDENTITY),
        ("gzip;q=0.000, br;q=0", IDENTITY),
        ("br;q=0, gzip", "gzip"),
        ("br;q=0.5, gzip", "gzip"),
        ("br;q=0.5, gzip;q=0.6, identity;q=0.55", "gzip"),
        ("br;q=0.001", "br"),
        ("identity, gzip;q=0.5", IDENTITY),
        ("identity, gzip", "gzip"),
        ("identity;q=0, gzip", "gzip"),
        ("*", IDENTITY),
        ("*;q=0", IDENTITY),
        ("gzip, *;q=0", "gzip"),
        ("br;q=0, *", IDENTITY),
        ("identity;q=0, *", "br"),
        ("br;q=0, identity;q=0, *", "gzip"),
        ("identity;q=0", IDENTITY),  # nothing is left
        ("deflate", IDENTITY),
        ("brotli, gzipped", IDENTITY),
        ("br;q=2, gzip;q=0.1234, deflate", IDENTITY),  # such weights are none
        ("br;level=9, gzip", "gzip"),
        (",, gzip ,", "gzip"),
        ("br\tgzip", IDENTITY),
    ],
)
def test_the_heaviest_coding_is_chosen(accepted, chosen):
    assert choose_coding(accepted, OFFERED) == chosen


WEIGHTS = st.integers(0, 1000).map(lambda thousandths: f"{thousandths / 1000:.3f}")
NAMES = st.sampled_from(["br", "gzip", "identity", "*", "deflate", "zstd"])


@given(st.dictionaries(NAMES, WEIGHTS))
def test_what_is_refused_is_never_sent_while_anything_else_may_be(named):
    accepted = ", ".join(f"{name};q={weight}" for name, weight in named.items())
    chosen = choose_coding(accepted, OFFERED)
    weights = read_weights(accepted)
    assert weights == {name: float(weight) for name, weight in named.items()}

    def weigh(coding):
        return weights.get(coding, weights.get("*", 0.0001 if coding == IDENTITY else 0))

    assert weigh(chosen) == max(map(weigh, (*OFFERED, IDENTITY)))
    assert refuses_identity(accepted) == (weigh(IDENTITY) == 0)


@given(st.text())
def test_any_header_is_read(accepted):
    assert choose_coding(accepted, OFFERED) in (*OFFERED, IDENTITY)
