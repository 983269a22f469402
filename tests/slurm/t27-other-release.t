#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A select plugin built from headers that are not those of the running Slurm: of
# a release whose job_record_t has one field more. slurmctld comes up, says what
# the plugin was built for, and answers as the stock plugin does.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
: "${COMMPLACE_BUILD:?}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/commplace-release.XXXXXX")
on_exit 'rm -rf "$tmp"'
chmod 755 "$tmp"

tree=$(sed -n 's/^SLURM_SOURCE = //p' "$COMMPLACE_BUILD/Makefile")
header=$(cd "$tree" && grep -l '^struct job_record {' \
	src/common/*.h src/slurmctld/*.h)
mkdir -p "$tmp/tree/${header%/*}" "$tmp/plugins"
sed '/^struct job_record {/a\	uint64_t of_another_release;' \
	"$tree/$header" >"$tmp/tree/$header"
cat >"$tmp/mk" <<'END'
include Makefile
other:
	$(CC) $(DEFS) -I. -I$(srcdir)/src $(select_cons_tres_commplace_la_CPPFLAGS) $(CPPFLAGS) \
	$(AM_CFLAGS) $(CFLAGS) -fPIC -shared -o $(OTHER) \
	$(addprefix $(srcdir)/,$(filter %.c, $(libcplslurm_la_SOURCES) \
	$(libselectroom_la_SOURCES) $(select_cons_tres_commplace_la_SOURCES))) \
	.libs/libdoor.a .libs/libnode.a .libs/libbase.a $(JANSSON_LIBS) $(ZLIB_LIBS) $(HWLOC_LIBS) $(LIBS) -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/src/plugins/select/select.sym
END
runs "the plugin is built from the other headers" \
	make -s -C "$COMMPLACE_BUILD" -f "$tmp/mk" other \
	SLURM_SOURCE="$tmp/tree -isystem $tree" \
	OTHER="$tmp/plugins/select_cons_tres_commplace.so"
CLUSTER_PLUGINS=$tmp/plugins:$CLUSTER_PLUGINS

cluster_start
cluster_signature all10 10 all
log=$CLUSTER/log/slurmctld.log
said() {
	grep 'built for Slurm' "$log"
}

# scattered STOCK: where a job runs that has asked for random nodes, and ranks
scattered() {
	rm -f "$CLUSTER/home/out"
	job=$(submit -N4 -n10 --exclusive --comm-profile=all10 \
		--placement-policy=random-nodes -o "$CLUSTER/home/out" \
		--wrap "srun -l sh -c 'echo \$SLURMD_NODENAME'; sleep 60")
	wait_running "$job"
	ok $? "$1: a job with a profile runs"
	is "$(job_hosts "$job")" "n0 n1 n2 n3" "$1: where stock jobs do"
	has_ranks() { [ "$(cat "$CLUSTER/home/out" 2>/dev/null | wc -l)" = 10 ]; }
	wait_for 30 has_ranks
	is "$(sort -n "$CLUSTER/home/out" | awk '{print $2}' | uniq -c |
		awk '{print $2}' | paste -sd' ')" "n0 n1 n2 n3" \
		"$1: its ranks are in blocks"
	unlike "$(commplace explain "$job" 2>&1)" "^Job" "$1: nothing was decided"
	cancel_all
}
scattered "another release"
is "$(said | wc -l)" 1 "it is said once"
# Of a field, where the daemon has debug information. The number of a
# release candidate is that of the release.
like "$(said)" "Slurm ${SLURM_VERSION%%-*}(, whose job_record_t has [0-9]+ bytes; here it has [0-9]+|: .*: job_record_t\.[a-z_]+ has .*, here it has .*): all is left to Slurm" \
	"what the plugin was built for, and what differs"

: >"$log"
cluster_restart_ctld
ok $? "slurmctld comes up again"
scattered "after a restart"
is "$(said | wc -l)" 1 "it is said once more"

# slurmctld's plugin of the right headers in its place.
rm "$tmp/plugins/select_cons_tres_commplace.so"
: >"$log"
cluster_restart_ctld
ok $? "slurmctld comes up with the right plugin"
snapshot idle
job=$(submit -N4 -n10 --exclusive --comm-profile=all10)
wait_running "$job"
expect_place "$job" "then"
is "$(said)" "" "and nothing is said"
cancel_all
cluster_check
done_testing
