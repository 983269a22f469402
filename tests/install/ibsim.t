#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An InfiniBand fabric of 128 hosts, simulated by ibsim: import by ibnetdiscover and
# ibtracert, counters by contrib/exporters, what `commplace status` and `network check`
# make of them, and cables that were exchanged. ibsim stands behind libibumad
# (libumad2sim), so that the programs that ask the fabric are those of a real one.
# COMMPLACE_UMAD2SIM says where that library is, if ibsim-run does not.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
PATH=$PATH:/usr/sbin:/sbin
missing=
for program in ibsim opensm ibnetdiscover ibtracert perfquery python3 jq; do
	command -v "$program" >/dev/null || missing="$missing $program"
done
[ -z "$missing" ] || skip_all "missing:$missing (ibsim-utils, opensm, infiniband-diags)"
umad=${COMMPLACE_UMAD2SIM:-$(sed -n 's/^sim_so=//p' "$(command -v ibsim-run)" 2>/dev/null)}
[ -r "$umad" ] || skip_all "missing: libumad2sim.so (ibsim-utils; COMMPLACE_UMAD2SIM)"
commplace=${COMMPLACE:-commplace}
links=$here/../../contrib/exporters/commplace-links
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cd "$work" || bail "no $work"
mkdir -p state/running profiles opensm
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1 COMMPLACE_CONF=$work/commplace.conf
export IBSIM_SOCKNAME=commplace-$$ SIM_HOST=H-0000000000001000
export OSM_CACHE_DIR=$work/opensm OSM_TMP_DIR=$work/opensm
printf '%s\n' "ProfileDir=$work/profiles" "StateDir=$work/state" >commplace.conf

# 8 leaves of 16 hosts, and 4 spines with 2 cables to each leaf. With swap=1, the cable
# of leaf0's port 17 (spine0) and that of leaf3's port 21 (spine2) are exchanged; with
# hosts=1 those of n020 and n100.
cat >fabric.awk <<'END'
function cable(a, p, b, q, t) {
	if (swap && ((a == "S100" && p == 17) || (b == "S100" && q == 17)))
		return a == "S100" ? "S202 " 7 : a == "S200" ? "S103 " 21 : b " " q
	if (swap && ((a == "S103" && p == 21) || (b == "S103" && q == 21)))
		return a == "S103" ? "S200 " 1 : a == "S202" ? "S100 " 17 : b " " q
	return b " " q
}
function line(a, p, b, q, t) {
	split(cable(a, p, b, q), t, " ")
	printf "[%d] \"%s-%016x\"[%d]\n", p, substr(t[1], 1, 1), hex(substr(t[1], 2)), t[2]
}
function hex(text, i, n) {
	for (i = 1; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}
function host(leaf, i, n) {
	n = leaf * 16 + i
	return hosts && n == 20 ? 100 : hosts && n == 100 ? 20 : n
}
BEGIN {
	for (l = 0; l < 8; l++) {
		printf "switchguid=0x%x\nSwitch 24 \"S-%016x\" # \"leaf%d\"\n", 256 + l, 256 + l, l
		for (h = 0; h < 16; h++)
			line("S" 100 + l, h + 1, sprintf("H%x", 4096 + host(l, h)), 1)
		for (c = 0; c < 8; c++)
			line("S" 100 + l, 17 + c, "S" 200 + int(c / 2), 2 * l + c % 2 + 1)
		print ""
	}
	for (s = 0; s < 4; s++) {
		printf "switchguid=0x%x\nSwitch 16 \"S-%016x\" # \"spine%d\"\n", 512 + s, 512 + s, s
		for (c = 0; c < 16; c++)
			line("S" 200 + s, c + 1, "S" 100 + int(c / 2), 17 + 2 * s + c % 2)
		print ""
	}
	for (l = 0; l < 8; l++)
		for (i = 0; i < 16; i++) {
			n = host(l, i)
			printf "caguid=0x%x\nCa 1 \"H-%016x\" # \"n%03d HCA-1\"\n", 4096 + n, 4096 + n, n
			printf "[1] \"S-%016x\"[%d]\n\n", 256 + l, i + 1
		}
}
END

# simulate VARIABLE...: begin (anew) with this fabric; a subnet manager gives lids and
# routes, the same lids as before where it can
simulate() {
	stop_simulation
	# shellcheck disable=SC2046 # words
	awk $(printf -- '-v %s ' "$@" none=1) -f fabric.awk >fabric.txt
	rm -f console
	mkfifo console
	ibsim -s fabric.txt <console >ibsim.log 2>&1 &
	simulator=$!
	exec 7>console
	local end=$((SECONDS + 30))
	until grep -q "simulator ready" ibsim.log; do
		[ $SECONDS -lt $end ] || bail "ibsim: $(tail -n 3 ibsim.log)"
		sleep 0.1
	done
	on_fabric opensm -o -x -f opensm/log >opensm.out 2>&1 ||
		bail "opensm: $(tail -n 3 opensm.out)"
}
simulator=
stop_simulation() {
	[ -z "$simulator" ] || {
		exec 7>&-
		kill "$simulator"
		wait "$simulator"
	} 2>/dev/null
	simulator=
}
on_exit stop_simulation
on_fabric() {
	LD_PRELOAD=$umad timeout 60 "$@" 7>&-
}
# All commands of a file, in ibsim's console
command_file() {
	local want end=$((SECONDS + 30))
	want=$(($(grep -c "has been set" ibsim.log) + $(grep -c . "$1")))
	echo "!$1" >&7
	until [ "$(grep -c "has been set" ibsim.log)" -ge "$want" ]; do
		[ $SECONDS -lt $end ] || bail "ibsim: $(tail -n 3 ibsim.log)"
		sleep 0.1
	done
}

# A job of 8 ranks, a host of each leaf; each rank sends each other one so many bytes
# in a run of one second.
hosts=(n005 n018 n039 n049 n071 n090 n111 n114)
bytes_of() {
	echo $(((1 + ($1 * 5 + $2 * 3) % 7) * 1000000 + $1 * 130000 + $2 * 17000))
}
for i in {0..7}; do
	for k in {0..7}; do
		[ $i = $k ] || printf '[%d, %d, %d, 1]\n' $i $k "$(bytes_of $i $k)"
	done
done | paste -sd, >traffic
echo '{"format": "commplace-signature", "version": 1, "name": "all", "ranks": 8,
	"phases": [{"name": "p", "weight": 1, "time": 1, "compute_time": 0.5,
	"traffic": ['"$(cat traffic)"']}]}' >profiles/all.json
