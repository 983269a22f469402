#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users may not do: read another's private signature, have slurmctld open a
# path, use up its memory, or put text of theirs where others take it for
# Slurm's. Two users without privileges; one has a sbatch that checks nothing.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_CPUS=16
CLUSTER_DEBUG_FLAGS=
MEMORY="ProfileMemory=16"
CLUSTER_SITE=$MEMORY
cluster_start
cluster_signature ring8 8
home=$CLUSTER/home log=$CLUSTER/log/slurmctld.log
chmod 1777 "$home"
owner=$CLUSTER_USER other=${CLUSTER_USER}b
wait_for 20 useradd -M -U -d "$home" -s /bin/bash "$other" ||
	bail "useradd $other failed"
on_exit 'scancel -u "$other" 2>/dev/null; wait_for 10 userdel "$other" 2>/dev/null'

# Another slurm.conf, with another SPANK plugin and the same cluster.
sed "s|^PlugStackConfig=.*|PlugStackConfig=$home/plugstack.conf|" "$SLURM_CONF" \
	>"$home/slurm.conf"
echo "required ${COMMPLACE_BUILD:?}/tests/tools/.libs/hostile_spank.so" \
	>"$home/plugstack.conf"
cp "$CLUSTER/etc/commplace.conf" "$home/"
# as USER COMMAND...
as() {
	local CLUSTER_USER=$1
	shift
	as_user "$@"
}
# hostile NAME=VALUE SBATCH-OPTION...: as the other user, what sbatch says
hostile() {
	local option=HOSTILE_$1
	shift
	as "$other" env SLURM_CONF="$home/slurm.conf" "$option" sbatch \
		-o /dev/null "$@" 2>&1
}
slurmctld_kib() { # FIELD
	awk -v field="$1:" '$1 == field { print $2 }' \
		"/proc/$(cat "$CLUSTER/run/slurmctld.pid")/status"
}

like "$(hostile COMM_PROFILE=ring8 -H -N2 -n8 --wrap true)" "Submitted" \
	"the other sbatch reaches slurmctld"
like "$(squeue -h -u "$other" -O admin_comment:80)" "profile=ring8" \
	"with its options"
scancel -u "$other"

# 1. Another's private signature.
cluster_signature private 8 pairs
chown "$owner" "$PROFILES/private.json"
chmod 600 "$PROFILES/private.json"
job=$(submit -N2 -n8 --comm-profile=private)
wait_running "$job"
is "$(decision "$job" '.outcome + " " + .profile')" "placed private" \
	"its owner uses a private signature"
scancel "$job"
like "$(as "$other" sbatch -N2 -n8 --comm-profile=private --wrap true 2>&1)" \
	"profile 'private' is not yours to use.*failed" "another may not"
like "$(hostile COMM_PROFILE=private -N2 -n8 --wrap true)" \
	"not yours to use.*failed" "nor by a sbatch of his own"
unlike "$(as "$other" commplace signature show private \
	--profile-dir "$PROFILES" 2>&1)" "ranks" \
	"nor does commplace show it"
# In a job of his: a step's option, and the environment that nodes look at.
cat >"$home/steal.sh" <<'END2'
#!/bin/bash
srun -n8 --comm-profile=private true >step.out 2>&1
SLURM_SPANK_COMM_PROFILE=private COMM_PROFILE=private srun -n8 \
	sh -c 'env; tr "\\0" "\\n" </proc/self/environ' >env.out 2>&1
END2
(cd "$home" && rm -f step.out env.out)
job=$(as "$other" sbatch --parsable -N2 -n8 -o /dev/null steal.sh)
wait_ended "$job"
ok $? "a job that asks for it in its steps ends well"
unlike "$(cat "$home/step.out" "$home/env.out")" "1000000" \
	"and none of its traffic is in their output or environment"
unlike "$(grep -h "profile private" "$CLUSTER"/log/slurmd.*.log)" "$job" \
	"no node binds a step of the other by it"
