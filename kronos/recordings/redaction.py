# SPDX-License-Identifier: Apache-2.0
"""The redaction: secrets and idle details have no place in a recording.

Planning looks at few of the metadata of instances; tenants keep all sorts of
things in the others.
"""

import dataclasses
import re
from collections.abc import Collection

from oslo_utils import strutils

from kronos.clients.nova.rows import HostAggregate
from kronos.common import exceptions
from kronos.common.masking import HIDDEN, masked
from kronos.engine.eligibility import consent
from kronos.engine.eligibility.instances import PIN
from kronos.engine.types import Instance
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.recordings import parts
from kronos.recordings.recording import Recording
from kronos.snapshots.cloud import CloudInventory

_COMMENT = re.compile(r'#[^\n]*')
_SECRET = re.compile(
    r'pass|pwd|secret|token|credential|api.?key|bearer', re.IGNORECASE
)
"""What a comment holds that may hold a secret."""


def redacted(recording: Recording) -> Recording:
    """A copy without what planning does not need and nobody should see.

    It plans to the very same steps.
    """
    keys = {PIN, consent.KEY}.union(
        *recording.request.excluded_metadata,
        *(part.metadata for part in parts.every()),
    )
    return dataclasses.replace(
        recording,
        gathered=_gathered(recording.gathered, keys),
        answers={
            key: dataclasses.replace(
                reading,
                error=masked(reading.error),
                incomplete=masked(reading.incomplete),
            )
            for key, reading in recording.answers.items()
        },
        policies_text=_text(recording.policies_text, recording.policies),
        unknown=[masked(text) for text in recording.unknown],
    )


def _gathered(
    gathered: CloudInventory, keys: Collection[str]
) -> CloudInventory:
    cloud = dataclasses.replace(
        gathered.cloud,
        aggregates=[*map(_aggregate, gathered.cloud.aggregates)],
    )
    services = gathered.services and {
        name: dataclasses.replace(
            service, disabled_reason=masked(service.disabled_reason)
        )
        for name, service in gathered.services.items()
    }
    copy = dataclasses.replace(
        gathered,
        cloud=cloud,
        services=services,
        instances=[
            _instance(instance, keys) for instance in gathered.instances
        ],
        warnings=[masked(text) for text in gathered.warnings],
        exclusions_unknown=masked(gathered.exclusions_unknown),
        beside=dict(gathered.beside),
    )
    for part in parts.every():
        part.redact(copy)
    return copy


def _aggregate(aggregate: HostAggregate) -> HostAggregate:
    metadata = strutils.mask_dict_password(aggregate.metadata, HIDDEN)
    return dataclasses.replace(aggregate, metadata=metadata)


def _instance(instance: Instance, keys: Collection[str]) -> Instance:
    """Only what an owner or an audit may have said by its metadata."""
    metadata = {
        key: _value(key, value)
        for key, value in instance.metadata.items()
        if key in keys
    }
    tags = [
        consent.shortened(tag)
        for tag in instance.tags
        if tag == PIN or consent.is_tag(tag)
    ]
    return dataclasses.replace(instance, metadata=metadata, tags=tags)


def _value(key: str, value: str) -> str:
    """A value of metadata, as much of it as planning and reasons need."""
    if key == PIN:
        return ''
    return consent.shortened(value) if key == consent.KEY else value


def _text(text: str, policies: list[Policy]) -> str:
    """The policies file with its comments, unless masking would change it."""
    hidden = _COMMENT.sub(_comment, masked(text))
    if hidden == text:
        return text
    try:
        if loader.parse(hidden, 'policies').policies == policies:
            return hidden
    except exceptions.PolicyFileError:
        pass
    return loader.dump(policies)


def _comment(match: re.Match[str]) -> str:
    return f'# {HIDDEN}' if _SECRET.search(match[0]) else match[0]
