#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A Cray XC30 of the size of NERSC's Edison, from a link list as its tools write
# it: 15 groups (number 12 is not there) of 6 chassis of 16 routers, 3 black
# cables between each two chassis of a group per column, 24 blue ones between
# each two groups (which routers those are on is made up).
. "${0%/*}/golden.bash"

awk 'function tile(g, r, c) {
		return sprintf("c%d-0c%ds%da0l00(%d:%d:%d)", g, r, c, g, r, c)
	}
	function link(from, colour, to) { print from, colour, "->", to }
	BEGIN {
		for (g = 0; g < 16; g++)
			if (g != 12)
				number[n++] = g
		for (i = 0; i < n; i++)
			for (r = 0; r < 6; r++)
				for (c = 0; c < 16; c++) {
					from = tile(number[i], r, c)
					for (p = 0; p < 8; p++)
						link(from, "ptile", "processor")
					link(from, "blue", "unused")
					for (d = 0; d < 16; d++)
						if (d != c)
							link(from, "green", tile(number[i], r, d))
					for (s = 0; s < 6; s++)
						for (k = 0; k < 3 && s != r; k++)
							link(from, "black", tile(number[i], s, c))
				}
		for (i = 0; i < n; i++)
			for (j = i + 1; j < n; j++)
				for (k = 0; k < 12; k++) {
					a = (j * 12 + k) % 96
					b = (i * 12 + 5 * k) % 96
					x = tile(number[i], int(a / 16), a % 16)
					y = tile(number[j], int(b / 16), b % 16)
					for (m = 0; m < 2; m++) {
						link(x, "blue", y)
						link(y, "blue", x)
					}
				}
	}' >"$work/edison.txt"

is "$("$commplace" network import "$work/edison.txt" --format aries \
	-o "$work/edison.json")" "$work/edison.json: dragonfly
recognised: dragonfly of 15 groups x 6 rows x 16 columns x 4 nodes, 24 global links per pair of groups" \
	"a dragonfly"
"$commplace" network check --json "$work/edison.json" >"$work/out.json"
is "$(json "$work/out.json" routers),$(json "$work/out.json" nodes)" 1440,5760 "routers and nodes"
is "$(json "$work/out.json" links row),$(json "$work/out.json" links column),$(json "$work/out.json" links global)" \
	21600,21600,5040 "directed links of the three colours"
is "$(json "$work/out.json" shape groups),$(json "$work/out.json" shape rows),$(json "$work/out.json" shape columns)" 15,6,16 \
	"groups, rows, columns"
is "$(json "$work/out.json" shape column_links_per_router_pair),$(json "$work/out.json" shape global_links_per_group_pair)" \
	3,24 "parallel links"

printf '%s\n' '{"format": "commplace-signature", "version": 1, "name": "halo",
	"ranks": 512, "phases": [{"name": "all", "weight": 1, "pattern":
	{"type": "stencil", "dims": [8, 8, 8], "points": 7, "periodic": true,
	"bytes": 1000000}}]}' >"$work/halo.json"
for routing in SD SI AD AI AH; do
	"$commplace" traffic --network "$work/edison.json" --signature \
		"$work/halo.json" --placement RDN --seed 1 --ranks-per-node 1 \
		--routing "$routing" --links "$work/links.csv" --json \
		>"$work/out.json"
	# Bytes on all links are the hop-bytes, and the report counts the rows.
	is "$(awk -F, 'NR > 1 { n[$1]++; sum += $5 }
		END { printf "%d %d %d %.9g", n["row"], n["column"], n["global"], sum }' \
		"$work/links.csv")" \
		"21600 21600 5040 $(json "$work/out.json" hop_bytes | awk '{ printf "%.9g", $1 }')" \
		"$routing: bytes on every cable"
done
for policy in linear RDN RDR RDC RDG RRN RRR traffic auto; do
	"$commplace" place --network "$work/edison.json" --signature \
		"$work/halo.json" --nodes 512 --policy "$policy" --json \
		>"$work/out.json"
	is "$?,$(json "$work/out.json" hosts | tr , "\n" | sort -u | wc -l)" 0,512 "placement $policy"
done

# A cable that is out: no dragonfly, but the list is read.
sed '0,/blue -> c/{/blue -> c/d}' "$work/edison.txt" >"$work/cut.txt"
like "$("$commplace" network import "$work/cut.txt" --format aries \
	-o "$work/cut.json")" 'cut.json: graph, not a dragonfly: a global link .* one way only' \
	"without one cable a graph"

done_testing
