#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `commplace map` writes for launchers, and its figure.
. "${0%/*}/golden.bash"

cat >"$work/net.json" <<'END'
{ "format": "commplace-network", "version": 1, "type": "torus",
  "dims": [2, 2], "nodes": "n[0-3]" }
END
# Ranks r and r + 4 belong together.
cat >"$work/pairs.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "pairs", "ranks": 8,
  "phases": [ { "name": "run", "weight": 1, "time": 0, "compute_time": 0,
    "traffic": [ [0, 4, 10, 1], [1, 5, 10, 1], [2, 6, 10, 1], [7, 3, 1000, 1] ]
  } ] }
END

# map OPTION...
map() {
	"$commplace" map --network "$work/net.json" \
		--signature "$work/pairs.json" --hosts 'n[0-3]' "$@"
}
tile() {
	map --algorithm tile:TAB "$@"
}

is "$(tile --format hostfile | tr '\n' ' ')" "n0 n2 n1 n3 n0 n2 n1 n3 " \
	"hostfile: a host a line in rank order"
is "$(tile --format slurm)" \
	"srun -n 8 -m arbitrary -w n0,n2,n1,n3,n0,n2,n1,n3" "srun line"
is "$(tile --format mpich)" $'0,4\n2,6\n1,5\n3,7' \
	"MPICH_RANK_ORDER: a host a line in host order"
is "$(tile --format rankfile)" "rank 0=n0 slot=0
rank 1=n2 slot=0
rank 2=n1 slot=0
rank 3=n3 slot=0
rank 4=n0 slot=1
rank 5=n2 slot=1
rank 6=n1 slot=1
rank 7=n3 slot=1" "rankfile"
tile --format mpich -o "$work/order"
is "$(cat "$work/order")" "$(tile --format mpich)" "the same to a file"
like "$(tile --json)" '"algorithm": *"tile:TAB"' "JSON names the option"

printf '2\n%.0s' 1 2 3 4 5 6 7 8 >"$work/weights"
is "$(map --algorithm recursive --rank-weights "$work/weights" \
	--format rankfile | sed -n 's/.*slot=//p' | sort | tr '\n' ' ')" \
	"0-1 0-1 0-1 0-1 2-3 2-3 2-3 2-3 " "rankfile: a rank's cores"
like "$(map --algorithm recursive --rank-weights "$work/weights" --json |
	tr -d ' \n')" '"weights":\[2,2,2,2,2,2,2,2\]' "JSON: weights"
like "$(map --algorithm linear --slots 4,4,4,4)" $'\nn2 *\n' \
	"spare slots: the last hosts stay empty"

tile --plot "$work/a.svg" >"$work/text"
tile --plot "$work/b.svg" >/dev/null
svg=$(cat "$work/a.svg")
is "$(cat "$work/b.svg")" "$svg" "figure: the same each time"
is "$(cmp "$work/a.svg" "$here/mapping/matrix.svg" 2>&1)" "" \
	"figure: to the byte"
like "$svg" '^<svg .*</svg>$' "figure: an svg"
like "$svg" '>default order<.*>tile:TAB<' "figure: both orders"
like "$svg" '>8 ranks on 4 hosts, tile:TAB<' "figure: what it is of"
is "$(sed -n 's/.* y="158.0" .*>\([0-9]*\)<.*/\1/p' "$work/a.svg" | paste -sd' ')" \
	"0 1 2 3 4 5 6 7 0 4 2 6 1 5 3 7" "figure: the ranks of the cells beside them"
like "$(cat "$work/text")" 'hop-bytes .*-100.0 %' "the table is printed too"

text=$(map --compare all)
like "$text" $'\nrecursive .*\ntreematch .*\ntile ' "all has the new ones"
like "$(map --compare linear,tile:ABCT)" \
	$'\ntile:ABCT +- .*\ntile:ABCT: tile: 4 coordinates are given' \
	"a row that cannot be says why"
is "$(map --compare linear,tile:ABCT >/dev/null; echo $?)" 0 \
	"and does not fail the table"
like "$(map --compare tile:ABCT --json | tr -d ' \n')" \
	'"algorithm":"tile:ABCT","error":"tile:4coordinates' "in JSON too"

# The user's guide: hosts of a training job in order, for launchers.
cat >"$work/llm.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "llm-16", "ranks": 16,
  "phases": [ { "name": "step", "weight": 1000, "pattern": { "type": "llm",
    "tp": 4, "dp": 2, "pp": 2, "layers": 24, "hidden": 2048, "sequence": 2048,
    "micro_batches": 8, "vocabulary": 51200 } } ] }
