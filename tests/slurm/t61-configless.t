#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hosts without a slurm.conf of their own: login nodes with sackd, with
# SLURM_CONF_SERVER alone, and a node whose slurmd fetches all (--conf-server). What
# users and admins type works there as on slurmctld's host.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
: "${COMMPLACE_BUILD:?}"
# Where this Slurm has its own files.
built_in=$(sed -n 's/^SLURM_CONF_DIR = //p' "$COMMPLACE_BUILD/Makefile")
unshare -m true 2>/dev/null ||
	skip_all "needs mount namespaces"

declare -A hosts
# host NAME: where nothing is in /run and in Slurm's folder
host() {
	local pid
	unshare -m sleep 3000 3>&- 4>&- &
	pid=$!
	hosts[$1]=$pid
	on_exit "kill $pid 2>/dev/null"
	moved() { ! [ "/proc/$pid/ns/mnt" -ef /proc/self/ns/mnt ]; }
	wait_for 10 moved && nsenter -t "$pid" -m -r env -C / bash -c '
		mount -t tmpfs -o mode=755 tmpfs /run &&
			mkdir /run/munge /run/slurm &&
			ln -s "$0" /run/munge/munge.socket.2 &&
			{ [ ! -d "$1" ] || mount -t tmpfs -o mode=755 tmpfs "$1"; }' \
		"$CLUSTER/run/munge.socket" "$built_in" ||
		bail "no namespace for $1"
}
# on HOST COMMAND...: without SLURM_CONF. A namespace has a root of its own, where this
# is a chroot.
on() {
	local pid=${hosts[$1]}
	shift
	nsenter -t "$pid" -m -r env -C / -u SLURM_CONF "$@"
}
# as_one HOST COMMAND...: the same, as the user
as_one() {
	local pid=${hosts[$1]}
	shift
	nsenter -t "$pid" -m -r setpriv \
		--reuid="$CLUSTER_USER" --regid="$CLUSTER_USER" --init-groups \
		--inh-caps=-all env -C "$CLUSTER/home" -i HOME="$CLUSTER/home" USER="$CLUSTER_USER" \
		LANG=C PATH="$PATH" SHELL=/bin/bash "$@"
}

CLUSTER_EXTRA="SlurmctldParameters=enable_configless"
eval "plain_$(declare -f cluster_start_slurmd)"
cluster_start_slurmd() {
	[ "$1" = n0 ] || { plain_cluster_start_slurmd "$1"; return; }
	host node
	on node slurmd -N n0 --conf-server "127.0.0.1:$CLUSTER_PORT" \
		>>"$CLUSTER/log/slurmd.n0.out" 2>&1 </dev/null 3>&- 4>&-
}
# sackd's port, for news of slurmctld.
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	plain_cluster_write_conf
	echo "SlurmdPort=$((CLUSTER_PORT + 39))" >>"$SLURM_CONF"
}
cluster_start
cluster_signature ring8 8
server=127.0.0.1:$CLUSTER_PORT
fetched=$CLUSTER/spool/n0/conf-cache
[ -f "$fetched/slurm.conf" ] && [ ! -e "$fetched/commplace.conf" ]
ok $? "a node has fetched Slurm's files, without commplace.conf"

job=$(submit -N2 -n8 --comm-profile=ring8)
wait_running "$job"
is "$(decision "$job" .outcome)" placed "a job is placed"
names() { jq -r '.profile_dir, .profiles[].name'; }
listed=$(as_user commplace signature list --json | names)
explained=$(as_user commplace explain "$job" --json)
isnt "$explained" "" "and explained on slurmctld's host"

# checks NAME COMMPLACE.CONF SLURM.CONF COMMAND...: `config check` reads these
checks() {
	local name=$1 want=$2$'\n'$3
	shift 3
	is "$("$@" commplace config check --json 2>&1 | jq -r '.config, .slurm_conf')" \
		"$want" "$name"
}
# works NAME COMMAND...: what is typed behind the command, as the user
works() {
	local name=$1
	shift
	like "$("$@" scontrol ping 2>&1)" "is UP" "$name: Slurm's commands work"
	checks "$name: slurmctld's files" "$site" "$SLURM_CONF" "$@"
	like "$("$@" commplace status 2>&1)" "$job" "$name: status shows the job"
	is "$("$@" commplace explain "$job" --json 2>&1)" "$explained" \
		"$name: explain"
	like "$("$@" commplace config for "$job" 2>&1)" "MaxDecisionTime" \
		"$name: config for a job"
	is "$("$@" commplace signature list --json 2>&1 | names)" "$listed" \
		"$name: signature list"
	runs "$name: network check --against-slurm" "$@" \
		commplace network check "$NETWORK" --against-slurm
	# A store is written by who owns it.
	runs "$name: signature install" "${@/#as_one/on}" commplace \
		signature install --name "new" "$PROFILES/ring8.json"
	[ -f "$PROFILES/new.json" ]
	ok $? "$name: into the site's store"
	rm -f "$PROFILES/new.json"
}

# own NAME SLURM.CONF HOST [NAME=VALUE]: a commplace.conf in Slurm's folder, as where
# slurmctld's are not to be seen by the same path
own() {
	local name=$1 conf=$2
	shift 2
	[ -d "$built_in" ] || return 0
	on "$1" cp "$site" "$built_in/commplace.conf"
	checks "$name: a commplace.conf in Slurm's folder" \
		"$built_in/commplace.conf" "$conf" as_one "$@"
	on "$1" rm "$built_in/commplace.conf"
}

site=$CLUSTER/etc/commplace.conf
host login
works "SLURM_CONF_SERVER" as_one login SLURM_CONF_SERVER="$server"
own "SLURM_CONF_SERVER" "slurmctld of SLURM_CONF_SERVER=$server" \
	login SLURM_CONF_SERVER="$server"
if type -P sackd >/dev/null; then
	nsenter -t "${hosts[login]}" -m -r env -C / -u SLURM_CONF sackd -D \
		--conf-server "$server" >"$CLUSTER/log/sackd.log" 2>&1 \
		</dev/null 3>&- 4>&- &
	on_exit "kill $! 2>/dev/null"
	has_fetched() { on login test -f /run/slurm/conf/slurm.conf; }
	wait_for 30 has_fetched || cluster_dump "$CLUSTER/log/sackd.log"
	works sackd as_one login
	own sackd /run/slurm/conf/slurm.conf login
else
	skip sackd "this Slurm has none"
fi
works "the node" as_one node
own "the node" /run/slurm/conf/slurm.conf node
cancel_all

# From within a job.
cat >"$CLUSTER/home/inside.sh" <<'END'
#!/bin/bash
commplace explain "$SLURM_JOB_ID" --wait 10 --json >explained
commplace signature list --json >listed
END
job=$(submit -w n0 -N1 -n8 -O --comm-profile=ring8 inside.sh)
wait_ended "$job"
ok $? "a job on that node ends"
is "$(jq -r .job "$CLUSTER/home/explained")" "$job" "it has explained itself"
is "$(names <"$CLUSTER/home/listed")" "$listed" "and listed the site's profiles"
cluster_check
done_testing
