#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace signature` and `commplace config`: what they print and write.
. "${0%/*}/golden.bash"
top=$(cd "$here/../.." && pwd)
cd "$work" || bail "no $work"
export LC_ALL=C
unset COMMPLACE_CONF SLURM_CONF
mkdir profiles
cp "$top/etc/signatures/halo-16.json" "$top/etc/signatures/umesh-512.json" profiles
cp "$top/etc/networks/quickstart.json" network.json
cat >commplace.conf <<-END
NetworkFile=$work/network.json
ProfileDir=$work/profiles
DefaultPolicy=auto MaxDecisionTime=2s
UserMayOverride=profile,mapping
Partition=large DefaultPolicy=none MinNodes=4
Match JobName=halo* Profile=halo-16
END

# same FILE NAME COMMAND...: stdout is the file's text; @W@ is the directory
same() {
	local file=$1 name=$2 got want
	shift 2
	got=$("$commplace" "$@" 2>&1)
	ok $? "$name: exit code 0"
	[ -z "${UPDATE:-}" ] || sed "s|$work|@W@|g" <<<"$got" >"$here/site/$file"
	want=$(sed "s|@W@|$work|g" "$here/site/$file")
	is "$got" "$want" "$name"
}

same show.txt "show" signature show halo-16 --profile-dir profiles
echo damaged >profiles/bad.json
echo damaged >profiles/.hidden.json
same list.txt "list" signature list --profile-dir profiles
like "$("$commplace" signature list halo-16 --profile-dir profiles)" \
	"^halo-16 has no versions, since it was put into profiles by hand; .*install" \
	"list NAME: of a file that was copied"
got=$("$commplace" signature list mlic --profile-dir profiles 2>&1)
is "$?,$got" "1,commplace signature: no profile 'mlic' in profiles; \`commplace \
signature list\` shows those that there are" "list NAME: of none"
like "$("$commplace" signature list --profile-dir none 2>&1)" \
	"^commplace signature: none: No such file or directory; .*--profile-dir$" \
	"list: where there is no store"
like "$(HOME=$work "$commplace" signature list --user 2>&1)" \
	"^commplace signature: $work/.commplace/profiles: No such file.*install --user" \
	"list --user: before there is one"
"$commplace" signature list --profile-dir profiles --json >list.json
is "$(json list.json profiles 1 name)" halo-16 "list --json: name"
# 48 pairs * 1000 * 256 KiB and 64 pairs * 100 * 8 bytes
is "$(json list.json profiles 1 bytes)" 12582963200 "list --json: bytes"
like "$(json list.json profiles 0 error)" "not valid JSON" "list --json: error"
rm profiles/bad.json
# Fault 21: the daemons refuse links to profiles, so commands do, too.
ln -s halo-16.json profiles/linked.json
got=$("$commplace" signature show linked --profile-dir profiles 2>&1)
is "$?" 1 "show: a link is no profile"
like "$got" "profiles/linked\.json: is a symbolic link" "show says so"
like "$("$commplace" signature list --profile-dir profiles)" \
	"linked .*is a symbolic link" "list, too"
hosts=$(printf ',"n%d"' {0..15})
echo '{"jobs":[{"id":1,"signature":"linked","hosts":['"${hosts#,}"'],"ranks_per_node":1}]}' \
	>linked.json
like "$("$commplace" place --network "$top/etc/networks/quickstart.json" --nodes 1 \
	--policy linear --profile-dir profiles --running linked.json 2>&1)" \
	"profiles/linked\.json: is a symbolic link" "and for running jobs"
runs "a path may be a link" "$commplace" signature show profiles/linked.json
rm profiles/linked.json linked.json
# A store of its own, with records of jobs that used it.
mkdir -p store state/ended home
sed 's/"ranks": 16/"ranks": 32/' "$top/etc/signatures/halo-16.json" >halo-32.json
printf 'NetworkFile=%s\nProfileDir=%s\nStateDir=%s\n' "$work/network.json" \
	"$work/store" "$work/state" >store.conf
sed "s/1795254000/$(date +%s)/; s/\"pair\"/\"halo\"/; s/\"job\": 17/\"job\": 7/
	s/\[ 1, 0 \]/[ 1,1,1,1,1,1,1,1,0,0,0,0,0,0,0,0 ]/" \
	"$here/explain/state/running/17.json" >state/ended/7.json
store() {
	HOME=$work/home COMMPLACE_CONF=$work/store.conf "$commplace" signature "$@"
}
is "$(store install profiles/halo-16.json --name halo)" \
	"halo: version 1, 16 ranks, in $work/store" "install"
