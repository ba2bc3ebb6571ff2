"""The run worker: it makes replies, wherever it runs. The code is the same in the web process and on its own.

claim → LiveReply → make_reply → end_reply        two tasks per reply: one may be stopped, one ends what was stopped
ticker    every 50 ms: what is new goes to the pages
keeper    every 400 ms: all texts are saved with one statement, stops are obeyed
admission every 750 ms: replies of people who were shut out are stopped
reaper    every 2 s: leases are prolonged, and what a dead worker left is ended as interrupted
"""
