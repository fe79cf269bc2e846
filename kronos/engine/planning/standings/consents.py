# SPDX-License-Identifier: Apache-2.0
"""The standings of owners' consent: whose servers stay because of it."""

from collections.abc import Mapping

from kronos.engine.eligibility import consent
from kronos.engine.eligibility.consent import Wish
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, ConsentStanding, Snapshot

UNKNOWN = 'unknown'
"""Kind of the servers whose value is none of :class:`.Consent`."""


def of_plan(
    result: AggregateResult,
    snapshot: Snapshot,
    settings: Settings,
    wishes: Mapping[str, Wish] | None = None,
) -> list[ConsentStanding]:
    """Whose servers have which consent, and which stay because of it.

    :param wishes: those of :func:`.consent.of_scope`, if they are known
    """
    if wishes is None:
        wishes = consent.of_scope(snapshot, settings)
    rows: dict[tuple[int, str, str], ConsentStanding] = {}
    for uuid, wish in wishes.items():
        kind = wish.consent.value if wish.is_known else UNKNOWN
        strictness = consent.STRICTNESS[wish.consent]
        key = -strictness, kind, snapshot.instances[uuid].project_id
        row = rows.get(key)
        if row is None:
            row = rows[key] = ConsentStanding(*key[1:])
        row.instances += 1
        why = result.stayed.get(uuid)
        if why is not None and why.code is Code.INSTANCE_CONSENT:
            row.staying.append(uuid)
    return [rows[key] for key in sorted(rows)]
