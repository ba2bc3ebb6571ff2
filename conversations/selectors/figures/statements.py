"""SQL of the figures, from the sums over quarters of an hour: TOTAL, BY_DAY, BY_USER …, one query for each table.

All of them return the same columns: *grouping* is the table that a row belongs to; *key_id* is the id of its user,
scenario or conversation, 0 if it has none, or the number of its day, counted from 0; *key_name* is its language model
or purpose; then the sums, *users*, how many rows its table has (*row_count*), and its *place* among them.

Days are told apart by the midnights that a statement is given, because PostgreSQL may know other time zones than we do.
Names are looked up at the end, for the rows that are shown.
"""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from conversations.models.sums import RANKED_BY

from .totals import SUMS

LEDGER_SUMS = SQL("conversations_ledgersum")


def _added_up(name: str) -> Composed:
    # The sum of bigint is numeric.
    type_name = SQL("numeric" if name.endswith("_usd") else "bigint")
    return SQL("coalesce(sum({name}), 0)::{type} AS {name}").format(name=Identifier(name), type=type_name)


SUM_COLUMNS = SQL(", ").join(map(Identifier, SUMS))
ADDED_UP = SQL(", ").join(map(_added_up, SUMS))
COLUMNS = SQL("grouping, key_id, key_name, {sums}, users, row_count, place").format(sums=SUM_COLUMNS)
RANKS = SQL(", ").join(map(Identifier, RANKED_BY))
MOST_EXPENSIVE_FIRST = SQL(", ").join(SQL("{} DESC").format(Identifier(name)) for name in RANKED_BY)
MOST_EXPENSIVE_SUMS_FIRST = SQL(", ").join(SQL("sum({}) DESC").format(Identifier(name)) for name in RANKED_BY)

# The number of the day.
DAY = SQL("width_bucket(quarter, %(midnights)s::timestamptz[]) - 1")
# The sums of the period and the filters. Parameters are written into the statement, so a filter that is NULL costs
# nothing: PostgreSQL takes its condition away before it plans.
CHOSEN = SQL("""
SELECT * FROM {source} AS source
WHERE quarter >= %(begin)s AND quarter < %(end)s
  AND (%(user_id)s::bigint IS NULL OR user_id = %(user_id)s::bigint)
  AND (%(language_model)s::text IS NULL OR language_model = %(language_model)s::text)
  AND (%(scenario_id)s::bigint IS NULL OR scenario_id = %(scenario_id)s::bigint)
  AND (%(purpose)s::text IS NULL OR purpose = %(purpose)s::text)
  AND (%(conversation_id)s::bigint IS NULL OR conversation_id = %(conversation_id)s::bigint)
""")
# Days, language models and purposes are few, so they are added up together, and then each of them from this.
BY_FEW = SQL("""
SELECT {day} AS day, language_model, purpose, {added_up} FROM chosen GROUP BY day, language_model, purpose
""").format(day=DAY, added_up=ADDED_UP)
ACTIVE_USERS = SQL("SELECT DISTINCT {day} AS day, user_id FROM chosen WHERE user_id IS NOT NULL").format(day=DAY)

TOTAL = SQL("""
SELECT 'total' AS grouping, 0 AS key_id, '' AS key_name, {added_up},
       (SELECT count(DISTINCT user_id) FROM active_users) AS users, 1 AS row_count, 1 AS place
FROM by_few
""").format(added_up=ADDED_UP)
BY_DAY = SQL("""
SELECT 'day' AS grouping, day AS key_id, '' AS key_name, {sums}, coalesce(users, 0) AS users,
       1 AS row_count, 1 AS place
FROM (SELECT day, {added_up} FROM by_few GROUP BY day) AS days
LEFT JOIN (SELECT day, count(*) AS users FROM active_users GROUP BY day) AS active USING (day)
""").format(sums=SUM_COLUMNS, added_up=ADDED_UP)
BY_NAME = SQL("""
SELECT {grouping} AS grouping, 0 AS key_id, {name} AS key_name, {added_up}, 0 AS users,
       count(*) OVER () AS row_count, row_number() OVER (ORDER BY {most_expensive_first}, {name}) AS place
FROM {source} GROUP BY {name} ORDER BY place LIMIT %(rows)s
""")
BY_ID = SQL("""
SELECT {grouping} AS grouping, coalesce({id}, 0) AS key_id, '' AS key_name, {added_up}, 0 AS users,
       count(*) OVER () AS row_count, row_number() OVER (ORDER BY {most_expensive_first}, {id}) AS place
FROM chosen GROUP BY {id} ORDER BY place LIMIT %(rows)s
""")


def _by_name(grouping: str, *, source: str) -> Composed:
    return BY_NAME.format(
        grouping=Literal(grouping),
        name=Identifier(grouping),
        source=Identifier(source),
        added_up=ADDED_UP,
        most_expensive_first=MOST_EXPENSIVE_SUMS_FIRST,
    )


