"""The admin's first page: what the site used and what it cost in a period, by whom. Begin with `page`.

The cost of a day, from the request to the digits on the page, is read in six files:

1. `page.py`                                  which days, which filters, which figures
2. `views/usage/period_form.py`               the days that the address asks for, by the viewer's clock
3. `selectors/figures/figures.py`             the figures of these days: runs the statements, makes rows of them
4. `selectors/figures/rolled_up_statements.py`  their SQL (with filters: `statements.py`); BY_DAY is the cost of a day
5. `templatetags/figures.py`                  how templates write a cost, also one that is unknown
6. `wording/money_amounts.py`                 the digits of an amount

Users, language models, scenarios and purposes are rolled up by day and month, conversations by month. Days and totals
are differences of running sums kept by quarter of an hour. Open days, filtered figures and a period's edges are read
from the quarters. Who was active in a closed day, and how many conversations, is noted when it is closed.
"""
