# SPDX-License-Identifier: Apache-2.0
"""Two workers that fork from one process and weigh, as nova-scheduler's.

NOVA_CONF stands for the path of the options.
"""

from nova import monkey_patch

monkey_patch.patch(backend='threading')

# As nova-scheduler has it: nothing else may come before.
import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402

from nova import config, objects  # noqa: E402
from nova.scheduler import host_manager, weights  # noqa: E402

PATIENCE_SECONDS = 60


def state(host):
    found = host_manager.HostState(host, host, None)
    found.hypervisor_type, found.vcpus_total = 'QEMU', 16
    return found


def work(weighers):
    """Weigh until there are two refreshes' worth of scores; tell them."""
    handler = weights.HostWeightHandler()
    spec = objects.RequestSpec(
        instance_group=None, flavor=objects.Flavor(vcpus=2)
    )

    def weigh():
        hosts = [state('b'), state('a')]
        return handler.get_weighed_objects(weighers, hosts, spec)

    first = [one.weight for one in weigh()]
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and not weigh()[0].weight:
        time.sleep(0.05)
    # Long enough that the connection is used again.
    time.sleep(2.5)
    found = weigh()
    told = {
        'pid': os.getpid(),
        'is_patched': monkey_patch.is_patched(),
        'first': first,
        'order': [one.obj.host for one in found],
        'weights': [one.weight for one in found],
    }
    print(json.dumps(told), flush=True)


def main():
    objects.register_all()
    config.parse_args(['nova-scheduler', '--config-file', 'NOVA_CONF'])
    classes = weights.HostWeightHandler().get_matching_classes(
        ['kronos.weighers.load.KronosWeigher']
    )
    weighers = [one() for one in classes]
    children = []
    for _ in range(2):
        child = os.fork()
        if not child:
            try:
                work(weighers)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


main()
