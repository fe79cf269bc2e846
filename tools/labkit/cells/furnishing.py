# SPDX-License-Identifier: Apache-2.0
"""The registration of two cells in Nova."""

from labkit import furnishing, topology
from labkit.cells import choice
from labkit.cloud import Cloud

METADATA_KEY = 'kronos:cell'


def furnish(cloud: Cloud) -> None:
    """Make each cell a zone, and tell Kronos which hosts are in it."""
    have = {found.name: found for found in cloud.compute.aggregates()}
    for cell, zone in choice.ZONES.items():
        aggregate = have.get(cell) or cloud.compute.create_aggregate(
            name=cell, availability_zone=zone
        )
        metadata = {METADATA_KEY: cell}
        cloud.compute.set_aggregate_metadata(aggregate, metadata)
        hosts = {h for h in topology.HOSTS if choice.cell_of(h) == cell}
        for host in sorted(hosts - set(aggregate.hosts or [])):
            furnishing.into(cloud, aggregate, host)
