from __future__ import annotations

from django.db import models


class Sums(models.Model):
    """What is added up over completions, in the columns of every table of sums.

    *cost_usd* adds up the known costs, *unknown_costs* counts the others. *remembering_cost_usd* is the cost of those
    completions for which *cost_without_history_usd* is known too. Of those whose usage the provider reported
    *reported_input_tokens* is its count, *estimated_input_tokens* ours, and *estimate_error_tokens* the sum of the
    differences without their signs.
    """

    completions = models.PositiveIntegerField(default=0)
    replies = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    stopped = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    cached_input_tokens = models.PositiveBigIntegerField(default=0)
    cache_write_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    reasoning_tokens = models.PositiveBigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=10, default=0)
    unknown_costs = models.PositiveIntegerField(default=0)
    remembering_cost_usd = models.DecimalField(max_digits=30, decimal_places=10, default=0)
    cost_without_history_usd = models.DecimalField(max_digits=30, decimal_places=10, default=0)
    reported_input_tokens = models.PositiveBigIntegerField(default=0)
    estimated_input_tokens = models.PositiveBigIntegerField(default=0)
    estimate_error_tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        abstract = True
