#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The test cluster itself, with stock Slurm only: if this fails, the other live
# tests mean nothing.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_SELECT=cons_tres CLUSTER_SPANK=no CLUSTER_JOB_SUBMIT= CLUSTER_HONEST=yes
cluster_start

is "$(idle_hosts)" "n[0-15]" "16 pretended nodes are idle"
is "$(idle_hosts real)" h0 "so is the honest node"
is "$(as_user id -un)" "$CLUSTER_USER" "jobs are an unprivileged user's"
isnt "$(id -u "$CLUSTER_USER")" 0 "which is not root"

job=$(submit -N2)
wait_running "$job"
ok $? "a job runs"
is "$(job_hosts "$job")" "n0 n1" "on the first nodes"
cluster_restart_ctld
ok $? "slurmctld restarts"
is "$(job_state "$job")" RUNNING "and knows the job"
cancel_all
ok $? "jobs are cancelled"

job=$(submit -n1 -p real -o out.txt --wrap "srun hostname; echo end")
wait_ended "$job"
ok $? "a batch script with a step ends well"
like "$(cat "$CLUSTER/home/out.txt")" "end" "its output is there"
cluster_check
done_testing
