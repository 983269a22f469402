#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Link loads of collectives on 64 groups of 16 routers, a node of 16 cores on
# each: Jain 2016, tables 8.3 to 8.5, through the command. L1: inside groups,
# L2: between them; used links, least and largest bytes on those.
. "${0%/*}/golden.bash"

printf '%s\n' '{"format": "commplace-network", "version": 1, "name": "supernodes",
	"type": "dragonfly", "groups": 64, "rows": 1, "columns": 16,
	"nodes": "n[0-1023]"}' >"$work/network.json"

# levels OPERATION ALGORITHM BYTES[, MORE KEYS]: "L1 used min max L2 used min max"
levels() {
	printf '{"format": "commplace-signature", "version": 1, "name": "c",
		"ranks": 16384, "phases": [{"name": "all", "weight": 1,
		"pattern": {"type": "collective", "operation": "%s",
		"algorithm": "%s", "ranks": 16384, "bytes": %s}}]}' "$@" \
		>"$work/signature.json"
	"$commplace" traffic --network "$work/network.json" \
		--signature "$work/signature.json" --ranks-per-node 16 \
		--routing SD --links "$work/links.csv" >/dev/null || return
	awk -F, '$5 > 0 {
		if (!used[$1]++ || $5 < min[$1])
			min[$1] = $5
		if ($5 > max[$1])
			max[$1] = $5
	}
	END {
		printf "%d %.17g %.17g ", used["row"], min["row"], max["row"]
		printf "%d %.17g %.17g\n", used["global"], min["global"], max["global"]
	}' "$work/links.csv"
}

mib=$((1 << 20)) block=$((1 << 16))
ring=$((16383 * block))

# R40: 1588 / 2 MB / 1.1 GB; 95 / 32 MB / 1.09 GB. The busiest link has the ring
# and the blocks of node 1 and of group 1.
is "$(levels broadcast van-de-geijn $((1 << 30)))" \
	"1588 $((2 * mib)) $((ring + 17 * mib)) 95 $((32 * mib)) $((ring + 16 * mib))" \
	"broadcast, van de Geijn: all six numbers of the table"

# R42: L1 1080 / 1 GB / 1 GB. One link from each group to the next.
is "$(levels allgather ring $block)" "1080 $ring $ring 64 $ring $ring" \
	"allgather, ring: L1 as in the table"

# R38: 960 / 1 MB / 64 MB; 63 / 16 MB. The busiest link also carries the block of
# the node it leads to.
tiers='"dims": [64, 16, 16]'
is "$(levels scatter two-tier "$block, $tiers")" \
	"960 $mib $((65 * mib)) 63 $((16 * mib)) $((16 * mib))" "scatter, two tiers"

# R44: 15360 / 65 MB; 4032 / 16 MB. A node whose link would lead to its own group
# has one block less to pass on.
is "$(levels allgather two-tier "$block, $tiers")" \
	"15360 $((49 * mib)) $((65 * mib)) 4032 $((16 * mib)) $((16 * mib))" \
	"allgather, two tiers"

# R41: 15360 / 64 / 128 MB; 3937 / 64 / 64 MB. All groups but the root's pass on
# what they have to all but it, 63 + 63 * 62.
is "$(levels broadcast two-tier "$((1 << 30)), $tiers")" \
	"15360 $((64 * mib)) $((128 * mib)) 3969 $((64 * mib)) $((64 * mib))" \
	"broadcast, two tiers"

# R39 and R43: the table's numbers differ a little (1036 used, 56 used; 10496,
# L2 max 4.3 GB); these follow from the patterns.
is "$(levels scatter binomial $block)" \
	"1048 $mib $((136 * mib)) 63 $((16 * mib)) $((512 * mib))" \
	"scatter, binomial"
is "$(levels allgather recursive-doubling $block)" \
	"10368 $((16 * mib)) 15166603264 384 $((4096 * mib)) $((131072 * mib))" \
	"allgather, recursive doubling"

# R46: 15360 / 2 / 3 GB; 4032 / 4 / 5 GB: a pairwise reduce-scatter (R45: 1.90e9 to
# 2.16e9 and 4.29e9 bytes) and a binomial gather to rank 0.
is "$(levels reduce rabenseifner $((1 << 30)))" \
	"15360 1895825408 2231369728 4032 $((4096 * mib)) $((4608 * mib))" \
	"reduce, Rabenseifner"

done_testing
