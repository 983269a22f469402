#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ./quickstart --installed where there is cgroup v2 alone: in a QEMU guest whose
# disk is a copy of this root, with the packages that debian.bash left. Five minutes
# where processors are emulated.
top=$(cd "${0%/*}/../.." && pwd)
. "$top/tests/tools/tap.bash"
. "$top/tests/tools/kernel.bash"
[ "$top" = /commplace/source ] || bail "changes the system: only for a root of packages_run"
tmp=$(mktemp -d)
on_exit 'rm -rf "$tmp"'
apt-get -q -y --no-install-recommends install qemu-system-x86 busybox-static \
	e2fsprogs >"$tmp/log" 2>&1 || bail "$(tail -n 5 "$tmp/log")"
find_kernel "$tmp" || bail "no kernel image"

names="commplace libcommplace-dev libcommplace0 slurm-commplace-plugins"
dpkg -i /commplace/new/*.deb >"$tmp/log" 2>&1 || bail "$(tail -n 5 "$tmp/log")"
on_exit "dpkg --purge $names >/dev/null"
cat >/commplace/guest <<'END'
#!/bin/bash
export HOME=/root LANG=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup
ln -s /proc/self/fd /dev/fd
exec >/dev/ttyS0 2>&1 </dev/null
# Slurm listens where there is another address than 127.0.0.1.
hostname guest
printf '%s\n' "127.0.0.1 localhost" "192.0.2.2 guest" >/etc/hosts
busybox ip link set lo up
busybox ip addr add 192.0.2.2/32 dev lo
echo
echo "hierarchies: $(cat /proc/self/cgroup)"
cd /commplace/source && ./quickstart --installed
echo "status: $?"
find /sys/fs/cgroup -path '*task_*' -type d | sed 's/^/left: /'
echo o >/proc/sysrq-trigger
sleep 10
END
chmod 755 /commplace/guest
# Without what is mounted in it, and without the disk itself.
mkdir "$tmp/root"
on_exit 'umount -R "$tmp/root" 2>/dev/null'
mount --bind / "$tmp/root" && mount -t tmpfs tmp "$tmp/root/tmp" ||
	bail "no second look at the root"
mke2fs -q -t ext4 -O ^has_journal -d "$tmp/root" "$tmp/disk" 6G ||
	bail "no disk for a guest"
umount -R "$tmp/root"
timeout 900 qemu-system-x86_64 -machine q35 -accel tcg,thread=multi \
	-cpu Nehalem -smp 2 -m 3000 -nodefaults -nographic -serial stdio -no-reboot \
	-drive file="$tmp/disk",if=none,id=disk,format=raw,cache=unsafe \
	-device nvme,serial=disk,drive=disk -kernel "$kernel" \
	-append "console=ttyS0 quiet panic=-1 root=/dev/nvme0n1 rw init=/commplace/guest mitigations=off nowatchdog rcupdate.rcu_expedited=1" \
	>"$tmp/console" 2>&1 </dev/null
tr -d '\r' <"$tmp/console" >"$tmp/out"
of() { sed -n "s/^$1: //p" "$tmp/out"; }
is "$(of status)" 0 "./quickstart --installed" || diag "$(tail -n 60 "$tmp/out")" >&2
is "$(of hierarchies | cut -d: -f1)" 0 "the guest has cgroup v2 alone"
is "$(grep 'by affinity only' "$tmp/out")" "" "Slurm binds by cpusets there"
like "$(grep 'busiest link: ' "$tmp/out")" "busiest link: [-+][0-9]+ % against stock" \
	"where the job went is better than stock"
# "rank node CPU cgroup": each task has a directory and a CPU of its own.
ranks=$(grep -E '^ +[0-9]+ +q[0-9]+ +[01] +/.*/step_0/user/task_[0-9]+$' "$tmp/out")
is "$(awk '{ print $1 }' <<<"$ranks" | paste -sd' ')" "$(seq -s' ' 0 15)" \
	"each rank has a cpuset of its own"
is "$(awk '{ print $2, $3 }' <<<"$ranks" | sort -u | wc -l)" 16 "and a CPU"
isnt "$(grep '^  Loop time' "$tmp/out")" "" "LAMMPS ran to its end"
is "$(of left)" "" "no cgroup of a task is left"
diag "$(grep -E '^\[|busiest link:|^Total time' "$tmp/out")"
done_testing
