"""Webhooks: `webhooks` sets them, `reply_events` and `budget_events` store events, `deliveries` claims them."""
