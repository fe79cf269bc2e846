# SPDX-License-Identifier: Apache-2.0
"""A weigher of nova-scheduler: by Kronos where a server is large."""

from typing import Any

from kronos.weighers import load

LEAST_VCPUS = 4


class LargeOnly(load.KronosWeigher):
    """Weigh hosts for servers of four vCPUs or more.

    Small ones find a place anywhere: Nova's own weighers choose it.
    """

    def weigh_objects(
        self, weighed_obj_list: list[Any], weight_properties: Any
    ) -> list[float]:
        """A weight in [0, 1] for each host, in their order.

        Nothing may be raised here: it would fail what places the server.
        """
        flavor = getattr(weight_properties, 'flavor', None)
        if flavor is not None and flavor.vcpus < LEAST_VCPUS:
            return [0.0] * len(weighed_obj_list)
        weights: list[float] = super().weigh_objects(
            weighed_obj_list, weight_properties
        )
        return weights
