# SPDX-License-Identifier: Apache-2.0
"""A plan of kronos-openstack 0.2.0 for a recording, as JSON.

It is run in a virtual environment of its own, in which the package
``kronos`` is theirs: nothing of ours may be imported here.

  their_plan.py RECORDING MOVES [--repair]
"""

import json
import logging
import pathlib
import sys
import time

from oslo_config import cfg

from kronos.cmd import replay
from kronos.common import config
from kronos.engine import cooldown, loop
from kronos.policies import loader


def main() -> None:
    path, moves, *rest = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    folder, conf = pathlib.Path(path), configured('--repair' in rest)
    policies = loader.load_policies(folder / 'policies.yaml')
    for policy in policies.policies:
        policy.max_migrations_per_cycle = int(moves)
    nova = replay.ReplayNovaClient(folder, conf.engine.availability_zone)
    engine = loop.EngineLoop(
        conf,
        nova=nova,
        prometheus=replay.ReplayPrometheusClient(folder),
        placement=replay.ReplayPlacementClient(folder),
        cooldown=cooldown.CooldownTracker(0.0, 0.0),
    )
    began = time.process_time()
    report = engine.run_once(
        policies=policies, aggregates=nova.aggregate_keys()
    )
    seconds = time.process_time() - began
    if report.errors:
        sys.exit('; '.join(report.errors))
    plans = [
        aggregate_result.migration_plan
        for aggregate_result in report.aggregate_results
    ]
    steps = [step for plan in plans if plan is not None for step in plan.steps]
    json.dump(
        {
            'seconds': seconds,
            'steps': [(one.instance_uuid, one.to_host) for one in steps],
            'phases': [str(one.phase) for one in steps],
        },
        sys.stdout,
    )


def configured(is_repair: bool) -> cfg.ConfigOpts:
    """What an operator of theirs would have set."""
    conf = cfg.ConfigOpts()
    config.register_opts(conf)
    conf([], project='kronos', default_config_files=[])
    for name, value in (
        ('dry_run', True),
        # Their recordings do not have it.
        ('enforce_placement_claims', False),
        ('enforce_hard_affinity', is_repair),
        ('enforce_soft_affinity', is_repair),
    ):
        conf.set_override(name, value, 'engine')
    return conf


if __name__ == '__main__':
    main()
