# SPDX-License-Identifier: Apache-2.0
"""The decision on an incident: the first rule that matches makes it.

Without one the incident is dropped.
"""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kronos.monitor.incidents import Incident
from kronos.monitor.rules.models import Action, Match, Rule, Severity

Fields = Mapping[str, Sequence[str]]
"""Of an incident: the texts that a field of :class:`Match` may match."""


@dataclass
class Ruling:
    """What becomes of an incident."""

    action: Action
    rule: str = ''
    """'': none matched."""
    severity: Severity = Severity.ERROR
    sinks: tuple[str, ...] = ()
    dedup_seconds: float = 0.0


def fields_of(incident: Incident, host: str) -> Fields:
    """What the rules see of an incident."""
    metadata, events = incident.metadata, incident.events
    return {
        'kind': [incident.kind.value],
        'event': [event.event for event in events],
        'detail': [event.detail for event in events],
        'instance': [incident.instance],
        'name': [incident.name, metadata.display_name],
        'project': [metadata.project, metadata.project_name],
        'flavor': [metadata.flavor],
        'extra_specs': _pairs(metadata.extra_specs),
        'image': [metadata.image, *_pairs(metadata.image_properties)],
        'host': [host],
    }


def decide(
    rules: Sequence[Rule], fields: Fields, sinks: Sequence[str]
) -> Ruling:
    """The decision of the first rule that matches.

    :param sinks: all that there are
    """
    for rule in rules:
        if matches(rule.match, fields):
            chosen = sinks if rule.sinks is None else rule.sinks
            return Ruling(
                rule.action,
                rule.name,
                rule.severity,
                tuple(chosen),
                rule.dedup_seconds,
            )
    return Ruling(Action.DROP)


def matches(match: Match, fields: Fields) -> bool:
    """Whether each field that is asked for has a text that fits."""
    for field in Match.model_fields:
        globs = getattr(match, field)
        texts = [text for text in fields.get(field, ()) if text]
        if globs is not None and not any(
            fnmatch.fnmatchcase(text, glob) for text in texts for glob in globs
        ):
            return False
    return True


def _pairs(values: Mapping[str, str]) -> list[str]:
    return [f'{key}={value}' for key, value in values.items()]
