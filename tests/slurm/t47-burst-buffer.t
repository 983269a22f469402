#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs with burst buffers: burst_buffer/lua with a script that does nothing but wait
# and fail as it is told. A job is decided when its data is there and it begins, not
# before; what fails before, at or after its begin leaves no load behind.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
[ -e "$SLURM_STOCK_PLUGINS/burst_buffer_lua.so" ] ||
	skip_all "this Slurm was built without burst_buffer/lua"
CLUSTER_DEBUG_FLAGS=SelectType,BurstBuffer
CLUSTER_CRED_EXPIRE=6
CLUSTER_EXTRA="BurstBufferType=burst_buffer/lua"
buffer=$(mktemp -d /tmp/commplace-buffer.XXXXXX)
on_exit 'rm -rf "$buffer"'
# Each phase of a job says that it has come, waits for the file wait-PHASE to go,
# and fails where there is a file fail-PHASE.
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	plain_cluster_write_conf
	cat >"$CLUSTER/etc/burst_buffer.lua" <<-END
	local dir = "$buffer/"
	local function is(name)
		local f = io.open(dir .. name)
		if f then f:close() end
		return f ~= nil
	end
	local function phase(name, job)
		local f = io.open(dir .. "phases." .. job, "a")
		f:write(name .. "\n")
		f:close()
		while is("wait-" .. name) do os.execute("sleep 0.1") end
		if is("fail-" .. name) then return slurm.ERROR, "told to fail" end
		return slurm.SUCCESS, ""
	end
	function slurm_bb_job_process() return slurm.SUCCESS, "" end
	function slurm_bb_pools()
		return slurm.SUCCESS,
			'{"pools":[{"id":"fast","quantity":1000,"granularity":1}]}'
	end
	function slurm_bb_job_teardown(job) return phase("teardown", job) end
	function slurm_bb_setup(job) return phase("setup", job) end
	function slurm_bb_data_in(job) return phase("in", job) end
	function slurm_bb_test_data_in() return slurm.SUCCESS, "" end
	function slurm_bb_real_size() return slurm.SUCCESS end
	function slurm_bb_paths(job) return phase("paths", job) end
	function slurm_bb_pre_run(job) return phase("pre_run", job) end
	function slurm_bb_post_run(job) return phase("post_run", job) end
	function slurm_bb_data_out(job) return phase("out", job) end
	function slurm_bb_test_data_out() return slurm.SUCCESS, "" end
	function slurm_bb_get_status() return slurm.SUCCESS, "" end
	END
}
cluster_start
cluster_signature pairs8 8 pairs
cluster_signature ring8 8

# staged OPTION...: a job with a buffer that runs until it is told
cat >"$CLUSTER/home/staged.sh" <<END
#!/bin/bash
#BB_LUA pool=fast capacity=10
srun -n8 sh -c '$PRINT_RANK' >ranks.\$SLURM_JOB_ID
while [ ! -e go.\$SLURM_JOB_ID ]; do sleep 0.1; done
END
staged() {
	submit -n8 --exclusive -o /dev/null "$@" staged.sh
}
reached() { # JOB PHASE
	grep -qx "$2" "$buffer/phases.$1" 2>/dev/null
}
wait_phase() {
	wait_for 40 reached "$@"
}
undecided() { # JOB
	[ ! -e "$CLUSTER/decisions/running/$1.json" ] &&
		[ ! -e "$CLUSTER/decisions/ended/$1.json" ]
}
on_record() {
	find "$CLUSTER/decisions/running" -name '[0-9]*.json' -printf '%f\n' |
		cut -d. -f1 | sort -n | paste -sd' '
}
stepped() { [ "$(grep -c . "$CLUSTER/home/ranks.$1" 2>/dev/null)" = 8 ]; }

touch "$buffer/wait-in"
job=$(staged -N4 --comm-profile=pairs8)
wait_phase "$job" in
ok $? "data of a job is brought in" || diag "$(scontrol show job "$job")"
sleep 6
is "$(job_state "$job")" PENDING "it waits for its data"
runs "nothing is decided for it meanwhile" undecided "$job"
other=$(submit -N3 -n8 --exclusive --comm-profile=ring8)
wait_running "$other"
is "$(decision "$other" '.background | length')" 0 \
	"and another job is decided as if it were not there"
snapshot idle,plnd
rm "$buffer/wait-in"
touch "$buffer/wait-pre_run"
wait_phase "$job" pre_run
ok $? "when its data is there its nodes are chosen"
expect_place "$job" "with a burst buffer"
second=$(submit -N3 -n8 --exclusive --comm-profile=pairs8)
wait_running "$second"
is "$(decision "$second" '.background | sort | join(" ")')" \
	"$(printf '%s\n' "$job" "$other" | sort | paste -sd' ')" \
	"its load counts while it waits for pre_run"
