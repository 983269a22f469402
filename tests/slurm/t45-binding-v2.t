#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Binding and its clean-up under cgroup v2 on a machine of 2 sockets x 2 cores x
# 2 threads with memory of their own: a QEMU guest whose root is an initramfs
# made of this host's Slurm. About two minutes (one and a half of CPU time), the
# whole of ./run-tests --vm; skipped without qemu-system-x86 and busybox-static. The kernel is
# COMMPLACE_TEST_KERNEL, one of /boot, or Debian's cloud kernel, downloaded.
# COMMPLACE_TEST_LAUNCHES (default 10) steps end one after the other, some seconds
# each.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/../tools/kernel.bash"
. "${0%/*}/../tools/slurm.bash"
: "${COMMPLACE_PREFIX:?COMMPLACE_PREFIX is not set: the directory of make install}"

for tool in qemu-system-x86_64 busybox cpio; do
	command -v "$tool" >/dev/null || skip_all "needs $tool"
done
busybox=$(command -v busybox)
! ldd "$busybox" >/dev/null 2>&1 || skip_all "needs a static busybox"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/commplace-v2.XXXXXX")
on_exit 'rm -rf "$tmp"'

find_kernel "$tmp" || skip_all "needs a kernel image"

root=$tmp/root
launches=${COMMPLACE_TEST_LAUNCHES:-10}
series=$SLURM_SERIES stock=$SLURM_STOCK_PLUGINS
ours=$COMMPLACE_PREFIX/lib/slurm-wlm
programs=(/bin/bash "$COMMPLACE_PREFIX/bin/commplace"
	"$COMMPLACE_PREFIX/sbin/commplaced")
for f in slurmctld slurmd slurmstepd srun sbatch sinfo scancel scontrol munged \
    taskset setpriv timeout; do
	programs+=("$(PATH=$SLURM_PATH type -P $f)")
done

put() { # FILE [AS]: into the guest, by its own path
	mkdir -p "$root${2:-$1}"
	rmdir "$root${2:-$1}"
	cp -L "$1" "$root${2:-$1}"
}
make_root() {
	local f
	mkdir -p "$root"/{bin,dev,etc,home/user,proc,run,sys,tmp,c} \
		"$root"/c/{state,log,run,spool/q{0,1},profiles,decisions} "$root"/usr/{bin,lib,lib64}
	ln -s usr/lib "$root/lib"
	ln -s usr/lib64 "$root/lib64"
	put "$busybox" /bin/busybox
	for f in "${programs[@]}" "$stock"/*.so "$ours"/*.so; do
		# Slurm's pmix plugins drag in all of Open MPI's libraries.
		[[ "$f" == */mpi_pmix* ]] || put "$f"
	done
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
	SlurmdSpoolDir=/c/spool/%n
	SlurmctldPidFile=/c/run/slurmctld.pid
	SlurmdPidFile=/c/run/slurmd.%n.pid
	SlurmctldLogFile=/c/log/slurmctld.log
	SlurmdLogFile=/c/log/slurmd.%n.log
	SchedulerParameters=sched_interval=2,bf_interval=2
	ReturnToService=2
	MailProg=/bin/true
	KillWait=2
	GresTypes=gpu
	NodeName=q0 Gres=gpu:4 NodeHostname=q0 NodeAddr=192.0.2.2 Port=7000 CPUs=8 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=400
	NodeName=q1 NodeHostname=q0 NodeAddr=192.0.2.2 Port=7001 CPUs=8 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=400
	PartitionName=main Nodes=q0 Default=YES MaxTime=INFINITE State=UP
	PartitionName=both Nodes=q[0-1] MaxTime=INFINITE State=UP
	END
	printf '%s\n' CgroupPlugin=cgroup/v2 CgroupMountpoint=/sys/fs/cgroup \
		IgnoreSystemd=yes ConstrainCores=yes >"$root/c/cgroup.conf"
	if [ "$series" -ge 2405 ]; then
		echo SwitchType=switch/commplace >>"$root/c/slurm.conf"
	else
		echo CgroupAutomount=yes >>"$root/c/cgroup.conf"
	fi
	# No GPUs, but as many devices; the last two are near the first socket.
	# Newer Slurms want all of a socket's cores.
	local core=(2 3 0 1) i=0
	[ "$series" -lt 2311 ] || core=(2-3 2-3 0-1 0-1)
	for f in null zero full random; do
		echo "NodeName=q0 Name=gpu File=/dev/$f Cores=${core[i++]}"
	done >"$root/c/gres.conf"
	echo "required $ours/spank_commplace.so" >"$root/c/plugstack.conf"
	printf '%s\n' ProfileDir=/c/profiles BindMemory=yes \
		>"$root/c/commplace.conf"
	profile two 2 "[0,1,100,1]"
	cat >"$root/c/network.json" <<-END
	{ "format": "commplace-network", "version": 1, "name": "two",
	  "type": "dragonfly", "groups": 2, "rows": 1, "columns": 1,
	  "nodes_per_router": 1, "global_links_per_group_pair": 1,
	  "nodes": "q[0-1]" }
	END
	# Neither Slurm's order on the sockets nor the packed one suits it.
	profile cross 4 "[0,3,100,1],[1,2,100,1]"
	# Pairs for the threads of a core, and pairs of pairs for a socket.
	profile threads 8 "[0,7,100,1],[1,6,100,1],[2,5,100,1],[3,4,100,1],
		[0,3,10,1],[1,2,10,1]"
	# Three ranks on a node, two on the other.
	profile odd 5 "[0,2,100,1],[3,4,100,1],[2,3,9,1]"
}
profile() { # NAME RANKS TRAFFIC
	cat >"$root/c/profiles/$1.json" <<-END
	{ "format": "commplace-signature", "version": 1, "name": "$1",
	  "ranks": $2, "phases": [ { "name": "all", "weight": 1,
	  "traffic": [ $3 ] } ] }
	END
}

