#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace simulate`: times by hand, the same bytes every time, files.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export LC_ALL=C
cat >net.json <<-END
{ "format": "commplace-network", "version": 1, "name": "ring", "type": "torus",
  "dims": [8], "bandwidth": { "dim": [1e9], "injection": 2e9 },
  "nodes": "n[0-7]" }
END
cat >a.json <<-END
{ "format": "commplace-signature", "version": 1, "name": "a", "ranks": 4,
  "phases": [
    { "name": "work", "weight": 10, "compute_time": 0.5,
      "traffic": [[0, 2, 1e9, 1], [2, 0, 1e9, 1]] },
    { "name": "sum", "weight": 5, "pattern": { "type": "collective",
      "operation": "allreduce", "algorithm": "ring", "ranks": 4,
      "bytes": 4e8 } } ] }
END
# simulate OPTION...
simulate() {
	"$commplace" simulate --network net.json "$@"
}

simulate --signature ./a.json --json --executions 2 >json
ok $? "a signature is simulated"
# 2 * (0.5 + 1), then 2 * 6 rounds of 0.1 s round the ring (3 -> 0 takes three
# links back, which nobody else uses).
is "$(json - jobs 0 phases 0 seconds <json)" 3 "a phase with computing"
is "$(json - jobs 0 phases 1 seconds <json)" 1.2 "a collective"
is "$(json - seconds <json)" 4.2 "and both"
is "$(json - jobs 0 run_seconds <json)" 18 "the whole run: 15 + 3 s"
is "$(json - jobs 0 compute <json) $(json - jobs 0 phases 0 executions <json)" \
	"1 2" "computing; executions"
is "$(json - messages <json)" 52 "messages: 2 * 2 + 2 * 6 * 4"
is "$(json - level <json) $(json - routing <json)" "flow dimension-order" \
	"level and routing are told"
is "$(simulate --signature ./a.json --json --executions 2 | sha1sum)" \
	"$(sha1sum <json)" "the same bytes again"
is "$(simulate --signature ./a.json --phase sum --json |
	json - seconds)" 0.6 "one phase alone"

# Two messages of 1 GB, two links each, and one in and one out.
simulate --signature ./a.json --phase work --energy dim0=1e-9 \
	--energy injection=5e-10 --json >json
is "$(json - energy dim0 <json) $(json - energy injection <json)" "4 2" \
	"joules of the links' bytes"
is "$(json - energy all <json)" 6 "and of all"
is "$(simulate --signature ./a.json --phase work --energy injection=5e-10 \
	--energy dim0=1e-9 | tail -1)" \
	"links took 6 J: injection 2 J, dim0 4 J" "told as text, too"

# Pairs of ranks 0 and 2 on n0 and n2: 0.5 s of computing, then 2 links of 1 GB/s.
# took OPTION...
took() {
	simulate --signature ./a.json --phase work --json "$@" |
		json - jobs 0 seconds
}
is "$(took --link-latency 0.125)" 3 \
	"latencies: 4 links, for request, answer and 1 GB"
is "$(took --link-latency 0.125 --eager 2e9 --class-latency dim0=2)" 5.75 \
	"latencies by class: two of the ring, two of nodes"
is "$(took --class-latency injection=1 --eager 2e9)" 3.5 "and of nodes' links alone"
is "$(took --class-latency dim0=0.5 --eager 2e9 --level packet --packet 1e9 |
	cut -c1-3)" 4.5 "packet by packet: a whole packet on each of four links"
# As the network states it, before which options come.
sed -i.bak 's/^{/{"latency": {"dim0": 0.125, "injection": 1, "router": 0.25},/' net.json
is "$(took --eager 2e9) $(took --eager 2e9 --link-latency 0 --router-latency 0)" \
	"4.5 1.5" "latencies that the network states"
mv net.json.bak net.json
is "$(took --overhead 0.25 --byte-overhead 1e-9 --eager 2e9)" 2.75 \
	"software of a message and its bytes"
is "$(took --overhead 0.25 --overhead-queue both --eager 2e9)" 2 \
	"and of the receiver, too"
is "$(took --hosts n0 --ranks-per-node 4 --inside 2=4,1e9 --inside 4=0.5,2e9)" 1.5 \
	"between ranks that share a socket, not a memory"