is "$(commplace explain "$job" --json 2>/dev/null | jq -r '.profile // ""')" "" \
	"nor is it in a decision for him"

# 2. Paths. The signature is a good one, so that what opened it would take it; who
# opens the FIFO is seen.
cp "$PROFILES/ring8.json" "$home/evil.json"
chmod 644 "$home/evil.json"
mkfifo "$home/fifo.json"
chmod 666 "$home/fifo.json"
opened=$home/opened
rm -f "$opened"
(exec 3>&- 4>&-; echo x >"$home/fifo.json" && touch "$opened") 2>/dev/null &
writer=$!
n=0
for name in "../home/fifo" "$home/fifo" "../home/fifo.json" "./../home/fifo" \
    "../home/evil" "$home/evil" "/etc/shadow" ".." "." "" ".hidden" "none/.." \
    "ring8/../../home/fifo" $'ring8\n../home/fifo' "~/fifo" '$HOME/fifo'; do
	n=$((n + 1))
	for option in COMM_PROFILE COMM_PLACEMENT_POLICY COMM_RANK_MAPPING; do
		out=$(hostile "$option=$name" -H -N2 -n8 --wrap true)
		[ -n "$name" ] || continue
		like "$out" "commplace: .*failed" \
			"$option, name $n: refused" || diag "$out" >&2
	done
done
[ ! -e "$opened" ]
ok $? "slurmctld opened no path"
kill "$writer" 2>/dev/null
scancel -u "$other"
is "$(grep -c "evil\|/etc/shadow" "$CLUSTER"/decisions/*/*.json 2>/dev/null |
	awk -F: '{ n += $2 } END { print n + 0 }')" 0 "nor is one in a record"

# 3. Memory. Long options:
before=$(slurmctld_kib VmRSS)
long=$(head -c 100000 /dev/zero | tr '\0' x)
for option in COMM_PROFILE COMM_PLACEMENT_POLICY COMM_RANK_MAPPING; do
	out=$(hostile "$option=$long" -H -N2 -n8 --wrap true)
	like "$out" "failed" "$option of 100,000 characters: refused"
	[ "${#out}" -lt 1000 ]
	ok $? "$option of 100,000 characters: told in ${#out}"
done
is "$(grep -c xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.{300} \
	"$log")" 0 "and not logged"
# Profiles that look small and are large.
for ranks in 4096 16777216; do
	printf '{"format":"commplace-signature","version":1,"ranks":%d,"phases":[{"pattern":{"type":"many-to-many","dims":[%d],"axis":0,"bytes":1}}]}\n' \
		$ranks $ranks >"$PROFILES/huge$ranks.json"
	as "$other" sbatch -N16 -n$ranks -O -o /dev/null \
		--comm-profile=huge$ranks --wrap true >/dev/null 2>&1
	as "$other" sbatch -N16 -n256 -o /dev/null --comm-profile=huge$ranks \
		--wrap true >/dev/null 2>&1
done
# Many, each of which fits: 16 MiB hold four of them.
cluster_signature all256 256 all
for i in {1..20}; do
	cp "$PROFILES/all256.json" "$PROFILES/many$i.json"
	as "$other" sbatch -N16 -n256 -o /dev/null --comm-profile="many$i" \
		--wrap true >/dev/null 2>&1
done
wait_for 120 cluster_no_jobs
ok $? "jobs with large and with many profiles end" || {
	diag "$(squeue)" >&2
	scancel -u "$other"
}
is "$(grep -lE '"outcome": *"placed"' "$CLUSTER"/decisions/ended/*.json |
	xargs -r grep -lE '"profile": *"many' | wc -l)" 20 \
	"each of the many was used"
