#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `commplace map` writes for launchers, and its figure.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
commplace=${COMMPLACE:-commplace}
work=$(mktemp -d)
on_exit 'rm -rf "$work"'

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
done_testing
