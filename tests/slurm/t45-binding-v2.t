#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Binding under cgroup v2 on a machine of 2 sockets x 2 cores: a QEMU guest whose
# root is an initramfs made of this host's Slurm. About a minute; skipped
# without qemu-system-x86 and busybox-static. The kernel is
# COMMPLACE_TEST_KERNEL, one of /boot, or Debian's cloud kernel, downloaded.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_PREFIX:?COMMPLACE_PREFIX is not set: the directory of make install}"

skip_all() {
	echo "1..0 # SKIP $1"
	# shellcheck disable=SC2034
	tap_done=1
	exit 0
}
for tool in qemu-system-x86_64 busybox cpio; do
	command -v "$tool" >/dev/null || skip_all "needs $tool"
done
busybox=$(command -v busybox)
! ldd "$busybox" >/dev/null 2>&1 || skip_all "needs a static busybox"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/commplace-v2.XXXXXX")
on_exit 'rm -rf "$tmp"'

find_kernel() {
	local package
	kernel=${COMMPLACE_TEST_KERNEL:-$(ls /boot/vmlinuz-* 2>/dev/null | tail -1)}
	[ -z "$kernel" ] || return 0
	package=$(apt-cache depends linux-image-cloud-amd64 |
		awk '/Depends: linux-image/ { print $2; exit }')
	(cd "$tmp" && apt-get download "$package" && dpkg-deb -x ./*.deb k) \
		>/dev/null 2>&1
	kernel=$(ls "$tmp"/k/boot/vmlinuz-* 2>/dev/null)
	[ -n "$kernel" ]
}
find_kernel || skip_all "needs a kernel image"

root=$tmp/root
stock=$(dirname "$(ls /usr/lib/*/slurm-wlm/libslurmfull.so)")
ours=$COMMPLACE_PREFIX/lib/slurm-wlm
programs=(/bin/bash /usr/sbin/slurmctld-wlm /usr/sbin/slurmd-wlm
	/usr/sbin/slurmstepd /usr/bin/srun /usr/bin/sbatch /usr/bin/squeue
	/usr/bin/sinfo /usr/bin/scancel /usr/sbin/munged /usr/bin/taskset
	/usr/bin/setpriv /usr/bin/timeout "$COMMPLACE_PREFIX/bin/commplace")

put() { # FILE [AS]: into the guest, by its own path
	mkdir -p "$root${2:-$1}"
	rmdir "$root${2:-$1}"
	cp -L "$1" "$root${2:-$1}"
}
make_root() {
	local f
	mkdir -p "$root"/{bin,dev,etc,home/user,proc,run,sys,tmp,c} \
		"$root"/c/{state,log,run,spool,profiles} "$root"/usr/{bin,lib,lib64}
	ln -s usr/lib "$root/lib"
	ln -s usr/lib64 "$root/lib64"
	put "$busybox" /bin/busybox
	for f in "${programs[@]}" "$stock"/*.so "$ours"/*.so; do
		# Slurm's pmix plugins drag in all of Open MPI's libraries.
		[[ "$f" == */mpi_pmix* ]] || put "$f"
	done
	# slurmd knows itself by this name; cgroup/v2 depends on it.
	ln -s slurmd-wlm "$root/usr/sbin/slurmd"
	ln -s slurmctld-wlm "$root/usr/sbin/slurmctld"
	for f in $(find "$root" -type f -exec ldd {} + 2>/dev/null |
		awk '$2 == "=>" && $3 ~ "^/" { print $3 }' | sort -u) \
		/lib/*/libgcc_s.so.1 /lib/*/ld-linux-x86-64.so.2 \
		/lib64/ld-linux-x86-64.so.2; do
		[ -e "$root$f" ] || put "$f"
	done
	printf '%s\n' root:x:0:0::/:/bin/bash \
		user:x:1000:1000::/home/user:/bin/bash >"$root/etc/passwd"
	printf '%s\n' root:x:0: user:x:1000: >"$root/etc/group"
	echo "hosts: files" >"$root/etc/nsswitch.conf"
	printf '%s\n' "127.0.0.1 localhost" "192.0.2.2 q0" >"$root/etc/hosts"
}

