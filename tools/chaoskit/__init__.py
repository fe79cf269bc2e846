# SPDX-License-Identifier: Apache-2.0
"""Random faults in the lab while continuous audits run. See ../chaos."""
