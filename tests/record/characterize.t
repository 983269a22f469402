#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace characterize`: its program under mpirun, ranks on hosts by name.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools/tap.bash"
. "$here/env.bash"
export OMPI_MCA_mpi_yield_when_idle=1
source=$here/../../src/record/transfer.c

cat >net.json <<'END'
{"format": "commplace-network", "version": 1, "name": "net", "type": "dragonfly",
 "groups": 2, "rows": 1, "columns": 2, "nodes_per_router": 2,
 "global_links_per_group_pair": 1, "nodes": "n[0-7]"}
END
# Two ranks on n0 and on n4, one on n1 and n2.
cat >as-node <<'END'
#!/bin/bash
host=(n0 n0 n1 n2 n4.cluster n4)
export SLURMD_NODENAME=${host[${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}]}
echo "a line of another program"
[ -e mode ] || stat -c %a "${1%/*}" >mode
exec taskset -c "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" "$@"
END
chmod +x as-node

output=$("$COMMPLACE" characterize -o m.json --name here --network net.json \
	--source "$source" --most-bytes 4096 --seconds 0.0005 -- \
	mpirun -n 6 ./as-node 2>err)
is $? 0 "the program is compiled and run" || diag "$(cat err)"
is "$(printf '%s\n' "$output" | sed 's/  .*//' | paste -sd,)" \
	"BETWEEN,cores of a socket,nodes of a router,routers of a group,groups" \
	"all levels that there are"
is "$(printf '%s\n' "$output" | sed '1d; s/   */|/g' | cut -d'|' -f2 |
	paste -sd,)" 1,1,1,1 "one pair of each"
is "$(echo commplace-transfer-*)" 'commplace-transfer-*' "the program is gone"
is "$(cat mode)" 700 "nobody else could put another in its place"
levels=$(jq -r 'def part: . > 0 and . < 1;
	(.levels | to_entries[] | .key as $name | .value |
	[$name, (.sizes | length), .sizes[0][0] + 0, .sizes[-1][0] + 0,
	(.sizes[0][1] | part), .latency >= 0, (.send_overhead | part),
	(.receive_overhead | part), (.gap >= 0 and .gap < 1)] | join(" ")),
	"\(.name) \(.measured.ranks)"' m.json)
is "$levels" "core 10 8 4096 true true true true true
node 10 8 4096 true true true true true
router 10 8 4096 true true true true true
group 10 8 4096 true true true true true
here 6" "sizes from 8 bytes to 4096 of each level, overheads and gap"
echo '{"format": "commplace-signature", "version": 1, "name": "s", "ranks": 2,
"phases": [{"name": "p", "weight": 9, "time": 1, "compute_time": 0.5,
"traffic": [[0, 1, 4096, 1]]}]}' >s.json
runs "signature predict reads it" "$COMMPLACE" signature predict \
	--machine m.json s.json

# What a run printed, without a network, and a program that is there already.
runs "the program by hand" "${MPICC:-mpicc}" -o transfer "$source"
mpirun -n 6 ./as-node ./transfer 64 0 1 >out 2>err
is "$(grep -c 'commplace-transfer rank' out)" 3 \
	"at most one other host, and one of rank 0's own"
"$COMMPLACE" characterize -o n.json --from out --json >json
is "$(jq -c '.levels | keys_unsorted' json)" '["core","node"]' \
	"without a network other hosts are nodes"
runs "--program" "$COMMPLACE" characterize -o p.json --program ./transfer \
	--most-bytes 8 --seconds 0 -- mpirun -n 2
done_testing