echo '{"format": "commplace-decision", "version": 1, "job": 17, "time": 1795254000,
	"uid": 1000, "job_name": "x", "partition": "main", "profile": "all",
	"outcome": "placed", "reason": "", "policy_asked": "auto", "policy": "linear",
	"seed": 2, "objective": "max-congestion", "routing": "table",
	"network_file": "/nowhere", "nodes_wanted": 8, "ranks_per_node": 1,
	"free_hosts": "", "required_hosts": "", "cut_short": false, "decision_ms": 1,
	"stock_hosts": "", "stock_max_congestion": 0.5, "stock_mean_congestion": 0.25,
	"mapping": "none", "mapping_kept_default": true, "map_max_before": 1,
	"map_max_after": 1, "background": [], "candidates": [],
	"rank_host": [0, 1, 2, 3, 4, 5, 6, 7],
	"hosts": ["'"$(printf '%s\n' "${hosts[@]}" | paste -sd' ' | sed 's/ /", "/g')"'"]}' \
	>state/running/17.json

# trace: "FLOW BYTES" and what ibtracert prints, for each two ranks, into flows.
trace() {
	local i k
	on_fabric ibnetdiscover >now.txt
	awk -F'[][ \t"]+' '$2 == "H" || /^\[.*"H-/ { print }' now.txt |
		sed -n 's/.*# "\(n[0-9]*\) .*lid \([0-9]*\) .*/\1 \2/p' >lids
	for i in {0..7}; do
		for k in {0..7}; do
			[ $i != $k ] || continue
			echo "FLOW $(bytes_of $i $k)"
			on_fabric ibtracert \
				"$(awk -v h="${hosts[i]}" '$1 == h { print $2 }' lids)" \
				"$(awk -v h="${hosts[k]}" '$1 == h { print $2 }' lids)"
		done
	done >flows
}
# count_flows BASE FACTOR FILE: counters of all ports on the way, in ibsim's words
count_flows() {
	awk -v base="$1" -v factor="$2" '
		$1 == "FLOW" { bytes = $2 }
		/^From/ { at = "" }
		/->/ {
			match($0, /^\[[0-9]+\]/)
			if (at != "") sum[at " [" substr($0, 2, RLENGTH - 2) "] Xmit"] += bytes
			match($0, /\{0x[0-9a-f]+\}\[[0-9]+\]/)
			split(substr($0, RSTART + 3, RLENGTH - 4), part, /\}\[/)
			at = ""
			if (/switch port/) {
				at = part[1]
				sum[at " [" part[2] "] Rcv"] += bytes
			}
		}
		END {
			for (key in sum) {
				split(key, part, " ")
				printf "PerformanceSet \"S-%s\"%s PortCountersExtended.Port%sData=%d\n", \
					part[1], part[2], part[3], base + factor * sum[key] / 4
			}
		}' flows >"$3"
}
# run_job [OPTION...]: the job alone, counters before and after it; as a busy machine
# cannot keep time, two seconds lie between them, whenever they were read
run_job() {
	trace
	count_flows 1000000000 0 before
	count_flows 1000000000 2 after
	rm -f kept
	command_file before
	on_fabric python3 "$links" perfquery --keep kept "$@" >raw 2>err || diag "$(cat err)"
	command_file after
	on_fabric python3 "$links" perfquery --keep kept "$@" >raw 2>err || diag "$(cat err)"
	awk -F, -v OFS=, 'NR > 1 {
		$1 = ""
		match($0, /,[0-9]+$/)
		key = substr($0, 1, RSTART - 1)
		print (key in seen ? 1795254002 : 1795254000) $0
		seen[key] = 1
		next
	}
	{ print }' raw >counted
}
status() {
	"$commplace" status --network net.json --measured counted "$@"
}

