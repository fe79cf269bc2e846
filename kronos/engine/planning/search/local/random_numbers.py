# SPDX-License-Identifier: Apache-2.0
"""The random numbers of a search, the same on every machine.

NumPy promises the bits of a generator for all times, but not what it draws
from them.
"""

import math

import numpy as np

from kronos.engine.arrays import FloatArray

SHIFT = np.uint64(11)
UNIT = 2.0**-53


class RandomNumbers:
    """A generator of random numbers.

    :param seed: the same seed, the same numbers
    """

    def __init__(self, seed: int = 1) -> None:
        self._bits = np.random.PCG64(seed)

    def draw(self, *shape: int) -> FloatArray:
        """Numbers from 0 to less than 1, evenly distributed."""
        raw = self._bits.random_raw(math.prod(shape))
        whole = np.right_shift(np.asarray(raw, dtype=np.uint64), SHIFT)
        numbers: FloatArray = whole.astype(np.float64) * UNIT
        return numbers.reshape(shape)
