"""How many attempts were made at something that is limited."""

from __future__ import annotations

from django.db import models


class AttemptCount(models.Model):
    """How often something was tried since *began_at*: for one account, by one device, or from one address.

    *tried_by* names the account, or holds a keyed hash of the address, so that the table does not show who was where.
    """

    tried_by = models.CharField(max_length=90, primary_key=True)
    began_at = models.DateTimeField(db_index=True)
    count = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.count} by {self.tried_by}"
