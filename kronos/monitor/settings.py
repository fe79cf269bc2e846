# SPDX-License-Identifier: Apache-2.0
"""The settings of the agent, of its options in a configuration."""

import re
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from oslo_config import cfg

from kronos.common import exceptions, plain_files, yaml_files
from kronos.common.names import near_names
from kronos.common.plugins.registry import UnusableError
from kronos.common.web.page_server import Address
from kronos.conf import monitor as options
from kronos.conf import validation
from kronos.monitor.sinks import registry as sinks
from kronos.monitor.sinks.base import Sink
from kronos.monitor.sources import registry as sources
from kronos.monitor.sources.base import Options as SourceOptions

_SINK = re.compile('[a-z0-9][a-z0-9_-]{0,63}')
LIBVIRT_EXPORTER = 9177


@dataclass
class SinkSettings:
    name: str
    driver: str
    options: dict[str, Any]
    opts: list[Any] = field(default_factory=list, compare=False)
    """All options that it has."""


@dataclass
class Settings:
    """All that an agent is told."""

    host: str
    source: str
    source_options: SourceOptions
    rules_file: str
    state_file: str
    spool_bytes: int
    stale_seconds: float
    control_error_seconds: float
    metrics: Address
    sinks: list[SinkSettings]
    sink_names: list[str]
    """Those whose options are wrong, too: rules may name them."""


def whole(conf: Any, files: Sequence[str]) -> tuple[Settings, list[str]]:
    """As :func:`look`, with the package that the source needs."""
    settings, faults = look(conf, files)
    return settings, [*faults, *_missing_source(settings.source)]


def look(conf: Any, files: Sequence[str]) -> tuple[Settings, list[str]]:
    """The settings as far as options are right, and what is wrong with them.

    What the source needs may not be installed here.

    :param conf: it was read, and holds no other options than needed
    :param files: what it was read from
    :raises ConfigurationError: an option of the agent's own has a wrong value
    """
    options.register_opts(conf)
    more = _opts_of_source(conf[options.GROUP].source)
    try:
        conf.register_opts(more, group=options.GROUP)
    except cfg.DuplicateOptError as error:
        raise exceptions.ConfigurationError(
            reason=f'[{options.GROUP}] source: {_taken(error)}'
        ) from None
    opts = [*options.OPTS, *more]
    faults = [*validation.faults(conf, [(options.GROUP, opts)])]
    if faults:
        # What else is wrong cannot be told before these are right.
        raise exceptions.ConfigurationError(reason='; '.join(faults))
    own = conf[options.GROUP]
    chosen = [_sink(conf, name, faults) for name in dict.fromkeys(own.sinks)]
    faults += [*_faults_of(own), *_faults_of_metrics(own)]
    usable = [sink for sink in chosen if sink]
    faults += _unknown(files, opts, usable)
    return _settings(own, more, usable), faults


def _opts_of_source(name: str) -> list[Any]:
    """Those of a source of another package, if it can be loaded."""
    if name in sources.SOURCES:
        return []
    try:
        return [*sources.load(name).OPTS]
    except (KeyError, UnusableError):
        return []


def _settings(
    own: Any, more: list[Any], chosen: list[SinkSettings]
) -> Settings:
    return Settings(
        own.host or socket.gethostname(),
        own.source,
        SourceOptions(
            own.events_file or '',
            own.libvirt_uri,
            own.storm_rate,
            own.storm_seconds,
            {opt.dest: own[opt.dest] for opt in more},
        ),
        own.rules_file,
        own.state_file,
        own.spool_max_mb * 2**20,
        own.stale_seconds,
        own.control_error_seconds,
        Address(
            own.metrics_host,
            own.metrics_port,
            own.metrics_certfile or '',
            own.metrics_keyfile or '',
            own.metrics_client_cafile or '',
        ),
        chosen,
        list(dict.fromkeys(own.sinks)),
    )


