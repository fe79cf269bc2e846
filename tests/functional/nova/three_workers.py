# SPDX-License-Identifier: Apache-2.0
"""Three workers that Nova's own launcher forks, and forks again.

The arguments are the path of the options and a number of weighings. As in
nova-scheduler, the weighers are there before the workers. Each worker weighs
so often as it starts, and writes its process id once it has.
"""

from nova import monkey_patch

monkey_patch.patch(backend='threading')

# As nova-scheduler has it: nothing else may come before.
import os  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402

from nova import config, objects, service  # noqa: E402
from nova.scheduler import host_manager, weights  # noqa: E402
from oslo_service import service as oslo_service  # noqa: E402

WORKERS = 3


class Scheduler(oslo_service.ServiceBase):
    """What a worker does: it weighs as if servers were booted."""

    def __init__(self, weighers, weighings):
        self._weighers = weighers
        self._weighings = weighings
        self._ended = threading.Event()

    def start(self):
        handler = weights.HostWeightHandler()
        spec = objects.RequestSpec(
            instance_group=None, flavor=objects.Flavor(vcpus=2)
        )
        for _ in range(self._weighings):
            hosts = [
                host_manager.HostState(host, host, None) for host in 'abc'
            ]
            handler.get_weighed_objects(self._weighers, hosts, spec)
        # In one write: that of another worker must not come in between.
        os.write(1, f'{os.getpid()}\n'.encode())

    def wait(self):
        self._ended.wait()

    def stop(self):
        self._ended.set()

    def reset(self):
        """Nothing that could be read anew."""


def main():
    objects.register_all()
    config.parse_args(['nova-scheduler', '--config-file', sys.argv[1]])
    classes = weights.HostWeightHandler().get_matching_classes(
        ['kronos.weighers.load.KronosWeigher']
    )
    weighers = [weigher() for weigher in classes]
    scheduler = Scheduler(weighers, int(sys.argv[2]))
    service.serve(scheduler, workers=WORKERS)
    service.wait()


if __name__ == '__main__':
    main()