simulate
on_fabric ibnetdiscover >as-built.txt
is "$("$commplace" network import as-built.txt --format ibnetdiscover -o tree.json)" \
	"tree.json: fattree
recognised: fat tree of 8 leaf switches x 16 nodes, 4 x 2 links up to 4 switches" \
	"what ibnetdiscover finds is imported"
is "$(jq -c '.router_names | sort' tree.json)" \
	'["leaf0","leaf1","leaf2","leaf3","leaf4","leaf5","leaf6","leaf7","spine0","spine1","spine2","spine3"]' \
	"with its switches' names"
run_job
is "$(grep -c '^From' flows)" 56 "56 routes are traced"
grep -v FLOW flows >routes
runs "with its routes" "$commplace" network import as-built.txt --format ibnetdiscover \
	--routes routes -o net.json --name net
is "$(cut -d, -f2,3 counted | sed 1d | sort -u | wc -l) $(wc -l <counted) $(cat err)" \
	"384 769 " "counters of 384 cables, twice"

# As built: each link as predicted.
for net in tree net; do
	is "$("$commplace" network check $net.json --measured counted)" \
		"cabling  as the network file has it: 12 routers pass on what they get" \
		"$net: cables are where they should be"
done
is "$("$commplace" status --network net.json --measured raw --json |
	jq -c '[.measured | .links, .left_out]')" "[384,0]" "what was read, with its times"
status --json >status.json
is "$(jq -c '[.measured | .links, .left_out, .cabling.differs, .cabling.judged,
	.cabling.job, .cabling.compared, (.cabling.links | length)]' status.json)" \
	"[384,0,false,12,17,384,0]" "all links carry what the job alone is predicted to send"
is "$(jq -c '[.busiest[] | .measured / .rate] | [length, (max / min < 1.05)]' status.json)" \
	"[20,true]" "in proportion, of the busiest 20"
is "$(jq '.measured.cabling.scale * 100 | round' status.json)" 100 "and as much"
like "$(status --links)" "job 17, if it is alone, loads 384 links as predicted" "in words"
# Another job was there: nothing is said of its links.
sed 's/"job": 17/"job": 18/' state/running/17.json >state/running/18.json
status --json >status.json
is "$(jq -c '.measured.cabling | [.differs, .judged, has("job")]' status.json)" \
	"[false,12,false]" "two jobs are not alone"
rm state/running/18.json

# Two cables are exchanged, and nobody told the network file.
simulate swap=1 hosts=1
run_job
"$commplace" network check net.json --measured counted >out
is $? 1 "cables are not where they should be"
is "$(sort out)" "         leaf0 - spine0: 1 cables were counted, the file has 2
         leaf0 - spine2: 3 cables were counted, the file has 2
         leaf1 - n100: counted, but not in the file
         leaf3 - spine0: 3 cables were counted, the file has 2
         leaf3 - spine2: 1 cables were counted, the file has 2
         leaf6 - n020: counted, but not in the file
cabling  not as the network file has it:" "ports' peers name them"
# Who trusts the dump of the fabric as built sees counters on the wrong links.
simulate swap=1
run_job --ibnetdiscover as-built.txt
"$commplace" network check net.json --measured counted --json >out
is "$? $(jq -c '[.differs, .judged, .odd]' out)" "1 [true,12,[]]" \
	"by sums of what switches get and pass on"
exchanged=$(jq -r '.exchanged[] | map(sort | join(" - ")) | sort | join(", ")' out)
is "$(grep -cx "leaf0 - spine0, leaf3 - spine2" <<<"$exchanged")" 1 "which name the cables"
ok $(($(wc -l <<<"$exchanged") > 8)) "among few: $(paste -sd';' <<<"$exchanged")"
is "$(jq -r '[.routers[].router] - ["leaf0", "leaf3", "spine0", "spine2"] | length' out)" 0 \
	"and no other switch"
is "$(status --json | jq -c .measured.cabling.exchanged)" "$(jq -c .exchanged out)" \
	"so does status"
# Two hosts' cables: the switches' sums are right, and only the job tells.
sed -i 's/n005/n020/' state/running/17.json
hosts[0]=n020
hosts[1]=n005
sed -i 's/n018/n005/' state/running/17.json
simulate hosts=1
run_job --ibnetdiscover as-built.txt
is "$("$commplace" network check tree.json --measured counted | head -n 1)" \
	"cabling  as the network file has it: 12 routers pass on what they get" \
	"hosts exchanged: sums are right"
status --json >status.json
is "$(jq -c '[.measured.cabling | .differs, ([.links[] | .from, .to] -
	["leaf1", "leaf6"] | map(select(test("^n"))) | unique)]' status.json)" \
	'[true,["n020","n100"]]' "the job alone tells which hosts"
done_testing
