# SPDX-License-Identifier: Apache-2.0
"""The faults of a host: all that keeps it from taking any instance.

The planner gives the first reason alone.
"""

from collections.abc import Iterator, Mapping

from kronos.engine.eligibility import hosts
from kronos.engine.explain.scenario import Scenario
from kronos.engine.reasons import Code, Reason
from kronos.engine.scoring import evaluation


def faults(scene: Scenario, name: str) -> Iterator[Reason]:
    """All that keeps a host from taking anything, in a fixed order."""
    snapshot, settings = scene.case.snapshot, scene.case.settings
    about = snapshot.hosts[name]
    if snapshot.services is None:
        text = 'the state of the compute services is unknown'
        yield Reason(text, Code.SCOPE_NO_SERVICES)
        return
    if about.frozen:
        yield Reason(about.frozen, Code.HOST_FROZEN)
    yield from hosts.faults(snapshot.services.get(name))
    if settings.evacuate and name in (settings.drain_hosts or []):
        yield Reason('it is being drained', Code.HOST_DRAINED)
    if name in scene.scope.card.frozen_hosts:
        yield from _gaps(scene, name)
    if about.closed:
        yield Reason(about.closed, Code.HOST_CLOSED)
    if about.headroom is None and settings.require_headroom:
        text = 'Placement shows no inventory of it (require_headroom is set)'
        yield Reason(text, Code.HOST_NO_PLACEMENT)


def _gaps(scene: Scenario, name: str) -> Iterator[Reason]:
    ignored = ignored_policies(scene, name)
    for trial in scene.trials():
        policy = trial.policy.name
        if policy in ignored:
            continue
        if name not in trial.values:
            text = f'policy {policy} has no fresh sample for it'
            yield Reason(text, Code.HOST_NO_SAMPLE, policy)
        if trial.capacities is not None and name not in trial.capacities:
            text = (
                f'policy {policy}: host_capacity_query has no value above 0 '
                'for it'
            )
            yield Reason(text, Code.HOST_NO_CAPACITY, policy)


def ignored_policies(scene: Scenario, name: str) -> set[str]:
    """The policies that would not be used, if a host took part as it is.

    It lacks a value, and too few hosts would have one then. At least one
    policy has to be left.
    """
    if name in scene.available() or scene.case.settings.require_all_policies:
        return set()
    trials = [one for one in scene.trials() if not one.result.skipped]
    thin = _thin(scene)
    lost = [
        trial
        for trial in trials
        if any(name not in values for values in thin[trial.policy.name])
    ]
    heavy = [trial for trial in lost if trial.policy.weight > 0.0]
    if not any(one.policy.weight for one in trials if one not in lost):
        lost = [trial for trial in lost if trial is not heavy[0]]
    return {trial.policy.name for trial in lost}


def _thin(scene: Scenario) -> dict[str, list[Mapping[str, float]]]:
    """By policy the values of which one more host must not lack."""
    if not scene.thin:
        hosts = scene.available()
        least = scene.case.settings.min_host_coverage * (len(hosts) + 1)
        for trial in scene.trials():
            found = scene.thin[trial.policy.name] = []
            for values in (trial.values, trial.capacities, trial.loads):
                if values is not None:
                    measured = sum(host in values for host in hosts)
                    if measured < least - evaluation.NOISE or not measured:
                        found.append(values)
    return scene.thin
