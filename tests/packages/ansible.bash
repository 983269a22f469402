#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The Ansible role on a cluster that runs stock Slurm: packages, configuration and
# restarts in their order, in observe mode first. After debian.bash, with its
# packages.
top=$(cd "${0%/*}/../.." && pwd)
. "$top/tests/tools/tap.bash"
[ "$top" = /commplace/source ] || bail "changes the system: only for a root of packages_run"
command -v ansible-playbook >/dev/null ||
	skip_all "ansible is missing: apt-get install ansible-core python3-apt"
cd "$top" || exit
names="commplace libcommplace-dev libcommplace0 slurm-commplace-plugins"
# A repository, as a site's.
repo=/commplace/repo list=/etc/apt/sources.list.d/commplace.list
on_exit "dpkg --purge $names >/dev/null 2>&1; rm -rf $repo $list"
mkdir -p "$repo" && cp /commplace/new/*.deb "$repo" &&
	(cd "$repo" && dpkg-scanpackages -m . >Packages 2>/dev/null) &&
	echo "deb [trusted=yes] file:$repo ./" >"$list" &&
	apt-get -q update -o Dir::Etc::sourcelist="$list" \
		-o Dir::Etc::sourceparts=- >/dev/null 2>&1 || bail "no repository"

export COMMPLACE_PREFIX=/usr
. tests/slurm/cluster.bash
CLUSTER_GROUPS=2 CLUSTER_ROWS=1 CLUSTER_SELECT=cons_tres CLUSTER_JOB_SUBMIT=
CLUSTER_SPANK=no
cluster_start
# The site has them elsewhere; nodes have an /etc/slurm of their own.
site=$CLUSTER/site
mkdir "$site"
mv "$NETWORK" "$site/network.json"
rm "$CLUSTER/etc/commplace.conf"
cluster_signature pairs8 8 pairs
mv "$PROFILES/pairs8.json" "$site"
cp -R "$CLUSTER/etc" "$CLUSTER/etc-nodes"
order=$CLUSTER/order
restart() { # NAME, its script on stdin: in place of systemctl restart NAME
	local script=$site/restart-$1
	{
		echo "#!/bin/bash"
		echo "echo $1 >>'$order'"
		cat
	} >"$script"
	chmod 755 "$script"
}
restart slurmctld <<END
pid=\$(cat '$CLUSTER/run/slurmctld.pid') && kill "\$pid" || exit
while kill -0 "\$pid" 2>/dev/null; do sleep 0.1; done
exec slurmctld -f '$SLURM_CONF' >'$CLUSTER/log/slurmctld.out' 2>&1
END
restart slurmd <<END
for n in $(cluster_nodes | paste -sd' '); do
	pid=\$(cat "$CLUSTER/run/slurmd.\$n.pid") && kill "\$pid" || exit
	while kill -0 "\$pid" 2>/dev/null; do sleep 0.1; done
	slurmd -N "\$n" -f '$CLUSTER/etc-nodes/slurm.conf' \\
		>>"$CLUSTER/log/slurmd.\$n.out" 2>&1 || exit
done
END
restart configless </dev/null
cat >"$site/scontrol" <<END
#!/bin/bash
[ "\$1" != reconfigure ] || echo reconfigure >>'$order'
exec scontrol "\$@"
END
chmod 755 "$site/scontrol"
cat >"$site/hosts.yml" <<END
all:
  vars:
    ansible_connection: local
    ansible_python_interpreter: /usr/bin/python3
    commplace_slurm_user: root
    commplace_plugstack: $CLUSTER/etc/plugstack.conf
    commplace_network: $site/network.json
    commplace_profiles: [$site/pairs8.json]
    commplace_profile_dir: $PROFILES
    commplace_state_dir: $CLUSTER/decisions
    commplace_settings: { MaxDecisionTime: 2000 }
    commplace_restart_slurmctld: $site/restart-slurmctld
    commplace_restart_slurmd: $site/restart-slurmd
    commplace_scontrol: $site/scontrol
    commplace_slurm_conf:
      SelectType: select/cons_tres_commplace
      JobSubmitPlugins: commplace
      TaskPlugin: task/commplace
      SwitchType: switch/commplace
slurmctld:
  hosts:
    control: { commplace_slurm_etc: $CLUSTER/etc }
slurmd:
  hosts:
    nodes: { commplace_slurm_etc: $CLUSTER/etc-nodes }
    configless: { commplace_slurm_etc: $site/none, commplace_restart_slurmd: $site/restart-configless }
login:
  hosts: {}
END
export ANSIBLE_NOCOLOR=1 ANSIBLE_FORKS=1 ANSIBLE_HOME=$site/ansible \
	ANSIBLE_LOCAL_TEMP=$site/tmp ANSIBLE_REMOTE_TEMP=$site/tmp
log=$site/log
play() {
	: >"$order"
	ansible-playbook -i "$site/hosts.yml" "$@" contrib/ansible/commplace.yml \
		>"$log" 2>&1
}
played() { # NAME OPTION...
	local name=$1
	shift
	play "$@"
	ok $? "$name" || { tail -n 40 "$log" >&2; return 1; }
}
# All that was changed, of all hosts.
changed() {
	sed -n 's/.* changed=\([0-9]*\) .*/\1/p' "$log" |
		awk '{ n += $1 } END { print n + 0 }'
}
words() {
	grep -hE '^(SelectType|JobSubmitPlugins|TaskPlugin|SwitchType)=' "$1"
}

