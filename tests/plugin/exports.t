#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a plugin shows is what Slurm looks up in it: several of them, and those of
# others, are in one process, and none may take a function from another.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_BUILD:?}"
declare -A shows=(
	[select]='select_p_[a-z_]+|cplslurm_share_[0-9]+'
	[switch]='switch_p_[a-z_]+'
	[task]='task_p_[a-z_]+|cpltask_forked' # of 24.11 on, for SPANK's
	[job_submit]='job_submit|job_modify'
	[spank]='slurm_spank_[a-z_]+|spank_plugin_version'
)
plugins=0
for file in "$COMMPLACE_BUILD"/.libs/{select,switch,task,job_submit,spank}_*commplace.so; do
	[ -f "$file" ] || continue
	plugins=$((plugins + 1))
	name=${file##*/}
	type=${name%%_c*}
	is "$(nm -D --defined-only "$file" | awk '{ print $3 }' | grep -vxE \
		"init|fini|plugin_(id|name|type|version)|${shows[$type]}")" "" \
		"$name shows nothing else"
	is "$(nm -D --defined-only "$file" | grep -c ' plugin_name$')" 1 \
		"$name has its name"
done
ok $((plugins < 4)) "select, task, job_submit and spank plugins are there"
done_testing
