# SPDX-License-Identifier: Apache-2.0
"""The redaction: secrets and idle details have no place in a recording.

Planning looks at few of the metadata of instances; tenants keep all sorts of
things in the others.
"""

import dataclasses
import re
from collections.abc import Collection

from oslo_utils import strutils

from kronos.common import exceptions
from kronos.common.masking import HIDDEN, masked
from kronos.engine.eligibility.instances import PIN
from kronos.engine.types import Instance
from kronos.extensions.recovery.restarts import OPT_OUT
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.recordings.recording import Recording

_COMMENT = re.compile(r'#[^\n]*')
_SECRET = re.compile(
    r'pass|pwd|secret|token|credential|api.?key|bearer', re.IGNORECASE
)
"""What a comment holds that may hold a secret."""


def redacted(recording: Recording) -> Recording:
    """A copy without what planning does not need and nobody should see.

    It plans to the very same steps.
    """
    keys = {PIN, OPT_OUT}.union(*recording.request.excluded_metadata)
    found = recording.gathered
    cloud = dataclasses.replace(
        found.cloud,
        aggregates=[
            dataclasses.replace(
                one, metadata=strutils.mask_dict_password(one.metadata, HIDDEN)
            )
            for one in found.cloud.aggregates
        ],
    )
    services = found.services and {
        name: dataclasses.replace(
            one, disabled_reason=masked(one.disabled_reason)
        )
        for name, one in found.services.items()
    }
    return dataclasses.replace(
        recording,
        gathered=dataclasses.replace(
            found,
            cloud=cloud,
            services=services,
            instances=[_instance(one, keys) for one in found.instances],
            warnings=[masked(text) for text in found.warnings],
            exclusions_unknown=masked(found.exclusions_unknown),
            failures_unknown=masked(found.failures_unknown),
        ),
        answers={
            key: dataclasses.replace(
                one,
                error=masked(one.error),
                incomplete=masked(one.incomplete),
            )
            for key, one in recording.answers.items()
        },
        policies_text=_text(recording.policies_text, recording.policies),
        unknown=[masked(text) for text in recording.unknown],
    )


def _instance(instance: Instance, keys: Collection[str]) -> Instance:
    """Only what an owner or an audit may have said by its metadata."""
    metadata = {
        key: '' if key == PIN else value
        for key, value in instance.metadata.items()
        if key in keys
    }
    tags = [tag for tag in instance.tags if tag == PIN]
    return dataclasses.replace(instance, metadata=metadata, tags=tags)


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


def _comment(found: re.Match[str]) -> str:
    return f'# {HIDDEN}' if _SECRET.search(found[0]) else found[0]
