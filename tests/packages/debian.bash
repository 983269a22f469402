#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's packages of commplace: built, installed, used, replaced while jobs
# run, removed too early and in order, purged. For a throw-away root (root.bash).
top=$(cd "${0%/*}/../.." && pwd)
. "$top/tests/tools/tap.bash"
[ "$top" = /commplace/source ] || bail "changes the system: only for a root of packages_run"
cd "$top" || exit
log=$(mktemp)
on_exit 'rm -f "$log"'
export COMMPLACE_SLURM_SOURCE=/commplace/slurm-source
names="commplace commplace-doc libcommplace-dev libcommplace0 python3-commplace slurm-commplace-plugins"

# logged NAME COMMAND...: the end of what it says, when it fails
logged() {
	local name=$1 start=$SECONDS
	shift
	"$@" >"$log" 2>&1 </dev/null
	ok $? "$name" || { tail -n 60 "$log" >&2; return 1; }
	diag "$((SECONDS - start)) s"
}
# must NAME COMMAND...: nothing after it makes sense without
must() { logged "$@" || done_testing; }

apt() { apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }
# build DIR OPTIONS [OPTION]: the packages, into DIR; OPTIONS besides the usual ones
build() {
	local dir=$1 options=$2
	shift 2
	DEB_BUILD_OPTIONS="$options noautodbgsym parallel=$(nproc)" \
		dpkg-buildpackage -b -us -uc "$@" &&
		mkdir "$dir" && mv ../*.deb ../*.changes ../*.buildinfo "$dir"
}
version_old=$(dpkg-parsechangelog -S Version)
version_new=$version_old+upgrade1
build_new() {
	{
		printf '%s\n\n  * %s\n\n -- %s  %s\n\n' \
			"commplace ($version_new) unstable; urgency=medium" \
			"An upgrade." "Test <test@commplace.invalid>" \
			"$(date -R)"
		cat debian/changelog
	} >debian/changelog.new && mv debian/changelog.new debian/changelog &&
		rm -f debian/files &&
		build ../new nocheck -nc
}
must "dpkg-buildpackage -b" build ../old nocheck
logged "lintian has neither errors nor warnings" \
	lintian --allow-root --fail-on error,warning \
	--suppress-tags bad-distribution-in-changes-file ../old/*.changes
must "and of a higher version" build_new

# What Slurm they are for.
slurm=$(dpkg-query -W -f '${source:Upstream-Version}' slurm-wlm-basic-plugins)
series=${slurm%.*} micro=${slurm##*.}
depends=$(dpkg-deb -f ../old/slurm-commplace-plugins_*.deb Depends)
satisfied() { # by a version of Slurm
	perl -MDpkg::Deps -e '
		my $facts = Dpkg::Deps::KnownFacts->new();
		$facts->add_installed_package("slurm-wlm-basic-plugins",
			$ARGV[1], "amd64", "no");
		my @slurm = grep { /slurm/ } split(/, */, $ARGV[0]);
		die "no dependency on Slurm\n" unless @slurm;
		print deps_parse(join(", ", @slurm))->get_evaluation($facts) ?
			"yes" : "no"' "$depends" "$1" 2>&1
}
for v in "$slurm-1" "$slurm-4+deb13u1" "$slurm-99~bpo12+1"; do
	is "$(satisfied "$v")" yes "plugins for $slurm may be with Slurm $v"
done
for v in "$series.$((micro + 1))-1" "$series.$((micro + 1))~rc1-1" \
    "$series.$((micro - 1))-9" "99.05.0-1"; do
	is "$(satisfied "$v")" no "not with Slurm $v"
done

# Installed.
must "installed" apt install ../old/*.deb
plugins="job_submit_commplace.so select_cons_tres_commplace.so spank_commplace.so"
[ "${series/./}" -lt 2405 ] || plugins="$plugins switch_commplace.so"
plugins="$plugins task_commplace.so"
installed_plugins() {
	(cd /usr/lib/*/slurm-wlm && echo *commplace*)
}
is "$(installed_plugins)" "$plugins" "the plugins of Slurm $slurm"
is "$(dpkg -L slurm-commplace-plugins | grep -c '/README.Debian')" 1 \
	"with what to do on Debian"
# bash looks for the options of sbatch, which has a file of Slurm's, only there.
is "$(dpkg -L $names | grep -E '^/(etc|var)/' | grep -v ^/etc/bash_completion.d)" "" \
	"nothing else below /etc and /var, which are the site's"
