"""Formats of dates and times in Chinese, where they are not Django's: 11月30日."""

from __future__ import annotations

MONTH_DAY_FORMAT = "n月j日"
