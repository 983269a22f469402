#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace map --compare`: LU.C.64 of Sharunov 2017 on a 4x4x4 mesh and torus.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
commplace=${COMMPLACE:-commplace}
work=$(mktemp -d)
on_exit 'rm -rf "$work"'

for wrap in true false; do
	cat >"$work/$wrap.json" <<END
{ "format": "commplace-network", "version": 1, "type": "torus",
  "dims": [4, 4, 4], "wrap": [$wrap, $wrap, $wrap], "nodes": "n[0-63]" }
END
done
cat >"$work/lu.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "lu", "ranks": 64,
  "phases": [ { "name": "run", "weight": 1,
    "pattern": { "type": "npb-lu", "class": "C", "ranks": 64 } } ] }
END

# compare WRAP OPTION...
compare() {
	local wrap=$1
	shift
	"$commplace" map --network "$work/$wrap.json" \
		--signature "$work/lu.json" --hosts 'n[0-63]' "$@"
}

# value MAPPER KEY <JSON
value() {
	perl -MJSON::PP -0777 -e 'my ($name, $key) = @ARGV;
		for (@{decode_json(<STDIN>)->{rows}}) {
			print $_->{$key} if $_->{algorithm} eq $name }' "$@"
}

compare true --compare all --json >"$work/torus"
is "$(value linear ienpc <"$work/torus")" 16165850 "torus: default order"
is "$(value linear hop_bytes <"$work/torus")" 39515235648 "its hop-bytes"
is "$(value linear hybrid <"$work/torus")" 4 "it scores 4"
for key in seconds wtad max_congestion nonzero_congestion_average \
	nonzero_congestion_variance; do
	like "$(value ptram $key <"$work/torus")" '^[0-9]' "$key"
done
is "$(compare true --compare all --json | grep -v seconds)" \
	"$(grep -v seconds "$work/torus")" "the same each time"

compare false --compare linear --json >"$work/mesh"
is "$(value linear ienpc <"$work/mesh")" 17459118 "mesh: default order"
is "$(value linear hop_bytes <"$work/mesh")" 42676454848 "its hop-bytes"
is "$(value greedyallc ienpc <"$work/mesh")" "" "only what was asked for"
# 2 * 17459118 / (64 * 63)
like "$(value linear wtad <"$work/mesh")" '^8660\.2767' "WTAD"

text=$(compare false --compare linear,TopoAware-1)
like "$text" '^algorithm +hop-bytes +max congestion +NZCA +NZCV +hybrid +WTAD +IeNPC +seconds' \
	"text: head"
like "$text" $'\nlinear +42.7 GB .* 4.000 +8660 +17459118 ' "text: a row"
like "$text" $'\ntopoaware-1 ' "text: another"

done_testing