first=$(decision "$job" .time)
hosts=$(job_hosts "$job")
rm "$buffer/wait-pre_run"
wait_for 40 stepped "$job"
ok $? "then its script runs"
is "$(ranks "$CLUSTER/home/ranks.$job")" "$(planned "$job")" \
	"its ranks are where it was decided"
is "$(job_hosts "$job") $(decision "$job" .time)" "$hosts $first" \
	"it was decided once"
like "$(job_field "$job" admin_comment)" "commplace: policy=" \
	"its AdminComment says so"
scancel "$second" "$other"

# Its nodes are free while its data is brought out.
touch "$buffer/wait-out"
as_user touch "go.$job"
wait_phase "$job" out
ok $? "data is brought out"
gone() { ! [[ " $(on_record) " == *" $1 "* ]]; }
runs "its load is gone by then" wait_for 10 gone "$job"
next=$(submit -N16 -n16 --exclusive --comm-profile=ring8)
wait_running "$next"
ok $? "others have its nodes"
scancel "$next"
rm "$buffer/wait-out"
cancel_all

# The data cannot be brought in: held by Slurm, never decided.
touch "$buffer/fail-in"
job=$(staged -N4 --comm-profile=pairs8)
wait_phase "$job" in
held() { scontrol show job "$1" | grep -q 'Priority=0 '; }
wait_for 40 held "$job"
ok $? "a job without its data is held" || diag "$(scontrol show job "$job")"
runs "it is not decided" undecided "$job"
rm "$buffer/fail-in"
cancel_all

# pre_run fails on nodes that were given: the job gives them back and waits again.
touch "$buffer/fail-pre_run" "$buffer/wait-teardown"
job=$(staged -N4 --requeue --comm-profile=pairs8)
wait_phase "$job" teardown
ok $? "pre_run fails" || diag "$(scontrol show job "$job")"
runs "what was decided is no load" wait_for 20 gone "$job"
snapshot idle,plnd
beside=$(submit -N4 -n8 --exclusive --comm-profile=ring8)
wait_running "$beside"
is "$(decision "$beside" '.background | length')" 0 "for others either"
expect_place "$beside" "after pre_run has failed"
rm "$buffer/fail-pre_run" "$buffer/wait-teardown"
again() {
	scontrol release "$job"
	scontrol update jobid="$job" starttime=now
	stepped "$job"
} 2>/dev/null
wait_for 120 again
ok $? "in the end it runs" || diag "$(scontrol show job "$job")"
is "$(decision "$job" .outcome)" placed "placed anew"
is "$(decision "$job" '.background | join(" ")')" "$beside" \
	"beside what runs then"
is "$(ranks "$CLUSTER/home/ranks.$job")" "$(planned "$job")" \
	"its ranks are where it was decided last"
cancel_all

# slurmctld begins again while data is brought in and while a job waits for pre_run.
touch "$buffer/wait-in"
job=$(staged -N4 --comm-profile=pairs8)
wait_phase "$job" in
rm "$buffer/wait-in"
cluster_restart_ctld
wait_for 90 stepped "$job"
ok $? "a job runs whose data was brought in when slurmctld began again" ||
	diag "$(scontrol show job "$job")"
is "$(decision "$job" .outcome)" placed "placed"
before=$(commplace status --state "$CLUSTER/state.json" >/dev/null 2>&1
	jq -cS .jobs "$CLUSTER/state.json")
cluster_restart_ctld
commplace status --state "$CLUSTER/state.json" >/dev/null 2>&1
is "$(jq -cS .jobs "$CLUSTER/state.json")" "$before" \
	"loads are the same after slurmctld has begun again"
is "$(ranks "$CLUSTER/home/ranks.$job")" "$(planned "$job")" \
	"its ranks are where it was decided"
cancel_all

# Many jobs at once.
cat >"$CLUSTER/home/short.sh" <<END
#!/bin/bash
#BB_LUA pool=fast capacity=1
sleep 0.2
END
for i in {1..12}; do
	submit -N2 -n8 --exclusive -o /dev/null --comm-profile=$( ((i % 2)) &&
		echo pairs8 || echo ring8) short.sh
done >"$CLUSTER/many"
all_done() {
	[ "$(squeue -h -a -t all -O JobID:20,State:20 | awk '
		NR == FNR { want[$1]; next } $1 in want && $2 == "COMPLETED"' \
		"$CLUSTER/many" - | wc -l)" = 12 ]
}
wait_for 120 all_done
ok $? "12 jobs with buffers at once have run" || diag "$(squeue -a -t all)"
is "$(while read -r id; do
	decision "$id" .outcome
done <"$CLUSTER/many" | sort | uniq -c | tr -s ' ')" " 12 placed" "all placed"
commplace replay --json "$CLUSTER/decisions" >"$CLUSTER/replay"
is "$(jq -r '.records[] | select(.verdict == "different") |
	"job \(.job): \(.why)"' "$CLUSTER/replay" | head -5)" "" \
	"each decision is what its state comes to"
comes_to "" on_record
is "$COME" "" "nothing is on record as running"
cluster_check
done_testing
