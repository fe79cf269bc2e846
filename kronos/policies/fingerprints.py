# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of a policy's queries: whether a plan was made with them."""

import hashlib
import json

from kronos.policies.models import QUERIES, Policy

DIGITS = 12


def of(policy: Policy) -> str:
    """Hexadecimal digits; others if a query that moves are judged by changes.

    A name or a threshold may change: what moves do to scores stays the same.
    """
    fields = [
        name
        for query in QUERIES
        if not query.for_ceilings
        for name in (query.field, query.label, query.label_type)
        if name
    ]
    values = {name: getattr(policy, name) for name in fields}
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
