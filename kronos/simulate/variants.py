# SPDX-License-Identifier: Apache-2.0
"""The variants of a simulation: the columns that a call asks for.

Beside what is asked for, there are always: as it was, nothing moved, a plain
rule, and the load's own policies and options.
"""

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kronos.common.exceptions import ConfigurationError
from kronos.common.names import near_names
from kronos.engine.settings import PlanMode
from kronos.policies.models import Policy
from kronos.policies.windows import LONGEST, NOW, Window
from kronos.recordings import replay
from kronos.recordings.replay import ReplayOptions
from kronos.simulate import boots, windows
from kronos.simulate.audits import Audit
from kronos.simulate.boots import Boots
from kronos.simulate.columns import Column, Kind
from kronos.simulate.load import Load
from kronos.simulate.meter import QueryWindows

STRATEGIES = ('spread', 'pack', 'evacuate', 'affinity')
"""Words of ``--strategy``: what live migrations alone carry out."""
OF_SERVERS = 'servers'
"""As a window of hosts: they are the sum of what their servers show."""
BOOTS = {
    'recorded': Boots(),
    'nova': Boots(by_weighers=True),
    'kronos': Boots(by_weighers=True, multiplier=boots.MULTIPLIER),
}
"""By the word that asks for it."""
LONGEST_INTERVAL = 7 * 86400.0

BASE = 3
"""The place of the column that the others are compared with."""
Settings = Sequence[tuple[str, str]]
"""Names and values as text."""


@dataclass
class Request:
    """What a call asks for."""

    policies: list[Policy] | None = None
    """Instead of those of the load."""
    compare: dict[str, list[Policy]] = field(default_factory=dict)
    """By name of a column, the policies that it has instead."""
    strategies: list[str] = field(default_factory=list)
    """Of a column each, or several with commas between; the first is that of
    all other columns. None: as recorded."""
    base: Settings = ()
    """What holds for every column."""
    settings: list[Settings] = field(default_factory=list)
    """What a column of its own has otherwise, each."""
    seed: int = 0


@dataclass
class _Own:
    """What only a simulation asks of its settings."""

    interval: float = 300.0
    max_migrations: int | None = None
    failures: float = 0.0
    boots: Boots = field(default_factory=Boots)
    windows: dict[tuple[str, str], Window | None] = field(default_factory=dict)
    """By field of :class:`QueryWindows`, by policy."""
    options: dict[str, str] = field(default_factory=dict)
    """All the others, for policies and ``[kronos]``."""


def columns(load: Load, request: Request) -> list[Column]:
    """All columns, the one that the others are compared with at BASE.

    :raises ConfigurationError: names what does not fit, or is unknown
    :raises ScopeError: no scope can be planned
    """
    strategies = request.strategies or ['']
    first = strategies[0]
    name, words = first or 'as recorded', _of_strategies(first)
    if not first:
        words = 'the policies and options of the load'
    if request.policies is not None and not first:
        name = words = 'these policies'
    base = dataclasses.replace(
        _column(load, request, name, first, request.base), words=words
    )
    return [
        *_references(base),
        base,
        *_others(load, request, first),
        *(
            dataclasses.replace(
                _column(load, request, strategy, strategy, request.base),
                words=_of_strategies(strategy),
            )
            for strategy in strategies[1:]
        ),
    ]


def _of_strategies(names: str) -> str:
    """Them in a sentence: ``strategies spread and pack``."""
    plural = 'strategies' if ',' in names else 'strategy'
    return f'{plural} {names.replace(",", " and ")}'


def _references(base: Column) -> list[Column]:
    """What is always there beside the audits."""
    nothing = dataclasses.replace(
        base,
        name=Kind.NOTHING.value,
        kind=Kind.NOTHING,
        failures=0.0,
        words='',
    )
    return [
        dataclasses.replace(
            nothing, name=Kind.AS_IT_WAS.value, kind=Kind.AS_IT_WAS
        ),
        nothing,
        dataclasses.replace(
            base,
            name=Kind.PLAIN_RULE.value,
            kind=Kind.PLAIN_RULE,
            words='',
        ),
    ]


def _others(load: Load, request: Request, strategy: str) -> list[Column]:
    """Those with other settings, then those with other policies."""
    columns = [
        dataclasses.replace(
            _column(
                load, request, _named(own), strategy, [*request.base, *own]
            ),
            words=_words(own),
        )
        for own in request.settings
    ]
    columns += [
        _column(
            load,
            dataclasses.replace(request, policies=policies),
            path,
            strategy,
            request.base,
        )
        for path, policies in request.compare.items()
    ]
    return columns


def _words(settings: Settings) -> str:
    """The settings in a sentence: ``the average of 60 min of cpu``."""
    words = []
    policies: dict[str, list[str]] = {}
    for name, text in settings:
        kind, _, policy = name.partition('.')
        if kind == 'window':
            policies.setdefault(windows.parse(text).words, []).append(policy)
        elif kind == 'host_window' and text == OF_SERVERS:
            words.append('hosts that follow their servers')
        else:
            words.append(f'{name} = {text}')
    of_windows = [
        f'{window} of {" and ".join(names)}'
        for window, names in policies.items()
    ]
    return ' and '.join(dict.fromkeys([*of_windows, *words]))


def _named(settings: Settings) -> str:
    return ' '.join(f'{name}={value}' for name, value in settings)


