#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace explain` and `status` on the jobs of a cluster; a decision can be
# repeated from its record, also when the jobs around it have ended.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_SITE="OthersWeight=3
Match JobName=apart Objective=isolation
Match JobName=near Objective=interference"
cluster_start
cluster_signature pairs16 16 pairs
cluster_signature all16 16 all
cluster_signature ring8 8
home=$CLUSTER/home
user() { as_user commplace "$@"; }
# has TEXT REGEX NAME: a line of the text matches
has() {
	grep -qE -- "$2" <<<"$1"
	ok $? "$3" || diag "$1"
}

has "$(user status)" "jobs +0 running" "status of an empty machine, as a user"

# Something in the background, on nodes that leave gaps.
blocker=$(submit -N3 -w n1,n6,n9 --exclusive)
wait_running "$blocker"
first=$(submit -N4 -n16 --exclusive --comm-profile=all16)
wait_running "$first"
ok $? "a job with a profile runs"
snapshot
cat >"$home/job.sh" <<END
#!/bin/bash
srun sh -c '$PRINT_RANK' >step.out
commplace explain \$SLURM_JOB_ID --format hostfile >hosts.out 2>hosts.err
sleep 100
END
job=$(submit -N4 -n16 --exclusive --comm-profile=pairs16 job.sh)
wait_running "$job"
ok $? "a second one runs"
expect_place "$job" "the second job"
hosts_out() { [ -s "$home/hosts.out" ]; }
wait_for 20 hosts_out
is "$(paste -sd' ' "$home/hosts.out")" "$(planned "$job")" \
	"explain --format hostfile works inside the job"
is "$(paste -sd' ' "$home/hosts.out")" "$(ranks "$home/step.out")" \
	"and names the hosts where srun ran the ranks"

text=$(user explain "$job")
ok $? "explain, as a user"
has "$text" "^Job $job \(job.sh\), user id $(id -u "$CLUSTER_USER"), partition main, running" \
	"explain: head"
has "$text" "outcome +placed" "explain: outcome"
has "$text" "profile +pairs16" "explain: profile"
has "$text" "background +job $first\$" "explain: the other job counted"
has "$text" "stock Slurm +n\[" "explain: what stock Slurm would have taken"
has "$text" "busiest link, ranks mapped +[0-9.e+-]+ +[0-9.e+-]+ +[+-]" \
	"explain: improvement"
has "$text" " stock +[0-9]+ +[0-9.e+-]+ .* [0-9.e+-]+\$" \
	"explain: the stock nodes are a candidate"
is "$(grep -cE '^(\*| ) +[a-z-]+ +[0-9]+ +' <<<"$text")" \
	"$(decision "$job" '.candidates | length')" "explain: every candidate"
is "$(grep -c '^\*' <<<"$text")" 1 "explain: one of them is taken"
is "$(user explain "$job" --json | jq -r '.rank_to_host | join(" ")')" \
	"$(planned "$job")" "explain --json: rank_to_host"

status=$(user status --links)
has "$status" "jobs +2 running" "status: two jobs"
has "$status" "^ *$job +pairs16 +4 +16 +[0-9.]+ +.* n" "status: the second job's line"
has "$status" "^global +12 " "status: links of a class"
has "$status" "from router" "status --links: the busiest links"
is "$(user status --json | jq -r '.jobs | map(.id) | join(" ")')" \
	"$first $job" "status --json: jobs"
max=$(user status --json | jq '.max_congestion')
is "$(jq -n "$max > 0")" true "status --json: there is load"
is "$(user status --json | jq '.busiest | map(.utilisation) | . == (sort | reverse)')" \
	true "status --json: the busiest links first"
is "$(user status --json | jq '.busiest[0].utilisation == ([.links[].utilisation["1"]] | max)')" \
	true "and the busiest of all is the first"
is "$(user status --json |
	jq -c "[.busiest[].jobs[].id] | length > 0 and (unique - [$first, $job] == [])")" \
	true "status --json: who loads them"
is "$(user status --json | jq '[.jobs[].slowdown] | min >= 1')" true \
	"status --json: nobody is faster than alone"
user status --html "$home/status.html"
has "$(cat "$home/status.html")" \
	"<td class=\"r\"><a href=\"#job-$job\">$job</a></td><td>pairs16</td>" "status --html"
user explain "$job" --html "$home/explain.html"
has "$(cat "$home/explain.html")" "<h1>Job $job " "explain --html"

# The numbers are those of `commplace traffic` for the same jobs.
user status --state "$home/now.json"
is "$(jq '.jobs | length' "$home/now.json")" 2 "status --state: a file with both"
cancel_all
as_user true

# After their end: the record is there and the decision can be repeated.
text=$(user explain "$job")
has "$text" "partition main, ended" "explain of an ended job"
is "$(user explain "$job" --json | jq .ended)" true "explain --json: ended"
(cd "$home" && user explain "$job" --state background.json >explain.out)
ok $? "explain --state writes the background of then"
is "$(jq -r '.jobs | map(.id) | join(" ")' "$home/background.json")" "$first" \
	"it holds the other job"
