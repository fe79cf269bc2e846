# SPDX-License-Identifier: Apache-2.0
"""The hosts that no migration helps, in words and as a row of the report.

With how even the others are, which are planned without them.
"""

from typing import Any

from kronos.engine import wording
from kronos.engine.types import Rest
from kronos.reports import certificates


def row(rest: Rest | None) -> dict[str, Any] | None:
    """For programs; null where no host was set aside."""
    if rest is None:
        return None
    return {
        'set_aside': [
            {
                'policy': host.policy,
                'host': host.host,
                'end': host.end,
                'value': host.value,
                'reason': host.reason,
            }
            for host in rest.set_aside
        ],
        'after_steps': rest.after,
        'imbalance_before': dict(rest.imbalance_before),
        'imbalance_after': dict(rest.imbalance_after),
        'combined_before': rest.combined_before,
        'combined_after': rest.combined_after,
        'certificate': certificates.row(rest.certificate),
        'text': ' '.join(sentences(rest)),
    }


def sentences(rest: Rest | None) -> list[str]:
    """A sentence for each policy, and how good the plan of the others is."""
    if rest is None:
        return []
    lines = [_of_policy(rest, name) for name in rest.policies]
    if text := certificates.sentence(rest.certificate):
        lines.append(f'Without the hosts that are set aside: {text}')
    return lines


def _of_policy(rest: Rest, name: str) -> str:
    hosts = [
        f'{host.host} ({host.end}, {host.value:.3f}: {host.reason})'
        for host in rest.set_aside
        if host.policy == name
    ]
    return (
        f'Set aside for {name}, since no migration helps: '
        f'{wording.some(hosts)}. The other hosts: '
        f'{rest.imbalance_before[name]:.4f} -> '
        f'{rest.imbalance_after[name]:.4f}.'
    )


def brief(rest: Rest) -> str:
    """In a message, as an addition."""
    number = len({host.host for host in rest.set_aside})
    return (
        f', {rest.combined_before:.2f} -> {rest.combined_after:.2f} '
        f'without {wording.counted(number, "host")} that no migration helps'
    )
