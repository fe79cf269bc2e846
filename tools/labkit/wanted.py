# SPDX-License-Identifier: Apache-2.0
"""The server to boot, and its usage."""

from dataclasses import dataclass, field

from labkit import topology


@dataclass
class Wanted:
    """A server to boot."""

    name: str
    host: str = ''
    """'': nova-scheduler chooses it."""
    cpu: float | None = None
    """Cores that it uses; None: by its flavor."""
    memory_mb: float | None = None
    """Memory that it uses; None: by its flavor."""
    flavor: str = 'lab.medium'
    group: str | None = None
    """Uuid of a server group."""
    zone: str = 'nova'
    """Availability zone, to which the server is then pinned; '': not
    pinned, and its group's policy holds for its start too."""
    metrics: bool = True
    """Whether the libvirt exporter shows it."""
    image: str = topology.IMAGE
    network: str = ''
    """Uuid of the network in which it has a port; '': it has none."""
    metadata: dict[str, str] = field(default_factory=dict)

    def all_metadata(self) -> dict[str, str]:
        """With the exporter's keys, which an operator may change later."""
        result = dict(self.metadata)
        if self.cpu is not None:
            result['lab:cpu'] = str(self.cpu)
        if self.memory_mb is not None:
            result['lab:memory_mb'] = str(self.memory_mb)
        if not self.metrics:
            result['lab:metrics'] = 'none'
        return result