def _by_id(grouping: str) -> Composed:
    return BY_ID.format(
        grouping=Literal(grouping),
        id=Identifier(f"{grouping}_id"),
        added_up=ADDED_UP,
        most_expensive_first=MOST_EXPENSIVE_SUMS_FIRST,
    )


BY_LANGUAGE_MODEL = _by_name("language_model", source="by_few")
BY_PURPOSE = _by_name("purpose", source="by_few")
BY_USER = _by_id("user")
BY_SCENARIO = _by_id("scenario")
# Conversations are many: they are ranked by three sums, and only those that are shown have all of theirs added up.
BY_CONVERSATION = SQL("""
SELECT 'conversation' AS grouping, coalesce(shown.conversation_id, 0) AS key_id, '' AS key_name, {sums}, 0 AS users,
       row_count, place
FROM most_expensive JOIN (
  SELECT conversation_id, {added_up} FROM chosen
  WHERE conversation_id = ANY (ARRAY(SELECT conversation_id FROM most_expensive))
     OR (conversation_id IS NULL AND EXISTS (SELECT FROM most_expensive WHERE conversation_id IS NULL))
  GROUP BY conversation_id
) AS shown ON shown.conversation_id IS NOT DISTINCT FROM most_expensive.conversation_id
""").format(sums=SUM_COLUMNS, added_up=ADDED_UP)
MOST_EXPENSIVE_CONVERSATIONS = SQL("""
SELECT conversation_id, count(*) OVER () AS row_count,
       row_number() OVER (ORDER BY {most_expensive_first}, conversation_id) AS place
FROM chosen GROUP BY conversation_id ORDER BY place LIMIT %(rows)s
""").format(most_expensive_first=MOST_EXPENSIVE_SUMS_FIRST)

# Of users and conversations only those that are shown are looked up: a join would read all of them.
NAMED = SQL("""
SELECT shown.*, person.email, conversation.public_id,
       CASE WHEN scenario.owner_id IS NULL THEN scenario.name END AS scenario_name,
       conversation.created_at AS begun_at, owner.email AS owner_email
FROM shown
LEFT JOIN LATERAL (
  SELECT email FROM accounts_user WHERE grouping = 'user' AND id = key_id LIMIT 1
) AS person ON TRUE
LEFT JOIN conversations_scenario AS scenario ON grouping = 'scenario' AND scenario.id = key_id
LEFT JOIN LATERAL (
  SELECT public_id, created_at, owner_id FROM conversations_conversation
  WHERE grouping = 'conversation' AND id = key_id LIMIT 1
) AS conversation ON TRUE
LEFT JOIN LATERAL (
  SELECT email FROM accounts_user WHERE id = conversation.owner_id LIMIT 1
) AS owner ON TRUE
ORDER BY grouping, place
""")


def all_tables(*tables: Composable) -> Composed:
    """Return the rows of all these queries, their columns taken by name."""
    rows = SQL("SELECT {columns} FROM ({table}) AS each_row")
    return SQL(" UNION ALL ").join([rows.format(columns=COLUMNS, table=table) for table in tables])


def figures_statement(source: Composable = LEDGER_SUMS) -> str:
    """Return the statement that reads all figures from *source*, which has the columns of `LedgerSum`.

    It is one statement so that all tables are read as of the same moment, and the sums of each are the total.
    """
    return (
        SQL("""
WITH chosen AS NOT MATERIALIZED ({chosen}),
by_few AS MATERIALIZED ({by_few}),
active_users AS MATERIALIZED ({active_users}),
most_expensive AS MATERIALIZED ({most_expensive}),
shown AS ({tables})
{named}
""")
        .format(
            chosen=CHOSEN.format(source=source),
            by_few=BY_FEW,
            active_users=ACTIVE_USERS,
            most_expensive=MOST_EXPENSIVE_CONVERSATIONS,
            tables=all_tables(TOTAL, BY_DAY, BY_USER, BY_LANGUAGE_MODEL, BY_SCENARIO, BY_PURPOSE, BY_CONVERSATION),
            named=NAMED,
        )
        .as_string()
    )


def _all_rows_statement(table: Composable) -> str:
    return (
        SQL("WITH chosen AS ({chosen}), shown AS ({table}) {named}")
        .format(chosen=CHOSEN.format(source=LEDGER_SUMS), table=table, named=NAMED)
        .as_string()
    )


FIGURES = figures_statement()
TOTAL_ALONE = (
    SQL("WITH chosen AS ({chosen}) SELECT {added_up}, count(DISTINCT user_id) AS users FROM chosen")
    .format(chosen=CHOSEN.format(source=LEDGER_SUMS), added_up=ADDED_UP)
    .as_string()
)
# One table alone; with *rows* NULL it has no limit.
ALL_ROWS = {
    "user": _all_rows_statement(BY_USER),
    "language_model": _all_rows_statement(_by_name("language_model", source="chosen")),
    "scenario": _all_rows_statement(BY_SCENARIO),
    "purpose": _all_rows_statement(_by_name("purpose", source="chosen")),
    "conversation": _all_rows_statement(_by_id("conversation")),
}
