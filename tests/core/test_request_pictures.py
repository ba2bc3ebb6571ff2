"""How many pictures, and how many bytes of them, one request may have."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from conversations.core.prompt.pictures import PromptPicture
from conversations.core.window.request_pictures import RequestPictures, encoded_bytes


def of_size(size_bytes):
    return PromptPicture("ab", "image/png", 640, 480, size_bytes=size_bytes)


@given(st.integers(min_value=0, max_value=100))
def test_encoded_bytes_are_those_of_base64(size_bytes):
    assert encoded_bytes([of_size(size_bytes)]) == len(base64.b64encode(bytes(size_bytes)))


MESSAGES = st.lists(st.lists(st.integers(min_value=0, max_value=40), max_size=4), max_size=12)


@given(MESSAGES, st.none() | st.integers(min_value=0, max_value=12), st.integers(min_value=0, max_value=300))
def test_the_first_messages_that_fit_get_their_pictures_and_none_after_them(messages, most, most_bytes):
    asked = [[of_size(size) for size in sizes] for sizes in messages]
    room = RequestPictures(most=most, most_bytes=most_bytes)
    taken = [room.take(pictures) for pictures in asked]

    def fits(count):
        pictures = [picture for each in asked[:count] for picture in each]
        return encoded_bytes(pictures) <= most_bytes and (most is None or len(pictures) <= most)

    sent = taken.count(True)
    assert taken == [True] * sent + [False] * (len(asked) - sent)
    assert fits(sent)
    assert sent == len(asked) or not fits(sent + 1)
