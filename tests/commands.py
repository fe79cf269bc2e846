# SPDX-License-Identifier: Apache-2.0
"""How is a command of Kronos run within the process of a test?"""

import contextlib
import gc
import io
from collections.abc import Callable
from typing import Any

import fixtures

SOLVER_SECONDS = 'kronos.engine.planning.proof.certificate.MOST_SECONDS'


def run(main: Callable[..., int], *arguments: Any) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a ``main``.

    What earlier tests left is not collected meanwhile: Python 3.13 tells on
    stderr what of it was not closed. A solver has no time to say much.
    """
    out, err = io.StringIO(), io.StringIO()
    gc.disable()
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            fixtures.MonkeyPatch(SOLVER_SECONDS, 0.2),
        ):
            try:
                code = main(*arguments)
            except SystemExit as end:
                code = int(end.code or 0)
    finally:
        gc.enable()
    return code, out.getvalue(), err.getvalue()