store install profiles/halo-16.json --name halo >/dev/null
store install halo-32.json --name halo --json >installed.json
is "$(json installed.json version)" 3 "install --json: versions count on"
COMMPLACE_CONF=$work/store.conf same store.txt "list: sizes and jobs" \
	signature list
is "$(store list halo | awk '{ print $1, $2, $3 }' | paste -sd,)" \
	"VERSION RANKS USED,1 16 -,2 16 yes,3 32 yes" "list NAME: versions"
is "$(store list halo --json | json - versions 2 from)" "$work/halo-32.json" \
	"list NAME --json: where a version is from"
is "$(store show halo@32 --json | json - ranks)" 32 "show NAME@RANKS"
is "$(store install --version 1 halo)" "halo: version 1 is in use again" \
	"install --version"
is "$(store show halo --json | json - recorded installed version)" 1 \
	"it is that version"
runs "install --user makes the user's store" store install --user halo-32.json \
	--name halo
is "$(store show halo --json | json - ranks)" 32 "a user's own comes first"
runs "remove --user" store remove --user halo
# What jobs recorded: of two runs of as many ranks the longer one.
recording=$work/home/.commplace/recording
mkdir -p "$recording"
# recorded FILE RANKS SECONDS TO
recorded() {
	printf '{"format": "commplace-signature", "version": 1, "name": "x",
		"ranks": %d, "phases": [{"name": "run", "time": %s,
		"traffic": [[0, %d, 10, 1]]}]}' "$2" "$3" "$4" >"$recording/$1"
}
recorded 12.0.n1.99.json 4 3 2
recorded 12.1.n1.100.json 4 2 1
recorded 12.batch.n2.7.json 8 1 1
recorded 123.0.n2.7.json 4 1 1
recorded 7.0.n1.1.json 4 1 1
touch -d '40 days ago' "$recording/7.0.n1.1.json" "$recording/thesis.dat" \
	"$recording/2025.json"
echo '{' >"$recording/12.2.n1.101.json"
is "$(store install --user --recorded 12 app)" \
	"app: version 1, 4 ranks, in $work/home/.commplace/profiles
app: version 2, 8 ranks, in $work/home/.commplace/profiles" "install --recorded"
is "$(store show app@4 --json | json - recorded installed from)" "job 12" \
	"it tells of the job"
is "$(store show app@4 --json | json - largest_pairs 0)" 0,2,10,1 \
	"it is the longer run"
is "$(ls "$recording" | paste -sd ' ')" "123.0.n2.7.json 2025.json thesis.dat" \
	"what was taken goes, and what is old, but no files of others"
recorded 13.0.n2.8.json 4 1 1
recorded 13.1.n2.8.json 4 9 3
is "$(store install --user --recorded 13.0 app)" \
	"app: version 3, 4 ranks, in $work/home/.commplace/profiles, 100.0 % from the one before
app: its traffic drifts: more than 10 % differs" "of one step, which drifts"
like "$(store list --user)" 'app +4 +3 +100.0 % !' "list marks it"
for job in 15 16; do
	recorded "$job.0.n2.8.json" 4 1 1
	store install --user --recorded "$job" same >/dev/null
done
is "$(store list --user | awk '/%/ { print index($0, "%") }' | sort | uniq -c | awk '{ print $1 }')" \
	2 "and what drifts and what does not stand in one column"
runs "remove what does not" store remove --user same
is "$(store install --user --recorded 13 app --json | json - installed 0 distance)" 1 \
	"install --json: the distance"
own() { COMMPLACE_USER_PROFILES=$work/own/%u store "$@"; }
for ranks in 4 8 16; do
	recorded "14.0.n2.$ranks.json" "$ranks" 1 1
done
own install --user --recorded 14 many >/dev/null
is "$(own install --from "$(id -un)" many | cut -d, -f1,2 | paste -sd ';')" \
	"many: version 1, 4 ranks;many: version 2, 8 ranks;many: version 3, 16 ranks" \
	"install --from: all sizes"
