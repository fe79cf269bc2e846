# SPDX-License-Identifier: Apache-2.0
"""The lots of a search: chance that is the same on every machine.

NumPy promises the bits of a generator for all times, what it draws from
them not.
"""

import numpy as np

from kronos.engine.arrays import FloatArray

SHIFT = np.uint64(11)
UNIT = 2.0**-53


class Lots:
    """Numbers by lot.

    :param seed: the same seed, the same lots
    """

    def __init__(self, seed: int = 1) -> None:
        self._bits = np.random.PCG64(seed)

    def draw(self, *shape: int) -> FloatArray:
        """Of at least 0 and less than 1, all as likely."""
        raw = self._bits.random_raw(int(np.prod(shape)))
        whole = np.right_shift(np.asarray(raw, dtype=np.uint64), SHIFT)
        numbers: FloatArray = whole.astype(np.float64) * UNIT
        return numbers.reshape(shape)