write_conf() {
	cat >"$root/c/slurm.conf" <<-END
	ClusterName=v2
	SlurmctldHost=q0(192.0.2.2)
	SlurmUser=root
	SlurmdUser=root
	AuthInfo=socket=/c/run/munge.socket
	PluginDir=$ours:$stock
	PlugStackConfig=/c/plugstack.conf
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	TaskPlugin=task/commplace,task/affinity,task/cgroup
	ProctrackType=proctrack/cgroup
	StateSaveLocation=/c/state
	SlurmdSpoolDir=/c/spool
	SlurmctldPidFile=/c/run/slurmctld.pid
	SlurmdPidFile=/c/run/slurmd.pid
	SlurmctldLogFile=/c/log/slurmctld.log
	SlurmdLogFile=/c/log/slurmd.log
	ReturnToService=2
	MailProg=/bin/true
	KillWait=2
	NodeName=q0 NodeHostname=q0 NodeAddr=192.0.2.2 Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=500
	PartitionName=main Nodes=q0 Default=YES MaxTime=INFINITE State=UP
	END
	printf '%s\n' CgroupPlugin=cgroup/v2 CgroupMountpoint=/sys/fs/cgroup \
		CgroupAutomount=yes IgnoreSystemd=yes ConstrainCores=yes \
		>"$root/c/cgroup.conf"
	echo "required $ours/spank_commplace.so" >"$root/c/plugstack.conf"
	echo "ProfileDir=/c/profiles" >"$root/c/commplace.conf"
	# Neither Slurm's order on the sockets nor the packed one suits it.
	cat >"$root/c/profiles/cross.json" <<-END
	{ "format": "commplace-signature", "version": 1, "name": "cross",
	  "ranks": 4, "phases": [ { "name": "all", "weight": 1,
	  "traffic": [ [0, 3, 100, 1], [1, 2, 100, 1] ] } ] }
	END
}

