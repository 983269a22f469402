#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `signature show --plot` and `signature predict --network`.
. "${0%/*}/golden.bash"
commplace=${COMMPLACE:-${COMMPLACE_BUILD:?}/commplace}
etc=$here/../../etc/signatures
cd "$work" || bail "no folder"

show() { "$commplace" signature show "$@"; }

# Rank 0 sends 4 messages of 256 bytes and one of 1 KiB, all others nothing.
cat >small.json <<'END'
{"format": "commplace-signature", "version": 1, "name": "small<&", "ranks": 3,
 "phases": [
  {"name": "loop", "weight": 4, "time": 0.2, "compute_time": 0.05,
   "traffic": [[0, 1, 256, 1]]},
  {"name": "rest", "weight": 1, "time": 0.2, "compute_time": 0.2,
   "traffic": [[0, 2, 1024, 1]]}]}
END
text=$(show ./small.json --plot a.svg)
is "$text" "$(show ./small.json)" "the text is printed as without --plot"
show ./small.json --plot b.svg >/dev/null
is "$(cmp a.svg b.svg 2>&1)" "" "the same each time"
is "$(cmp a.svg "$here/signature/small.svg" 2>&1)" "" "to the byte"
svg=$(cat a.svg)
like "$svg" '^<svg .*</svg>$' "an svg"
like "$svg" '>small&lt;&amp;<' "names are no markup"
like "$svg" '>3 ranks, 2.05 kB in 5 messages<' "what it is of"
like "$svg" '>loop: 4 times, 80.0 %<.*>rest: 1 times, 20.0 %<' "phases by time"
like "$svg" '>messages by size \(up to\); the highest bar: 4<.*>256 B<.*>1 KiB<' \
	"messages: how many the bars stand for"
like "$svg" '>ranks by how many they send to \(from\); the highest bar: 2<' "ranks, too"
# One element with all below it, and no other text.
runs "well-formed XML" perl -0777 -ne '
	my $text = qr/(?:[^<&"]|&(?:amp|lt|gt|quot|apos|#\d+);)/;
	exit !m{^(?:<\?xml[^?]*\?>\s*)?(?<element><(?<name>[\w:]+)
		(?:\s+[\w:-]+="$text*+")*+\s*
		(?:/>|>(?:(?:$text|")++|(?&element))*+</\k<name>>))\s*$}x' a.svg

sed 's/"time": 0.2, "compute_time": [0-9.]*,//; s/small<&/other/' small.json |
	sed 's/\[0, 2, 1024, 1\]/[2, 0, 1024, 1]/' >other.json
is "$(show ./small.json ./other.json --plot two.svg)" "distance 0.5000" \
	"two: half of the bytes go elsewhere"
is "$(show ./small.json ./other.json --plot two.svg --json | tr -d ' \n')" \
	'{"distance":0.5}' "the same as JSON"
svg=$(cat two.svg)
like "$svg" '>distance 0.5000: .*>small.*>other<' "both are drawn"
like "$svg" "bytes of phases.*>loop: 4 times, 50.0 %<" \
	"phases without times by bytes"
like "$(show ./small.json "$etc/halo-16.json" --plot two.svg)" \
	"different numbers of ranks" "no distance between 3 and 16 ranks"
like "$(show ./small.json "$etc/halo-16.json" --plot two.svg --json | tr -d ' \n')" \
	'"distance":null' "null as JSON"

# Bytes beyond all classes of sizes are in the last; else they were 18 partners.
sed 's/\[0, 1, 256, 1\]/[0, 1, 2e17, 1e-17]/' small.json >large.json
show ./large.json --plot large.svg >/dev/null
is "$?,$(grep -c '>18<' large.svg)" 0,0 "bytes of a part of a message"

# A message of 1 MB in 5 ms of communication: 1 ms on the links of a router, 10 ms
# on the one between groups.
cat >net.json <<'END'
{"format": "commplace-network", "version": 1, "name": "net", "type": "dragonfly",
 "groups": 2, "rows": 1, "columns": 2, "nodes_per_router": 2,
 "global_links_per_group_pair": 1, "nodes": "n[0-7]", "routing": "static-direct",
 "bandwidth": {"row": 1e9, "column": 1e9, "global": 1e8, "injection": 1e9}}
END
cat >machine.json <<'END'
{"format": "commplace-machine", "version": 1, "levels": {
 "node": {"latency": 1e-4, "seconds_per_byte": 0},
 "group": {"latency": 2e-4, "seconds_per_byte": 0}}}
END
cat >timed.json <<'END'
{"format": "commplace-signature", "version": 1, "name": "s", "ranks": 2,
 "phases": [{"name": "p", "weight": 100, "time": 0.01, "compute_time": 0.005,
             "traffic": [[0, 1, 1000000, 1]]}]}
END
printf 'n0\nn1\n' >here
printf 'n0\nn4\n' >there
predict() {
	"$commplace" signature predict ./timed.json --machine machine.json \
		--hosts-file here --other-hosts-file there "$@"
}
predict --network net.json --json >json
is "$(json json phases 0 transfer_time)" 0.001 "the links are slower than the card"
is "$(json json phases 0 network_time)" 0.001 "their time here"
is "$(json json phases 0 network_elsewhere)" 0.01 "their time elsewhere"
is "$(json json elsewhere)" 5.5 "and of the run: 0.5 s and 10 times 0.5 s"
predict --json >json
is "$(json json elsewhere)" 1 "without a network nodes are nodes"
like "$(predict --network net.json)" \
	$'\nElsewhere: 5.50 s, \+450.0 %; an estimate\nOn the links at the least: 0.10 s here, 1.00 s elsewhere' \
	"as text"
done_testing
