"""The run worker: it makes replies, wherever it runs. The code is the same in the web process and on its own.

claim → LiveReply → make_reply → end_reply        one task per reply
ticker    every 40 ms: what is new goes to the pages
keeper    every 400 ms: all texts are saved with one statement, stops are obeyed; every 2 s leases are prolonged
reaper    every 2 s: what a dead worker left is ended as interrupted
"""