stock=$(submit -N1 -n1 -w n3 --wrap "exec sleep 3000") && wait_running "$stock" || bail "no job runs"
confs=("$SLURM_CONF" "$CLUSTER/etc-nodes/slurm.conf" "$CLUSTER/etc/plugstack.conf")
before=$(cat "${confs[@]}")
untouched() { # AFTER-WHAT
	is "$(cat "${confs[@]}")" "$before" "$1: no file of Slurm has changed, on no host"
	is "$(<"$order")" "" "$1: and no daemon was restarted"
}

# What would be done.
played "--check" --check
untouched "--check"

# What is wrong on one host is seen before it is on any.
play -e '{"commplace_settings": {"MinNodse": 4}}'
isnt $? 0 "a key that does not exist: refused"
like "$(cat "$log")" "MinNodse" "with the key"
[ ! -e "$CLUSTER/etc/commplace.conf" ]
ok $? "no commplace.conf is there"
untouched "a key that does not exist"
echo JobSubmitPlugins=lua >>"$CLUSTER/etc-nodes/slurm.conf"
play
isnt $? 0 "a plugin of the site's would be lost: refused"
like "$(cat "$log")" "JobSubmitPlugins=lua, which would be lost" "with its name"
sed -i '/^JobSubmitPlugins=lua/d' "$CLUSTER/etc-nodes/slurm.conf"
untouched "a plugin would be lost"

# The first time.
played "the role" || done_testing
is "$(dpkg-query -W -f '${db:Status-Status}\n' slurm-commplace-plugins commplace |
	sort -u)" installed "the packages are there"
want="SelectType=select/cons_tres_commplace TaskPlugin=task/commplace JobSubmitPlugins=commplace"
[ "$CLUSTER_SERIES" -lt 2405 ] || want="$want SwitchType=switch/commplace"
for f in etc etc-nodes; do
	is "$(words "$CLUSTER/$f/slurm.conf" | sort)" "$(tr ' ' '\n' <<<"$want" | sort)" \
		"$f/slurm.conf names the plugins, once each"
done
is "$(paste -sd' ' "$order")" "slurmctld slurmd configless" \
	"slurmctld was restarted, then the nodes, and nothing else"
wait_for 60 cluster_nodes_up
ok $? "all nodes are up"
is "$(job_state "$stock")" RUNNING "a job from before runs on"
# outcome NAME WANT
outcome() {
	local job
	job=$(submit -N2 -n8 --ntasks-per-node=4 --comm-profile=pairs8 \
		--wrap "srun true") && wait_ended "$job" 60
	ok $? "$1 runs" || diag "$(tail -n 5 "$CLUSTER/log/slurmctld.log")"
	is "$(decision "$job" .outcome)" "$2" "$1: $2"
}
outcome "a job in observe mode" observed

played "again"
is "$(changed)" 0 "nothing is changed"
is "$(paste -sd' ' "$order")" "" "and nothing restarted"

# Switched on.
played "with Mode=on" -e commplace_mode=on
is "$(changed)" 2 "commplace.conf is changed, and slurmctld told so"
is "$(paste -sd' ' "$order")" reconfigure "no daemon is restarted"
wait_for 30 cluster_ping
wait_for 30 cluster_nodes_up
outcome "a job after that" placed
is "$(job_state "$stock")" RUNNING "the job from before still runs"
cluster_check
done_testing