def _sink(conf: Any, name: str, faults: list[str]) -> SinkSettings | None:
    """A sink, or what is wrong with it."""
    if not _SINK.fullmatch(name):
        faults.append(
            f'[{options.GROUP}] sinks: {yaml_files.clip(name)} is not a '
            'valid name: use lowercase letters, digits, "-" and "_"'
        )
        return None
    driver, group = options.driver_of(conf, name), options.group_of(name)
    lacking: list[str] = []
    sink = _class_of(driver, lacking)
    if sink is None and driver not in sinks.DRIVERS:
        faults += [f'[{group}] driver: {fault}' for fault in lacking]
        return None
    own = sink.OPTS if sink else ()
    try:
        opts = options.register_sink(conf, name, driver, own)
    except cfg.DuplicateOptError as error:
        faults.append(f'[{group}] driver: {_taken(error)}')
        return None
    if wrong := [*validation.faults(conf, [(group, opts)])]:
        faults += wrong
        return None
    values = {opt.dest: conf[group][opt.dest] for opt in opts}
    sink_faults = sink.faults(values) if sink else lacking
    faults += [f'[{group}] {fault}' for fault in sink_faults]
    return SinkSettings(name, driver, values, opts)


def _class_of(driver: str, faults: list[str]) -> type[Sink] | None:
    try:
        return sinks.load(driver)
    except KeyError:
        hint = near_names.of_fields(driver, sinks.names())
        faults.append(f'there is no driver {yaml_files.clip(driver)}, {hint}')
    except UnusableError as error:
        faults.append(str(error))
    except ImportError as error:
        faults.append(missing(error))
    return None


def _taken(error: cfg.DuplicateOptError) -> str:
    return (
        f'{error.opt_name} is an option of Kronos already. Change the name '
        'of the option in the package'
    )


def missing(error: ImportError) -> str:
    """What to do about a package that is not there."""
    remedy = (
        f'the package {error.name} is not installed: pip install '
        "'kronos-watcher[monitor]'"
    )
    if error.name and error.name.startswith('libvirt'):
        remedy += ", or install the distribution's python3-libvirt"
    return remedy


def _faults_of(own: Any) -> Iterator[str]:
    """What is wrong with the agent's own options beside each other."""
    where = f'[{options.GROUP}]'
    if own.source not in sources.names():
        hint = near_names.of_fields(own.source, sources.names())
        clipped = yaml_files.clip(own.source)
        yield f'{where} source: there is no source {clipped}, {hint}'
    if own.source == 'synthetic' and not own.events_file:
        yield f'{where} events_file: is not set, and source is synthetic'


def _missing_source(name: str) -> Iterator[str]:
    """The package that a source needs and that is not here."""
    try:
        sources.load(name)
    except KeyError:
        return
    except UnusableError as error:
        yield f'[{options.GROUP}] source: {error}'
    except ImportError as error:
        yield f'[{options.GROUP}] source: {missing(error)}'


def _faults_of_metrics(own: Any) -> Iterator[str]:
    """The same of those of /metrics."""
    where = f'[{options.GROUP}]'
    if own.metrics_port == LIBVIRT_EXPORTER:
        yield (
            f'{where} metrics_port: {LIBVIRT_EXPORTER} is the port of the '
            'libvirt exporters; use another'
        )
    for name in ('metrics_keyfile', 'metrics_client_cafile'):
        if own[name] and not own.metrics_certfile:
            yield f'{where} {name}: is set, but metrics_certfile is not'
    if own.metrics_certfile and not own.metrics_keyfile:
        yield f'{where} metrics_certfile: is set, but metrics_keyfile is not'
    for name in (
        'metrics_certfile',
        'metrics_keyfile',
        'metrics_client_cafile',
    ):
        if fault := plain_files.fault(own[name] or ''):
            yield f'{where} {name}: {own[name]} cannot be read: {fault}'


def _unknown(
    files: Sequence[str], own: list[Any], chosen: Sequence[SinkSettings]
) -> Iterator[str]:
    """Names that oslo.config would pass over in silence."""
    by_group = {
        options.GROUP: own,
        **{options.group_of(sink.name): sink.opts for sink in chosen},
    }
    for path in files:
        sections: dict[str, dict[str, Any]] = {}
        cfg.ConfigParser(path, sections).parse()
        for section, keys in sections.items():
            names = _names_of(by_group.get(section, []))
            for key in keys if names else ():
                if key not in names:
                    hint = near_names.of_fields(key, names)
                    clipped = yaml_files.clip(key)
                    yield f'[{section}] {clipped} in {path}: unknown, {hint}'


def _names_of(opts: Sequence[Any]) -> list[str]:
    """As a file may have them; keystoneauth's have older ones, too."""
    names = [opt.dest for opt in opts]
    older = [old.name for opt in opts for old in opt.deprecated_opts]
    return [*names, *(name.replace('-', '_') for name in older)]
