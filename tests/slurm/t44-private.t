#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A profile that a user may not read stays out of that user's jobs, though their
# submission was accepted: another number of ranks, by a step or a change of the job,
# its own file gone, nothing looked at then, since it was not there, its file system
# slow or the configuration broken. And users whom this host does not know.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_DEBUG_FLAGS=SelectType
CLUSTER_CPUS=16
CLUSTER_SITE="UserProfileDir=$(mktemp -d /tmp/commplace-homes.XXXXXX)/%U
MissingProfile=ignore"
homes=${CLUSTER_SITE%%/%U*} homes=${homes#*=}
on_exit 'rm -rf "$homes"'
# What hang says is a rule for these calls on files, see tests/tools/faults.c.
faults=$(mktemp -u /tmp/commplace-faults.XXXXXX)
on_exit 'rm -f "$faults"*'
slurmctld() {
	(export COMMPLACE_FAULTS="$faults" \
		LD_PRELOAD="${COMMPLACE_BUILD:?}/tests/tools/.libs/faults.so"
	exec slurmctld "$@")
}
cluster_start
chmod 755 "$homes"
own=$homes/$(id -u "$CLUSTER_USER")
mkdir "$own"
cluster_signature milc@8 8
cluster_signature milc@16 16 pairs
cluster_signature mine 8
chmod 600 "$PROFILES"/{milc@16,mine}.json
cp "$PROFILES/milc@8.json" "$own/mine.json"
chown -R "$CLUSTER_USER" "$own"

# private JOB NAME: it has run, without the profile
private() {
	wait_running "$1"
	ok $? "$2: the job runs"
	like "$(decision "$1" '.outcome + " " + .reason')" \
		"^stock .*not yours to use" "$2: without the profile"
	is "$(decision "$1" '.own_profile // false')" false "$2: nor another"
	cancel_all
}

job=$(submit -N2 -n8 --comm-profile=milc)
wait_running "$job"
is "$(decision "$job" .outcome)" placed "8 ranks: everybody's"
cancel_all
unlike "$(submit -N2 -n16 --comm-profile=milc 2>&1)" "^[0-9]+$" \
	"16 ranks: refused"
# A step of another number of ranks.
cat >"$CLUSTER/home/step.sh" <<'END'
#!/bin/bash
srun -n16 --overcommit true
END
job=$(submit -N2 -n8 --comm-profile=milc step.sh)
wait_ended "$job"
ok $? "a step of 16 ranks runs"
is "$(cat "$CLUSTER"/log/slurmd.*.log |
	grep -c "StepId=$job.0.*profile milc")" 0 "no node binds it by the profile"
# scontrol update of a job that waits.
job=$(submit -H -N2 -n8 --comm-profile=milc)
as_user scontrol update "jobid=$job" numtasks=16
scontrol release "$job"
private "$job" "other tasks"
# An own file is gone.
job=$(submit -H -N2 -n8 --comm-profile=mine)
rm "$own/mine.json"
sleep 6 # what was seen at submission holds for five seconds
scontrol release "$job"
private "$job" "own file gone"
# Not there at submission.
job=$(submit -H -N2 -n8 --comm-profile=later)
cp -p "$PROFILES/mine.json" "$PROFILES/later.json"
sleep 6 # what was seen at submission holds for five seconds
scontrol release "$job"
private "$job" "missing at submission"
# Its file system does not answer then.
cp -p "$PROFILES/mine.json" "$PROFILES/slow.json"
echo "1 all hang=20000 1 0 /profiles/slow" >"$faults"
job=$(submit -H -N2 -n8 --comm-profile=slow)
like "$job" "^[0-9]+$" "a slow file system: the job is taken"
like "$(cat "$faults.hits")" "/profiles/slow" "while its profile was looked for"
rm "$faults"
sleep 6 # what was seen at submission holds for five seconds
scontrol release "$job"
private "$job" "slow at submission"
# A configuration that is broken.
cluster_stop_ctld
sed -i '1iMode=perhaps' "$CLUSTER/etc/commplace.conf"
cluster_start_ctld && wait_for 30 cluster_nodes_up
job=$(submit -H -N2 -n8 --comm-profile=later)
sed -i 1d "$CLUSTER/etc/commplace.conf"
cluster_reconfigure
scontrol release "$job"
private "$job" "configuration broken at submission"

# Of one group: each submission asks for the user's groups. Where slurmctld takes
# a user whom this host does not know is Slurm's to say; all others go on.
chgrp root "$PROFILES/mine.json"
chmod 640 "$PROFILES/mine.json"
for i in 1 2 3; do
	(cd / && timeout 20 setpriv --reuid=471100 --regid=471100 --clear-groups \
		env SLURM_CONF="$SLURM_CONF" PATH="$PATH" sbatch -N2 -n8 \
		-o /dev/null --comm-profile=mine --wrap true) \
		>"$CLUSTER/unknown.$i" 2>&1
	[ $? -ne 124 ]
	ok $? "an unknown user is answered, time $i"
	job=$(submit -N2 -n8 --comm-profile=milc)
	wait_running "$job" 20
	ok $? "others are served after that, time $i"
	scancel "$job"
done
cancel_all
cluster_check
done_testing