runs "remove what was taken from a user" store remove many
runs "remove --user, all" store remove --user app
is "$(store show halo --json | json - ranks)" 16 "then the site's"
runs "remove --ranks" store remove halo --ranks 16
is "$(store show halo --json | json - ranks)" 32 "the other size is left"
runs "remove" store remove halo
is "$(ls -A store home/.commplace/profiles | grep json)" "" "nothing is left"
# What the recorder could not count is said wherever the profile is.
recorded 17.0.n1.1.json 4 1 1
sed -i 's/}$/, "recorded": {"lost_messages": 12}}/' "$recording/17.0.n1.1.json"
lost="lossy, 4 ranks: 12 messages were not counted: the recorder had no memory"
is "$(store install --user --recorded 17 lossy 2>&1 >/dev/null)" \
	"commplace signature: $lost" "install: messages that were not counted"
is "$(store list --user | tail -1)" "$lost" "list"
is "$(store list --user --json | json - profiles 0 lost_messages)" 12 "list --json"
like "$(store show lossy)" "lost +12 messages, which are not in the traffic" "show"
store remove --user lossy
# Of a user's store root makes what is the user's.
theirs() { COMMPLACE_USER_PROFILES=$work/theirs/%u/profiles store "$@"; }
if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1; then
	chmod 755 "$work"
	mkdir theirs
	chown nobody theirs
	theirs install --user halo-32.json --name halo >/dev/null
	theirs install --user halo-32.json --name halo >/dev/null
	theirs install --user --version 1 halo >/dev/null
	is "$(find theirs -type f | wc -l) $(find theirs -printf '%u\n' | sort -u)" \
		"4 nobody" "root installs in a user's store: folders and files are the user's"
	(umask 077 && cp halo-32.json store/secret.json)
	ln -sf "$work/store/secret.json" theirs/root/profiles/.halo@32.v1.json
	like "$(theirs install --user --version 1 halo 2>&1)" \
		"v1.json: Permission denied" "of whom no link leads to what is root's"
	mv theirs/root/profiles "$work/elsewhere"
	ln -s "$work/store" theirs/root/profiles
	chown -h nobody theirs/root/profiles
	like "$(theirs install --user halo-32.json --name halo 2>&1)" \
		"a link of user $(id -u nobody) leads there, whose it is not" \
		"nor to another's store"
	is "$(ls store)" secret.json "where nothing is installed"
	ln -sfn "$work/elsewhere" theirs/root/profiles
	chown -h nobody theirs/root/profiles
	runs "but to one of the user's own" theirs remove --user halo
	rm store/secret.json
else
	skip 5 "not root"
fi

# Fault 55: slurmctld that runs as another user has none of a user's rights.
mkdir -m 700 shut
printf 'SlurmUser=daemon\nPartitionName=a Nodes=ALL\n' >slurm.conf
chmod 755 "$work"
shut() {
	SLURM_CONF=$work/slurm.conf COMMPLACE_USER_PROFILES=$work/shut/%u \
		store install --user halo-32.json --name halo 2>&1 >/dev/null
}
got=$(shut)
is "$?,$got" "0,commplace signature: jobs are not placed by it yet: slurmctld runs as \
daemon, who may not enter $work/shut (mode 700); \`setfacl -m u:daemon:x $work/shut\` \
lets it" "install --user says that the scheduler cannot read it"
chmod 711 shut
is "$(shut)" "" "and nothing where it can"
chmod 600 shut/*/halo.json
like "$(shut)" "may not read $work/shut/.*/halo.json .mode 600.; .setfacl -m u:daemon:r" \
	"a profile of its user's alone"