def _column(
    load: Load,
    request: Request,
    name: str,
    strategies: str,
    settings: Settings,
) -> Column:
    own = _own(load, settings)
    names = strategies.split(',')
    if len(set(names)) < len(names):
        raise ConfigurationError(
            reason=f'--strategy {strategies:.80}: a strategy is there twice'
        )
    audits = [_audit(load, request, strategy, own) for strategy in names]
    return Column(
        name,
        audits,
        boots=own.boots,
        failures=own.failures,
        seed=request.seed,
    )


def _audit(load: Load, request: Request, strategy: str, own: _Own) -> Audit:
    recording = load.recording
    if strategy not in STRATEGIES and (strategy or request.strategies):
        raise ConfigurationError(
            reason=f'--strategy: no strategy is called "{strategy:.80}"; '
            f'name one of {", ".join(STRATEGIES)}, or several with commas '
            'between them'
        )
    strategy = strategy or _strategy(load, request)
    options = ReplayOptions(
        policies=request.policies,
        mode=strategy or None,
        max_migrations=own.max_migrations,
        overrides=own.options,
        convert_policies=True,
    )
    policies, settings = replay.planned_by(recording, options)
    for policy in policies:
        if policy.enabled and policy.name not in load.usage:
            raise ConfigurationError(
                reason=f'policy {policy.name}: the load has no usage for it, '
                f'only for {", ".join(load.usage)}; fetch a load with '
                '--policies FILE, or remove the policy'
            )
    return Audit(
        policies,
        settings,
        replay.request_of(recording, options, settings),
        own.interval,
        recording.max_concurrent,
        {
            policy.name: query_windows(load, policy, own.windows)
            for policy in policies
            if policy.enabled
        },
        f'kronos_{strategy}' if strategy else recording.strategy,
    )


def _strategy(load: Load, request: Request) -> str:
    """Instead of a strategy that cannot be simulated; '' if it can be."""
    recording = load.recording
    if recording.strategy in {PlanMode(each).strategy for each in STRATEGIES}:
        return ''
    policies = request.policies or recording.policies
    return policies[0].mode.value


def query_windows(
    load: Load,
    policy: Policy,
    chosen: dict[tuple[str, str], Window | None],
) -> QueryWindows:
    """The windows of a policy's queries in a column.

    What was chosen, else what its queries say, else what the load says of
    it: a recording rule tells nobody its window. Whoever chooses the window
    of the servers chooses that of the hosts, too.
    """
    derived = QueryWindows.of(policy)
    row = load.meta.policies[policy.name]
    servers, hosts = derived.servers, derived.hosts
    if servers == NOW:
        servers = windows.parse(row.window)
    if hosts == NOW:
        hosts = windows.parse(row.host_window or 'now')
    if ('servers', policy.name) in chosen:
        servers = hosts = chosen['servers', policy.name] or NOW
    hosts = chosen.get(('hosts', policy.name), hosts)
    return QueryWindows(servers, hosts, derived.capacity)


_WINDOWS = {'window': 'servers', 'host_window': 'hosts'}
_NAMES = ('interval', 'max_migrations', 'failures', 'boots')


def _own(load: Load, settings: Settings) -> _Own:
    """Take out what only a simulation knows.

    :raises ConfigurationError: names the setting, and what it must be
    """
    own = _Own()
    for name, text in settings:
        kind, _, policy = name.partition('.')
        if kind in _WINDOWS:
            if policy not in load.usage:
                raise ConfigurationError(
                    reason=f'{name}: the load has no usage by policy '
                    f'"{policy}"; '
                    + near_names.of_fields(policy, sorted(load.usage))
                )
            is_sum = text == OF_SERVERS and kind == 'host_window'
            own.windows[_WINDOWS[kind], policy] = (
                None if is_sum else _window(name, text)
            )
        elif name == 'mode':
            raise ConfigurationError(
                reason='mode: it cannot be set; name a strategy with '
                '--strategy, which converts the policies'
            )
        elif name in _NAMES:
            setattr(own, name, _understood(name, text))
        else:
            own.options[name] = text
    return own


def _window(name: str, text: str) -> Window:
    """:raises ConfigurationError: names the setting, and what it must be"""
    try:
        return windows.parse(text)
    except ConfigurationError:
        more = f', or {OF_SERVERS}' if name.startswith('host_') else ''
        raise ConfigurationError(
            reason=f'{name}={text:.80}: the window must be {windows.FORMS}, '
            f'of at most {LONGEST:g} s{more}'
        ) from None


def _understood(name: str, text: str) -> object:
    """The value of one of the settings that have numbers or words."""
    if name == 'boots':
        if text not in BOOTS:
            raise ConfigurationError(
                reason=f'boots={text:.80}: it must be one of '
                f'{", ".join(BOOTS)}'
            )
        return BOOTS[text]
    limits = {
        'interval': (1.0, LONGEST_INTERVAL),
        'max_migrations': (1, 2**31),
        'failures': (0.0, 1.0),
    }
    low, high = limits[name]
    number = float(text) if re.fullmatch(r'\d*\.?\d+', text) else -1.0
    is_whole = name != 'max_migrations' or number.is_integer()
    if not (low <= number <= high and is_whole):
        kind = 'a whole number' if name == 'max_migrations' else 'a number'
        raise ConfigurationError(
            reason=f'{name}={text:.80}: it must be {kind} from {low:g} to '
            f'{high:g}'
        )
    return int(number) if name == 'max_migrations' else number
