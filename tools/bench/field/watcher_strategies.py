# SPDX-License-Identifier: Apache-2.0
"""Plans of Watcher's own strategies for the same clusters.

They plan by Watcher's data model of the cluster, filled as its collector
would have, and by a datasource that answers from the cluster's readings.
Beside each stands Kronos, with as many moves and with few.
"""

import importlib.util
import pathlib
import random
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bench import case, clusters, processes, table
from bench.placed import Placed
from kronos.engine.planning import propose
from kronos.engine.settings import SearchName, Settings
from kronos.engine.types import Host, Instance, Snapshot
from kronos.recordings.formats import cluster

SIZES = (50, 100, 200)
"""Theirs grow with the square of the hosts, and faster."""
FEW_MOVES = 50
SEED = 1
DISK_GB = 10**6
KIB = 1024
BOTH = ['instance_cpu_usage', 'instance_ram_usage']
STRATEGIES: dict[str, tuple[str, dict[str, Any]]] = {
    'stabilization, default': ('workload_stabilization', {}),
    'stabilization, cpu to .02': (
        'workload_stabilization',
        {'thresholds': dict.fromkeys(BOTH, 0.02)},
    ),
    'stabilization, cpu and ram to .02': (
        'workload_stabilization',
        {'metrics': BOTH, 'thresholds': dict.fromkeys(BOTH, 0.02)},
    ),
    'consolidation': ('vm_workload_consolidation', {}),
}
COLUMNS = {
    'hosts': ('hosts', ',d'),
    'by': ('by', 's'),
    'moves': ('moves', ',d'),
    'before': ('before', '.4f'),
    'after': ('after', '.4f'),
    'gib': ('GiB', ',.0f'),
    'emptied': ('emptied', 'd'),
    'broken_groups': ('broken groups', 'd'),
    'overfull_hosts': ('overfull', 'd'),
    'seconds': ('CPU s', '.3f'),
    'ratio': ('ratio', '.2f'),
}
LEGEND = (
    'before and after: combined imbalance; emptied: hosts that were in use; '
    'broken groups: server groups whose rule is broken afterwards; overfull: '
    'hosts on which more is allocated than may be; ratio: of CPU seconds, to '
    f'those of Kronos with {FEW_MOVES} moves'
)


def rows(
    folder: pathlib.Path, sizes: Sequence[int] = SIZES
) -> list[dict[str, Any]]:
    """Measure each strategy, and Kronos beside it; none without Watcher.

    :param folder: where made-up clusters may lie
    """
    found: list[dict[str, Any]] = []
    if importlib.util.find_spec('watcher') is None:
        return found
    for hosts in sizes:
        path = clusters.file(folder, hosts=hosts)
        ours = _run(path, f'spread, {FEW_MOVES} moves', FEW_MOVES)
        some = [ours, _run(path, 'pack', 0)]
        for name in STRATEGIES:
            theirs = _run(path, name, 0)
            some.append(theirs)
            if name.startswith('stab') and theirs['moves']:
                some.append(_run(path, 'spread, as many', theirs['moves']))
        for row in some:
            row['ratio'] = row['seconds'] / ours['seconds']
        found += some
    return found


def _run(path: str, by: str, moves: int) -> dict[str, Any]:
    print(f'  {pathlib.Path(path).name} {by} ...', file=sys.stderr)
    result: dict[str, Any] = processes.run(
        'bench.field.watcher_strategies', path=path, by=by, moves=moves
    )
    return result


def text(found: Sequence[dict[str, Any]]) -> str:
    if not found:
        return 'not measured, Watcher is not installed in this Python'
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'


def measured(path: str, by: str, moves: int) -> dict[str, Any]:
    """One planner on one cluster, whose moves are judged alike.

    :param by: one of :data:`STRATEGIES`, or a mode of Kronos
    :param moves: the budget of Kronos; 0: none
    """
    result = cluster.read(path)
    if by in STRATEGIES:
        seconds, made = theirs(result.snapshot, *STRATEGIES[by])
    else:
        seconds, made = _ours(result, moves)
        by = f'Kronos: {by}'
    placed = Placed(result.snapshot, result.policies)
    before, used = placed.combined, placed.hosts_in_use
    placed.move(made)
    return {
        'hosts': len(result.snapshot.hosts),
        'by': by,
        'moves': len(made),
        'before': before,
        'after': placed.combined,
        'gib': placed.moved_mb / 1024,
        'emptied': used - placed.hosts_in_use,
        'broken_groups': placed.broken_groups,
        'overfull_hosts': placed.overfull_hosts,
        'seconds': seconds,
    }


def _ours(
    found: cluster.Cluster, moves: int
) -> tuple[float, list[tuple[str, str]]]:
    """Pack fills hosts to the brim here, since their consolidation does."""
    settings = Settings(
        unlimited=True,
        search=SearchName.BEST,
        cost_weight=case.USUAL.cost_weight,
    )
    policies = found.policies
    if moves:
        settings = case.spreading('best', moves)
    else:
        policies = case.packing(policies, 1.0)
        for readings in found.snapshot.readings.values():
            readings.capacity = readings.imbalance
    began = time.process_time()
    plan = propose.plan([found.snapshot], policies, settings, case.CONCURRENT)
    seconds = time.process_time() - began
    return seconds, [
        (step.instance, step.destination) for step in plan.report.steps
    ]


