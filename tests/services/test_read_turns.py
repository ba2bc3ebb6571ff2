"""One picture of a user is read at a time, and no connection is held while one is read or waited for."""

from __future__ import annotations

import threading
import uuid

import pytest
from django.db import connection

from conversations.services.pictures import pictures
from conversations.services.pictures.pictures import add_picture
from tests.parsing.pictures import drawing, encoded
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.people import make_user


@pytest.mark.django_db(transaction=True)
def test_reading_holds_no_connection(monkeypatch):
    held, read = [], pictures.read_picture

    def read_and_look(content):
        held.append(connection.connection is not None)
        return read(content)

    monkeypatch.setattr(pictures, "read_picture", read_and_look)
    add_picture(user=make_user("alice"), public_id=uuid.uuid4(), name="a.png", content=encoded(drawing()))
    assert held == [False]


def test_a_second_picture_of_a_user_waits_and_another_users_does_not():
    began, may_end = [], threading.Event()

    def take(user, name):
        with pictures._turn_to_read(user):
            began.append(name)
            may_end.wait(PATIENCE_SECONDS)

    first = threading.Thread(target=take, args=(1, "first"))
    first.start()
    wait_for(lambda: began == ["first"], "the first is read")
    others = [threading.Thread(target=take, args=each) for each in ((1, "second"), (2, "another user's"))]
    for other in others:
        other.start()
    wait_for(lambda: len(began) == 2 and pictures._takers[1] == 2, "the second waits")
    assert began == ["first", "another user's"]
    may_end.set()
    for thread in (first, *others):
        thread.join(PATIENCE_SECONDS)
    assert sorted(began) == ["another user's", "first", "second"]
    assert not pictures._turns
    assert not pictures._takers
