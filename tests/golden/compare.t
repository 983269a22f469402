#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace compare`: rows against `commplace traffic`, marks, seeds,
# workloads, running jobs, and figures to the byte.
. "${0%/*}/golden.bash"
golden=$here/compare

# rows FILE 'PERL EXPRESSION OF $r': its value for every row, one a line
rows() {
	perl -MJSON::PP -e 'my $code = eval "sub { my \$r = shift; $ARGV[0] }";
		local $/; my $root = decode_json(<STDIN>);
		print join("\n", map { $code->($_) } @{$root->{rows}})' \
		"$2" <"$1"
}

# sorted FILE KEY...: part of a JSON file, keys sorted
sorted() {
	local file=$1
	shift
	perl -MJSON::PP -e 'local $/; my $value = decode_json(<STDIN>);
		$value = ref $value eq "ARRAY" ? $value->[$_] : $value->{$_} for @ARGV;
		print JSON::PP->new->canonical->allow_nonref->encode($value)' \
		"$@" <"$file"
}

compare() {
	local name=$1
	shift
	"$commplace" compare --network "$etc/networks/quickstart.json" "$@" \
		--json >"$work/$name.json"
}

network() {
	printf '{ "format": "commplace-network", "version": 1, "name": "%s", %s }' \
		"$1" "$2" >"$work/$1.json"
}

halo=$etc/signatures/halo-16.json
alltoall=$etc/signatures/alltoall-16.json
sd='--routings SD'

compare all --signature "$halo" $sd
rows "$work/all.json" '$r->{placement}' >"$work/placements"
is "$(grep -xE '(linear|best-fit|random-(nodes|routers|chassis|groups)|round-robin-(nodes|routers))' \
	"$work/placements" | paste -sd' ')" \
	"linear best-fit random-nodes random-routers random-chassis random-groups round-robin-nodes round-robin-routers" \
	"all placements of a dragonfly"
is "$(grep -xE 'blocked|compact|spread|whole|keep-whole|per-router|segments|auto|traffic' \
	"$work/placements")" "" "but no search, none of a site's wishes or of tori"
like "$(compare every --signature "$halo" --placements linear
	rows "$work/every.json" '$r->{routing}' | paste -sd' ')" \
	'^static-direct' "routings: all by default, the minimal one first"
is "$(rows "$work/every.json" '$r->{routing}' | grep -c sampled)" 0 \
	"the sampled routing is not among all"
compare sampled --signature "$alltoall" --placements linear \
	--routings static-indirect,SIS
is "$(rows "$work/sampled.json" '$r->{routing}' | paste -sd' ')" \
	"static-indirect static-indirect-sampled" "but may be named"
is "$(rows "$work/sampled.json" '$r->{links}{all}{mean}' | paste -sd' ' |
	awk '{ print ($1 / $2 - 1) ^ 2 < 0.02 ^ 2 }')" 1 \
	"its mean load is within 2 per cent of the expectation"
compare list --signature "$halo" $sd --placements rdr,linear,RDR,traffic
is "$(rows "$work/list.json" '$r->{placement}' | paste -sd' ')" \
	"random-routers linear traffic" "a list, in its order, each once"

i=0
for placement in $(rows "$work/all.json" '$r->{placement}'); do
	"$commplace" traffic --network "$etc/networks/quickstart.json" \
		--signature "$halo" --placement "$placement" --routing SD --json \
		>"$work/traffic.json"
	for key in links injection ejection hop_bytes max_congestion \
		nonzero_congestion_variance max_dilation bytes_in_node; do
		is "$(sorted "$work/all.json" rows $i $key)" \
			"$(sorted "$work/traffic.json" $key)" \
			"$placement: $key as traffic says"
	done
	i=$((i + 1))
done

is "$(rows "$work/all.json" '$r->{lowest_maximum} ? $r->{links}{all}{max} : ()' | sort -gu)" \
	"$(rows "$work/all.json" '$r->{links}{all}{max}' | sort -g | head -1)" \
	"rows with the lowest maximum are marked"
compare again --signature "$halo" $sd
is "$(cat "$work/again.json")" "$(cat "$work/all.json")" "the same bytes again"

# Where linear loads no link nothing can be a multiple of it.
cat >"$work/neighbours.json" <<'END'
{"format":"commplace-signature","version":1,"name":"neighbours","ranks":2,
 "phases":[{"traffic":[[0,1,1000,1]]}]}
END
compare hybrid --signature "$work/neighbours.json" --ranks-per-node 1 \
	--routings SD --placements linear,RDN
is "$(rows "$work/hybrid.json" '$r->{links}{all}{max} > 0 ? 1 : 0' | paste -sd' ')" \
	"0 1" "linear is on one router"
is "$(rows "$work/hybrid.json" 'defined $r->{hybrid} ? 1 : 0' | paste -sd' ')" \
	"0 0" "no hybrid metric without a load of linear"

# Seeds: the middle one of each seed alone.
for seed in 5 6 7; do
	compare seed$seed --signature "$halo" $sd --placements RDN --seed $seed
	rows "$work/seed$seed.json" '$r->{links}{all}{max}'
	echo
