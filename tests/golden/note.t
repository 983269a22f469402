#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace note` beside a Slurm whose jobs have their comments in files.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export LC_ALL=C
mkdir bin jobs
cat >bin/squeue <<'END'
#!/bin/bash
# squeue -h -j ID -o FORMAT: all jobs of its array, too.
cd "${0%/*}/../jobs" || exit
[ -e "$3" ] || { echo "slurm_load_jobs error: Invalid job id specified"; exit 1; }
for job in *; do
	text=$(cat "$job"; echo x)
	line=${5//%A/$job}
	printf '%s%s%s\n' "${line%%%k*}" "${text%x}" "${line#*%k}"
done
END
cat >bin/scontrol <<'END'
#!/bin/bash
# scontrol update jobid=ID comment=TEXT
cd "${0%/*}/../jobs" || exit
echo "$2" >>../updates
job=${2#jobid=}
job=${job/17_3/18}
[ -e ../denied ] && { echo "slurm_update error: Access/permission denied" >&2; exit 1; }
printf %s "${3#comment=}" >"$job"
# Somebody who read the comment before.
[ -e ../other ] && mv ../other "$job"
exit 0
END
chmod +x bin/*
PATH=$PWD/bin:$PATH
unset "${!SLURM_@}"
export SLURM_JOB_ID=17
# comment TEXT: of job 17, before.
comment() { printf %s "$1" >jobs/17; }
printf %s "not mine" >jobs/16

comment "(null)"
"$commplace" note merit=1234.5 >out 2>&1
is "$?,$(cat out)" 0, "a note"
is "$(cat jobs/17)" "commplace: merit=1234.5" "stands in the comment"
"$commplace" note seconds=87 merit=2147483648
is "$(cat jobs/17)" "commplace: seconds=87 merit=2147483648" \
	"another one beside it, and a number is replaced"
is "$(cat jobs/16)" "not mine" "other jobs are left alone"

odd=$'it\'s "mine" $(touch here) `touch here` \\ ; x=1\n17 merit=3|\t%A'
comment "$odd"
"$commplace" note merit=5
is "$(cat jobs/17)" "$odd; commplace: merit=5" "what else is there stays as it is"
"$commplace" note merit=6 _a.b-c=1e-3
is "$(cat jobs/17)" "$odd; commplace: merit=6 _a.b-c=1e-3" "again"
[ ! -e here ] && [ ! -e jobs/here ]
ok $? "no shell reads it"
comment '{"pods": ["a"]}'
"$commplace" note merit=5 && "$commplace" note t=7
is "$(cat jobs/17)" '{"pods": ["a"],"commplace":"merit=5 t=7"}' "a JSON object stays one"
comment "merit=1; commplace: merit=2; yours merit=3"
"$commplace" note merit=4
is "$?,$(cat jobs/17)" "0,merit=1; commplace: merit=4; yours merit=3" \
	"what users wrote is theirs"

comment ""
printf %s "commplace: other=1" >other
"$commplace" note merit=5
is "$?,$(cat jobs/17)" "0,commplace: other=1 merit=5" \
	"a note that another program undid is written again"

printf %s "of the last member" >jobs/18
: >updates
SLURM_JOB_ID=18 SLURM_ARRAY_JOB_ID=17 SLURM_ARRAY_TASK_ID=3 "$commplace" note merit=5
is "$?,$(cat jobs/18),$(cat updates)" "0,of the last member; commplace: merit=5,jobid=17_3" \
	"a member of an array, not all of them"
: >updates
SLURM_PROCID=1 "$commplace" note merit=5
is "$?,$(cat updates)" 0, "of tasks the first one writes"
SLURM_PROCID=0 "$commplace" note merit=8
like "$(cat jobs/17)" merit=8 "this one"

# refused NAME CODE TEXT ARGUMENT...: with one line, and nothing is changed.
refused() {
	local name=$1 code=$2 text=$3 before
	shift 3
	before=$(cat jobs/17)
	"$commplace" note "$@" >out 2>&1
	is "$?,$(wc -l <out)" "$code,1" "$name"
	like "$(cat out)" "$text" "$name: why"
	is "$(cat jobs/17)" "$before" "$name: the comment is as before"
}
touch denied
refused "another user's job" 1 \
	"note: the comment of job 17 cannot be changed: slurm_update error: Access/permission denied" \
	merit=5
rm denied
comment "commplace: merit=5"
many=()
for ((i = 0; i < 90; i++)); do
	many+=("a_key_of_some_length_$i=123456789")
done
refused "too many" 1 "the job's notes would be longer than 768 bytes" "${many[@]}"
export SLURM_JOB_ID=99
refused "a job that is gone" 1 "squeue .*Invalid job id" merit=5
done_testing