chmod 644 shut/*/halo.json
printf '%s\n' "NetworkFile=$work/network.json" "ProfileDir=$work/profiles" \
	"UserProfileDir=$work/shut/%u" "StateDir=$work/shut-state" \
	"Partition=a Mode=observe" >shut.conf
mkdir shut-state
chown daemon shut-state
mkdir -m 700 shut/ana
like "$("$commplace" config check shut.conf | tr -s ' ' | grep -A2 "^users' profiles")" \
	"/shut/%u
 read with the rights of SlurmUser=daemon, .*
 1 of 2 homes shut it out; .* may not enter $work/shut/ana .mode 700.;" \
	"config check says whose homes"
is "$("$commplace" config check shut.conf --json | json - homes_shut)" 1 \
	"config check --json, too"
sed -i '/SlurmUser/d' slurm.conf
unlike "$("$commplace" config check shut.conf)" "SlurmUser=" "root has each user's rights"
# Fault 68: what was not compared is said.
like "$("$commplace" config check shut.conf | tr -s ' ')" "
compared with slurm.conf
" "config check: what it compared with"
mv slurm.conf other.conf
like "$("$commplace" config check shut.conf | tr -s ' ')" "
not compared slurm.conf cannot be read: partitions and the owner" \
	"and that there is no slurm.conf"
is "$("$commplace" config check shut.conf --json | json - slurm_conf)" "" \
	"config check --json, too"
rm -rf shut other.conf
if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1; then
	got=$(setpriv --reuid=nobody --clear-groups env COMMPLACE_CONF="$work/store.conf" \
		"$commplace" signature install halo-32.json 2>&1)
	is "$?,$got" "1,commplace signature: $work/store/.lock: Permission denied; --user \
installs into your own store" "install without rights mentions --user"
else
	skip "install without rights mentions --user" "not root"
fi

same check.txt "check" signature check profiles/halo-16.json profiles/umesh-512.json
"$commplace" signature show profiles/halo-16.json --json >show.json
is "$(json show.json partners max)" 6 "show --json: partners"
is "$(json show.json largest_pairs 0)" 0,1,262144800,1100 "show --json: largest pair"
is "$(json show.json blocks 0 | cut -d, -f1-5)" 0,262144800,800,0,262144800 \
	"show --json: blocks"

cat >m.coo <<-END
	# ranks 3
	0 1 10 2
	1 0 1e3
	0 1 5
END
cat >m.mtx <<-END
	%%MatrixMarket matrix coordinate real general
	3 3 2
	1 2 15
	2 1 1000
END
printf '0 15 0\n1000 0 0\n0 0 0\n' >m.mat
runs "import coo" "$commplace" signature import m.coo --format coo -o m.json \
	--name pair --application app
same pair.txt "what coo becomes" signature show ./m.json
for format in mtx treematch; do
	file=m.mtx
	[ "$format" = mtx ] || file=m.mat
	runs "import $format" "$commplace" signature import $file \
		--format "$format" -o "$format.json"
	is "$("$commplace" signature show "$format.json" --json | json - blocks 0)" \
		0,15,0 "$format: first row"
	is "$(json "$format.json" name)" "$format" "$format: name of the file"
done
runs "import --binary" "$commplace" signature import m.coo --format coo \
	--binary -o b.json
is "$(od -An -v -tx1 b.phase1.comm | tr -d ' \n')" \
	"43504c434f4d4d0001000000030000000200000000000000$(:
	)00000000010000000000000000002e400000000000000840$(:
	)01000000000000000000000000408f40000000000000f03f" \
	"the side file, byte by byte"
is "$("$commplace" signature show b.json --json | json - largest_pairs 1)" 0,1,15,3 \
	"a signature with a side file"
is "$(stat -c %a b.json b.phase1.comm | tr '\n' ' ')" "644 644 " "modes"

same config.txt "config check" config check commplace.conf
"$commplace" config check "$work/commplace.conf" --json --slurm-nodes 'n[0-31]' >config.json
ok $? "config check --slurm-nodes: the same nodes"
is "$(json config.json partitions 0 policy)" none "config check --json: partition"
# QOS and accounts, between all that may stand between them
cat commplace.conf - >names.conf <<-END
Match QOS=high,deb* Mode=off
Match Account=chem Mode=off
END
"$commplace" config check names.conf --slurm-qos 'normal
high,debug' --slurm-accounts ' root chem ' >/dev/null
ok $? "config check: QOS and accounts that Slurm has"
got=$("$commplace" config check names.conf --slurm-qos $'normal\nHIGH' \
	--slurm-accounts 'chemistry' 2>&1)
is "$?" 1 "that it does not have"
is "$(cut -d: -f4- <<<"$got")" " QOS=high: none that --slurm-qos gives
 QOS=deb*: none that --slurm-qos gives
 Account=chem: none that --slurm-accounts gives" "each is named"
is "$("$commplace" config check names.conf --slurm-accounts '' 2>&1 | grep -c .)" 1 \
	"none at all are no accounts"
is "$(json config.json max_decision_ms)" 2000 "config check --json: time"
is "$(json config.json user_may_override)" profile,mapping "config check --json: users"
is "$(cd / && COMMPLACE_CONF=$work/commplace.conf "$commplace" config check --json)" \
	"$("$commplace" config check "$work/commplace.conf" --json)" "\$COMMPLACE_CONF"
is "$(cd / && SLURM_CONF=$work/slurm.conf "$commplace" config check --json)" \
	"$("$commplace" config check "$work/commplace.conf" --json)" "beside \$SLURM_CONF"

# Fault 60: a host without slurm.conf, of which slurmctld tells.
folder=$(sed -n 's/^SLURM_CONF_DIR = //p' "${COMMPLACE_BUILD:?}/Makefile")
server() { # COMMAND...: by a scontrol of the test's own
	(cd / && SLURM_CONF_SERVER=ctl1 PATH=$work/bin:$PATH "$@")
}
mkdir bin site
cat >bin/scontrol <<END
#!/bin/sh
case "\$*" in
"show config")
	echo "Configuration data as of 2026-08-20T10:00:00"
	echo "SLURM_CONF              = $work/site/slurm.conf"
	echo "SlurmUser               = root(0)" ;;
"-a -o show partitions") echo "PartitionName=large AllowGroups=ALL" ;;
*) exit 1 ;;
esac
END
chmod 755 bin/scontrol
if [ -e "$folder/slurm.conf" ] || [ -e "$folder/commplace.conf" ] ||
    [ -e /run/slurm/conf/slurm.conf ]; then
	skip "SLURM_CONF_SERVER" "this host has files of Slurm's own"
else
	got=$(server "$commplace" config check 2>&1)
	is "$?:$got" "1:commplace config: $folder/commplace.conf: No such file or directory
commplace config: nor is there one beside slurmctld's $work/site/slurm.conf on this host" \
		"no commplace.conf, nor in slurmctld's folder: both are named"
	sed "/Partition=/d" commplace.conf >site/commplace.conf
	echo "Partition=large DefaultPolicy=none" >>site/commplace.conf
	server "$commplace" config check --json >server.json
	is "$(json server.json config) $(json server.json slurm_conf)" \
		"$work/site/commplace.conf slurmctld of SLURM_CONF_SERVER=ctl1" \
		"else that one, compared with what slurmctld tells"
	echo "Partition=small DefaultPolicy=none" >>site/commplace.conf
	like "$(server "$commplace" config check 2>&1)" \
		"small.*slurmctld of SLURM_CONF_SERVER=ctl1" \
		"a partition that slurmctld does not have"
	server "$commplace" signature install --name fetched \
		"$work/profiles/halo-16.json" >/dev/null
	[ -f profiles/fetched.json ]
	ok $? "signature install: into ProfileDir of that file"
	rm -f profiles/fetched.json bin/scontrol
	printf '#!/bin/sh\necho "scontrol: error: who is ctl1?" >&2\nexit 1\n' >bin/scontrol
	chmod 755 bin/scontrol
	like "$(server "$commplace" status 2>&1)" \
		"$folder/commplace\.conf: No such file or directory; scontrol show config: scontrol: error: who is ctl1\?" \
		"no answer: said"
fi
is "$(json config.json matches 0 job_name)" 'halo*' "config check --json: rule"
is "$(json config.json matches 0 settings Profile)" halo-16 "and what it sets"

# What holds for a job, key by key.
cat >for.conf <<-END
	NetworkFile=$work/network.json
	DefaultPolicy=auto MinNodes=4
	Partition=large DefaultPolicy=RRN UserMayOverride=profile
	Match QOS=high Account=chem,bio* Nodes=64- MaxDecisionTime=20ms DefaultPolicy=RDR
	Match User=0 Mode=observe Objective=hop-bytes
	Match Command=*/vasp_* Profile=vasp UserMayOverride=none
	Match JobName=mpi* MappingWithoutProfile=network-order
