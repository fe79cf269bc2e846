# SPDX-License-Identifier: Apache-2.0
"""The standings of owners' consent: whose servers stay because of it."""

from collections.abc import Iterable

from kronos.engine.eligibility import consent
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, ConsentStanding, Instance

UNKNOWN = 'unknown'
"""Kind of the servers whose value is none of :class:`.Consent`."""


def of_plan(
    result: AggregateResult,
    settings: Settings,
    instances: Iterable[Instance],
) -> list[ConsentStanding]:
    """Whose servers have which consent, and which stay because of it.

    :param instances: those of :func:`.consent.wishing`
    """
    rows: dict[tuple[int, str, str], ConsentStanding] = {}
    for instance in instances:
        wish = consent.strictest(instance, settings)
        if wish is None:
            continue
        kind = wish.consent.value if wish.is_known else UNKNOWN
        strictness = consent.STRICTNESS[wish.consent]
        key = -strictness, kind, instance.project_id
        row = rows.setdefault(key, ConsentStanding(*key[1:]))
        row.instances += 1
        why = result.stayed.get(instance.uuid)
        if why is not None and why.code is Code.INSTANCE_CONSENT:
            row.staying.append(instance.uuid)
    return [rows[key] for key in sorted(rows)]
