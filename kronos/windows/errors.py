# SPDX-License-Identifier: Apache-2.0
"""Errors in what an operator writes about windows."""

from kronos.common.exceptions import ConfigurationError


class WindowError(ConfigurationError):
    """A window or a freeze that cannot be used; the text has its rule."""
