# SPDX-License-Identifier: Apache-2.0
"""The young instances: those that spread and pack leave alone for now.

Most servers that die soon are young, so that moving them is work for nothing.
What has to leave its host leaves it at any age.
"""

import math

from kronos.common import durations
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot


def of(snapshot: Snapshot, settings: Settings) -> dict[str, Reason]:
    """By uuid why each of them stays; one of unknown age is old enough."""
    least, now = settings.min_age_seconds, snapshot.taken_at
    if least <= 0:
        return {}
    return {
        uuid: _reason(max(0.0, now - instance.created), least)
        for uuid, instance in snapshot.instances.items()
        if instance.created and now - instance.created < least
    }


def _reason(age: float, least: float) -> Reason:
    ago = durations.beside(math.floor(age), least)
    limit = durations.exact(least)
    text = f'it was created {ago} ago (min_age is {limit})'
    return Reason(text, Code.INSTANCE_YOUNG)