done | sort -g >"$work/maxima"
compare seeds --signature "$halo" $sd --placements RDN,linear --seed 5 --seeds 3
is "$(rows "$work/seeds.json" '$r->{links}{all}{max}' | head -1)" \
	"$(sed -n 2p "$work/maxima")" "seeds: the one with the median maximum"
is "$(sorted "$work/seeds.json" rows 0 max_over_seeds lowest)" \
	"$(sed -n 1p "$work/maxima")" "the lowest of them"
is "$(sorted "$work/seeds.json" rows 0 max_over_seeds highest)" \
	"$(sed -n 3p "$work/maxima")" "the highest of them"
is "$(rows "$work/seeds.json" '$r->{seeds}' | paste -sd' ')" "3 1" \
	"linear has no seeds"

# Several signatures: alone, or as one workload.
compare two --signature "$halo" --signature "$alltoall" $sd --placements linear
is "$(rows "$work/two.json" '$r->{signature}' | paste -sd' ')" \
	"halo-16 alltoall-16" "signatures one by one"
compare both --workload --signature "$halo" --signature "$alltoall" $sd \
	--placements RRN --seed 3
is "$(rows "$work/both.json" '$r->{signature}')" "halo-16+alltoall-16" "a workload"
"$commplace" traffic --network "$etc/networks/quickstart.json" --placement RRN \
	--signature "$halo" --signature "$alltoall" --json >"$work/traffic.json"
is "$(sorted "$work/both.json" rows 0 links)" \
	"$(sorted "$work/traffic.json" links)" "its links as traffic says"
is "$(sorted "$work/both.json" rows 0 hop_bytes)" \
	"$(sorted "$work/traffic.json" hop_bytes)" "and its sums"

# Ranks per node: for all, and for one.
compare ranks --workload --ranks-per-node 2 --signature "$halo" \
	--signature "$alltoall" --ranks-per-node 1 $sd --placements linear
"$commplace" traffic --network "$etc/networks/quickstart.json" \
	--signature "$halo" --ranks-per-node 2 --signature "$alltoall" --json \
	>"$work/traffic.json"
is "$(sorted "$work/ranks.json" rows 0 links)" \
	"$(sorted "$work/traffic.json" links)" "ranks per node, common and own"
"$commplace" traffic --network "$etc/networks/quickstart.json" \
	--ranks-per-node 2 --signature "$halo" --signature "$alltoall" --json \
	>"$work/traffic.json"
for at in 1 2; do
	one=() two=()
	[ $at = 1 ] && one=(--ranks-per-node 2) || two=(--ranks-per-node 2)
	compare once --workload --signature "$halo" "${one[@]}" \
		--signature "$alltoall" "${two[@]}" $sd --placements linear
	is "$(sorted "$work/once.json" rows 0 links)" \
		"$(sorted "$work/traffic.json" links)" \
		"ranks per node once, after signature $at: of both"
done

cat >"$work/state.json" <<END
{ "jobs": [ { "id": 7, "signature": "$(realpath "$alltoall")",
  "hosts": [$(printf '"n%d", ' {0..14})"n15"], "ranks_per_node": 1 } ] }
END
compare running --running "$work/state.json" --signature "$halo" $sd \
	--placements RRR
"$commplace" traffic --network "$etc/networks/quickstart.json" \
	--running "$work/state.json" --signature "$halo" --placement RRR --json \
	>"$work/traffic.json"
is "$(sorted "$work/running.json" rows 0 links)" \
	"$(sorted "$work/traffic.json" links)" "running jobs"

text=$("$commplace" compare --network "$etc/networks/quickstart.json" \
	--signature "$halo" $sd --placements linear,RDN --seeds 3 --classes)
like "$text" 'signature halo-16, all links, bytes per link' "text: head"
like "$text" $'\nlinear +static-direct +- +[^\n]* \*' "text: the lowest is marked"
like "$text" $'\nsignature halo-16, global links\n' "text: classes"
like "$text" $'\nrandom-nodes +static-direct +3 +' "text: seeds"

# The hybrid metric is 4 for linear, and what it says for another.
compare hybrid --signature "$halo" $sd --placements RDN,linear
is "$(rows "$work/hybrid.json" '$r->{placement} eq "linear" ? 0 + $r->{hybrid} : ()')" 4 \
	"hybrid metric: 4 for linear"
is "$(perl -MJSON::PP -e 'local $/; my ($r, $l) = @{decode_json(<STDIN>)->{rows}};
	my $sum = 0;
	$sum += $r->{$_} / $l->{$_} for qw(hop_bytes max_congestion
		nonzero_congestion_average nonzero_congestion_variance);
	print abs($sum / $r->{hybrid} - 1) < 1e-12 ? "as defined" : $sum' \
	<"$work/hybrid.json")" "as defined" "hybrid metric: four ratios"
compare alone --signature "$halo" $sd --placements RDN
is "$(rows "$work/alone.json" 'defined $r->{hybrid} ? "some" : "none"')" none \
	"hybrid metric: none without linear"

