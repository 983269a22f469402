#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the registries hold is what messages and --help list, and what the man
# pages describe.
. "${0%/*}/golden.bash"
cd "$work" || bail "no directory"

cat >net.json <<'END'
{ "format": "commplace-network", "version": 1, "type": "torus",
  "dims": [2, 2], "nodes": "n[0-3]" }
END
cat >sig.json <<'END'
{ "format": "commplace-signature", "version": 1, "name": "s", "ranks": 4,
  "phases": [ { "name": "p", "weight": 1, "traffic": [[0, 1, 10, 1]] } ] }
END

# described SUBCOMMAND PAGE OPTION ARGUMENT...: the option's names
described() {
	local command=$1 page option=$3 name names help missing=
	page=$(cat "$here/../../doc/$2" "${COMMPLACE_BUILD:?}/doc/$2" 2>/dev/null |
		sed 's/\\-/-/g; s/\\f[BIR]//g')
	shift 3
	help=$("$commplace" ${command% *} --help)
	names=$("$commplace" $command "$@" "$option" no-such-name 2>&1 |
		sed -nE 's/.*(must be one of|this network has) //p' |
		sed 's/, / /g; s/ ([A-Z]*)//g')
	isnt "$names" "" "commplace $command $option: the message lists names"
	for name in $names; do
		grep -qE "(^| )$name([,:; ]|\$)" <<<"$help" ||
			missing+=" $name (--help)"
		grep -qE "^\\.BR? (.*[ \",])?$name([ \",]|\$)" <<<"$page" ||
			missing+=" $name (man page)"
	done
	is "$missing" "" "commplace $command $option: names are described"
}
described map man1/commplace-map.1 --algorithm --network net.json \
	--signature ./sig.json --hosts 'n[0-1]'
described bind man1/commplace-bind.1 --algorithm --signature ./sig.json
described simulate man1/commplace-simulate.1 --level --network net.json \
	--signature ./sig.json
described learn man1/commplace-learn.1 --method table.csv
described place man1/commplace-place.1 --policy --network net.json --nodes 2
described "network import" man1/commplace-network.1 --format x -o y
described "signature import" man1/commplace-signature.1 --format x -o y
# Types of networks are in commplace-network(5).
missing=
sed 's/"type": "torus"/"type": "no-such"/' net.json >type.json
names=$("$commplace" network check type.json 2>&1 |
	sed -nE 's/.*it must be //p' | sed 's/, / /g; s/ or / /')
isnt "$names" "" "network check: the message lists types"
for name in $names; do
	grep -qF "\(dq$name\(dq" "$here/../../doc/man5/commplace-network.5" ||
		missing+=" $name"
done
is "$missing" "" "types are described"
# Each type of network has its own routings; commplace-network(5) tells of all.
etc=$here/../../etc/networks
for network in net.json "$etc"/{quickstart,gpc,haec-box}.json \
	"$here/mapping/two-halves.json"; do
	described traffic man5/commplace-network.5 --routing \
		--network "$network" --signature ./sig.json
done
for network in net.json "$etc/quickstart.json"; do
	described traffic man1/commplace-traffic.1 --routing \
		--network "$network" --signature ./sig.json
done

# The keys of commplace.conf.
help=$("$commplace" config --help)
page=$(sed -n 's/^\.BI \([A-Za-z]*\)= .*/\1/p' \
	"$COMMPLACE_BUILD/doc/man5/commplace.conf.5" | sort -u)
is "$(sed -nE 's/^  ([A-Z][A-Za-z]*)=.*/\1/p' <<<"$help" | sort)" "$page" \
	"config --help: the keys of commplace.conf(5)"
like "$help" "  Mode=on\|observe\|off +on; lines too *"$'\n' \
	"config --help: values, default and lines of a key"
like "$help" "  ProfileDir=PATH +/var/lib/commplace/profiles"$'\n' \
	"config --help: a key of all partitions"
like "$help" "  Routing=ROUTING *"$'\n' "config --help: a key without default"
like "$help" "  Profile=NAME +Match lines only"$'\n' "config --help: of Match lines"
is "$("$commplace" --version)" "$(sed -n '1p' "$here/../../NEWS")" \
	"--version: that of NEWS"
done_testing
