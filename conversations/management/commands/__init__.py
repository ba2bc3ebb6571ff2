"""Commands of `manage.py`, one per module: begin with `serve` and `show_window`."""
