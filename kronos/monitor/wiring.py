# SPDX-License-Identifier: Apache-2.0
"""The wiring of an agent: its parts, made from its settings."""

from collections import deque

from kronos.common import exceptions
from kronos.monitor.agent import Agent
from kronos.monitor.deliveries.delivery import Backoff, Delivery, Look
from kronos.monitor.deliveries.trigger_delivery import TriggerDelivery
from kronos.monitor.metrics import Metrics, Server
from kronos.monitor.rules.file import WatchedRules
from kronos.monitor.settings import Settings, SinkSettings
from kronos.monitor.sinks import registry as sinks
from kronos.monitor.sinks.base import Trigger
from kronos.monitor.sources import registry as sources
from kronos.monitor.spool import Spool


def agent_of(settings: Settings) -> Agent:
    """An agent with all its parts; nothing of it has begun.

    :raises ConfigurationError: the rules are wrong, the state file cannot be
        used, or the metrics cannot be served
    """
    watched = WatchedRules(settings.rules_file, settings.sink_names)
    metrics = Metrics(settings.host)
    spool = Spool(settings.state_file, settings.spool_bytes)
    source = sources.make(settings.source, deque(), settings.source_options)
    deliveries = [
        _delivery(sink, settings, spool, source.look, metrics)
        for sink in settings.sinks
    ]
    return Agent(
        settings,
        watched,
        spool,
        source,
        deliveries,
        metrics,
        _server(settings, metrics),
    )


def _delivery(
    own: SinkSettings,
    settings: Settings,
    spool: Spool,
    look: Look,
    metrics: Metrics,
) -> Delivery:
    sink = sinks.make(own.driver, own.name, own.options)
    backoff = Backoff(most=own.options['retry_max_seconds'])
    if isinstance(sink, Trigger):
        return TriggerDelivery(sink, spool, metrics, backoff)
    stale = settings.stale_seconds
    return Delivery(sink, spool, look, metrics, stale, backoff)


def _server(settings: Settings, metrics: Metrics) -> Server | None:
    address = settings.metrics
    if not address.port:
        return None
    try:
        return Server(address, metrics)
    except OSError as error:
        reason = getattr(error, 'strerror', None) or error
        raise exceptions.ConfigurationError(
            reason='[kronos_monitor] metrics_port: /metrics cannot be served '
            f'at {address.host}:{address.port}: {reason}'
        ) from None