END
same for-profile.txt "config for" config for partition=large qos=high \
	account=bio1 user=root name=v nodes=64 command=/x/vasp_std \
	--config for.conf --comm-profile=other
same for-open.txt "config for, little known" config for name=mpi1 \
	partition=large --config for.conf --placement-policy=RDN
"$commplace" config for name=mpi1 partition=large --config for.conf \
	--placement-policy=RDN --json >for.json
is "$(json for.json values 2 value) $(json for.json values 2 from) $(
	)$(json for.json values 2 line)" "RRN partition 3" "config for --json: policy"
is "$(json for.json values 3 key) $(json for.json values 3 line)" \
	"MappingWithoutProfile 7" "config for --json: order of ranks"
is "$(json for.json may_hold)" 4,5,6 "config for --json: lines that may hold"
like "$(json for.json refused)" "does not let users choose the policy" \
	"config for --json: refused"
# Keys that may stand in lines: each does, is listed, and holds for its jobs.
while read -r key value; do
	with=(--comm-profile=halo-16)
	case $key in
	DefaultPolicy) value=linear ;;
	MappingWithoutProfile) with=() ;;
	esac
	printf '%s\n' "NetworkFile=$work/network.json" "ProfileDir=$work/profiles" \
		"StateDir=$work" "Match QOS=q $key=$value" >one.conf
	like "$("$commplace" config check one.conf 2>&1)" " $key=$value" \
		"config check: $key of a line"
	like "$("$commplace" config for qos=q --config one.conf "${with[@]}" 2>&1)" \
		"$key +.* one.conf:4 \\(Match\\)" "config for: $key of a line"