use_library() {
	local flags
	flags=$(pkg-config --cflags --libs commplace) &&
		gcc -o "$log.exe" /usr/share/doc/commplace/examples/map_job.c \
			$flags && ldd "$log.exe" && rm "$log.exe"
}
logged "a program builds with libcommplace-dev" use_library
runs "commplace-doc has the guides" grep -q "<title>commplace for users" \
	/usr/share/doc/commplace/html/users-guide.html
is "$(cd / && /usr/bin/python3 -c 'import commplace; print(commplace.__file__, commplace.version())' 2>&1)" \
	"/usr/lib/python3/dist-packages/commplace/__init__.py $(commplace --version | awk '{ print $NF; exit }')" \
	"python3-commplace finds the library"
logged "./quickstart --installed" ./quickstart --installed
diag "$(grep -E 'busiest|Loop|Total' "$log")"
like "$(cat "$log")" "Did it get faster.*ms where stock Slurm puts it and [0-9.]+ ms here.*
  commplace compare --network" "it says whether the program got faster, and what to do next"

# A cluster of the test's own.
export COMMPLACE_PREFIX=/usr
. tests/slurm/cluster.bash
CLUSTER_GROUPS=2 CLUSTER_TASK=task/commplace,task/affinity
cluster_start
home=$CLUSTER/home
mkdir -p /etc/slurm
rm -f /etc/slurm/slurm.conf
ln -s "$SLURM_CONF" /etc/slurm/slurm.conf
on_exit 'rm -f /etc/slurm/slurm.conf'
cluster_signature pairs12 12 pairs
# Three steps, each of which waits for its file, with their ranks.
cat >"$home/steps.sh" <<'END'
#!/bin/bash
for s in 1 2 3; do
	srun sh -c "echo \$SLURM_PROCID \$SLURMD_NODENAME
		until [ -e go.$SLURM_JOB_ID.$s ]; do sleep 0.2; done" \
		>ranks.$SLURM_JOB_ID.$s 2>errors.$SLURM_JOB_ID.$s
	status=$?
	echo "$s:$status" >>steps.$SLURM_JOB_ID
	[ $status = 0 ] || exit 1
done
END
start_job() {
	job=$(submit -N3 -n12 --ntasks-per-node=4 --comm-profile=pairs12 steps.sh) &&
		wait_running "$job"
}
go() { touch "$home/go.$job.$1"; } # STEP: let it end
all_ranks() { [ "$(wc -l <"$home/ranks.$job.$1")" = 12 ]; } 2>/dev/null
step_as_planned() { # STEP NAME
	wait_for 30 all_ranks "$1"
	is "$(ranks "$home/ranks.$job.$1")" "$plan" "$2" ||
		diag "$(cat "$home/errors.$job.$1")"
}
steps_are() { [ "$(paste -sd' ' "$home/steps.$job")" = "$1" ]; } 2>/dev/null
placed() { # NAME: a new job is placed, and ends
	local other
	other=$(submit -N3 -n12 --ntasks-per-node=4 --comm-profile=pairs12 \
		--wrap "srun true") && wait_ended "$other"
	ok $? "$1: runs" || diag "$(tail -n 5 "$CLUSTER"/log/slurmctld.log)"
	is "$(decision "$other" .outcome)" placed "$1: placed"
}
restart_slurmds() {
	local n
	for n in $(cluster_nodes); do
		cluster_kill "$CLUSTER/run/slurmd.$n.pid" &&
			cluster_start_slurmd "$n" || return 1
	done
	wait_for 60 cluster_nodes_up
}
# What slurmctld has mapped of the plugin: a file that is there, or deleted?
mapped() {
	grep -F select_cons_tres_commplace.so \
		"/proc/$(cat "$CLUSTER/run/slurmctld.pid")/maps" |
		grep -c '(deleted)'
}

must "a job with a profile runs" start_job
plan=$(planned "$job")
isnt "$plan" "$(sorted "$plan")" "in an order that is not Slurm's"
step_as_planned 1 "its first step"

