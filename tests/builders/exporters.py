# SPDX-License-Identifier: Apache-2.0
"""What does Prometheus have of each exporter, as promtool reads it?

Names and labels are those of the exporters. Server 1 uses 1.5 cores and stays
on cmp1; server 2 uses one core and goes from cmp1 to cmp2.
"""

from collections.abc import Callable

Series = dict[str, str]
"""``series`` and ``values`` of promtool."""
Labels = Callable[[str, int], dict[str, str]]
"""Labels of a host and a server, beside its domain."""

SCRAPES = 40
"""Of 15 s each: ten minutes."""
MOVED = 20
"""Scrape at which server 2 goes from cmp1 to cmp2: both have it then."""
BORN = 36
"""Scrape at which cmp3 comes up, 9 minutes after the others."""

CPU = 'libvirt_domain_info_cpu_time_seconds_total'
META = 'libvirt_domain_info_meta'
GIVEN = 'libvirt_domain_info_memory_usage_bytes'
OPENSTACK = 'libvirt_domain_openstack_info'
RSS = 'libvirt_domain_memory_stats_rss_bytes'


def _series(name: str, values: str, /, **labels: object) -> Series:
    text = ','.join(f'{key}="{value}"' for key, value in labels.items())
    return {'series': f'{name}{{{text}}}', 'values': values}


def _node(name: str, host: str, values: str, /, **labels: object) -> Series:
    where = {'job': 'node', 'instance': f'{host}:9100'}
    return _series(name, values, **where, **labels)


def nodes(scrapes: int = SCRAPES, born: int = BORN) -> list[Series]:
    """cmp1: 4 cores, 75 % busy; cmp2: 2 cores that seem more than idle.

    And cmp3, whose core is 50 % busy from its first moment.
    """
    cpu = 'node_cpu_seconds_total'
    values = f'_x{born} 0+7.5x{scrapes - born + 5}'
    series = [
        _node(cpu, 'cmp3', values, cpu=0, mode=mode)
        for mode in ('idle', 'user')
    ]
    for host, cores, idle, total, available in [
        ('cmp1', 4, 3.75, 1000, 250),
        ('cmp2', 2, 15.3, 500, 500),
    ]:
        steps = {'idle': idle, 'user': max(0, 15 - idle)}
        series += [
            _node(cpu, host, f'1000+{step:g}x{scrapes}', cpu=number, mode=mode)
            for number in range(cores)
            for mode, step in steps.items()
        ]
        for name, size in [('MemTotal', total), ('MemAvailable', available)]:
            values = f'{size}x{scrapes}'
            series.append(_node(f'node_memory_{name}_bytes', host, values))
    return series


def _domain(
    name: str, host: str, number: int, values: str, /, **labels: str
) -> Series:
    return _series(
        name,
        values,
        job='libvirt',
        instance=f'{host}:9177',
        domain=f'instance-{number:08x}',
        **labels,
    )


def _domains(
    name: str, first: str, before: str, after: str, labels: Labels
) -> list[Series]:
    """What one name has of both servers.

    :param first: per scrape, of server 1; the next two, of server 2
    """
    rows = [
        ('cmp1', 1, f'{first}x{SCRAPES}'),
        ('cmp1', 2, f'{before}x{MOVED} stale'),
        ('cmp2', 2, f'_x{MOVED} {after}x{MOVED}'),
    ]
    return [
        _domain(name, host, number, values, **labels(host, number))
        for host, number, values in rows
    ]


def _bare(_host: str, _number: int) -> dict[str, str]:
    return {}


def tinkoff() -> list[Series]:
    """The uuids differ although the display names do not."""

    def of_meta(_host: str, number: int) -> dict[str, str]:
        return {
            'uuid': f'u{number}',
            'instance_name': 'web',
            'flavor': 'small',
            'project_uuid': 'p',
        }

    return [
        *_domains(CPU, '0+22.5', '0+15', '0+15', _bare),
        *_domains(META, '1', '1', '1', of_meta),
        *_domains(RSS, '400', '200', '100', _bare),
    ]


