#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace place --keep-whole`: what is broken, and what it costs to break
# less; and what becomes of the machine when a log is played so.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"

# place OPTION...: six nodes; n0, n4, n16 and n19 are taken, of groups of eight
place() {
	"$commplace" place --network "$etc/networks/quickstart.json" --nodes 6 \
		--signature "$etc/signatures/halo-16.json" --policy auto \
		--free 'n[1-3,5-15,17,18,20-31]' "$@"
}

place --json >off.json
ok $? "without it"
is "$(json off.json keep_whole)$(json off.json candidates 0 broken)" "" \
	"nothing is told of units"
# What candidates were compared by stands with each.
number() {
	perl -MJSON::PP -0777 -e '
		my $d = decode_json(<STDIN>);
		my ($c) = grep { $_->{chosen} } @{$d->{candidates}};
		my @less = grep { $_->{evaluated} && !$_->{mapped} == !$c->{mapped}
			&& $_->{objective} < $c->{objective} } @{$d->{candidates}};
		my $of = $c->{mapped} // $c;
		$of = $c if $ARGV[0] =~ /slow|shared|seconds/;
		print @less . ($c->{objective} == $of->{$ARGV[0]}
			? " same" : " $c->{objective}, not $of->{$ARGV[0]}")' "$1"
}
for pair in max-congestion:max_congestion mean-congestion:mean_congestion \
	hop-bytes:hop_bytes interference:slowdown isolation:shared_links; do
	cat >running.json <<-END
		{ "jobs": [ { "id": 3, "hosts": ["n0", "n19"],
		  "signature": "$etc/signatures/halo-16.json", "ranks_per_node": 8 } ] }
	END
	is "$(place --objective "${pair%:*}" --running running.json \
		--others-weight 0 --json | number "${pair#*:}")" "0 same" \
		"objective of candidates: ${pair%:*}"
done
place --keep-whole none --json >none.json
is "$(json none.json hosts)" "$(json off.json hosts)" "none is nothing"
place --keep-whole group --keep-whole-price 0 --json >free.json
is "$(json free.json hosts)" "$(json off.json hosts)" \
	"where the best is alone, it costs too much"
is "$(json free.json keep_whole broken),$(json free.json keep_whole price)" 2,0 \
	"it breaks both wholly free groups"
place --keep-whole group --keep-whole-price 50 --json >kept.json
is "$(json kept.json keep_whole units),$(json kept.json keep_whole keep_price)" \
	group,50 "units and price"
is "$(json kept.json keep_whole broken),$(json kept.json keep_whole best_broken)" \
	0,2 "for a price it breaks none"
is "$(json kept.json keep_whole best_policy)" "$(json off.json policy)" \
	"the best is what would be taken"
# figure FILE POLICY: its busiest link, with its rank order
figure() {
	perl -MJSON::PP -0777 -e '
		my ($c) = grep { $_->{policy} eq $ARGV[0] && $_->{mapped} }
			@{decode_json(<STDIN>)->{candidates}};
		print $c->{mapped}{max_congestion}' "$2" <"$1"
}
is "$(json kept.json keep_whole price | cut -c1-6)" \
	"$(perl -e 'printf "%.6f", $ARGV[0] / $ARGV[1] - 1' \
		"$(figure kept.json "$(json kept.json policy)")" \
		"$(figure off.json "$(json off.json policy)")" | cut -c1-6)" \
	"the price is what the busiest links say"
# Groups 1 (n8-15) and 3 (n24-31) are whole.
is "$(json kept.json hosts | tr , '\n' | grep -cxE 'n(8|9|1[0-5]|2[4-9]|3[01])')" 0 \
	"no node of a whole group"
is "$(perl -MJSON::PP -0777 -ne 'print join ",", map { $_->{broken} }
	grep { $_->{policy} =~ /^(linear|keep-whole)$/ }
	@{decode_json($_)->{candidates}}' kept.json)" 0,0 \
	"linear, and the set made for it"
text=$(place --keep-whole group --keep-whole-price 50)
like "$text" "slowdown +broken$|slowdown +broken
" "a column"
like "$text" "Of the wholly free units \(group\) it breaks 0; [a-z-]+, the best by max-congestion alone, breaks 2, and this is 33\.3 % worse\." \
	"and a line"
like "$(place --keep-whole group --policy keep-whole:group)" \
	"Of the wholly free units \(group\) it breaks 0\." "one policy"
is "$("$commplace" place --network "$etc/networks/quickstart.json" --nodes 9 \
	--ranks 9 --policy keep-whole:group --free 'n[1-3,5-15,17,18,20-31]' \
	--json | json - hosts)" n1,n8,n9,n10,n11,n12,n13,n14,n15 \
	"without a signature: a whole group, and a node of the one beside it"

# Small jobs that come and go: fewer leaf switches are shared.
cat >tree.json <<'END'
{ "format": "commplace-network", "version": 1, "name": "f", "type": "fattree",
  "nodes_per_router": 4, "leaves": 8, "levels": [ { "down": 8, "up": 4 } ],
  "nodes": "n[0-31]" }
END
echo 'Mix Pattern=stencil-2d RanksPerNode=2 Share=50' >map
perl -e 'print "JobID|Submit|ElapsedRaw|NNodes\n";
	print "$_|", $_ * 10, "|", 60 + $_ * 7 % 50, "|", 1 + $_ * 5 % 7, "\n"
		for 1 .. 60' >log
# fragmented OPTION...
fragmented() {
	"$commplace" campaign --network tree.json --log log --jobs map \
		--policies auto+mapping --json "$@" | json - policies 0 fragmented
}
is "$(fragmented --keep-whole none)" "$(fragmented)" "a campaign with none of it"
off=$(fragmented) kept=$(fragmented --keep-whole router --keep-whole-price 100)
ok "$(perl -e 'print $ARGV[1] < $ARGV[0] ? 0 : 1' "$off" "$kept")" \
	"a campaign with it: $kept of the free nodes on shared switches, $off without"
done_testing
