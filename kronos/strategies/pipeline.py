# SPDX-License-Identifier: Apache-2.0
"""The pipeline of audits, of which no strategy of Kronos can be a stage.

In Watcher's specification for 2026.2, strategies run one after another, each
on the cluster model that the ones before it would leave behind. A strategy is
not told so. A plan of Kronos for the cloud as it is would contradict those of
the stages before it.
"""

from typing import Any

from kronos.common import exceptions

REFUSAL = (
    'The strategy cannot be a stage of a pipeline: it plans from Nova as it '
    'is, not from the cluster model of another stage. Run it in an audit of '
    'its own.'
)


def is_audit(audit: Any) -> bool:
    """Whether a strategy runs for an audit, and not for a stage alone."""
    try:
        return bool(audit.audit_type)
    except (AttributeError, NotImplementedError):
        # The latter is of a field that was never set.
        return False


def require_no_model(model: object) -> None:
    """Refuse the cluster model that a stage before left behind.

    :param model: of the strategy, which never has it made
    :raises KronosException: there is a model
    """
    if model is not None:
        raise exceptions.KronosException(REFUSAL)
