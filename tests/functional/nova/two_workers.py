# SPDX-License-Identifier: Apache-2.0
"""Two workers that fork from one process and weigh, as nova-scheduler's.

NOVA_CONF stands for the path of the options. Each of the three processes
tells the ports of the connections that it opened itself.
"""

from nova import monkey_patch

monkey_patch.patch(backend='threading')

# As nova-scheduler has it: nothing else may come before.
import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402

import urllib3.connection  # noqa: E402
from nova import config, objects  # noqa: E402
from nova.scheduler import host_manager, weights  # noqa: E402

PATIENCE_SECONDS = 60
OPENED = []


def connect(self, real=urllib3.connection.HTTPConnection.connect):
    real(self)
    OPENED.append(self.sock.getsockname()[1])


urllib3.connection.HTTPConnection.connect = connect


def state(host):
    found = host_manager.HostState(host, host, None)
    found.hypervisor_type, found.vcpus_total = 'QEMU', 16
    return found


def wait(condition):
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and not condition():
        time.sleep(0.05)


def work(weighers):
    """Weigh until there are two refreshes' worth of scores; tell them."""
    OPENED.clear()
    own = weighers[0]._cache
    begins = bool(own._started)
    if begins:
        wait(lambda: own._scores)
    handler = weights.HostWeightHandler()
    spec = objects.RequestSpec(
        instance_group=None, flavor=objects.Flavor(vcpus=2)
    )

    def weigh():
        hosts = [state('b'), state('a')]
        return handler.get_weighed_objects(weighers, hosts, spec)

    first = [one.weight for one in weigh()]
    wait(lambda: weigh()[0].weight)
    # Until the connection is used again.
    scores = own._scores
    wait(lambda: own._scores.asked_at > scores.asked_at)
    found = weigh()
    told = {
        'pid': os.getpid(),
        'opened': OPENED,
        'begins': begins,
        'is_patched': monkey_patch.is_patched(),
        'first': first,
        'order': [one.obj.host for one in found],
        'weights': [one.weight for one in found],
    }
    tell(told)


def tell(facts):
    """In one write: that of another worker must not come in between."""
    os.write(1, f'{json.dumps(facts)}\n'.encode())


def main():
    objects.register_all()
    config.parse_args(['nova-scheduler', '--config-file', 'NOVA_CONF'])
    classes = weights.HostWeightHandler().get_matching_classes(
        ['kronos.weighers.load.KronosWeigher']
    )
    weighers = [one() for one in classes]
    # A connection that both workers find, and neither may use.
    weighers[0]._cache._source.ask(set())
    tell({'pid': os.getpid(), 'opened': OPENED})
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