# Dilation: ranks 0 and 1 on one router, 2 next to it, 3 across the ring.
cat >"$work/dilation.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "d", "ranks": 4,
  "phases": [ { "name": "a", "weight": 1, "traffic":
    [ [0, 1, 9, 1], [0, 2, 1, 1], [2, 0, 1, 1], [1, 3, 1, 1], [3, 3, 5, 1] ] } ] }
END
network torus-8 '"type": "torus", "dims": [8], "nodes_per_router": 2,
	"nodes": "n[0-15]"'
"$commplace" traffic --network "$work/torus-8.json" --json \
	--signature "$work/dilation.json" --hosts 'n0,n1,n2,n8' \
	>"$work/dilation-out.json"
is "$(sorted "$work/dilation-out.json" average_dilation)" 1.5 \
	"average dilation of 0, 1, 1 and 4"
is "$(sorted "$work/dilation-out.json" average_dilation_above_average | sed 's/\.0$//')" 4 \
	"of those above average"
is "$(sorted "$work/dilation-out.json" max_dilation | sed 's/\.0$//')" 4 "largest"

# Two ways of one row and one column link; another message has the row link of
# the first, one the column link of the second, which has three times the
# bandwidth. Adapting moves bytes there: halves make 15 GB (2.86 s) and 17 GB.
network two-ways '"type": "dragonfly", "groups": 1, "rows": 2, "columns": 2,
	"bandwidth": { "row": 5.25e9, "column": 15.75e9, "injection": 16e9 },
	"nodes": "n[0-3]"'
cat >"$work/two-ways-job.json" <<'END'
{ "format": "commplace-signature", "version": 1, "name": "d", "ranks": 4,
  "phases": [ { "name": "a", "weight": 1, "traffic":
    [ [0, 3, 10e9, 1], [0, 1, 10e9, 1], [0, 2, 12e9, 1] ] } ] }
END
"$commplace" compare --network "$work/two-ways.json" --placements linear \
	--signature "$work/two-ways-job.json" --routings SD,AD --json \
	>"$work/adapted.json"
is "$(rows "$work/adapted.json" 'sprintf "%.4g", $r->{max_congestion}' | head -1)" \
	2.857 "static-direct: the row link is the fullest"
is "$(perl -MJSON::PP -e 'local $/; my ($sd, $ad) = @{decode_json(<STDIN>)->{rows}};
	print $ad->{max_congestion} < 0.9 * $sd->{max_congestion} &&
	$ad->{links}{all}{max} > $sd->{links}{all}{max} ? "as it should" : "not so"' \
	<"$work/adapted.json")" "as it should" \
	"adaptive-direct: less congestion, though more bytes on the larger link"

# figure NAME COMMAND...: the file written by --plot is golden NAME.svg
figure() {
	local name=$1
	shift
	"$commplace" "$@" --plot "$work/$name.svg" >"$work/stdout"
	is "$(cmp "$work/$name.svg" "$golden/$name.svg" 2>&1)" "" "$name.svg to the byte"
}

figure box compare --network "$etc/networks/quickstart.json" \
	--signature "$halo" $sd --placements linear,RDN,RRR --classes

# Maps: a dragonfly, planes of a torus, a mesh in one plane, a torus that is
# too large to draw link by link, and one of blocks of groups.
map() {
	local name=$1 network=$2
	shift 2
	figure "$name" traffic --network "$network" --signature "$halo" "$@"
}
map dragonfly "$etc/networks/quickstart.json" --placement RDN
network torus-4x3x2 '"type": "torus", "dims": [4, 3, 2], "bandwidth":
	{ "dim": [2e9, 1e9, 1e9], "injection": 2e9 }, "nodes": "n[0-23]"'
map torus "$work/torus-4x3x2.json" --placement RDN
network mesh-6x3 '"type": "torus", "dims": [6, 3], "wrap": [false, true],
	"nodes": "n[0-17]"'
map mesh "$work/mesh-6x3.json"
network torus-4x5x300 '"type": "torus", "dims": [4, 5, 300],
	"nodes": "n[0-5999]"'
map strips "$work/torus-4x5x300.json" --placement RDN
network ring '"type": "torus", "dims": [300], "nodes": "n[0-299]"'
map ring "$work/ring.json" --placement RDN
network groups-100 '"type": "dragonfly", "groups": 100, "rows": 1,
	"columns": 2, "nodes_per_router": 1, "nodes": "n[0-199]"'
map blocks "$work/groups-100.json" --placement RDN

# The frame is on the cell of the link that --links says is the fullest.
"$commplace" traffic --network "$work/torus-4x3x2.json" --signature "$halo" \
	--placement RDN --links "$work/links.csv" >"$work/stdout"
fullest=$(awk -F, 'NR > 1 && $5 / $4 > max { max = $5 / $4; from = $2; to = $3 }
	END { printf "(%d,%d,%d) to (%d,%d,%d)", from % 4, from / 4 % 3, from / 12,
		to % 4, to / 4 % 3, to / 12 }' "$work/links.csv")
is "$(sed -n 's/.*largest congestion: dim. link, \(([0-9,]*) to ([0-9,]*)\).*/\1/p' \
	"$work/torus.svg")" "$fullest" "the link with the largest congestion is named"

done_testing
