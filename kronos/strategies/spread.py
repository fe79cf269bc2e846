# SPDX-License-Identifier: Apache-2.0
"""Which strategy keeps the hosts of an aggregate even?"""

from kronos.strategies import base


class Spread(base.KronosStrategy):
    """Move instances from the busiest hosts to the least busy ones.

    It takes policies of mode ``spread`` and stops when every one of them
    is at or below its threshold.
    """

    MODE = 'spread'
    DISPLAY_NAME = 'Kronos: spread'

    @classmethod
    def get_name(cls) -> str:
        return 'kronos_spread'
