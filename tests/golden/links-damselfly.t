#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A number of Jain 2016, 3.2.4, that follows by hand, on the machine at its full
# size: the 4-D stencil of 8,847,360 ranks, placed by groups, direct routing
# (figure 3.19). Of a group's 9,216 ranks all have a neighbour 110,592 ranks = 12
# groups on, and one plane of 2,304 one in the next group of those 12. Messages
# have 2 MiB: 18,432 and 4,608 MiB, on 2 links each to and from every group.
. "${0%/*}/golden.bash"

printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "4d",
	"ranks": 8847360, "phases": [{"name": "halo", "weight": 1, "pattern":
	{"type": "stencil", "dims": [80, 48, 48, 48], "points": 9,
	"periodic": true, "bytes": 2097152}}]}' >"$work/4d.json"

# The output lists 368,640 hosts, which are left out before it is parsed.
numbers() {
	sed '/^ *"hosts": \[/,/\]/{/"hosts"/!{/\]/!d}}' "$work/out.json" |
		perl -MJSON::PP -0777 -e 'my $out = decode_json(<STDIN>);
		my $g = $out->{links}{global};
		printf "%.15g ", $_ for @$g{qw(count used max mean)};
		printf "%.15g\n", $out->{bytes_in_node}'
}

# In a node's 24 ranks there are 23 pairs of neighbours.
want=$(perl -e 'my $mib = 2**20; printf "%.15g ", $_ for 920640, 3840,
	18432 * $mib, 960 * 2 * (18432 + 4608) * $mib / 920640;
	printf "%.15g\n", 368640 * 23 * 2 * 2 * $mib')
for seed in 1 2; do
	"$commplace" traffic --network "$networks/cascade-960.json" \
		--signature "$work/4d.json" --placement RDG --seed "$seed" \
		--ranks-per-node 24 --routing SD --json >"$work/out.json"
	is "$(numbers)" "$want" \
		"seed $seed: 3,840 of the links between groups are used, 18,432 MiB at most"
done

done_testing
