#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The hooks that our plugins have are those that the installed Slurm looks up,
# by the names that stand in its library and its daemons.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/../tools/slurm.bash"
: "${COMMPLACE_BUILD:?}"
PATH=$SLURM_PATH:$PATH
dir=$(sed -n 's/^SLURM_PLUGIN_SYSTEM_DIR = //p' "$COMMPLACE_BUILD/Makefile")
[ -f "$dir/libslurmfull.so" ] || bail "no libslurmfull.so in '$dir'"
programs=("$dir/libslurmfull.so")
for daemon in slurmctld slurmd slurmstepd; do
	programs+=("$(readlink -f "$(command -v $daemon)")")
done

plugins=0
for file in "$COMMPLACE_BUILD"/.libs/{select,switch,task}_*commplace.so; do
	[ -f "$file" ] || continue
	plugins=$((plugins + 1))
	type=${file##*/}
	type=${type%%_*}
	is "$(nm -D --defined-only "$file" | awk '{print $3}' |
		grep "^${type}_p_" | sort)" \
		"$(cat "${programs[@]}" | grep -aoE "${type}_p_[a-z_]+" | sort -u)" \
		"hooks of ${file##*/}"
done
ok $((plugins < 2)) "select and task plugins are there"
done_testing
