# SPDX-License-Identifier: Apache-2.0
"""The checks of ``--check``: would the agent work like this?"""

from collections import deque
from dataclasses import dataclass

from kronos.common import exceptions
from kronos.common.plugins.registry import UnusableError
from kronos.monitor import state_file, state_rows
from kronos.monitor.rules.file import WatchedRules
from kronos.monitor.settings import Settings, missing
from kronos.monitor.sinks import registry as sinks
from kronos.monitor.sources import registry as sources


@dataclass
class AgentCheck:
    what: str
    fault: str = ''
    """'': none."""


def run(settings: Settings) -> list[AgentCheck]:
    """Look at all that the agent needs, and change nothing."""
    checks = [_rules(settings)]
    checks.append(
        AgentCheck(
            f'state file {settings.state_file}',
            state_file.check(settings.state_file, state_rows.fault),
        )
    )
    for own in settings.sinks:
        sink = sinks.make(own.driver, own.name, own.options)
        try:
            checks.append(
                AgentCheck(f'sink {own.name}', sink.check(settings.host))
            )
        finally:
            sink.close()
    if settings.source in sources.names():
        checks.append(_source(settings))
    return checks


def _source(settings: Settings) -> AgentCheck:
    what = f'source {settings.source}'
    try:
        source = sources.make(
            settings.source, deque(), settings.source_options
        )
    except UnusableError as error:
        return AgentCheck(what, str(error))
    except ImportError as error:
        return AgentCheck(
            what, f'it could not be tried here: {missing(error)}'
        )
    return AgentCheck(what, source.check())


def _rules(settings: Settings) -> AgentCheck:
    path = settings.rules_file
    try:
        watched = WatchedRules(path, settings.sink_names)
    except exceptions.ConfigurationError as error:
        return AgentCheck(f'event rules {path}', str(error))
    return AgentCheck(f'event rules: {len(watched.rules)} of {watched.place}')