write_guest() {
	cat >"$root/home/user/report" <<-'END'
	#!/bin/bash
	allowed=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
	group=$(sed -n 's/^0:://p' /proc/self/cgroup)
	echo "$SLURM_PROCID $allowed ${group#*/job_*/} $(cat /sys/fs/cgroup$group/cpuset.cpus)"
	END
	cat >"$root/home/user/widen" <<-'END'
	#!/bin/bash
	taskset -pc 0-3 $$ >/dev/null 2>&1
	group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	(echo 0-3 >"$group/cpuset.cpus") 2>/dev/null && echo wrote
	(echo $$ >"${group%/*}/cgroup.procs") 2>/dev/null && echo moved
	(mkdir "$group/more") 2>/dev/null && echo made
	echo "$SLURM_PROCID $(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)"
	END
	cat >"$root/guest" <<-'END'
	echo # The firmware leaves the cursor in a line of its own.
	export SLURM_CONF=/c/slurm.conf
	ulimit -c 0
	as_user() {
		(cd /home/user && exec setpriv --reuid=1000 --regid=1000 \
			--clear-groups timeout 60 "$@")
	}
	show() { sed "s/^/$1: /"; }
	jobs_left() { find /sys/fs/cgroup -name 'job_*'; }
	head -c 128 /dev/urandom >/c/munge.key
	chmod 600 /c/munge.key
	munged --force --key-file=/c/munge.key --socket=/c/run/munge.socket \
		--pid-file=/c/run/munged.pid --log-file=/c/log/munged.log \
		--seed-file=/c/run/munged.seed
	slurmctld -c -f $SLURM_CONF
	slurmd -N q0 -f $SLURM_CONF
	for i in $(seq 60); do
		[ "$(sinfo -h -o %t)" = idle ] && break
		sleep 1
	done
	sinfo -h -o %t | show node
	commplace bind --signature /c/profiles/cross.json |
		awk '/^ *[0-9]/ { print $1, $3 }' | show plan
	as_user srun -n4 ./report | sort | show stock
	as_user srun -n4 --comm-profile=cross ./report | sort | show bound
	as_user srun -n4 --comm-profile=cross ./widen | sort | show widen
	as_user srun -n4 --comm-profile=cross --cpu-bind=map_cpu:3,2,1,0 \
		./report | sort | show wish
	as_user srun -n4 --comm-profile=cross bash -c \
		'setsid sleep 300 </dev/null >/dev/null 2>&1 & sleep 1'
	for i in $(seq 20); do [ -z "$(jobs_left)" ] && break; sleep 1; done
	jobs_left | show left
	id=$(as_user sbatch --parsable -n4 --comm-profile=cross -o /dev/null \
		--wrap "srun sleep 300")
	for i in $(seq 30); do
		[ -n "$(find /sys/fs/cgroup -name task_3)" ] && break
		sleep 1
	done
	find /sys/fs/cgroup -name 'task_[0-3]' | wc -l | show batch
	as_user scancel $id
	for i in $(seq 30); do [ -z "$(jobs_left)" ] && break; sleep 1; done
	jobs_left | show cancelled
	grep -hE 'fatal|commplace: .*(cannot|affinity only|left to)' /c/log/*.log |
		show log
	echo "end: reached"
	END
	cat >"$root/init" <<-'END'
	#!/bin/busybox sh
	/bin/busybox --install -s /bin
	export PATH=OURS/bin:/usr/bin:/usr/sbin:/bin
	mount -t proc proc /proc
	mount -t sysfs sys /sys
	mount -t devtmpfs dev /dev
	mount -t cgroup2 cgroup /sys/fs/cgroup
	ln -s /proc/self/fd /dev/fd
	hostname q0
	ip link set lo up
	ip addr add 192.0.2.2/32 dev lo
	mkdir /sys/fs/cgroup/system.slice
	chmod 1777 /tmp
	bash /guest >/dev/console 2>&1
	poweroff -f
	END
	sed -i "s|OURS|$COMMPLACE_PREFIX|" "$root/init"
	chmod 755 "$root/init" "$root"/home/user/*
	chmod -R go+rX "$root"
	chown -R 1000:1000 "$root/home/user"
}

make_root
write_conf
write_guest
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$tmp/root.gz"
timeout 300 qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max \
	-smp 4,sockets=2,cores=2 -m 1500 -nographic -no-reboot \
	-kernel "$kernel" -initrd "$tmp/root.gz" \
	-append "console=ttyS0 quiet panic=-1 rdinit=/init" \
	>"$tmp/console" 2>&1 </dev/null
tr -d '\r' <"$tmp/console" >"$tmp/out"
of() { sed -n "s/^$1: //p" "$tmp/out"; }

is "$(of end)" reached "the guest ran to its end" || diag "$(tail -n 40 "$tmp/out")"
is "$(of node)" idle "Slurm runs there, with cgroup/v2"
is "$(of plan)" "0 0
1 2
2 3
3 1" "ranks that talk share a socket"
is "$(of bound | awk '{ print $1, $2 }')" "$(of plan)" \
	"Cpus_allowed_list of each task is what commplace bind prints"
isnt "$(of stock | awk '{ print $1, $2 }')" "$(of plan)" "Slurm alone does else"
is "$(of bound | awk '{ print $3, $4 }')" "step_0/user/task_0 0
step_0/user/task_1 2
step_0/user/task_2 3
step_0/user/task_3 1" "each in a cgroup of its own with those CPUs"
is "$(of widen)" "$(of plan)" "the user cannot widen the set, nor leave it"
is "$(of wish | awk '{ print $1, $2 }')" "0 3
1 2
2 1
3 0" "--cpu-bind wins"
is "$(of wish | grep -c 'task_[0-9]')" 0 "and is left alone"
is "$(of left)" "" "no cgroup is left, though a task left a process"
is "$(of batch)" 4 "the step of a batch job is bound, too"
is "$(of cancelled)" "" "scancel leaves none either"
is "$(of log)" "" "nothing failed"
done_testing
