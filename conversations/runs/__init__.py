"""The run worker makes replies. The code is the same in the web process and in `manage.py run_worker`.

claim → LiveReply → make_reply, which ends a whole answer → end_reply, for all other ends
Two tasks per run: one may be cancelled, one ends what was cancelled.

flush     every 50 ms: new text goes to the pages
render    every 100 ms: finished blocks go to the pages as HTML
save      every 400 ms: all texts are saved with one statement, stop requests are obeyed
admission every 750 ms: replies of users who are no longer admitted are stopped
heartbeat every 2 s: the worker says that it is alive, also while it holds no run
lease     every 2 s: leases are renewed, and the reaper ends as interrupted what a dead worker left
tidy      every 5 minutes: deleted and expired rows are swept, days of the ledger are closed

`indexer` works beside it: it parses and embeds documents.
"""
