# SPDX-License-Identifier: Apache-2.0
"""The explanation of ``--explain``: which rule decides of an event."""

from collections.abc import Sequence

from kronos.common import durations, exceptions, yaml_files
from kronos.common.names import near_names
from kronos.monitor import events
from kronos.monitor.events import Kind, kind_of
from kronos.monitor.rules import decision as decisions
from kronos.monitor.rules.decision import Ruling
from kronos.monitor.rules.models import Action, Match, Rule

_EVENT_FIELDS = ('kind', 'event', 'detail')


def explain(
    words: Sequence[str], chosen: Sequence[Rule], sinks: Sequence[str]
) -> str:
    """Which rule decides, and what becomes of the event.

    :param words: an event, such as STOPPED_FAILED, WATCHDOG/RESET or a kind,
        and then FIELD=VALUE of an incident
    :raises ConfigurationError: one is not known
    """
    event, detail, kind = _event(words[0])
    fields: dict[str, list[str]] = {'event': [event], 'detail': [detail]}
    names = [name for name in Match.model_fields if name not in _EVENT_FIELDS]
    for word in words[1:]:
        name, sign, value = word.partition('=')
        if not sign or name not in names:
            hint = near_names.of_fields(name, names)
            raise exceptions.ConfigurationError(
                f'{yaml_files.clip(word)}: it must be FIELD=VALUE, {hint}'
            )
        fields.setdefault(name, []).append(value)
    name = f'{event}/{detail}'.strip('/')
    if kind is None:
        return f'{name} is not a failure: no incident, and no message.'
    fields['kind'] = [kind.value]
    text = _text(decisions.decide(chosen, fields, sinks))
    return f'{name} is a failure of kind {kind}. {text}'


def _text(decision: Ruling) -> str:
    if not decision.rule:
        return 'No rule matches: the event is dropped.'
    if decision.action is Action.DROP:
        return f'Rule {decision.rule} applies: the event is dropped.'
    to = ', '.join(decision.sinks) or 'no sink, since none is configured'
    more = ''
    if decision.dedup_seconds:
        more = (
            ', unless an event of its kind was sent for the same instance in '
            f'the {durations.exact(decision.dedup_seconds)} before'
        )
    return (
        f'Rule {decision.rule} applies: the event is sent as '
        f'{decision.severity} to {to}{more}.'
    )


def _event(word: str) -> tuple[str, str, Kind | None]:
    """The event, its detail and its kind, by one word for them."""
    if word in [*Kind]:
        return word, '', Kind(word)
    event, _, detail = word.partition('/')
    if word in events.DETAILS[events.LIFECYCLE]:
        event, detail = events.LIFECYCLE, word
    if event not in events.DETAILS:
        words = [*events.DETAILS[events.LIFECYCLE], *events.DETAILS, *Kind]
        raise _unknown(word, words)
    details = events.DETAILS[event]
    if detail and detail not in details and 'UNKNOWN_' not in detail:
        raise _unknown(
            word, [f'{event}/{name}' for name in details] or [event]
        )
    return event, detail, kind_of(event, detail)


def _unknown(word: str, words: Sequence[str]) -> exceptions.ConfigurationError:
    hint = near_names.of_fields(word, words)
    return exceptions.ConfigurationError(
        f'{yaml_files.clip(word)}: there is no such event, {hint}'
    )
