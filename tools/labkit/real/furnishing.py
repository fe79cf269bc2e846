# SPDX-License-Identifier: Apache-2.0
"""The images, flavor and aggregate of real hosts in Nova."""

import shutil

from labkit import cleaning, furnishing, running, topology
from labkit.cloud import Cloud
from labkit.real import guests, packages
from labkit.real import topology as real

DISK, KERNEL, RAMDISK = 'real-guest', 'real-kernel', 'real-ramdisk'
"""A guest's disk is of the first; it names the other two, which have to stay
while a guest of theirs lives: the destination of a migration fetches them."""
DISK_BYTES = 1024 * 1024


def furnish(cloud: Cloud, hosts: list[str]) -> None:
    """Make what is not there yet, and take the hosts into the aggregate."""
    running.wait_for(
        lambda: furnishing.known_hosts(cloud) >= set(hosts),
        120,
        'the scheduler to find the real hosts',
        0.5,
    )
    _images(cloud)
    if real.FLAVOR not in cloud.flavors():
        cloud.compute.create_flavor(
            name=real.FLAVOR, vcpus=1, ram=real.MEMORY_MB, disk=0
        )
    have = {found.name: found for found in cloud.compute.aggregates()}
    aggregate = have.get(real.AGGREGATE) or cloud.compute.create_aggregate(
        name=real.AGGREGATE
    )
    for host in sorted(set(hosts) - set(aggregate.hosts or [])):
        furnishing.into(cloud, aggregate, host)


def _images(cloud: Cloud) -> None:
    images = cloud.connection.image
    if images.find_image(DISK) is not None:
        return
    kernel = images.create_image(
        KERNEL,
        disk_format='aki',
        container_format='aki',
        visibility='public',
        data=guests.bootable(packages.kernel().read_bytes()),
        validate_checksum=False,
    )
    ramdisk = images.create_image(
        RAMDISK,
        disk_format='ari',
        container_format='ari',
        visibility='public',
        data=guests.initramfs(
            packages.BUSYBOX, packages.modules(guests.MODULES)
        ),
        validate_checksum=False,
    )
    images.create_image(
        DISK,
        disk_format='raw',
        container_format='bare',
        visibility='public',
        data=b'\0' * DISK_BYTES,
        validate_checksum=False,
        kernel_id=kernel.id,
        ramdisk_id=ramdisk.id,
        hw_machine_type='pc',
        os_command_line=guests.COMMAND_LINE,
    )


def forget(cloud: Cloud, kept: set[str]) -> None:
    """Take real hosts out of Nova that the lab does not have any more.

    :param kept: names of those that it has
    """
    gone = [
        row
        for row in cloud.services()
        if row['binary'] == 'nova-compute'
        and row['host'] not in {*topology.HOSTS, *kept}
    ]
    if not gone:
        return
    names = {row['host'] for row in gone}
    for uuid, server in cloud.servers().items():
        if server['OS-EXT-SRV-ATTR:host'] in names:
            cloud.compute.delete(f'/servers/{uuid}', microversion='2.100')
    running.wait_for(
        lambda: (
            not [
                server
                for server in cloud.servers().values()
                if server['OS-EXT-SRV-ATTR:host'] in names
            ]
        ),
        60,
        'servers of real hosts that are gone to be deleted',
        0.5,
    )
    for aggregate in cloud.compute.aggregates():
        for host in names & set(aggregate.hosts or []):
            cloud.compute.remove_host_from_aggregate(aggregate, host)
    # Nova keeps the provider of a host on which something is still held, and
    # then refuses a new host of that name.
    cleaning.free_allocations(cloud)
    for row in gone:
        cloud.compute.delete(f'/os-services/{row["id"]}', microversion='2.100')
        # What it remembers of itself is not Nova's any more.
        shutil.rmtree(real.FOLDER / row['host'], ignore_errors=True)
