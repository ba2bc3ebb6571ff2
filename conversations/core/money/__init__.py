"""Prices, costs and allowances. Begin with `unit_prices`."""
