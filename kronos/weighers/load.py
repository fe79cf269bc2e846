# SPDX-License-Identifier: Apache-2.0
"""The weigher that nova-scheduler loads."""

import math
from typing import Any

import nova.conf
from nova import context, exception, objects
from nova import utils as nova_utils
from nova.scheduler import utils, weights
from oslo_concurrency import processutils

from kronos.conf import opts
from kronos.engine import phase_rules
from kronos.engine.phase_rules import SoftGroups
from kronos.engine.settings import SoftRules
from kronos.engine.types import Flavor, MigrationPhase
from kronos.metrics import process
from kronos.metrics.metric import Source
from kronos.policies.models import Mode
from kronos.weighers import (
    cache,
    score_source,
    slot_hold,
    soft_groups,
    weigher_metrics,
    workers,
)

CONF = nova.conf.CONF
opts.register_opts(CONF)

MULTIPLIER_KEY = 'kronos_weight_multiplier'
"""In the metadata of a host aggregate."""
NO_MULTIPLIER = 1.0


class KronosWeigher(weights.BaseHostWeigher):
    """Prefer the hosts that Kronos would choose.

    Nothing is ever raised: in the middle of a live migration that would
    put a healthy server into ERROR.

    :param scores: instead of those by the options of nova-scheduler
    """

    minval = 0.0
    maxval = 1.0

    def __init__(self, scores: cache.Cache | None = None) -> None:
        self._cache = scores or cache.Cache(
            score_source.ScoreSource(CONF, _session),
            read_hold=slot_hold.HoldReader(CONF, _flavor).read,
        )
        if scores is None:
            process.prepare(Source.SCHEDULER, CONF.kronos_metrics)
            workers.begin_in_each(self._cache, _workers)
        self._multiplier = NO_MULTIPLIER

    def weigh_objects(
        self, weighed_obj_list: list[Any], weight_properties: Any
    ) -> list[float]:
        """A weight in [0, 1] for each host, in their order.

        Below 0 with ``slot_weight``.
        """
        weighing = weigher_metrics.Weighing()
        try:
            weighed = self._weigh_all(weighed_obj_list, weight_properties)
        except Exception as error:
            self._cache.note_fault(error)
            weighing.failed()
            return [0.0] * len(weighed_obj_list)
        weighing.done(weighed)
        return weighed

    def _weigh_all(
        self, weighed_obj_list: list[Any], weight_properties: Any
    ) -> list[float]:
        self._multiplier = _multiplier()
        states = [weighed_host.obj for weighed_host in weighed_obj_list]
        weighed = self._cache.weigh(states, _vcpus(weight_properties))
        if getattr(weight_properties, 'instance_group', None):
            hosts = [state.host for state in states]
            weighed = soft_groups.bound(
                weighed, hosts, weight_properties, _penalty(CONF.kronos)
            )
        if (hold := self._cache.hold) is not None:
            weighed = hold.weighed(weighed, states, weight_properties)
        return weighed

    def _weigh_object(self, host_state: Any, weight_properties: Any) -> float:
        try:
            vcpus = _vcpus(weight_properties)
            return self._cache.weigh([host_state], vcpus)[0]
        except Exception as error:
            self._cache.note_fault(error)
            return 0.0

    def weight_multiplier(self, host_state: Any) -> float:
        """Of the host's aggregates, else ``[kronos] weight_multiplier``."""
        try:
            multiplier = utils.get_weight_multiplier(
                host_state, MULTIPLIER_KEY, self._multiplier
            )
            # "nan" is a number to Nova, and would spoil the whole order.
            return (
                multiplier if math.isfinite(multiplier) else self._multiplier
            )
        except Exception as error:
            self._cache.note_fault(error)
            return NO_MULTIPLIER


def _multiplier() -> float:
    """That of the options; where it is empty or no number, it is told."""
    multiplier = CONF.kronos.weight_multiplier
    is_number = multiplier is not None and math.isfinite(multiplier)
    return float(multiplier) if is_number else NO_MULTIPLIER


def _vcpus(spec: Any) -> float:
    """Of the server that is placed."""
    flavor = getattr(spec, 'flavor', None)
    return float(getattr(flavor, 'vcpus', 0) or 0)


def _penalty(kronos: Any) -> float:
    """What it costs a new server to break the rule of a soft group.

    As it is for a move that spreads: servers are placed as plans place.
    """
    meaning = phase_rules.soft_groups(
        MigrationPhase.SPREAD,
        Mode.SPREAD,
        SoftRules(kronos.soft_rules),
        enforce_soft_affinity=False,
    )
    if meaning is SoftGroups.PRICED:
        return float(kronos.soft_rule_penalty)
    return soft_groups.FULL_PENALTY


def _flavor(name: str) -> Flavor | None:
    """From Nova's API database, as nova-scheduler has it."""
    admin = context.get_admin_context()
    try:
        flavor = objects.Flavor.get_by_name(admin, name)
    except exception.FlavorNotFoundByName:
        return None
    return Flavor(
        flavor.flavorid,
        flavor.name,
        flavor.vcpus,
        flavor.memory_mb,
        flavor.root_gb,
        flavor.ephemeral_gb,
        flavor.swap,
        dict(flavor.extra_specs),
    )


def _workers() -> int:
    """As many as nova-scheduler starts."""
    return int(CONF.scheduler.workers or processutils.get_worker_count())


def _session() -> Any:
    """Keystone knows nova-scheduler already, for Placement."""
    return nova_utils.get_ksa_adapter('placement').session
