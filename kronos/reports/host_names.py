# SPDX-License-Identifier: Apache-2.0
"""The sentence about hosts that lack values since they are called otherwise.

Whoever reads a recording, or writes one, says it first: what follows from it
is in many policies and scopes.
"""

from collections.abc import Iterable

from kronos.engine.scoring import name_forms
from kronos.engine.settings import HostMatch
from kronos.engine.types import Snapshot
from kronos.policies.models import Policy


def sentence(
    snapshots: Iterable[Snapshot],
    policies: Iterable[Policy],
    how: HostMatch,
    can_try: bool = False,
) -> str:
    """What differs, and the option by which the hosts would have values.

    :param can_try: whether the command takes ``--set``
    :returns: '' if hosts have values, or no other way gives them any
    """
    form = name_forms.of_snapshots(snapshots, policies, how)
    if form is None:
        return ''
    text = f'{form.cause}; {form.remedy(how)}'
    if can_try:
        text += f', or try it here with --set host_match={form.host_match}'
    return text
