#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The profiles of jobs on record are those that they were decided by: their
# users' own ones, and those of their number of ranks.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
commplace=${COMMPLACE:-commplace}
work=$(mktemp -d)
on_exit 'chmod -R u+rwX "$work"; rm -rf "$work"'
cp -r "$here/explain/network.json" "$work"
cd "$work" || bail "no $work"
export COMMPLACE_CONF=$work/commplace.conf LC_ALL=C
me=$(id -u)
# Somebody else that there is.
other=$((me ? 0 : 65534))
mkdir -p profiles "users/$me" "users/$other" state/running state/ended
cat >commplace.conf <<-END
NetworkFile=$work/network.json
ProfileDir=$work/profiles
UserProfileDir=$work/users/%U
StateDir=$work/state
END
# profile FILE RANKS BYTES: from the first rank to the last
profile() {
	cat >"$1" <<-END
	{ "format": "commplace-signature", "version": 1, "ranks": $2, "phases":
	  [ { "name": "p", "weight": 1, "traffic": [ [0, $(($2 - 1)), $3, 1] ] } ] }
	END
}
profile profiles/pair.json 2 1000
profile profiles/pair@4.json 4 5000
profile "users/$me/pair.json" 2 3000
profile "users/$other/pair.json" 2 7000
# record JOB OUTCOME HOSTS RANK_HOST MORE PER_NODE: stock are n0 and n2
record() {
	cat >"state/running/$1.json" <<-END
	{ "format": "commplace-decision", "version": 1, "job": $1, "time": 1795254000,
	  "uid": $me, "profile": "pair", "outcome": "$2", "reason": "", $5
	  "policy_asked": "linear", "policy": "linear", "seed": 1,
	  "objective": "max-congestion", "routing": "static-direct",
	  "network_file": "$work/network.json", "nodes_wanted": 2,
	  "ranks_per_node": ${6:-1}, "free_hosts": "n[0-3]", "stock_hosts": "n[0,2]",
	  "mapping": "linear", "hosts": [ $3 ], "rank_host": [ $4 ],
	  "candidates": [ { "policy": "linear", "seed": 1, "evaluated": true } ] }
	END
}
# sent: bytes on the busiest link between groups
sent() {
	"$commplace" status --json >status.json
	json status.json links global max
}

record 1 placed '"n0", "n2"' '0, 1' '"own_profile": true,'
is "$(sent)" 3000 "status: the user's own profile"
like "$("$commplace" status --format openmetrics)" "running_jobs_left_out 0" \
	"metrics: the job is in the load"
record 1 placed '"n0", "n2"' '0, 1' ''
is "$(sent)" 1000 "status: the site's, though its user has one of that name"
record 1 placed '"n0", "n2"' '0, 0, 1, 1' '' 2
is "$(sent)" 5000 "status: that of the job's ranks"
record 1 observed '"n1", "n3"' '0, 0, 1, 1' '' 2
is "$(sent)" 5000 "status: of an observed job, too"
record 1 placed '"n0", "n2"' '0, 1' '"own_profile": true,'
sed "s/\"uid\": $me/\"uid\": $other/; s/\"job\": 1,/\"job\": 3,/" state/running/1.json \
	>state/running/3.json
sent >/dev/null
like "$(json status.json jobs 1 left_out)" \
	"users/$other.*: (belongs to another user|Permission denied) \(a profile of the job's user\)" \
	"status: one that the asker may not read is said"
is "$(json status.json links global max)" 3000 "and no other one counts for it"
rm state/running/3.json

# The same jobs for place --running, and what explain tells of them.
record 2 placed '"n1", "n3"' '0, 0, 1, 1' '"background": [ 1 ],' 2
"$commplace" status --state now.json
is "$(json now.json jobs 0 signature)" "$work/users/$me/pair.json" \
	"status --state: the user's own"
is "$(json now.json jobs 1 signature)" "$work/profiles/pair@4.json" \
	"status --state: that of the ranks"
like "$("$commplace" place --network network.json --nodes 1 --policy linear \
	--running now.json --json 2>&1)" "1 nodes wanted, but only 0 of 4 are free" \
	"place --running: all hosts are taken"
"$commplace" explain 2 --state then.json >explain.txt
is "$(json then.json jobs 0 signature)" "$work/users/$me/pair.json" \
	"explain --state: the user's own"
like "$(cat explain.txt)" "[-]-signature $work/profiles/pair@4\.json" \
	"explain: the profile of the ranks"
"$commplace" explain 2 --html page.html
unlike "$(cat page.html)" "no map" "the page has a map"
"$commplace" replay --json >replay.json
is "$(json replay.json not_repeatable)" 0 "replay finds both"
chmod 000 "users/$me"
if [ "$me" != 0 ]; then
	like "$("$commplace" place --network network.json --nodes 1 --policy linear \
		--running now.json 2>&1)" "now\.json: running job 1: .*Permission denied" \
		"place --running: a profile that cannot be read is said"
fi
chmod 755 "users/$me"

# One that was rescaled: the file is of other ranks, the job has as many as hosts.
echo Rescale=yes >>commplace.conf
cat >profiles/ring.json <<-END
{ "format": "commplace-signature", "version": 1, "ranks": 8, "phases": [ { "weight": 1,
  "pattern": { "type": "stencil", "dims": [8], "points": 3, "periodic": true,
  "bytes": 1000 } } ] }
END
record 1 placed '"n0", "n2"' "$(printf '0,%.0s' {1..8})$(printf '1,%.0s' {1..7})1" \
	'"recorded_ranks": 8,' 8
sed -i 's/"pair"/"ring"/' state/running/1.json
rm state/running/2.json
is "$(sent)" 2000 "status: a rescaled one"
"$commplace" status --state now.json
runs "and for place --running" "$commplace" place --network network.json \
	--nodes 1 --policy linear --running now.json
done_testing
