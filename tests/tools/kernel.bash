# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel of QEMU guests.

# find_kernel DIR: its path into kernel: COMMPLACE_TEST_KERNEL, one of /boot, or
# Debian's cloud kernel (which needs no modules for ext4 on NVMe), downloaded into
# DIR. Not 0 when there is none.
find_kernel() {
	local package binary
	kernel=${COMMPLACE_TEST_KERNEL:-$(ls /boot/vmlinuz-* 2>/dev/null | tail -1)}
	[ -z "$kernel" ] || return 0
	package=$(apt-cache depends linux-image-cloud-amd64 |
		awk '/Depends: linux-image/ { print $2; exit }')
	# From Debian 14 on the image is in a package below that.
	binary=$(apt-cache depends "$package" |
		awk '/Depends: linux-binary/ { print $2; exit }')
	(cd "$1" && apt-get download "${binary:-$package}" &&
		dpkg-deb -x ./*.deb k) >/dev/null 2>&1
	kernel=$(ls "$1"/k/boot/vmlinuz-* "$1"/k/usr/lib/modules/*/vmlinuz \
		2>/dev/null)
	[ -n "$kernel" ]
}