replay=$(sed -n 's/^  \(commplace place .*\)/\1/p' "$home/explain.out")
like "$replay" "--running background.json" "the replay line uses it"
repeated=$(cd "$home" && bash -c "$replay --json" | jq -r '.hosts | join(" ")')
is "$repeated" "$(decision "$job" '.hosts | join(" ")')" \
	"the replay line gives the same nodes in the same order"
has "$(user status)" "jobs +0 running" "status: nothing runs any more"

# Jobs that were none of ours.
output=$(user explain "$blocker" 2>&1)
is "$?" 1 "explain of a job without a record: exit code 1"
like "$output" "no record of job $blocker" "and says so"
job=$(submit -N2 -n8 --exclusive -w n0,n5 --comm-profile=ring8)
wait_running "$job"
has "$(user explain "$job" --wait 10)" "outcome +(stock|placed)" "explain with -w"
cancel_all

# Counters: in the directory when slurmctld ends, and kept after it.
counted() {
	commplace status --json | jq ".counters.$1"
}
# Within a second of what they count.
started() {
	[ "$(commplace status --json | jq '.counters.job_starts | add')" -ge "$1" ]
}
runs "counters are in the directory" wait_for 10 started 3
cluster_restart_ctld || bail "slurmctld does not come back"
placed=$(counted job_starts.placed) decided=$(counted decision.count)
ok "$((placed < 2))" "counters: $placed jobs began with nodes of ours"
ok "$((decided < placed))" "counters: $decided decisions"
is "$(counted stock_answers.explicit_option)" 0 "counters: no explicit option yet"
has "$(user status --counters)" "^lock_held +start +[1-9]" \
	"counters, as a user: how long locks were held"
job=$(submit -n8 --exclusive -m arbitrary -w n2,n2,n2,n2,n3,n3,n3,n3 --comm-profile=ring8)
wait_running "$job"
cancel_all
wait_for 10 started 4
cluster_restart_ctld || bail "slurmctld does not come back"
is "$(counted job_starts.placed)" "$placed" "counters go on after a restart"
ok "$(($(counted decision.count) <= decided))" "with what came since"
isnt "$(counted stock_answers.explicit_option)" 0 "and why it was stock"
user status --format openmetrics >"$home/metrics.prom"
is "$(awk -f "${0%/*}/../tools/openmetrics.awk" "$home/metrics.prom")" "" \
	"metrics of a running cluster are OpenMetrics"
has "$(cat "$home/metrics.prom")" \
	"^commplace_job_starts_total\\{outcome=\"placed\"\\} $placed\$" "with these counters"
user status --reset-counters 2>/dev/null
isnt "$?" 0 "a user cannot reset them"
commplace status --reset-counters
is "$(counted decision.count)" null "root can"

# Objectives that look at the others: both sides in explain.
beside=$(submit -N4 -n16 --exclusive --comm-profile=all16)
wait_running "$beside"
for how in apart near; do
	job=$(submit -N4 -n16 --exclusive -J $how --comm-profile=pairs16)
	wait_running "$job"
	ok $? "$how: it runs"
	has "$(user explain "$job")" "time \(s\) +slowdown +shared links +slows others" \
		"$how: explain has isolation and speed"
	as_user scancel "$job"
	wait_ended "$job"
done
is "$(user explain "$job" --json |
	jq '.own_weight == 1 and .others_weight == 3')" true \
	"near: the site's weights are on record"
as_user scancel "$beside"
wait_ended "$beside"
# mpirun takes the rank order over by the host file. Its tasks wait: Open MPI 5.0.7
# hangs (or crashes) when some end before all are known to run.
if command -v mpirun >/dev/null; then
	cat >"$home/mpi.sh" <<'END'
#!/bin/bash
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include=lo
commplace explain $SLURM_JOB_ID --format hostfile >mpi.hosts
mpirun --bind-to none --map-by seq --hostfile mpi.hosts \
	sh -c 'echo $OMPI_COMM_WORLD_RANK $SLURMD_NODENAME; sleep 2' >mpi.out 2>mpi.err
END
	mpirun_alone
	job=$(submit -N4 -n16 --exclusive --comm-profile=pairs16 mpi.sh)
	wait_ended "$job" 60
	ok $? "mpirun with the host file: ended well" ||
		diag "$(cat "$home/mpi.err")" >&2
	mpirun_done
	is "$(ranks "$home/mpi.out")" "$(planned "$job")" \
		"mpirun's ranks run where the plan has them"
fi
# All of the above, made again from the records.
has "$(user replay)" "[1-9][0-9]* equal, 0 different, 0 not repeatable" \
	"replay: every decision comes out equal"
cluster_check
done_testing
