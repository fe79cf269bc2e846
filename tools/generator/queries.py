# SPDX-License-Identifier: Apache-2.0
"""The policies by which a made-up cloud is planned.

The queries are real ones; it is their answers that are made up.
"""

from generator import cloud
from kronos.engine.settings import PlanMode

HEAD = """\
# A cloud that is made up, but policies as a real one has them: node_exporter
# and the Prometheus libvirt exporter, whose targets have a label "host".
# doc/source/policies.rst explains every field.

policies:
"""
ENTRY = """\
  - name: {name}
    mode: {mode}
    weight: {weight}
    # {meaning}
    imbalance_query: |
      {score}
    # {usage_meaning}
    vm_profile_query: |
      {usage}
    vm_profile_label: uuid
    vm_profile_label_type: nova_instance_uuid
    host_capacity_query: |
      {capacity}
    threshold: {threshold}
    max_migrations_per_cycle: 20
"""
PACK = """\
    # The same share, at its highest in the last day.
    capacity_query: |
      max_over_time(({score})[1d:5m])
    capacity_threshold: {ceiling}
"""
CEILINGS = {'cpu': 0.85, 'ram': 0.9, 'net': 0.85}
INFO = '* on (domain, host) group_left (uuid) libvirt_domain_info_meta)'
PARTS = {
    'cpu': {
        'meaning': 'Share of the CPU time of the host that was not idle.',
        'score': '1 - avg by (host) '
        '(rate(node_cpu_seconds_total{mode="idle"}[5m]))',
        'usage_meaning': 'Cores that the server used.',
        'usage': 'max by (uuid) '
        f'(rate(libvirt_domain_info_cpu_time_seconds_total[5m]) {INFO}',
        'capacity': 'count by (host) (node_cpu_seconds_total{mode="idle"})',
    },
    'ram': {
        'meaning': 'Share of the memory of the host that is in use.',
        'score': '1 - max by (host) (node_memory_MemAvailable_bytes '
        '/ node_memory_MemTotal_bytes)',
        'usage_meaning': 'Bytes of it that the server has.',
        'usage': 'max by (uuid) '
        f'(libvirt_domain_memory_stats_rss_bytes {INFO}',
        'capacity': 'max by (host) (node_memory_MemTotal_bytes)',
    },
    'net': {
        'meaning': 'Share of what the bond of the host can send that it did.',
        'score': 'max by (host) '
        '(rate(node_network_transmit_bytes_total{device="bond0"}[5m]) '
        '/ node_network_speed_bytes{device="bond0"})',
        'usage_meaning': 'Bytes a second that the server sent.',
        'usage': 'sum by (uuid) '
        '(rate(libvirt_domain_interface_stats_transmit_bytes_total[5m]) '
        + INFO,
        'capacity': 'max by (host) (node_network_speed_bytes{device="bond0"})',
    },
}


def text(mode: PlanMode) -> str:
    """A policies file for a strategy."""
    policies = PlanMode.PACK if mode is PlanMode.PACK else PlanMode.SPREAD
    entries = []
    for name, parts in PARTS.items():
        entry = ENTRY.format(
            name=name,
            mode=policies.value,
            weight=cloud.WEIGHTS[name],
            threshold=cloud.THRESHOLD,
            **parts,
        )
        if policies is PlanMode.PACK:
            entry += PACK.format(ceiling=CEILINGS[name], **parts)
        entries.append(entry)
    return HEAD + '\n'.join(entries)
