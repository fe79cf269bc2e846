#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The namespaces of one real host: its name, and its own places for libvirt.
# holder.sh NAME FOLDER INSTANCES HOSTS_FILE [SOURCE TARGET]...
set -eu
name=$1 folder=$2 instances=$3 names=$4
hostname "$name"
mount --make-rprivate /
# Only a booted system has /run/libvirt.
mount -t tmpfs tmpfs /run
mkdir /run/libvirt
mount --bind "$folder/varlib" /var/lib/libvirt
mount --bind "$folder/etc" /etc/libvirt
mount --bind "$folder/cache" /var/cache/libvirt
mount --bind "$folder/log" /var/log/libvirt
mount --bind "$folder/instances" "$instances"
mount --bind "$names" /etc/hosts
shift 4
while [ $# -gt 0 ]; do
    mount --bind "$1" "$2"
    shift 2
done
touch "$folder/ready"
exec sleep infinity
