# SPDX-License-Identifier: Apache-2.0
"""The hosts that no migration helps, in words and as a row of the report.

With how even the others are, which are planned without them.
"""

from typing import Any

from kronos.engine import wording
from kronos.engine.types import Rest
from kronos.reports import certificates


def row(found: Rest | None) -> dict[str, Any] | None:
    """For programs; null where no host was set aside."""
    if found is None:
        return None
    return {
        'set_aside': [
            {
                'policy': one.policy,
                'host': one.host,
                'end': one.end,
                'value': one.value,
                'reason': one.reason,
            }
            for one in found.set_aside
        ],
        'after_steps': found.after,
        'imbalance_before': dict(found.imbalance_before),
        'imbalance_after': dict(found.imbalance_after),
        'combined_before': found.combined_before,
        'combined_after': found.combined_after,
        'certificate': certificates.row(found.certificate),
        'text': ' '.join(told(found)),
    }


def told(found: Rest | None) -> list[str]:
    """A sentence for each policy, and how good the plan of the others is."""
    if found is None:
        return []
    lines = [_of_policy(found, name) for name in found.policies]
    if text := certificates.told(found.certificate):
        lines.append(f'Of the hosts that are not set aside: {text}')
    return lines


def _of_policy(found: Rest, name: str) -> str:
    hosts = [
        f'{one.host} ({one.end}, {one.value:.3f}: {one.reason})'
        for one in found.set_aside
        if one.policy == name
    ]
    return (
        f'Set aside for {name}, since no migration helps: '
        f'{wording.some(hosts)}. The other hosts: '
        f'{found.imbalance_before[name]:.4f} -> '
        f'{found.imbalance_after[name]:.4f}.'
    )


def brief(found: Rest | None) -> str:
    """In a message, as an addition; '' where no host was set aside."""
    if found is None:
        return ''
    number = len({one.host for one in found.set_aside})
    return (
        f', {found.combined_before:.2f} -> {found.combined_after:.2f} '
        f'without {wording.counted(number, "host")} that no migration helps'
    )
