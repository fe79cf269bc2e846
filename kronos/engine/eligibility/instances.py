# SPDX-License-Identifier: Apache-2.0
"""The eligible instances: why one must stay, whatever the scores."""

from collections.abc import Callable

from kronos.engine.eligibility import allocations, consent
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, Snapshot

PIN = 'kronos:pin'
"""Metadata key (of any value) or tag by which an owner opts out."""
MIB = 2.0**20
TPM_SPECS = 'hw:tpm_*'
TPM_VERSION, TPM_SECURITY = 'hw:tpm_version', 'hw:tpm_secret_security'
BY_HOST = 'host'
"""The only value of the latter with which Nova (33 and later) live-migrates;
it is read from the flavor that the server got, not from its image."""
RUNNING, PAUSED = 1, 3
POWER_STATES = {
    0: 'unknown',
    RUNNING: 'running',
    PAUSED: 'paused',
    4: 'shut down',
    6: 'crashed',
    7: 'suspended',
}
"""Of the guest, as Nova numbers them."""
IDLE = ('ACTIVE', None, RUNNING)
"""Status, task state and power state of one that may be moved."""


Rule = Callable[[Instance], list[Reason]]
"""Says why an instance must stay, all of it, in a fixed order."""


def rule(
    snapshot: Snapshot, settings: Settings, bandwidth: Callable[[], float]
) -> Rule:
    """The rule of who may move in a plan: an extension's, or live migration's.

    :param bandwidth: MiB per second that a live migration copies
    """
    own = settings.extension.movable(snapshot, settings)
    if own is not None:
        return own

    def live(instance: Instance) -> list[Reason]:
        against = reasons(instance, settings)
        if instance.dirty_rate:
            against += too_dirty(instance, bandwidth())
        return against

    return live


def reasons(instance: Instance, settings: Settings) -> list[Reason]:
    """Why an instance cannot be live-migrated, all of it, in a fixed order.

    What Nova would refuse, what it would carry out at a risk that nobody
    asked for (devices, pinned memory), and what somebody forbade. Limits
    that depend on the destination are not judged here.
    """
    against = forbidden(instance, settings)
    if (instance.status, instance.task_state, instance.power_state) != IDLE:
        against += _not_running(instance)
    if instance.failure:
        text = f'it failed itself ({instance.failure})'
        against.append(Reason(text, Code.INSTANCE_FAILED))
    if instance.extra_specs:
        against += _vtpm(instance)
        specs = settings.allowed_extra_specs
        # Whether a vTPM may go is said by itself, whatever is allowed.
        against += special(
            instance, [*specs, TPM_SPECS] if has_vtpm(instance) else specs
        )
    return against


def has_vtpm(instance: Instance) -> bool:
    """Whether its flavor or its image requires a vTPM."""
    return bool(instance.extra_specs.get(TPM_VERSION))


def _vtpm(instance: Instance) -> list[Reason]:
    """That its vTPM cannot move: only a host has no need of its user."""
    security = instance.extra_specs.get(TPM_SECURITY)
    if not has_vtpm(instance) or security == BY_HOST:
        return []
    text = (
        'it has a vTPM, and hw:tpm_secret_security of its flavor is '
        f'{security or "not set"}, not {BY_HOST}'
    )
    return [Reason(text, Code.INSTANCE_VTPM, security or '')]


def forbidden(instance: Instance, settings: Settings) -> list[Reason]:
    """What somebody forbids, whatever kind of move it is."""
    against = []
    if instance.unmovable:
        against.append(Reason(instance.unmovable, Code.INSTANCE_UNMOVABLE))
    held_on = instance.misallocated_on
    if held_on is not None:
        against.append(
            allocations.reason(instance.uuid, instance.host, held_on)
        )
    if instance.locked:
        against.append(Reason('it is locked', Code.INSTANCE_LOCKED))
    # Few have either, and there are many of them.
    if instance.metadata or instance.tags:
        against += _refused(instance, settings)
    return against


def _refused(instance: Instance, settings: Settings) -> list[Reason]:
    """What the owner of an instance forbids, by its metadata and tags."""
    against = []
    if PIN in instance.metadata:
        text = f'it has the metadata key {PIN}'
        against.append(Reason(text, Code.INSTANCE_PINNED, 'metadata'))
    if PIN in instance.tags:
        text = f'it has the tag {PIN}'
        against.append(Reason(text, Code.INSTANCE_PINNED, 'tags'))
    if refusal := consent.forbidden(instance, settings):
        against.append(refusal)
    return against


def _not_running(instance: Instance) -> list[Reason]:
    against = []
    if instance.status != 'ACTIVE':
        text = f'its status is {instance.status}, not ACTIVE'
        against.append(Reason(text, Code.INSTANCE_NOT_ACTIVE))
    if instance.task_state:
        text = f'Nova is busy with it (task state {instance.task_state})'
        against.append(Reason(text, Code.INSTANCE_BUSY))
    if instance.power_state != RUNNING:
        state = instance.power_state
        text = (
            f'its power state is {state} ({POWER_STATES.get(state, "?")}), '
            f'not running ({RUNNING})'
        )
        if instance.status == 'ACTIVE' and state == PAUSED:
            text += ': QEMU pauses a guest whose disk fails'
        against.append(Reason(text, Code.INSTANCE_NOT_RUNNING))
    return against


def too_dirty(instance: Instance, bandwidth: float) -> list[Reason]:
    """That its memory is never copied, since it changes as fast.

    :param bandwidth: MiB per second that a live migration copies
    """
    rate = instance.dirty_rate / MIB
    if rate < bandwidth:
        return []
    text = (
        f'its guest writes {rate:.0f} MiB/s to memory, and a live migration '
        f'copies {bandwidth:.0f} MiB/s, so it would not end'
    )
    return [Reason(text, Code.INSTANCE_DIRTY_RATE)]


def why_pinned(pinned_zone: str | None, zone: str) -> Reason | None:
    """Why one that is pinned to a zone may not leave it; None if it may.

    :param pinned_zone: None: it asked for none
    :param zone: '' where it is unknown, which is not the one asked for
    """
    if pinned_zone is None or pinned_zone == zone:
        return None
    return Reason(
        f'it is pinned to availability zone {pinned_zone}, the host is in '
        f'{zone or "an unknown one"}',
        Code.ZONE_PINNED,
    )


def special(instance: Instance, allowed: list[str]) -> list[Reason]:
    """Its extra specs that may tie it to its host."""
    return [
        Reason(
            f"its flavor's extra spec {key}={value} is not in "
            'allowed_extra_specs',
            Code.INSTANCE_EXTRA_SPEC,
            key,
        )
        for key, value in sorted(instance.extra_specs.items())
        if not any(_allows(rule, key, value) for rule in allowed)
    ]


def _allows(rule: str, key: str, value: str) -> bool:
    """Whether ``key``, ``key=value`` or ``prefix*`` covers an extra spec."""
    if rule.endswith('*'):
        return key.startswith(rule[:-1])
    name, has_value, expected = rule.partition('=')
    return key == name and (not has_value or value == expected)
