# SPDX-License-Identifier: Apache-2.0
"""What is a lab with two cells? A cloud beside which another one is run."""