def theirs(
    snapshot: Snapshot, name: str, parameters: Mapping[str, Any]
) -> tuple[float, list[tuple[str, str]]]:
    """Seconds of the processor, and the moves of a strategy.

    :param parameters: those that are not the strategy's defaults
    """
    from watcher.common import utils
    from watcher.decision_engine.strategy import strategies

    kind = {
        'workload_stabilization': strategies.WorkloadStabilization,
        'vm_workload_consolidation': strategies.VMWorkloadConsolidation,
    }[name]
    random.seed(SEED)  # stabilization draws hosts by lot
    strategy = kind(utils.Struct(datasources=None))
    strategy._compute_model = _model(snapshot)
    strategy._datasource_backend = _Datasource(snapshot)
    chosen = {
        key: one.get('default')
        for key, one in kind.get_schema()['properties'].items()
    }
    strategy.input_parameters = utils.Struct(chosen | dict(parameters))
    began = time.process_time()
    strategy.pre_execute()
    strategy.do_execute()
    seconds = time.process_time() - began
    moves = [
        action['input_parameters']
        for action in strategy.solution.actions
        if action['action_type'] == 'migrate'
    ]
    return seconds, [
        (move['resource_id'], move['destination_node']) for move in moves
    ]


def _model(snapshot: Snapshot) -> Any:
    """The cluster as Watcher's collector would have it."""
    from watcher.decision_engine.model import model_root

    model = model_root.ModelRoot()
    nodes = {}
    for host in snapshot.hosts.values():
        nodes[host.name] = _node(host)
        model.add_node(nodes[host.name])
    for one in snapshot.instances.values():
        instance = _instance(one)
        model.add_instance(instance)
        model.map_instance(instance, nodes[one.host])
    return model


def _node(host: Host) -> Any:
    from watcher.decision_engine.model import element

    room = host.headroom or {}
    return element.ComputeNode(
        uuid=host.name,
        hostname=host.name,
        status='disabled' if host.closed else 'enabled',
        disabled_reason=None,
        state='up',
        memory=room['MEMORY_MB'].capacity,
        memory_mb_reserved=0,
        memory_ratio=1.0,
        vcpus=room['VCPU'].capacity,
        vcpu_reserved=0,
        vcpu_ratio=1.0,
        disk=DISK_GB,
        disk_gb_reserved=0,
        disk_ratio=1.0,
    )


def _instance(one: Instance) -> Any:
    from watcher.decision_engine.model import element

    return element.Instance(
        uuid=one.uuid,
        name=one.name,
        state='active',
        memory=one.memory_mb,
        vcpus=one.vcpus,
        disk=1,
        metadata={},
        # What may not move is left out by the audit's scope.
        watcher_exclude=bool(one.unmovable),
    )


class _Datasource:
    """Answers what the strategies ask for, in Watcher's units.

    An instance's share of its host is its use of its own vCPUs, in percent,
    and its memory in MiB; a host's memory is in KiB.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._scores: dict[str, dict[str, float]] = {}
        self._shares: dict[str, dict[str, float]] = {}
        for name, readings in snapshot.readings.items():
            self._scores[name] = _values(readings.imbalance.samples)
            profile = readings.profile
            self._shares[name] = _values(profile.samples) if profile else {}
        self._hosts = {
            uuid: snapshot.hosts[instance.host]
            for uuid, instance in snapshot.instances.items()
        }

    def statistic_aggregation(
        self,
        resource: Any,
        resource_type: str,
        meter_name: str,
        *_: Any,
        **__: Any,
    ) -> float:
        return {
            'host_cpu_usage': self.get_host_cpu_usage,
            'host_ram_usage': self.get_host_ram_usage,
            'instance_cpu_usage': self.get_instance_cpu_usage,
            'instance_ram_usage': self.get_instance_ram_usage,
        }[meter_name](resource)

    def get_host_cpu_usage(self, resource: Any, *_: Any, **__: Any) -> float:
        return 100 * self._scores['cpu'][resource.uuid]

    def get_host_ram_usage(self, resource: Any, *_: Any, **__: Any) -> float:
        return self._scores['ram'][resource.uuid] * resource.memory * KIB

    def get_instance_cpu_usage(
        self, resource: Any, *_: Any, **__: Any
    ) -> float:
        share = self._shares['cpu'][resource.uuid]
        vcpus = self._room(resource, 'VCPU')
        return 100 * share * vcpus / resource.vcpus

    def get_instance_ram_usage(
        self, resource: Any, *_: Any, **__: Any
    ) -> float:
        share = self._shares['ram'][resource.uuid]
        return share * self._room(resource, 'MEMORY_MB')

    def get_instance_root_disk_size(
        self, resource: Any, *_: Any, **__: Any
    ) -> float:
        return float(resource.disk)

    def _room(self, resource: Any, name: str) -> int:
        return (self._hosts[resource.uuid].headroom or {})[name].capacity


def _values(samples: Sequence[Any]) -> dict[str, float]:
    return {sample.label: sample.value for sample in samples}


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
