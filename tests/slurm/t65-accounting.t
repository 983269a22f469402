#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What jobs note of themselves comes through slurmdbd into a trial's benefit: by sacct,
# by its JSON, and by slurmrestd where this Slurm has it.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
. "${0%/*}/slurmdbd.bash"
cluster_write_conf() {
	accounting_conf
	CLUSTER_EXTRA+="
AccountingStoreFlags=job_comment"
	plain_cluster_write_conf
	accounting_start
	sacctmgr -i -Q add cluster "$(sed -n 's/^ClusterName=//p' "$SLURM_CONF")" >/dev/null
}
CLUSTER_SITE="Trial=50"
cluster_start
cluster_signature ring8 8
home=$CLUSTER/home
printf '#!/bin/bash\nsrun -n1 -N1 true\nsleep 2\ncommplace note rate=$((SLURM_JOB_ID + 7)) loop=2.5\n' \
	>"$home/job.sh"
stock=0 placed=0
for ((i = 0; i < 12 && (i < 4 || !stock || !placed); i++)); do
	job=$(submit -N2 -n8 --exclusive --comm-profile=ring8 --comment="it's | mine" job.sh) ||
		bail "no job"
	wait_ended "$job" 60
	case "$(decision "$job" .arm)" in
	stock) stock=$((stock + 1)) ;;
	commplace) placed=$((placed + 1)) ;;
	esac
done
ok "$((!stock || !placed))" "$stock jobs are stock, $placed are placed"
is "$(sacct -n -X -P -j "$job" -o Comment)" \
	"it's | mine; commplace: rate=$((job + 7)) loop=2.5" \
	"slurmdbd has what the job noted, and its user wrote"

# benefit OPTION...: jobs of both arms, that say what they noted
benefit() {
	commplace benefit --merit rate --seconds loop --json "$@" >"$home/benefit" 2>"$home/err"
	jq -c '[.overall.jobs.stock, .overall.jobs.commplace, .left_out.silent,
		.left_out.unknown, (.overall.gain | fabs < 1e-9),
		(.overall.merit.gain | . < 1 and . > -1)]' "$home/benefit"
}
# Ends come to slurmdbd a while later.
want="[$stock,$placed,0,0,true,true]"
has_all() { [ "$(benefit)" = "$want" ]; }
wait_for 30 has_all
is "$(benefit)" "$want" "benefit asks sacct" || diag "$(cat "$home/err")"
cp "$home/benefit" "$home/by-sacct"
commplace benefit --json >"$home/benefit"
is "$(jq -c '[.overall.jobs.stock, .overall.jobs.commplace]' "$home/benefit")" \
	"[$stock,$placed]" "and how long they ran" || diag "$(sacct -X -P -o JobID,State,ElapsedRaw)"

if sacct -X --json >"$home/jobs.json" 2>"$home/err"; then
	is "$(benefit --sacct "$home/jobs.json")" "$want" "sacct --json" ||
		diag "$(cat "$home/err" "$home/jobs.json")"
	is "$(jq -S 'del(.seconds_taken)' "$home/benefit")" \
		"$(jq -S 'del(.seconds_taken)' "$home/by-sacct")" "the same comes out"
else
	skip "sacct --json" "this Slurm has none: $(head -n 1 "$home/err")"
fi

# versions: of the parsers of data, newest first
versions() { slurmrestd -d list 2>&1 | grep -o 'v0\.0\.[0-9]*' | sort -ur; }
if type -P slurmrestd >/dev/null && type -P curl >/dev/null; then
	socket=$home/slurmrestd.socket
	as_user slurmrestd -a rest_auth/local -f "$SLURM_CONF" "unix:$socket" \
		>"$CLUSTER/log/slurmrestd.out" 2>&1 </dev/null 3>&- 4>&- &
	rest=$!
	on_exit 'kill $rest 2>/dev/null'
	rest_listens() { [ -S "$socket" ]; }
	wait_for 20 rest_listens
	for version in $(versions) v0.0.38; do
		curl -s --unix-socket "$socket" "http://x/slurmdb/$version/jobs" \
			>"$home/jobs.json"
		jq -e '.jobs | length > 0' "$home/jobs.json" >"$CLUSTER/null" 2>&1 && break
	done
	is "$(benefit --sacct "$home/jobs.json")" "$want" "slurmrestd's answer, $version" ||
		diag "$(cat "$home/err"; head -c 2000 "$home/jobs.json"; cat "$CLUSTER/log/slurmrestd.out")"
else
	skip "slurmrestd" "there is none, or no curl"
fi
cluster_check
done_testing
