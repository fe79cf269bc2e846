# SPDX-License-Identifier: Apache-2.0
"""Real hypervisors beside the simulated ones: libvirt and QEMU, without KVM.

Each real host is a pair of namespaces (mounts and name) with a libvirtd, a
nova-compute and two exporters; its guests are Linux under emulation.
"""
