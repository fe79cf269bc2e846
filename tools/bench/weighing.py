# SPDX-License-Identifier: Apache-2.0
"""The time that the weigher adds when Nova weighs hosts.

Nova's own handler with its own weighers, without ours and with it, by
turns; the weigher reads a cache that a Prometheus at the wire has filled.
Times are those of the processor, since requests ask nobody.
"""

import copy
import functools
import gc
import http.server
import importlib.util
import json
import pathlib
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bench import processes, table
from kronos.engine.types import Flavor

SIZES = (1000, 5000)
ROUNDS = {1000: 41, 5000: 15}
AGGREGATES = ('gold', 'silver', 'bronze')
POLICIES = {'cpu': 0.5, 'ram': 0.3, 'net': 0.2}
MOST_ON_TOP = 0.10
MOST_ALONE = 0.01
"""Of the time of Nova's weighers: 0.3 ms where those take 30 ms."""
POLICY = """
  - name: {0}
    mode: spread
    weight: {1}
    threshold: 0.1
    imbalance_query: {0}
    vm_profile_query: {0}
    vm_profile_label: instance
    vm_profile_label_type: nova_instance_uuid
"""


@dataclass
class Hold:
    """Options of the weigher that hold room."""

    weight: float
    flavor: Flavor


class _End(Exception):
    """Ends the thread of a cache after one refresh."""


COLUMNS = {
    'hosts': ('hosts', ',d'),
    'without_ms': ("Nova's ms", '.1f'),
    'added': ('ours adds', '+.1%'),
    'usual_ms': ('alone ms', '.3f'),
    'share': ("of Nova's", '.2%'),
    'usual_ratio': ('alone', '.1f'),
    'after_refresh_ratio': ('refreshed', '.1f'),
    'new_vcpus_ratio': ('new vCPUs', '.1f'),
    'refresh_seconds': ('refresh s', '.3f'),
    'result': ('', 's'),
}
LEGEND = (
    "Nova's ms: its default weighers; alone: our weigh_objects, then as a "
    "ratio to a mere reading of Nova's objects: as a rule, right after a "
    'refresh, when every host has got new vCPUs'
)


def rows() -> list[dict[str, Any]]:
    """What the weigher adds, and what its parts take; none without Nova."""
    if importlib.util.find_spec('nova') is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        return [_row(hosts, folder) for hosts in SIZES]


def text(found: list[dict[str, Any]]) -> str:
    if not found:
        return 'weighing: not measured, Nova is not installed in this Python'
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'


def _row(hosts: int, folder: str) -> dict[str, Any]:
    with Rig(hosts, folder) as rig:
        refreshes = [timed(rig.refresh, time.perf_counter) for _ in range(5)]
        without, added = rig.on_top(ROUNDS[hosts])
        read, usual, after, new = rig.alone(3 * ROUNDS[hosts])
    is_good = hosts > SIZES[0] or (
        added <= MOST_ON_TOP and usual <= MOST_ALONE * without
    )
    return {
        'hosts': hosts,
        'without_ms': without * 1e3,
        'added': added,
        'usual_ms': usual * 1e3,
        'share': usual / without,
        'usual_ratio': usual / read,
        'after_refresh_ratio': after / read,
        'new_vcpus_ratio': new / read,
        'refresh_seconds': statistics.median(refreshes),
        'result': '' if is_good else 'too much',
    }


def timed(
    work: Callable[[], object], clock: Callable[[], float] = time.thread_time
) -> float:
    """Seconds that some work takes, of this thread if none else is said."""
    start = clock()
    work()
    return clock() - start


