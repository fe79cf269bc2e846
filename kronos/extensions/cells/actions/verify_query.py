# SPDX-License-Identifier: Apache-2.0
"""The query of an operator that tells whether a moved server works.

``[kronos] cell_verify_query``. The guest has just booted, and exporters have
to find it: so it may take as long until the query is true as it then has to
stay true.
"""

import math
import re
from collections.abc import Callable

from kronos.actions.core.context import Patience
from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import durations, exceptions
from kronos.engine.scoring import answer_health
from kronos.engine.types import Reading
from kronos.extensions.cells import conf

ANY = ''
"""No label is asked for: a series need have none."""
_PLAIN = re.compile(r'[\w.:-]+', re.ASCII)
"""What cannot end a string of PromQL, however it is quoted there."""


def filled_in(query: str, uuid: str, host: str) -> str:
    """The query of one server.

    :raises ValueError: a name might mean something else in a query
    """
    for name in (uuid, host):
        if not _PLAIN.fullmatch(name):
            raise ValueError(f'{name!r} cannot be used in a query')
    return query.replace(conf.UUID, uuid).replace(conf.HOST, host)


def why_not_true(
    connect: Callable[[], PrometheusClient],
    query: str,
    seconds: float,
    interval: float,
    patience: Patience,
) -> str:
    """Why the query is not true for so long; '' if it is.

    :param interval: seconds between two looks
    """
    try:
        prometheus = connect()
    except exceptions.KronosException as error:
        return str(error)
    began = patience.clock()
    since: float | None = None
    while True:
        wrong = _wrong_with(prometheus.instant_query(query, ANY))
        now = patience.clock()
        if not wrong and since is None:
            since = now
        if wrong and (since is not None or now - began >= seconds):
            after = (
                ''
                if since is None
                else f' after {durations.rounded(now - since)}'
            )
            return wrong + after
        start = began if since is None else since
        if not wrong and now - start >= seconds:
            return ''
        if patience.is_cancelled():
            return 'not asked to the end, since the plan was cancelled'
        patience.sleep(min(interval, max(seconds - (now - start), 0.1)))


def _wrong_with(reading: Reading) -> str:
    if why := answer_health.why_unknown(reading):
        return f'not known: {why}'
    if not reading.samples:
        return 'it gives no series'
    for sample in reading.samples:
        if math.isnan(sample.value) or sample.value == 0:
            series = sample.series or 'its series'
            return f'it gives {sample.value:g} for {series}'
    return ''
