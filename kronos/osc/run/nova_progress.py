# SPDX-License-Identifier: Apache-2.0
"""The progress of live migrations, as Nova shows it to the user."""

from typing import Any

from kronos.clients.nova import api, schema
from kronos.clients.nova.progress import Progress
from kronos.common import exceptions
from kronos.osc.moves import MoveAction


class NovaProgress:
    """How far a move has come, if Nova lets the user see it.

    :param adapter: of keystoneauth, for Nova
    """

    def __init__(self, adapter: Any) -> None:
        self._api = api.Api(adapter, max_retries=0)
        self._is_refused = False

    def __call__(self, move: MoveAction) -> float | None:
        """Per cent of memory and disk that has arrived; None: not known.

        Whatever keeps Nova from an answer costs only this number.
        """
        if self._is_refused or not move.server:
            return None
        path = f'/servers/{api.quoted(move.server)}/migrations'
        try:
            body = self._api.get(path, shape=schema.Running)
        except exceptions.NovaClientError as error:
            # After an answer such as 404 the next server may be there.
            self._is_refused = error.kwargs['status'] in (None, 401, 403)
            return None
        figures = [Progress.of(row) for row in body['migrations']]
        return next((_percent(x) for x in figures if x is not None), None)


def _percent(progress: Progress) -> float | None:
    total = (progress.memory_total or 0) + (progress.disk_total or 0)
    if total <= 0:
        return None
    return max(0.0, min(100.0, 100 * (1 - progress.remaining / total)))
