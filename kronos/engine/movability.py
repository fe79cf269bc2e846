# SPDX-License-Identifier: Apache-2.0
"""Why must an instance stay where it is, whatever the scores say?"""

from kronos.engine.settings import Settings
from kronos.engine.types import Instance

PIN = 'kronos:pin'
"""Metadata key (of any value) or tag by which an owner opts out."""
RUNNING = 1


def why_unmovable(instance: Instance, settings: Settings) -> str:
    """Why an instance is fixed load; '' if it may be moved.

    What Nova would refuse, what it would carry out at a risk that nobody
    asked for (devices, pinned memory), and what somebody forbade. Limits
    that depend on the destination are not judged here.
    """
    return (
        instance.unmovable
        or _forbidden(instance)
        or _not_running(instance)
        or _special(instance, settings.allowed_extra_specs)
    )


def _forbidden(instance: Instance) -> str:
    if instance.locked:
        return 'it is locked'
    if PIN in instance.metadata:
        return f'it has the metadata key {PIN}'
    if PIN in instance.tags:
        return f'it has the tag {PIN}'
    return ''


def _not_running(instance: Instance) -> str:
    if instance.status != 'ACTIVE':
        return f'its status is {instance.status}, not ACTIVE'
    if instance.task_state:
        return f'Nova is busy with it (task state {instance.task_state})'
    if instance.power_state != RUNNING:
        return (
            f'its power state is {instance.power_state}, '
            f'not running ({RUNNING})'
        )
    return ''


def _special(instance: Instance, allowed: list[str]) -> str:
    for key, value in sorted(instance.extra_specs.items()):
        if not any(_allows(rule, key, value) for rule in allowed):
            return (
                f"its flavor's extra spec {key}={value} is not in "
                'allowed_extra_specs'
            )
    return ''


def _allows(rule: str, key: str, value: str) -> bool:
    """Whether ``key``, ``key=value`` or ``prefix*`` covers an extra spec."""
    if rule.endswith('*'):
        return key.startswith(rule[:-1])
    name, has_value, wanted = rule.partition('=')
    return key == name and (not has_value or value == wanted)