done < <("$commplace" config --help |
	sed -nE 's/^  ([A-Z][A-Za-z]*)=[^ ]* +([^ ;]+); lines too.*/\1 \2/p')
# What becomes of the user's profile at submission.
profile_for() {
	printf '%s\n' "NetworkFile=$work/network.json" \
		"ProfileDir=$work/profiles" "$1" >profile.conf
	"$commplace" config for nodes=4 --config profile.conf \
		--comm-profile "$2" | grep -E '^(refused|note): '
}
like "$(profile_for Mode=on ../x)" 'refused: "../x" is not a profile name' \
	"config for: no name of a profile"
is "$(profile_for Mode=on gone)" \
	"refused: no profile 'gone' in $work/profiles" "config for: no profile"
is "$(profile_for MissingProfile=ignore gone)" \
	"note: no profile 'gone' in $work/profiles" "config for: it is ignored"
is "$(profile_for Mode=off gone)$(profile_for Mode=on halo-16)" "" \
	"config for: nothing to say"
is "$(profile_for UserProfileDir=/home/%u/x gone)" "" \
	"config for: users may have one"

# Samples are right.
sed "s|=/etc/slurm/commplace/|=$work/|; s|=/var/lib/commplace/profiles|=$work/profiles|" \
	"${COMMPLACE_BUILD:?}/etc/commplace.conf" >sample.conf
runs "the sample configuration" "$commplace" config check sample.conf
sed 's/^#\([A-Z]\)/\1/; s/Profile=\(vasp\|lammps\)/Profile=halo-16/' sample.conf >all.conf
runs "the sample with all its comments" "$commplace" config check all.conf
is "$(grep -c '^Partition\|^Match\|^DefaultPolicy\|^Routing' all.conf)" 8 \
	"the comments were settings"
# Fault 29: every problem, not the first one only.
printf 'Mode=maybe\nSeed=x\nPartition=a Mode=off\nMatch JobName=q\n' >bad.conf
"$commplace" config check bad.conf 2>bad.err
is "$? $(sed -n 's/^commplace config: bad.conf:\([0-9]*\): .*/\1/p' bad.err | paste -sd,)" \
	"1 1,2,4" "each line that is wrong"
printf '%s\n' "NetworkFile=$work/network.json" "ProfileDir=$work/profiles" \
	"StateDir=$work/none" "DefaultPolicy=whole:plane" \
	"Partition=a DefaultPolicy=whole:9" \
	"Match QOS=a DefaultPolicy=per-router:9" \
	"Match QOS=[a,b Account=[c User=no\$user Mode=off" \
	"KeepWhole=board" "Partition=c KeepWhole=2x2" \
	"Match QOS=q KeepWhole=9" >bad.conf
"$commplace" config check bad.conf 2>bad.err
is "$? $(sed -n 's/^commplace config: bad.conf:\([0-9]*\): .*/\1/p' bad.err | paste -sd,)" \
	"1 4,8,5,9,6,10,7,7,7" "options of policies on the network, patterns and users of rules"
mkdir -m 777 open
printf '%s\n' "NetworkFile=$work/network.json" "ProfileDir=$work/profiles" \
	"StateDir=$work/open" "DefaultPolicy=blocked" "Partition=b Mode=observe" \
	"Match JobName=[a Profile=none" "Match JobName=c Profile=gone" >bad.conf
printf 'NodeName=n[0-31]\nPartitionName=a Nodes=ALL\n' >slurm.conf
ln -s halo-16.json profiles/linked.json
"$commplace" config check bad.conf 2>bad.err
is "$?" 1 "a file that reads well, and is wrong all the same"
for what in 'conf:4: DefaultPolicy: .*blocked' 'conf:5: Partition=b: slurm.conf has no' \
	'conf:6: JobName=\[a is not a pattern' 'conf:7: .*profile gone is not in' \
	'StateDir: .*others than its owner may write' 'linked.json: is a symbolic link'; do
	like "$(cat bad.err)" "$what" "$what"
done
is "$(wc -l <bad.err)" 6 "no other"
rm profiles/linked.json
runs "the sample signatures" "$commplace" signature check "$top"/etc/signatures/*.json
done_testing