is "$(took --hosts n0 --ranks-per-node 4 --inside 2=4,1e9 --memory 1e8)" 10.5 \
	"and between those that share none"

# A second job on the same nodes, from 0.5 s on: 1 GB each way over shared links.
simulate --hosts 'n[0-3]' --signature ./a.json --phase work \
	--signature ./a.json --phase work --start 0.25 --json >json
is "$(json - jobs 0 end <json) $(json - jobs 1 end <json)" "2.25 2.5" \
	"two jobs share links while both send"
is "$(json - jobs 1 start <json) $(json - jobs 1 seconds <json)" "0.25 2.25" \
	"a job that starts later"

printf 'n%d\n' 0 1 5 3 >ranks
simulate --signature ./a.json --rank-file ranks --phase work --links links.csv \
	--ranks ranks.csv >text
like "$(cat text)" "a +4 +rank-file" "ranks by a file"
is "$(head -1 links.csv)" "class,from,to,bandwidth,bytes,busy,stalled" \
	"--links: head"
is "$(grep -c , links.csv)" $((1 + 16 + 2 * 8)) "--links: all links and nodes"
is "$(grep '^dim0,0,7' links.csv)" "dim0,0,7,1000000000,1000000000,1,0" \
	"--links: a link"
is "$(grep '^injection,5' links.csv)" "injection,5,5,2000000000,1000000000,1,0" \
	"--links: a node"
is "$(sed -n 4p ranks.csv)" "0,2,n5,0.5,1,0,0,1.5" "--ranks: a rank"
is "$(sed -n 5p ranks.csv)" "0,3,n3,0.5,0,0,1,0.5" "--ranks: an idle one"

# The second job keeps off the links of the first, whose hosts are given.
cat >pair.json <<-END
{ "format": "commplace-signature", "version": 1, "name": "pair", "ranks": 2,
  "phases": [ { "name": "work", "weight": 1,
      "traffic": [[0, 1, 1e9, 1], [1, 0, 1e9, 1]] } ] }
END
printf 'n%d\n' 0 3 >ends
for where in "--hosts n0,n3" "--rank-file ends"; do
	# shellcheck disable=SC2086 # an option and its value
	is "$(simulate --signature ./pair.json $where --signature ./pair.json \
		--placement traffic --json | json - jobs 1 hosts)" n6,n7 \
		"off the links of a job by ${where%% *}"
done

simulate --signature ./a.json --links both.csv --ranks none/ranks.csv 2>err
is "$?,$(cat err),$(ls both.csv* 2>&1)" "1,commplace simulate: none/ranks.csv: \
cannot be written: No such file or directory,ls: cannot access 'both.csv*': No \
such file or directory" "two files: none when one cannot be written"

# The bytes on the links are those of `traffic`.
etc=$here/../../etc
at=(--network "$etc/networks/torus-4x4x4.json" --signature "$etc/signatures/halo-16.json"
	--placement random-nodes --ranks-per-node 2 --phase exchange)
"$commplace" traffic "${at[@]}" --links traffic.csv >/dev/null
"$commplace" simulate "${at[@]}" --links simulate.csv >/dev/null
is "$(grep ^dim simulate.csv | cut -d, -f1-5)" "$(grep ^dim traffic.csv)" \
	"the bytes of traffic on every link"
cat >parallel.json <<-END
	{ "format": "commplace-network", "version": 1, "type": "dragonfly",
	  "groups": 2, "rows": 2, "columns": 2, "row_links_per_router_pair": 2,
	  "column_links_per_router_pair": 4, "global_links_per_group_pair": 2,
	  "nodes": "n[0-7]" }
END
at[1]=parallel.json
"$commplace" traffic "${at[@]}" --links traffic.csv >/dev/null
"$commplace" simulate "${at[@]}" --links simulate.csv >/dev/null
# rounded FILE: of thirds the last bits differ.
rounded() {
	perl -F, -lane 'printf "%s,%d,%d,%s,%.9g\n", @F[0 .. 4]
		if $. > 1 && !/jection/' "$1"
}
is "$(rounded simulate.csv)" "$(rounded traffic.csv)" \
	"and on every one of parallel links"

