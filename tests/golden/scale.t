#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Patterns of the published size, whose messages are not stored: 8,847,360 ranks
# on 92,160 routers.
. "${0%/*}/golden.bash"
net=$etc/networks/cascade-960.json
stencil=$etc/signatures/damselfly-4d-stencil.json
many=$etc/signatures/damselfly-many-to-many.json

# value FILE 'PERL EXPRESSION OF $r'
value() {
	perl -MJSON::PP -e 'local $/; my $r = decode_json(<STDIN>);
		print eval $ARGV[0]' "$2" <"$1"
}

"$commplace" compare --network "$net" --signature "$stencil" \
	--ranks-per-node 24 --placements RDG --routings SD,SI --json \
	>"$work/rdg.json"
# Jain 2016, Figure 3.19: along the first axis partners are 12 groups apart, so
# that all 9,216 ranks of a group send their 2 MiB over one global link.
is "$(value "$work/rdg.json" '$r->{rows}[0]{links}{global}{max} / 1048576')" \
	18432 "4-D stencil, random groups, static-direct: the global maximum"
is "$(value "$work/rdg.json" '$r->{rows}[0]{links}{all}{count}')" 2763840 \
	"directed links"
is "$(value "$work/rdg.json" '$r->{rows}[0]{bytes_on_network} +
	$r->{rows}[0]{bytes_in_node}')" 148434069749760 "all bytes of 8 x 2 MiB"
is "$(value "$work/rdg.json" 'my $row = $r->{rows}[0];
	my $sum = $row->{links}{all}{mean} * 2763840;
	abs($sum / $row->{hop_bytes} - 1) < 1e-12 ? "equal" : $sum')" equal \
	"bytes of the links are hop-bytes"
is "$(value "$work/rdg.json" '$r->{rows}[1]{links}{all}{max} <
	$r->{rows}[0]{links}{all}{max} / 20 ? "lower" : "not"')" lower \
	"static-indirect takes the maximum away"

for threads in 1 2 3; do
	"$commplace" compare --network "$net" --signature "$many" \
		--ranks-per-node 24 --placements RDR --routings SI,SD \
		--threads $threads --json >"$work/many-$threads.json"
done
is "$(value "$work/many-1.json" '$r->{rows}[1]{injection}{total} //
	$r->{rows}[1]{bytes_on_network}')" 115058147328000 \
	"many-to-many: 1,123,614,720 messages of 100 KiB"
cmp "$work/many-1.json" "$work/many-2.json"
ok $? "the same to the last digit with two threads"
cmp "$work/many-1.json" "$work/many-3.json"
ok $? "and with three"

# Two phases with weights on a small machine, one of them a matrix: with a
# pattern that is stored, and beside one that is not.
cat >"$work/small.json" <<'END'
{ "format": "commplace-signature", "version": 1, "ranks": 5000000,
  "phases": [
    { "name": "ring", "weight": 3, "pattern":
      { "type": "collective", "operation": "allgather", "algorithm": "ring",
        "ranks": 5000000, "bytes": 0.001 } },
    { "name": "pair", "weight": 0.5,
      "traffic": [ [0, 4999999, 1e12, 1], [0, 1, 7, 1] ] } ] }
END
"$commplace" traffic --network "$etc/networks/edison.json" \
	--signature "$work/small.json" --ranks-per-node 900 --routing SD \
	--json >"$work/small.out"
is "$(value "$work/small.out" '$r->{max_injection_congestion} * 16e9')" \
	500000014999.997 "phases by weight: a node with both"
is "$("$commplace" traffic --network "$etc/networks/edison.json" \
	--signature "$work/small.json" --ranks-per-node 900 --routing SD \
	--phase ring --json >"$work/ring.out"
	value "$work/ring.out" '$r->{max_dilation}')" 5 "one of them alone"
is "$("$commplace" signature show "$many" --json >"$work/show.json"
	value "$work/show.json" '"$r->{pairs} $r->{partners}{mean}"')" \
	"1123614720 127" "signature show counts them"
done_testing