most=$(($(slurmctld_kib VmHWM) - before))
[ "$most" -lt 100000 ]
ok $? "slurmctld needed $most KiB more for them, below 100,000"
# Many jobs and many steps.
before=$(slurmctld_kib VmRSS)
for i in 1 2 3; do
	array=$(as "$other" sbatch --parsable -N2 -n8 --array=1-200 -o /dev/null \
		--comm-profile=ring8 --wrap "sleep 100")
	some() { [ "$(squeue -h -t R -j "$array" | wc -l)" -ge 20 ]; }
	wait_for 40 some
	ok $? "many jobs, time $i: they start"
	as "$other" scancel "$array"
	wait_for 60 cluster_no_jobs
done
printf '#!/bin/bash\nfor i in {1..60}; do srun -n8 --comm-profile=ring8 true; done\n' \
	>"$home/steps.sh"
job=$(as "$other" sbatch --parsable -N2 -n8 -o /dev/null \
	--comm-profile=ring8 "$home/steps.sh")
wait_ended "$job" 120
ok $? "60 steps of one job end"
most=$(($(slurmctld_kib VmRSS) - before))
[ "$most" -lt 40000 ]
ok $? "slurmctld has $most KiB more after them, below 40,000"

# 4. Text. Names of jobs are the users' own.
CLUSTER_SITE="$MEMORY
Match JobName=*gone* Profile=gone"
cluster_write_site
cluster_reconfigure
forged='x
error: forged line of the log
<script>alert(1)</script> "} forged_metric 1 &amp; %s%n'$'\e[31m\xc2\x9bgone'
job=$(as "$other" sbatch --parsable -N2 -n8 -o /dev/null -J "$forged" \
	--comm-profile=ring8 --wrap "sleep 100")
rule=$(as "$other" sbatch --parsable -N2 -n8 -o /dev/null -J "$forged" \
	--wrap "sleep 100")
wait_running "$job" && wait_running "$rule"
ok $? "jobs whose names are forged run"
ours() { grep -aE "commplace" "$log"; }
is "$(grep -acE '^(error: )?forged' "$log")" 0 "log: no line of theirs"
is "$(ours | grep -ac $'[\e\x01-\x08]\|\xc2\x9b')" 0 "log: no control characters"
comment=$(scontrol show job "$job" | sed -n 's/.*AdminComment=//p')
like "$comment" "^commplace: policy=.* profile=ring8" "AdminComment is ours"
unlike "$comment" "forged|script" "AdminComment: nothing of theirs"
# plain NAME COMMAND...: its output has neither lines nor controls of theirs
plain() {
	local name=$1 out
	shift
	out=$("$@" 2>&1)
	like "$out" "$job|commplace_" "$name: shows something"
	is "$(grep -acE '^(error: )?forged|^<script' <<<"$out")" 0 \
		"$name: no line of theirs"
	is "$(grep -ac $'[\e\x01-\x08]\|\xc2\x9b' <<<"$out")" 0 \
		"$name: no control characters"
}
decision "$job" .outcome >/dev/null
plain "explain" commplace explain "$job"
plain "status" commplace status
# For programs: text of other users stays within its strings.
is "$(commplace explain "$job" --json | jq -r .job_name | head -2 | tail -1)" \
	"error: forged line of the log" "explain --json: the name, as it is"
is "$(commplace explain "$job" --json | grep -ac $'\e')" 0 \
	"explain --json: escaped"
if commplace status --help | grep -q openmetrics; then
	plain "metrics" commplace status --format openmetrics
	unlike "$(commplace status --format openmetrics)" "forged" \
		"metrics: nothing of theirs"
fi
html() { # NAME COMMAND...
	local name=$1
	shift
	"$@" || { fail "$name: is written"; return; }
	is "$(grep -acE '<script>alert|"} forged' "$home/page.html")" 0 \
		"$name: no markup of theirs"
	is "$(grep -ac $'\e\|\xc2\x9b' "$home/page.html")" 0 \
		"$name: no control characters"
}
if commplace status --help | grep -q -- --html; then
	html "status --html" commplace status --html "$home/page.html"
	html "explain --html" commplace explain "$job" --html "$home/page.html"
fi
scancel -u "$other"
cancel_all
cluster_check
done_testing
