"""Window policies as a site may write its own: good ones, and one for each way to go wrong."""

from itertools import islice

from conversations.core.window.history import Unit
from conversations.core.window.policies import WindowPolicy


class EveryOther(WindowPolicy):
    """With gaps, and oldest first."""

    def choose(self, older, room):
        return reversed(list(room.take(islice(older, 0, None, 2))))


class Nothing(WindowPolicy):
    def choose(self, older, room):
        return ()


class SwallowsEveryError(WindowPolicy):
    """What it could read before an error is what it sends, if it is given the chance."""

    def choose(self, older, room):
        read = []
        try:
            read.extend(older)
        except Exception:
            return read
        return read


class RenamesEveryError(WindowPolicy):
    def choose(self, older, room):
        try:
            return list(older)
        except Exception as error:
            raise LookupError("nothing there") from error


class TooMuch(WindowPolicy):
    def choose(self, older, room):
        return older


class NotOffered(WindowPolicy):
    """An equal unit is not the one that was offered: a policy may not write history."""

    def choose(self, older, room):
        return [unit._replace(tokens=0) for unit in older]


class Forged(WindowPolicy):
    """A unit that says of itself that it is the one that was offered."""

    def choose(self, older, room):
        return [EqualToAll(*unit._replace(tokens=0)) for unit in older]


class EqualToAll(Unit):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = Unit.__hash__


class TheSameTwice(WindowPolicy):
    def choose(self, older, room):
        newest = next(older)
        return [newest, newest]


class NoUnits(WindowPolicy):
    def choose(self, older, room):
        return ["not a unit", 7, None]


class MessagesInsteadOfUnits(WindowPolicy):
    def choose(self, older, room):
        return [message for unit in older for message in unit.messages]


class NothingAtAll(WindowPolicy):
    def choose(self, older, room):
        return None


class Raises(WindowPolicy):
    def choose(self, older, room):
        raise KeyError("out of order")


class RaisesInTheMiddle(WindowPolicy):
    def choose(self, older, room):
        yield next(older)
        raise KeyError("out of order")


class EndsIteration(WindowPolicy):
    """The error that a loop would take for the end."""

    def choose(self, older, room):
        raise StopIteration


FAILING = (
    *(NotOffered, Forged, TheSameTwice, NoUnits, MessagesInsteadOfUnits, NothingAtAll),
    *(Raises, RaisesInTheMiddle, EndsIteration, WindowPolicy),
)