class Rig:
    """Nova's weighers and ours over hosts as Nova has them.

    :param folder: where a policies file may be
    :param load_of: the load of a host by its number
    :param hold: whether room is held
    """

    def __init__(
        self,
        hosts: int,
        folder: str,
        load_of: Callable[[int], float] = lambda n: n * 7919 % 1000 / 1000,
        hold: Hold | None = None,
    ) -> None:
        from nova.scheduler import weights

        from kronos.weighers import cache, load, score_source, slot_hold

        path = pathlib.Path(folder) / 'policies.yaml'
        path.write_text(
            'policies:'
            + ''.join(POLICY.format(*one) for one in POLICIES.items())
        )
        self._server = _Prometheus(hosts, load_of)
        conf = load.CONF
        conf([], project='nova', default_config_files=[])
        conf.set_override('policies_file', str(path), 'kronos')
        conf.set_override('aggregates', list(AGGREGATES), 'kronos')
        conf.set_override('url', self._server.url, 'kronos_prometheus')
        # The answer is made once.
        conf.set_override('staleness_threshold', 3600, 'kronos_prometheus')
        if hold:
            conf.set_override('slot_weight', hold.weight, 'kronos')
            conf.set_override('watched_flavors', [hold.flavor.name], 'kronos')
        works: list[Callable[[], None]] = []
        self._cache = cache.Cache(
            score_source.ScoreSource(conf),
            sleep=_end,
            spawn=works.append,
            read_hold=slot_hold.HoldReader(
                conf, lambda _: hold and hold.flavor
            ).read,
        )
        self._kronos = load.KronosWeigher(self._cache)
        self._handler = weights.HostWeightHandler()
        self._theirs = [
            one()
            for one in self._handler.get_matching_classes(
                ['nova.scheduler.weights.all_weighers']
            )
        ]
        self.states = list(_states(hosts))
        self._spec = spec()
        self.weigh()
        [self._work] = works
        self.refresh()
        result = self._kronos.weigh_objects(self._candidates(), self._spec)
        if len(set(result)) < 2:
            raise RuntimeError('the weigher has no scores')

    def __enter__(self) -> 'Rig':
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def refresh(self) -> None:
        try:
            self._work()
        except _End:
            return

    def on_top(self, rounds: int) -> tuple[float, float]:
        """Seconds without our weigher, and the share it adds."""
        both = (self._theirs, [*self._theirs, self._kronos])
        pairs = []
        for n in range(rounds):
            turn = -1 if n % 2 else 1
            states = _as_in_a_request(self.states)
            gc.collect()
            found = [self._all(some, states) for some in both[::turn]]
            pairs.append(found[::turn])
        without = statistics.median(first for first, _ in pairs)
        more = statistics.median(last - first for first, last in pairs)
        return without, more / without

    def alone(self, rounds: int) -> list[float]:
        """Seconds of reading what it reads, then of ``weigh_objects``.

        When nothing is new, after a refresh, when all have new vCPUs.
        """
        found: list[list[float]] = [[], [], [], []]
        for n in range(rounds):
            self.weigh()
            found[0].append(self._read())
            found[1].append(self.weigh())
            if n % 3 == 0:
                self.refresh()
                found[2].append(self.weigh())
            for state in self.states:
                state.vcpus_used += -2 if n % 2 else 2
            found[3].append(self.weigh())
        return [statistics.median(some) for some in found]

    def held(self, pairs: int) -> float:
        """What ``weigh_objects`` takes with the hold, in ratio to without."""
        hold, ratios = self._cache.hold, []
        if hold is None:
            raise RuntimeError('no room is held')
        for n in range(pairs):
            turn = -1 if n % 2 else 1
            took = []
            for one in (None, hold)[::turn]:
                self._cache.hold = one
                took.append(self.weigh())
            without, with_hold = took[::turn]
            ratios.append(with_hold / without)
        return statistics.median(ratios)

    def work_of_weighing(self) -> Iterator[Callable[[], object]]:
        """Weighings of ours alone; each is of a request of its own."""
        while True:
            some = self._candidates()
            yield functools.partial(
                self._kronos.weigh_objects, some, self._spec
            )

    def best(self, states: list[Any], request: Any, is_ours: bool) -> Any:
        """The host that a server of this request is sent to."""
        weighers = [*self._theirs, *([self._kronos] if is_ours else ())]
        weighed = self._handler.get_weighed_objects(weighers, states, request)
        return weighed[0].obj

    def _all(self, weighers: list[Any], states: list[Any]) -> float:
        handler, spec = self._handler, self._spec
        return timed(
            lambda: handler.get_weighed_objects(weighers, states, spec)
        )

    def weigh(self) -> float:
        some = self._candidates()
        return timed(lambda: self._kronos.weigh_objects(some, self._spec))

    def _read(self) -> float:
        some = self._candidates()
        return timed(
            lambda: [
                (one.obj.host, one.obj.vcpus_used, one.obj.aggregates)
                for one in some
            ]
        )

    def _candidates(self) -> list[Any]:
        states = _as_in_a_request(self.states)
        return [self._handler.object_class(state, 0.0) for state in states]


