# SPDX-License-Identifier: Apache-2.0
"""The lost answers of Nova: whether a request arrived that gave an error.

Moves inside a cell and to another one use it.
"""

import re
from collections.abc import Callable

from oslo_log import log as logging

from kronos.actions.core.retries import Tries
from kronos.actions.live.context import Patience
from kronos.clients.nova.client import NovaClient
from kronos.common import exceptions

LOG = logging.getLogger(__name__)

QUIET_LOOKS = 3
"""So often Nova has to say that it knows of no request before one counts as
lost: a slow API worker may still be at it."""
_REQUEST_TIMEOUT = 408
"""A proxy's, which may have sent the request on."""
_OF_SERVER = re.compile(r'\bnot supported (?:for|with|by old)\b')
"""In what Nova answers, by its API's checks."""


def may_have_arrived(error: exceptions.NovaClientError) -> bool:
    """Whether Nova may carry out what gave an error."""
    status = error.kwargs['status']
    own_fault = 400 <= (status or 0) < 500 and status != _REQUEST_TIMEOUT
    return not own_fault and error.kwargs['sent'] is not False


def words_of(error: exceptions.NovaClientError) -> str:
    """Nova's own words of an HTTP error, without what was asked."""
    reason: str = error.kwargs['reason']
    return reason.partition(f'HTTP {error.kwargs["status"]}: ')[2]


def is_of_server(words: str) -> bool:
    """Whether Nova refuses a server wherever it is to go.

    Such as one with a vTPM, an accelerator, or a kind of port that an old
    nova-compute cannot move.
    """
    return _OF_SERVER.search(words) is not None


def await_request(
    settings: Tries,
    patience: Patience,
    nova: NovaClient,
    find: Callable[[], str],
) -> str:
    """Wait until Nova knows of a request, or surely of none.

    :param find: gives the id of a request that was not there before, or ''
    :returns: as ``find``
    """
    instance, timing = settings.task.instance, settings.timing
    deadline = patience.clock() + timing.queue_timeout
    quiet = 0
    while quiet < QUIET_LOOKS and patience.clock() < deadline:
        patience.sleep(timing.poll_interval)
        try:
            found = find()
            server = nova.get_instance(instance)
        except exceptions.NovaClientError as error:
            LOG.warning('Instance %s: %s', instance, error)
            continue
        if found:
            return found
        busy = server is not None and bool(server.task_state)
        quiet = 0 if busy else quiet + 1
    return ''