# A trace: rank 0 sends 1 GB, which rank 1 receives after half a second; the node
# has twice what the ring has.
ranks='\002\000\000\000\000\002\004Send\004Recv'
send='\000\000\000\000\001\000\000\001\001\007\002\001\000\001\000'
send+='\200\224\353\334\003\001\001\002\200\224\353\334\003\001\000\001'
send+='\001\001\200\224\353\334\003\000\000'
receive='\001\000\000\000\001\000\000\001\001\007\002\001\001\001\001\000\001'
receive+='\000\000\001\001\001\000\200\312\265\356\001\000'
# shellcheck disable=SC2059 # bytes
printf "CPLEVENT\\001$ranks$send$receive" >gig.events
simulate --trace gig.events --json >json
is "$(json - jobs 0 signature <json) $(json - jobs 0 phases 0 name <json)" \
	"gig trace" "a trace"
is "$(json - jobs 0 seconds <json)" 1.5 "a large message waits for its receive"
is "$(simulate --trace gig.events --json --speed 5 | json - jobs 0 seconds)" 1.1 \
	"the receiver computes faster"
is "$(simulate --trace gig.events --json --eager 2e9 --hosts n1,n0 \
	--level packet --packet 1e6 | json - jobs 0 seconds)" 1.001 \
	"a trace packet by packet, elsewhere"
head -c 40 gig.events >cut.events
like "$(simulate --trace cut.events 2>&1)" "cut.events: it ends early" \
	"a trace that is cut"

# Over time: half a second of computing, a second of 1 GB/s on 4 of 16 links.
simulate --signature ./a.json --phase work --timeline 4 --plot t.svg --json >json
is "$(json - timeline bin_seconds <json) $(json - timeline bins <json)" "0.5 3" \
	"bins of a power of two"
is "$(for b in 0 1 2; do
	echo "$(json - timeline jobs 0 compute $b <json)" \
		"$(json - timeline jobs 0 communication $b <json)" \
		"$(json - timeline links all mean $b <json)" \
		"$(json - timeline links dim0 max $b <json)"
done | paste -sd ' ')" "1 0 0 0 0 0.5 0.25 1 0 0.5 0.25 1" \
	"parts of ranks and links in each"
is "$(grep -c '<path' t.svg),$(grep -c '#009e73' t.svg),$(tail -1 t.svg)" \
	"8,5,</svg>" "and as a picture: four curves, four ranks and the legend"
is "$(sed -nE 's/^<svg .* width="([0-9]+)".*/\1/p; s/.* x="([0-9.]+)".*>the fullest<.*/\1/p' \
	t.svg | paste -sd' ' | awk '{ print ($2 + 80 < $1) }')" 1 "with room for all of it"
simulate --signature ./a.json --phase work --timeline 4 --plot u.svg >/dev/null
is "$(cmp t.svg u.svg)" "" "the same bytes again"
simulate --signature ./a.json --plot none/t.svg --links no.csv 2>err
is "$?,$(cat err),$(ls no.csv 2>&1)" "1,commplace simulate: none/t.svg: cannot be \
written: No such file or directory,ls: cannot access 'no.csv': No such file or \
directory" "a picture that cannot be written, and nothing else is"

# By packets of 1 MB: 2 messages of a second, one link more, and the nodes'.
simulate --signature ./a.json --phase work --level packet --packet 1e6 --json >json
is "$(json - jobs 0 seconds <json)" 1.502 "packets: a message over two links"
is "$(json - level <json) $(json - routing <json)" "packet dimension-order" \
	"its level and routing"
is "$(json - hops <json)" 8000 "packets at links' ends"
is "$(json - links all bytes max <json)" 1000000000 "bytes of a link"
is "$(json - links all busy max <json)" 1 "busy"
for routing in valiant ugal-l ugal-g PAR adaptive DO adaptive-minimal; do
	simulate --signature ./a.json --level packet --routing $routing --seed 3 \
		--json --packet 1e5 >json
	is "$(json - links ejection bytes mean <json)" 550000000 \
		"$routing: all bytes arrive"
	is "$(simulate --signature ./a.json --level packet --routing $routing \
		--seed 3 --json --packet 1e5 | sha1sum)" "$(sha1sum <json)" \
		"$routing: the same bytes again"
done
like "$("$commplace" simulate --network "$etc/networks/edison.json" \
	--signature ./a.json --level packet)" "routing ugal-g" \
	"adaptive-hybrid is simulated by ugal-g"
done_testing
