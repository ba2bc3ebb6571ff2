import psycopg
import pytest
from django.db import DataError, IntegrityError, InterfaceError, InternalError, OperationalError, ProgrammingError
from psycopg import errors

from chatsite.postgres.faults import DatabaseClosed, is_outage, is_passing_fault


def django_error(kind, cause):
    try:
        raise kind(str(cause)) from cause
    except kind as error:
        return error


OUTAGES = [
    (InternalError, errors.ReadOnlySqlTransaction("cannot execute UPDATE in a read-only transaction")),
    (OperationalError, errors.AdminShutdown()),
    (OperationalError, errors.CrashShutdown()),
    (OperationalError, errors.CannotConnectNow()),
    (OperationalError, errors.DiskFull()),
    (OperationalError, errors.TooManyConnections()),
    (OperationalError, errors.ConnectionFailure()),
    (OperationalError, errors.IoError()),
    (OperationalError, psycopg.OperationalError("the connection is lost")),
    (InterfaceError, psycopg.InterfaceError("the connection is closed")),
]
OF_ONE_STATEMENT = [
    (OperationalError, errors.LockNotAvailable()),
    (OperationalError, errors.DeadlockDetected()),
    (OperationalError, errors.QueryCanceled()),
    (InternalError, errors.IdleInTransactionSessionTimeout()),
]
FOR_GOOD = [
    (IntegrityError, errors.UniqueViolation()),
    (DataError, errors.InvalidTextRepresentation()),
    (ProgrammingError, errors.UndefinedColumn()),
    (ProgrammingError, errors.InsufficientPrivilege()),
    (InternalError, errors.InFailedSqlTransaction()),
    (OperationalError, errors.InvalidPassword()),
    (InterfaceError, DatabaseClosed()),
]


@pytest.mark.parametrize(("kind", "cause"), OUTAGES)
def test_an_outage_is_worth_another_try(kind, cause):
    for error in (cause, django_error(kind, cause)):
        assert is_passing_fault(error)
    assert is_outage(cause)


@pytest.mark.parametrize(("kind", "cause"), OF_ONE_STATEMENT)
def test_what_stopped_one_statement_is_worth_another_try_and_no_outage(kind, cause):
    assert is_passing_fault(django_error(kind, cause))
    assert not is_outage(cause)


@pytest.mark.parametrize(("kind", "cause"), FOR_GOOD)
def test_what_no_time_mends_is_not_tried_again(kind, cause):
    assert not is_passing_fault(django_error(kind, cause))


def test_other_errors_are_none_of_the_database():
    assert not is_passing_fault(ValueError("the connection is lost"))