def debian() -> list[Series]:
    """On cmp1 told to export Nova's metadata, on cmp2 not.

    On cmp3 is another exporter, which has no uuid in these series.
    """

    def labels(host: str, number: int) -> dict[str, str]:
        nova = {'name': 'web', 'flavor': 'small', 'project_name': 'p'}
        return {'uuid': f'u{number}'} | (nova if host == 'cmp1' else {})

    return [
        *_domains(CPU, '0+22.5', '0+15', '0+15', labels),
        *_domains(GIVEN, '400', '200', '200', labels),
        _domain(CPU, 'cmp3', 3, f'0+15x{SCRAPES}'),
        _domain(GIVEN, 'cmp3', 3, f'100x{SCRAPES}'),
    ]


def inovex() -> list[Series]:
    """It tells of server 3 as well, which is off."""

    def of_nova(_host: str, number: int) -> dict[str, str]:
        return {
            'instance_id': f'u{number}',
            'instance_name': 'web',
            'flavor_name': 'small',
            'user_name': 'u',
            'user_id': 'u',
            'project_name': 'p',
            'project_id': 'p',
        }

    return [
        *_domains(CPU, '0+22.5', '0+15', '0+15', _bare),
        *_domains(OPENSTACK, '1', '1', '1', of_nova),
        *_domains(RSS, '400', '200', '100', _bare),
        _domain(CPU, 'cmp1', 3, f'0x{SCRAPES}'),
        _domain(OPENSTACK, 'cmp1', 3, f'1x{SCRAPES}', **of_nova('cmp1', 3)),
    ]


class Ceilometer:
    """What Prometheus has of ceilometer's samples, scraped every 30 s.

    Both servers have a sample every 300 s, of CPU and of memory in use. The
    hosts' agents ask at different times, so both tell of server 2 for a
    while.

    :param by_agents: by the exporter of the agents themselves, which keeps a
        sample until the next round; else by sg-core, which forgets it before
    """

    ROUND = 10
    """Scrapes from one sample to the next."""
    HOUR = 120
    """Scrapes."""
    CAME, LEFT = 66, 70
    """Scrape from which cmp2 tells of server 2, and cmp1 no longer."""

    def __init__(self, by_agents: bool) -> None:
        self._by_agents = by_agents

    def series(self) -> list[Series]:
        of_cpu, of_memory = ('cpu', 'ns'), ('memory.usage', 'MB')
        return [
            self._sample('cmp1', 1, *of_cpu, self._counter(0, 450)),
            self._sample('cmp1', 2, *of_cpu, self._counter(0, 300, self.LEFT)),
            self._sample('cmp2', 2, *of_cpu, self._counter(60, 300)),
            self._sample('cmp1', 1, *of_memory, self._steady(400)),
            self._sample('cmp1', 2, *of_memory, self._steady(200, self.LEFT)),
            self._sample('cmp2', 2, *of_memory, self._steady(100)),
        ]

    def _sample(
        self, host: str, number: int, meter: str, unit: str, values: str
    ) -> Series:
        plugin, _, kind = meter.partition('.')
        labels = {
            plugin: f'u{number}',
            'type': kind or plugin,
            'counter': meter,
            'project': 'p',
            'user': 'u',
            'unit': unit,
            'resource': f'u{number}',
            'vm_instance': f'hash-of-{host}',
            'resource_name': f'web:instance-{number:08x}',
        }
        if self._by_agents:
            labels |= {'publisher': 'ceilometer', 'server_group': 'none'}
            labels['instance'] = f'{host}:9101'
        else:
            labels |= {'publisher': host, 'instance': 'sg-core:3000'}
        if host == 'cmp2':
            values = f'_x{self.CAME} {values}'
        name = f'ceilometer_{meter.replace(".", "_")}'
        return _series(name, values, **labels)

    def _counter(
        self, first: int, seconds: int, end: int = HOUR + ROUND
    ) -> str:
        """Nanoseconds that grow with each round."""
        return self._rounds(
            [
                f'{first + seconds * number}000000000'
                for number in range(end // self.ROUND)
            ]
        )

    def _steady(self, megabytes: int, end: int = HOUR + ROUND) -> str:
        return self._rounds([str(megabytes)] * (end // self.ROUND))

    def _rounds(self, values: list[str]) -> str:
        last = self.ROUND - 1
        repeats = f'x{last}' if self._by_agents else 'x6 stale _ _'
        return ' '.join([f'{value}{repeats}' for value in values] + ['stale'])