def _as_in_a_request(states: list[Any]) -> list[Any]:
    """Nova builds them anew for each."""
    found = [copy.copy(state) for state in states]
    for one in found:
        one.host = ''.join(list(one.host))
        one.aggregates = list(one.aggregates)
    return found


def _end(_: float) -> None:
    raise _End


def _states(number: int) -> Iterator[Any]:
    """Hosts as Nova's scheduler has them."""
    from nova import objects
    from nova.scheduler.host_manager import HostState

    objects.register_all()
    aggregates = [
        objects.Aggregate(id=n, name=name, metadata={'rank': name})
        for n, name in enumerate((*AGGREGATES, 'zone-1', 'zone-2'))
    ]
    for n in range(number):
        node = objects.ComputeNode(
            uuid=f'00000000-0000-0000-0000-{n:012}',
            memory_mb=512 * 1024,
            free_ram_mb=(512 - n % 300) * 1024,
            free_disk_gb=2000 - n % 700,
            disk_available_least=None,
            local_gb=4000,
            local_gb_used=2000 + n % 700,
            vcpus=128,
            vcpus_used=n % 97,
            updated_at=None,
            numa_topology=None,
            pci_device_pools=None,
            host_ip='192.0.2.1',
            hypervisor_type='QEMU',
            hypervisor_version=8002000,
            hypervisor_hostname=f'compute{n:05}',
            cpu_info='{}',
            supported_hv_specs=[],
            stats={'num_instances': n % 20, 'io_workload': n % 3},
            metrics='[]',
            cpu_allocation_ratio=4.0,
            ram_allocation_ratio=1.0,
            disk_allocation_ratio=1.0,
        )
        state = HostState(
            node.hypervisor_hostname, node.hypervisor_hostname, 'cell'
        )
        its = [aggregates[3 + n % 2]]
        if n % 4:
            its.append(aggregates[n % 4 - 1])
        state.update(node, {'host': state.host}, its, {})
        yield state


def spec(vcpus: int = 4, memory_mb: int = 8192) -> Any:
    """The request for a new server."""
    from nova import objects

    return objects.RequestSpec(
        flavor=objects.Flavor(
            vcpus=vcpus,
            memory_mb=memory_mb,
            root_gb=0,
            ephemeral_gb=0,
            swap=0,
            extra_specs={},
        ),
        is_bfv=True,
        image=objects.ImageMeta(properties=objects.ImageMetaProps()),
        pci_requests=objects.InstancePCIRequests(requests=[]),
        requested_destination=None,
        instance_group=None,
        num_instances=1,
    )


class _Prometheus:
    """Answers every query with one sample of each host."""

    def __init__(self, hosts: int, load_of: Callable[[int], float]) -> None:
        body = _answer(hosts, load_of)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get('Content-Length', 0)))
                self.send_response(200)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), Handler
        )
        self.url = f'http://127.0.0.1:{self._server.server_address[1]}'
        threading.Thread(
            target=self._server.serve_forever, daemon=True
        ).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _answer(hosts: int, load_of: Callable[[int], float]) -> bytes:
    now = time.time()
    rows = [
        {
            'metric': {'host': f'compute{n:05}'},
            'value': [now, str(load_of(n))],
        }
        for n in range(hosts)
    ]
    data = {'resultType': 'vector', 'result': rows}
    return json.dumps({'status': 'success', 'data': data}).encode()


if __name__ == '__main__':
    processes.answer(rows())