write_guest() {
	# Lines "rank CPUs memory cgroup cpuset.cpus cpuset.mems [GPUs]".
	cat >"$root/home/user/report" <<-'END'
	#!/bin/bash
	while read -r key value; do
		case $key in
		Cpus_allowed_list:) cpus=$value ;;
		Mems_allowed_list:) mems=$value ;;
		esac
	done </proc/self/status
	IFS=: read -r _ _ group </proc/self/cgroup
	name=step_${group#*/step_}
	# From 23.02 on Slurm makes each task a directory, but no cpuset.
	[ -n "$(</sys/fs/cgroup$group/cpuset.cpus)" ] || name=${name%_*}_special
	echo "$SLURM_PROCID $cpus $mems $name" \
		"$(</sys/fs/cgroup$group/cpuset.cpus.effective)" \
		"$(</sys/fs/cgroup$group/cpuset.mems.effective)" \
		${CUDA_VISIBLE_DEVICES-}
	[ -z "${1:-}" ] || sleep "$1"
	END
	cat >"$root/home/user/widen" <<-'END'
	#!/bin/bash
	./report
	taskset -pc 0-7 $$ >/dev/null 2>&1
	IFS=: read -r _ _ group </proc/self/cgroup
	group=/sys/fs/cgroup$group
	(echo 0-7 >"$group/cpuset.cpus") 2>/dev/null && echo wrote
	(echo 0-1 >"$group/cpuset.mems") 2>/dev/null && echo wrote
	(echo $$ >"${group%/*}/cgroup.procs") 2>/dev/null && echo moved
	(mkdir "$group/more") 2>/dev/null && echo made
	./report
	END
	# In one allocation, since an own one for each costs seconds.
	cat >"$root/home/user/steps" <<-'END'
	#!/bin/bash
	step() {
		local name=$1
		shift
		timeout 200 srun "$@" 2>&1 | sort | sed "s/^/$name: /"
	}
	step stock -n4 -c2 ./report
	step bound -n4 -c2 --comm-profile=cross --cpu-bind=verbose ./widen
	step wish -n4 -c2 --comm-profile=cross --cpu-bind=map_cpu:6,4,2,0 \
		--mem-bind=local ./report
	step smt -n8 --comm-profile=threads ./report
	step nomt -n4 --hint=nomultithread --comm-profile=cross ./report
	step over -O -n8 --hint=nomultithread --comm-profile=threads ./report
	step wide -n2 -c4 --comm-profile=two ./report
	step beside --exact -n2 -c2 --comm-profile=two ./report 5 &
	step beside --exact -n2 -c2 --comm-profile=two ./report 5 &
	wait
	>steps.done
	END
	# Every fourth task is killed, every fourth leaves a process.
	cat >"$root/home/user/many" <<-'END'
	#!/bin/bash
	for ((i = 0; i < $1; i++)); do
		case $((i % 4)) in
		0 | 1) run=true ;;
		2) run='kill -9 $$' ;;
		3) run='setsid sleep 300 </dev/null >/dev/null 2>&1 & exit 0' ;;
		esac
		timeout 200 srun -n2 -c2 --comm-profile=two bash -c "$run"
	done
	>many.done
	END
	cat >"$root/guest" <<-'END'
	echo # The firmware leaves the cursor in a line of its own.
	export SLURM_CONF=/c/slurm.conf
	ulimit -c 0
	as_user() {
		(cd /home/user && exec setpriv --reuid=1000 --regid=1000 \
			--clear-groups timeout 400 "$@")
	}
	show() { sed "s/^/$1: /"; }
	wait_for() { # SECONDS COMMAND...
		local end=$((SECONDS + $1))
		shift
		until "$@"; do
			[ $SECONDS -lt $end ] || return
			sleep 0.3
		done
	}
	# A loaded machine may not read a profile in the time of a launch.
	late() { cat /c/log/*.log | grep -c 'commplace: .*is still being read'; }
	patiently() {
		local before out
		for _ in 1 2 3 4 5; do
			before=$(late)
			out=$(as_user "$@" | sort)
			[ "$(late)" != "$before" ] || break
		done
		echo "$out"
	}
	mark() { echo "second $SECONDS: $*"; }
	nodes() { [ "$(sinfo -h -p both -o %t)" = idle ]; }
	# From 26.05 on a job's directory has the name of its SLUID, which 25.11
	# prints, too.
	job_dir() {
		local sluid=
		[ SERIES -lt 2605 ] ||
			sluid=$(scontrol -d show job $1 | sed -n 's/.*SLUID=\(s[0-9A-Z]*\).*/\1/p')
		echo ${sluid:-job_$1}
	}
	jobs_left() {
		local name='*'
		[ -z "${1:-}" ] || name=$(job_dir $1)
		find /sys/fs/cgroup/system.slice -mindepth 2 -maxdepth 2 \
			\( -name 'job_*' -o -name 's[0-9A-Z]*' \) -name "$name"
	}
	no_jobs() { [ -z "$(jobs_left "$@")" ]; }
	of_job() { find /sys/fs/cgroup -path "*/$(job_dir $1)/step_0/user/task_$2"; }
	bound() { [ -n "$(cat $(of_job $1 1)/cpuset.cpus 2>/dev/null)" ]; }
	all_bound() {
		local id
		for id; do bound $id || return; done
	}
	no_step() { [ -z "$(find /sys/fs/cgroup -path "*/$(job_dir $1)/step_0")" ]; }
	stepd() { # of step 0 of a job; the task has its title until it runs
		grep -la "^slurmstepd: \[$1\.0\]" /proc/[0-9]*/cmdline \
			2>/dev/null | cut -d/ -f3
	}
	no_process() { ! pidof sleep >/dev/null; }
	head -c 128 /dev/urandom >/c/munge.key
	chmod 600 /c/munge.key
	munged --force --key-file=/c/munge.key --socket=/c/run/munge.socket \
		--pid-file=/c/run/munged.pid --log-file=/c/log/munged.log \
		--seed-file=/c/run/munged.seed
	start_slurm() {
		slurmctld -c -f $SLURM_CONF
		slurmd -N q0 -f $SLURM_CONF
		slurmd -N q1 -f $SLURM_CONF
		wait_for 90 nodes
	}
	start_slurm
	sinfo -h -p both -o %t | show node
	mark nodes are up
	commplace bind --signature /c/profiles/cross.json |
		awk '/^ *[0-9]/ { print $1, $3 }' | show plan
	as_user sbatch -N1 --exclusive -o steps.out ./steps
	wait_for 120 [ -e /home/user/steps.done ]
	cat /home/user/steps.out
	mark steps
	patiently srun -p both -N2 -n5 -c2 --exclusive --comm-profile=odd \
		./report | show odd
	mark two nodes
	patiently srun -n4 -c2 --gpus-per-task=1 --comm-profile=cross \
		./report | show gpu
	patiently srun -n4 -c2 --gpus-per-node=4 --gpu-bind=map_gpu:1,3,2,0 \
		--comm-profile=cross ./report | show gpumap
	mark GPUs
	# Slurm gives each component nodes of its own.
	patiently srun -p both -N1 -n2 -c2 --comm-profile=two ./report : \
		-p both -N1 -n2 -c2 --comm-profile=two ./report | show het
	patiently srun -p both -N1 -n2 -c2 --comm-profile=cross ./report : \
		-p both -N1 -n2 -c2 --comm-profile=cross ./report | show hetall
	mark heterogeneous jobs
	as_user srun -n4 -c2 --comm-profile=cross bash -c \
		'setsid sleep 300 </dev/null >/dev/null 2>&1 & exit 0'
	wait_for 30 no_jobs
	jobs_left | show left
	mark a process was left
	many=$(as_user sbatch --parsable -N1 --exclusive -o /dev/null \
		./many LAUNCHES)
	wait_for $((60 + LAUNCHES * 10)) [ -e /home/user/many.done ]
	wait_for 30 no_jobs $many
	mark LAUNCHES steps
	grep -c "StepId=$many\.[0-9]*: bound by" /c/log/slurmd.q0.log | show many
	{
		jobs_left
		pidof sleep
		find /c/spool/q0 -name "q[01]_*" -o -name 'hwloc_topo_[0-9]*'
	} | show many
	# Four jobs at a time, on a core each: every ending waits a while.
	for i in 0 1 2 3; do
		id[$i]=$(as_user sbatch --parsable -n2 -t 9 -o /dev/null \
			--comm-profile=two --wrap "srun sleep 30$i")
	done
	wait_for 60 all_bound ${id[@]}
	for i in 0 1 2 3; do
		echo $(cat $(of_job ${id[i]} 0)/cpuset.cpus \
			$(of_job ${id[i]} 1)/cpuset.cpus)
	done | sort | show jobs
	mark four jobs
	as_user scancel ${id[0]}
	scontrol update JobId=${id[1]} EndTime=now+5
	kill -9 $(stepd ${id[2]})
	wait_for 60 no_jobs ${id[0]}
	jobs_left ${id[0]} | show cancelled
	mark scancel
	wait_for 60 no_step ${id[2]}
	no_step ${id[2]} && echo clean | show killed
	mark slurmstepd killed
	wait_for 90 no_jobs ${id[1]}
	jobs_left ${id[1]} | show late
	mark time limit
	# slurmd does not see this one die.
	kill $(cat /c/run/slurmd.q0.pid)
	wait_for 20 [ ! -e /c/run/slurmd.q0.pid ]
	kill -9 $(stepd ${id[3]})
	slurmd -N q0 -f $SLURM_CONF
	wait_for 60 no_step ${id[3]}
	no_step ${id[3]} && echo clean | show restarted
	mark slurmstepd killed without slurmd
	as_user scancel ${id[2]} ${id[3]}
	wait_for 60 no_jobs
	jobs_left | show ended
	wait_for 30 no_process
	pidof sleep | show process
	find /c/spool/q0 -name 'q[01]_*' -o -name 'hwloc_topo_[0-9]*' | show file
	grep -hE 'fatal|commplace: .*(cannot|affinity only|left to)' /c/log/*.log |
		grep -v 'is still being read' | show log
	grep -h 'commplace: .*removing' /c/log/slurmd.q0.log | show swept
	# All of commplace, as ./quickstart has it.
	kill $(cat /c/run/slurm*.pid)
	wait_for 20 eval '! ls /c/run/slurm*.pid >/dev/null 2>&1'
	sed -i 's|^SelectType=.*|SelectType=select/cons_tres_commplace\nJobSubmitPlugins=commplace|' \
		$SLURM_CONF
	printf '%s\n' NetworkFile=/c/network.json StateDir=/c/decisions \
		MaxDecisionTime=20s >>/c/commplace.conf
	start_slurm
	patiently srun -p both -N2 --ntasks-per-node=2 -c4 --comm-profile=cross \
		./report | show whole
	grep -ho 'commplace: policy=.* nodes=[^ ]*' /c/log/slurmctld.log |
		show whole
	mark the whole of commplace
	echo "end: reached"
	END
	cat >"$root/init" <<-'END'
	#!/bin/busybox sh
	/bin/busybox --install -s /bin
	export PATH=OURS/bin:SLURMS
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
	bash /guest 2>&1 | grep -v '^find: .* No such file' >/dev/console
	poweroff -f
	END
	sed -i "s|OURS|$COMMPLACE_PREFIX|; s|SLURMS|$SLURM_PATH|" "$root/init"
	sed -i "s|LAUNCHES|$launches|g; s|SERIES|$series|" "$root/guest"
	chmod 755 "$root/init" "$root"/home/user/*
	chmod -R go+rX "$root"
	chown -R 1000:1000 "$root/home/user"
}

make_root
write_conf
write_guest
# The fewer of the guest's CPUs wait for each other, the faster it is where the
# host has less than eight. Beside builds that made a load of 20 it had not ended after
# 500 s.
(cd "$root" && find . | cpio -o -H newc --quiet) >"$tmp/root.cpio"
timeout $((650 + launches * 10)) qemu-system-x86_64 -machine q35 -accel tcg,thread=multi \
	-cpu Nehalem -smp 8,sockets=2,cores=2,threads=2 -m 1600 \
	-object memory-backend-ram,id=m0,size=800M \
	-object memory-backend-ram,id=m1,size=800M \
	-numa node,nodeid=0,cpus=0-3,memdev=m0 \
	-numa node,nodeid=1,cpus=4-7,memdev=m1 -nodefaults -nographic \
	-serial stdio -no-reboot -kernel "$kernel" -initrd "$tmp/root.cpio" \
	-append "console=ttyS0 quiet panic=-1 rdinit=/init mitigations=off nowatchdog rcupdate.rcu_expedited=1" \
	>"$tmp/console" 2>&1 </dev/null
tr -d '\r' <"$tmp/console" >"$tmp/out"
of() { sed -n "s/^$1: //p" "$tmp/out"; }

is "$(of end)" reached "the guest ran to its end" || diag "$(tail -n 40 "$tmp/out")"
diag "$(grep '^second ' "$tmp/out")"
is "$(of node)" idle "Slurm runs there, with cgroup/v2"
is "$(of plan)" "0 0-1
1 4-5
2 6-7
3 2-3" "ranks that talk share a socket"
# bound_as STEP "CPUS MEMORY"...: the ranks' affinity, and their cpusets
bound_as() {
	local name=$1 rank=0 want= got
	got=$(of "$name" | awk '$4 ~ /step_/ { sub(/step_[0-9]+/, "STEP")
		print $1, $2, $3, $4, $5, $6 }' | uniq)
	for place in "${@:3}"; do
		want+="$rank $place STEP/user/task_$rank $place"$'\n'
		rank=$((rank + 1))
	done
	is "$got" "${want%$'\n'}" "$2"
}
bound_as bound "cpusets, also for the memory, are as commplace bind prints, and the user can neither widen nor leave them" \
	"0-1 0" "4-5 1" "6-7 1" "2-3 0"
is "$(of bound | grep -E 'wrote|moved|made')" "" "nor make one of his own"
is "$(of bound | sed -n 's/.*task  *\([0-9]\) .*mask \(0x[0-9a-f]*\) set$/\1 \2/p')" \
	"0 0x3
1 0x30
2 0xc0
3 0xc" "--cpu-bind=verbose prints our masks"
isnt "$(of stock | awk '{ print $1, $2 }')" "$(of plan)" "Slurm alone does else"
is "$(of wish | awk '{ print $1, $2, $3 }')" "0 6 0-1
1 4 0-1
2 2 0-1
3 0 0-1" "--cpu-bind and --mem-bind win"
is "$(of wish | grep -c 'task_[0-9]')" 0 "and are left alone"
bound_as smt "eight ranks: partners on the threads of a core" \
	"0 0" "4 1" "6 1" "2 0" "3 0" "7 1" "5 1" "1 0"
bound_as nomt "--hint=nomultithread: the first thread of each core" \
	"0 0" "4 1" "6 1" "2 0"
bound_as over "--overcommit on first threads: partners share one" \
	"0 0" "4 1" "6 1" "2 0" "2 0" "6 1" "4 1" "0 0"
bound_as wide "two ranks of four CPUs: a socket each" "0-3 0" "4-7 1"
is "$(of beside | awk '{ print $2, $5 }' | sort)" "0-1 0-1
2-3 2-3
4-5 4-5
6-7 6-7" "two steps side by side: each task has a core of its own"
# In the name of a task's directory: its number on the node, from 23.02 on in the
# step.
number() { [ "$series" -lt 2302 ] && echo "$1" || echo "$2"; }
is "$(of odd | awk '{ print $1, $2, $4, $6 }' | sed 's|step_0/user/||')" \
	"0 0-1 task_0 0
1 4-5 task_1 1
2 2-3 task_2 0
3 0-1 task_$(number 0 3) 0
4 4-5 task_$(number 1 4) 1" "three ranks on a node, two on the other: each node binds its own"
bound_as gpu "a GPU each: on the core beside it" "4-5 1" "6-7 1" "0-1 0" "2-3 0"
is "$(of gpu | awk '{ print $7 }' | paste -sd' ')" "0 1 2 3" "which Slurm gave it"
# The first and the last rank talk, and are near devices of one socket.
by_map=("6-7 1" "2-3 0" "0-1 0" "4-5 1")
[ "$series" -lt 2311 ] || by_map=("4-5 1" "2-3 0" "0-1 0" "6-7 1")
bound_as gpumap "and as --gpu-bind says" "${by_map[@]}"
for job in het hetall; do
	is "$(of $job | awk '{ print $1, $2, $4, $5 }')" \
		"0 0-1 step_0/user/task_0 0-1
1 2-3 step_0/user/task_1 2-3
2 0-1 step_0/user/task_$(number 0 2) 0-1
3 2-3 step_0/user/task_$(number 1 3) 2-3" "both components of a heterogeneous job ($job)"
done
is "$(of left)" "" "no cgroup is left, though a task left a process"
is "$(of many)" "$launches" "nor of $launches steps, all of which were bound"
is "$(of jobs)" "0 1
2 3
4 5
6 7" "four jobs at a time: each has a core, each task a thread"
is "$(of cancelled)" "" "scancel leaves no cgroup"
is "$(of killed)" clean "nor does a slurmstepd that is killed"
is "$(of restarted)" clean "nor one that is killed while slurmd is down"
is "$(of late)" "" "nor the time limit"
is "$(of ended)" "" "nor do the jobs of those slurmstepds"
is "$(of swept | wc -l)" 2 "slurmd logged what it did"
is "$(of process) $(of file)" " " "and no process nor file"
is "$(of log)" "" "nothing failed"
is "$(of whole | awk '$4 ~ /step_/ { print $1, $2, $4 }')" \
	"0 0-3 step_0/user/task_0
1 0-3 step_0/user/task_$(number 0 1)
2 4-7 step_0/user/task_$(number 1 2)
3 4-7 step_0/user/task_$(number 1 3)" \
	"with the select plugin: partners share a node, each its socket" ||
	diag "$(tail -n 20 "$tmp/out")"
is "$(of whole | grep -c ' nodes=q\[0-1\]')" 1 "and the decision is logged"
done_testing