END
is "$("$commplace" map --network "$here/../../etc/networks/quickstart.json" \
	--signature "$work/llm.json" --hosts 'n3,n9,n1,n12' --ranks-per-node 4 \
	--algorithm network-order --format hostfile | uniq | paste -sd' ')" \
	"n1 n3 n12 n9" "hosts along the network, tensor parallel ranks together"
# 16 ranks as 4 tasks of 4 processes: an order of nodes.
tasks() {
	"$commplace" map --network "$work/leaves.json" \
		--signature "$work/llm.json" --hosts n0,n4,n1,n5 \
		--processes-per-task 4 "$@"
}
cat >"$work/leaves.json" <<'END'
{ "format": "commplace-network", "version": 1, "type": "fattree",
  "nodes_per_router": 4, "levels": [ { "down": 4, "up": 2 } ],
  "nodes": "n[0-15]" }
END
is "$(tasks --algorithm groups --raw --format torchrun)" \
	"n0 --nnodes=4 --node_rank=0 --nproc_per_node=4 --master_addr=n0
n1 --nnodes=4 --node_rank=1 --nproc_per_node=4 --master_addr=n0
n4 --nnodes=4 --node_rank=2 --nproc_per_node=4 --master_addr=n0
n5 --nnodes=4 --node_rank=3 --nproc_per_node=4 --master_addr=n0" \
	"torchrun: a line a node; data parallel ranks, which send most, share leaves"
is "$(tasks --algorithm linear --format ray | tr -d ' \n')" \
	'{"strategy":"PACK","bundles":[{"GPU":4,"node:n0":0.001},{"GPU":4,"node:n4":0.001},{"GPU":4,"node:n1":0.001},{"GPU":4,"node:n5":0.001}]}' \
	"ray: a bundle a task"
tasks --algorithm groups --raw --json >"$work/old.json"
is "$(jq -c '[.processes_per_task, .rank_to_host,
	(.spread.before, .spread.after | map([.dimension, .groups,
	(.units[] | select(.unit == "router") | .most)]))]' "$work/old.json")" \
	'[4,["n0","n1","n4","n5"],[["dp",2,2],["pp",2,1]],[["dp",2,1],["pp",2,2]]]' \
	"spread of groups, before and after"
isnt "$(tasks --algorithm random --raw --json | jq .kept_default)" true \
	"raw: an answer that is worse than block order"

# A node fails.
repair() {
	"$commplace" map --network "$work/leaves.json" \
		--signature "$work/llm.json" --processes-per-task 4 \
		--repair "$work/old.json" --failed n4 "$@"
}
is "$(repair --objective hop-bytes --free 'n[6,12]' --json |
	jq -c '[.replaced, .rank_to_host, .worse]')" \
	'[{"n4":"n6"},["n0","n1","n6","n5"],false]' \
	"repair: the node beside the other rank of its stage"
like "$(repair --objective hop-bytes --free n12)" \
	$'^n12 takes the 1 rank of n4\nhop-bytes: before .*, repaired .*, a fresh plan ' \
	"repair: far away"
like "$(repair --objective hop-bytes --free 'n[6,12]')" 'a fresh plan [0-9.e+]*$' \
	"repair: not said to be worse where it is not"
like "$(repair --free 'n[2,3,6]')" 'worse than a fresh plan, which costs nothing$' \
	"repair: said to be worse than a plan on one leaf"
is "$(repair --free 'n[2,3,6]' --json | jq -c '[.worse, .worse_percent]')" "[true,null]" \
	"repair: by no number"
is "$(repair --free n6 --objective hop-bytes --format hostfile |
	paste -sd' ')" "n0 n1 n6 n5" "repair: for a launcher"
printf 'n0\nn4\nn1\nn5\n' >"$work/old.json"
is "$(repair --free n6 --objective hop-bytes --format hostfile |
	paste -sd' ')" "n0 n6 n1 n5" "repair: from a host file"
echo '{"rank_to_host": ["n0", 7, "n1", "n5"]}' >"$work/old.json"
like "$(repair 2>&1)" "old.json: rank_to_host of rank 1, '.no text.', is no host" \
	"repair: a layout that is none"
echo '{"rank_to_host": ["n0", "n4", "n1"]}' >"$work/old.json"
like "$(repair 2>&1)" "old.json: 3 ranks have hosts; the job has 4" \
	"repair: of another job"
done_testing
