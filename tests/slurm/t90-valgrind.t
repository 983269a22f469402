#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld under valgrind with our plugins, through all that they do.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_GROUPS=2 CLUSTER_ROWS=2 CLUSTER_COLUMNS=1
CLUSTER_EXTRA="MessageTimeout=60
SlurmctldTimeout=300"
valgrind_logs=$(mktemp -d "${TMPDIR:-/tmp}/commplace-valgrind.XXXXXX")
on_exit 'rm -rf "$valgrind_logs"'
# From 23.11 on slurmctld replaces itself to reconfigure, with the same process
# id: a file would be written anew. Plugins stay mapped, so that the report can
# name their functions.
mkfifo "$valgrind_logs/pipe"
cat <>"$valgrind_logs/pipe" >"$valgrind_logs/log" &
reader=$!
on_exit 'kill $reader'
CLUSTER_CTLD_WRAP="valgrind --quiet --trace-children=yes --keep-debuginfo=yes
	--leak-check=full --num-callers=30 --error-limit=no
	--log-file=$valgrind_logs/pipe"
checked() { # NAME
	like "$(readlink "/proc/$(cat "$CLUSTER/run/slurmctld.pid")/exe")" \
		'/memcheck-' "$1"
}
cluster_start
cluster_signature ring8 8
cluster_signature pairs8 8 pairs

job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8)
wait_running "$job" 90
ok $? "a job is placed under valgrind"
is "$(decision "$job" .outcome)" placed "by ours"
second=$(submit -N3 -n8 --exclusive --comm-profile=ring8)
wait_running "$second" 90
ok $? "a second, with the first in the background"
third=$(submit -N8 -n8 --exclusive --comm-profile=ring8)
out=$(as_user srun --jobid="$job" -n8 --overlap sh -c "$PRINT_RANK" 2>&1)
is "$(grep -cE '^[0-9]+ n' <<<"$out")" 8 "a step with a plan"
as_user sbatch -N2 --comm-profile=no-such --wrap true >/dev/null 2>&1
[ $? -ne 0 ]
ok $? "an unknown profile is refused"
scontrol reconfigure
ok $? "reconfigured"
CLUSTER_SITE="DefaultPolicy=no-such-policy"
cluster_write_site
scontrol reconfigure
ok $? "reconfigured with a broken commplace.conf"
checked "still under valgrind"
scancel "$second"
CLUSTER_SITE=
cluster_write_site
cluster_restart_ctld
ok $? "restarted"
is "$(job_state "$job")" RUNNING "the first job still runs"
scancel "$job"
wait_running "$third" 120
ok $? "the job that waited runs"
cancel_all
runs "slurmctld is up" cluster_ping
checked "under valgrind again"
cluster_stop_ctld
ended() { ! pgrep -f -- "slurmctld -D.*-f $SLURM_CONF" >/dev/null; }
wait_for 60 ended

# Blocks of valgrind's report ("==PID== " lines, separated by empty ones): every
# invalid access and uninitialised value that our code has a part in, and what
# is lost of memory that our code allocated itself. What slurmctld does not free
# at its end of what the stock plugin made for it is not ours.
ours=$(sort -s -t= -k3,3n "$valgrind_logs/log" |
	sed 's/^==[0-9]*== \{0,1\}//' | awk -v RS= '
	/commplace|cpl_|cplselect_/ && !/ in use at exit| lost in loss record/
	/ definitely lost in loss record/ {
		n = split($0, line, "\n")
		# line 2 is the allocator, 3 who called it
		for (i = 2; i <= n && line[i] ~ /vgpreload|slurm_x|strdup|jansson|json_|asprintf|memstream/; i++)
			;
		if (line[i] ~ /commplace|cpl_|cplselect_|\(engine|\(place\.c/)
			print
	}' | head -80)
is "$ours" "" "valgrind found nothing in our plugins"
is "$(grep -hE 'fatal:|segfault|[Aa]ssertion' "$CLUSTER/log/slurmctld.log")" "" \
	"slurmctld logged no crash"
done_testing
