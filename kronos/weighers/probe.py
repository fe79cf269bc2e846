# SPDX-License-Identifier: Apache-2.0
"""The probe of the weigher: what nova-scheduler would make of a configuration.

A process of its own: Nova's options and Watcher's cannot be in one. It reads
a request as JSON from its input and writes the answer to its output.
"""

import json
import math
import os
import sys
import types
from typing import Any

from nova.scheduler import utils, weights

from kronos.common import exceptions
from kronos.conf import validation
from kronos.weighers import host_scores, load, recent_placements, score_source

OURS = load.KronosWeigher.__name__


def main() -> None:
    """Answer one request."""
    out = os.dup(sys.stdout.fileno())
    # What others print is no part of the answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    answer = probe(json.load(sys.stdin))
    with os.fdopen(out, 'w') as stream:
        json.dump(answer, stream)


def probe(request: dict[str, Any]) -> dict[str, Any]:
    """Load what nova-scheduler would load, and score the hosts.

    :param request: ``files``, ``folders``, ``asks`` (whether Prometheus may
        be asked), ``hosts`` with their ``name``, ``type`` and the names of
        their ``aggregates``, and the metadata of ``aggregates`` by name
    """
    load.CONF(
        [],
        project='nova',
        default_config_files=request['files'],
        default_config_dirs=request['folders'],
    )
    answer: dict[str, Any] = {'error': '', 'weighers': [], 'scores': {}}
    names = list(load.CONF.filter_scheduler.weight_classes)
    try:
        classes = weights.HostWeightHandler().get_matching_classes(names)
    # As nova-scheduler does, which does not start then.
    except Exception as error:
        answer['error'] = f'{type(error).__name__}: {error}'
        return answer
    answer['weighers'] = [_weigher(weigher) for weigher in classes]
    answer['is_enabled'] = load.KronosWeigher in classes
    answer['faults'] = list(validation.faults(load.CONF))
    if not answer['faults']:
        answer['multiplier'] = load.CONF.kronos.weight_multiplier
        answer['policies_file'] = load.CONF.kronos.policies_file
        if request['asks']:
            answer |= _scores(request)
    return answer


def _weigher(weigher: type) -> dict[str, Any]:
    """Its multiplier where no aggregate has its own; None: not known."""
    row: dict[str, Any] = {'name': weigher.__name__, 'multiplier': None}
    host = types.SimpleNamespace(aggregates=[], host='', nodename='')
    try:
        if weigher is load.KronosWeigher:
            default = load.CONF.kronos.weight_multiplier
            row['multiplier'] = utils.get_weight_multiplier(
                host, load.MULTIPLIER_KEY, default
            )
        else:
            row['multiplier'] = float(weigher().weight_multiplier(host))
    # Another's weigher may do anything; this is only told.
    except Exception as error:
        row['error'] = type(error).__name__
    if row['multiplier'] is not None and not math.isfinite(row['multiplier']):
        row |= {'multiplier': None, 'error': 'not a finite number'}
    return row


def _scores(request: dict[str, Any]) -> dict[str, Any]:
    """What each host weighs now; None: it is neutral."""
    aggregates = {
        name: types.SimpleNamespace(name=name, metadata=metadata)
        for name, metadata in request['aggregates'].items()
    }
    known_hosts = {
        host['name']: host_scores.KnownHost(
            [aggregates[name] for name in host['aggregates']],
            host['type'],
            0.0,
            0.0,
        )
        for host in request['hosts']
    }
    modes = set[str]().union(*(host.modes() for host in known_hosts.values()))
    try:
        answers = score_source.ScoreSource(load.CONF, load._session).ask(modes)
    except exceptions.KronosException as error:
        return {'scores_error': str(error)}
    # Its text might hold a secret.
    except Exception as error:
        return {'scores_error': f'unexpected {type(error).__name__}'}
    shown = host_scores.build(
        known_hosts, answers, recent_placements.RecentPlacements(0.0), 0.0, 0.0
    )
    return {
        'scores': {host: row.spot[2] for host, row in shown.rows.items()},
        'troubles': shown.troubles,
        'default_mode': str(answers.default_mode),
    }


if __name__ == '__main__':
    main()
