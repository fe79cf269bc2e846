# SPDX-License-Identifier: Apache-2.0
"""The busy hosts: servers are on their way from or to them.

Whoever closes one meanwhile would have to empty it again.
"""

from kronos.engine.eligibility import event_texts, stuck_migrations
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot


def of(snapshot: Snapshot, settings: Settings) -> set[str]:
    """Their names; resizes, and what is stuck, make no host busy."""
    names: set[str] = set()
    for event in snapshot.events:
        is_over = not event_texts.in_progress(event)
        if is_over or event.is_resize:
            continue
        if not stuck_migrations.is_stuck(event, settings, snapshot.taken_at):
            server = snapshot.instances.get(event.instance)
            if server is None or server.host != event.destination:
                names |= {event.source, event.destination}
    return names & snapshot.hosts.keys()