# Replaced by a higher version while it runs.
must "upgrade" apt install ../new/*.deb
is "$(dpkg-query -W -f '${Version}\n' $names | sort -u)" "$version_new" \
	"all packages are of the new version"
isnt "$(mapped)" 0 "slurmctld goes on with what it has loaded"
is "$(job_state "$job")" RUNNING "the job runs on"
go 1
step_as_planned 2 "its next step, by the new plugins of the nodes"
placed "a job before the daemons' restart"
runs "slurmctld restarts" cluster_restart_ctld
runs "slurmds restart" restart_slurmds
is "$(mapped)" 0 "slurmctld uses the new plugin"
is "$(job_state "$job")" RUNNING "the job still runs"
is "$(planned "$job")" "$plan" "its decision is kept"
go 2
step_as_planned 3 "its last step, by all that is new"
go 3
wait_ended "$job"
ok $? "it ends well" || diag "$(cat "$home/errors.$job".*)"
placed "a job after the restart"

# Removed too early: slurm.conf still names the plugins.
must "another job runs" start_job
step_as_planned 1 "its first step"
LANG=C apt remove slurm-commplace-plugins >"$log" 2>&1
ok $? "removed while slurm.conf names the plugins"
like "$(cat "$log")" "/slurm.conf:[0-9]+:SelectType=select/cons_tres_commplace" \
	"which it says"
like "$(cat "$log")" "README.Debian" "with what to do"
is "$(installed_plugins)" "*commplace*" "no plugin is left"
go 1
wait_for 30 steps_are "1:0 2:1"
ok $? "the step that runs goes on to its end, the next does not start" ||
	diag "$(cat "$home/steps.$job" "$home/errors.$job".*)"
cluster_stop_ctld
: >"$CLUSTER/log/slurmctld.log"
slurmctld -f "$SLURM_CONF" >"$CLUSTER/log/slurmctld.out" 2>&1
# 26.05 names the plugin in the line before the fatal one.
refused() {
	grep -qE "(error|fatal): .*select/cons_tres_commplace" \
		"$CLUSTER/log/slurmctld.log" &&
		grep -q " fatal: " "$CLUSTER/log/slurmctld.log"
}
runs "slurmctld does not start, and says why" wait_for 10 refused
must "installed again" apt install ../new/slurm-commplace-plugins_*.deb
runs "slurmctld starts" cluster_start_ctld
# Its node may have said that it ended to nobody, and says so again.
wait_ended "$job" 120
is "$(job_state "$job")" FAILED "with its jobs"
is "$(decision "$job" .outcome)" placed "and their decisions"
wait_for 60 cluster_nodes_up
placed "a job after that"

# Taken out in the order of README.Debian. task/affinity alone takes no steps on
# pretended CPUs.
must "a third job runs" start_job
step_as_planned 1 "its first step"
sed -i -e 's/^SelectType=.*/SelectType=select\/cons_tres/' \
	-e '/^JobSubmitPlugins=/d' -e '/^SwitchType=/d' \
	-e 's/^TaskPlugin=.*/TaskPlugin=task\/none/' \
	-e 's/^MinJobAge=.*/MinJobAge=2/' "$SLURM_CONF"
sed -i 's/^required/optional/' "$CLUSTER/etc/plugstack.conf"
runs "slurmctld starts with the stock plugins" cluster_restart_ctld
runs "slurmds, too" restart_slurmds
is "$(job_state "$job")" RUNNING "the job runs on"
stock() {
	local other
	other=$(submit -N2 -n8 --comm-profile=pairs12 --wrap "srun true") &&
		wait_ended "$other"
}
runs "a job that names a profile runs, stock" stock
go 1; go 2; go 3
wait_for 60 steps_are "1:0 2:0 3:0"
ok $? "all steps of the job run to their ends" ||
	diag "$(cat "$home/steps.$job" "$home/errors.$job".*)"
forgotten() { [ -z "$(squeue -h -t all -a)" ]; }
runs "slurmctld forgets its jobs" wait_for 120 forgotten
# What the prerm looks into, with the optional line first.
rm -f /etc/slurm/plugstack.conf
ln -s "$CLUSTER/etc/plugstack.conf" /etc/slurm/plugstack.conf
on_exit 'rm -f /etc/slurm/plugstack.conf'
LANG=C /var/lib/dpkg/info/slurm-commplace-plugins.prerm remove >"$log" 2>&1
like "$(cat "$log")" "plugstack.conf:1:optional spank_commplace.so" \
	"an optional line is told, too: every srun would print errors"
sed -i '/spank_commplace/d' "$CLUSTER/etc/plugstack.conf"
LANG=C apt remove $names >"$log" 2>&1
ok $? "removed"
unlike "$(cat "$log")" "still names" "with nothing to say"
stock() {
	local other
	other=$(submit -N2 -n8 --wrap "srun true") && wait_ended "$other"
}
runs "slurmctld starts without" cluster_restart_ctld
runs "slurmds start without" restart_slurmds
runs "a job runs" stock
runs "purged" dpkg --purge $names
is "$(find /usr /etc /var/lib/dpkg -name '*commplace*' ! -lname "$CLUSTER/*" \
	! -path '/etc/apt/*')" "" "nothing of the packages is left"
for f in etc/commplace.conf etc/network.json profiles/pairs12.json \
    decisions/cluster "decisions/running/$job.json"; do
	[ -s "$CLUSTER/$f" ]
	ok $? "the site's $f is left"
done
runs "slurmctld is still up" cluster_ping
done_testing
