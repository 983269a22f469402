#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs that nobody recorded, by what was measured of them: the next run of a name is
# placed by it, also after a restart of slurmctld; decisions made with measured links
# are made again from their records; a server that hangs holds up nothing.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
cluster_start
cluster_signature ring8 8
links=$CLUSTER/etc/links.csv

site() {
	CLUSTER_SITE=$1
	cluster_write_site
	cluster_reconfigure
}
# sample ROW...: FROM,TO,BYTES-PER-SECOND each, as counted now
sample() {
	{
		echo time,from,to,bytes_per_second
		printf "$EPOCHSECONDS,%s\n" "$@"
	} >"$links.new"
	chmod 644 "$links.new"
	mv "$links.new" "$links"
}
# by_volume NAME OPTION...: a job of that name asks for auto and runs; PLACED is the
# volume that it was placed by.
by_volume() {
	local name=$1
	shift
	job=$(submit -N2 -n8 --exclusive -J "$name" --placement-policy=auto "$@")
	wait_running "$job"
	PLACED=$(decision "$job" .volume_profile)
}

# The first run is measured: each of its nodes sends 2e9 bytes/s, and others besides
# send over a link between groups.
site "Unknown=measured MeasuredLinks=$links MeasuredMaxAge=30"
by_volume loud
is "$PLACED/$(decision "$job" .outcome)" "0/stock" \
	"the first run of a name has no volume, and Slurm's nodes"
like "$(decision "$job" .reason)" "policy auto needs a profile" "which is said"
read -r a b <<<"$(job_hosts "$job")"
sleep 1.1
# told JOB-NAME: another job's decision knows of the sample
told() {
	sample "$a,,2e9" ",$a,2e9" "$b,,2e9" ",$b,2e9" "0,1,5e8"
	sleep 1.2
	other=$(submit -N2 -n8 --exclusive --comm-profile=ring8)
	wait_running "$other"
	like_it=$(decision "$other" .measured)
	replayed=$(commplace replay "$CLUSTER/decisions/running/$other.json" 2>&1 |
		tail -n 1)
	scancel "$other"
	[[ $like_it == *", 1 jobs without a signature apart" ]]
}
wait_for 40 told
ok $? "a sample has the job's share"
like "$replayed" "^1 equal, 0 different, 0 not" \
	"a decision made with that sample is made again from its record"
isnt "$(ls "$CLUSTER/decisions/samples")" "" "which has it in a file"
scancel "$job"
gone() { ! job_is "$job" "RUNNING COMPLETING"; }
wait_for 20 gone
sent() { commplace explain "$job" | grep -q "sent  *2.* GB/s by each node, as measured"; }
runs "its record has what it sent, then" wait_for 10 sent

# The second one.
by_volume loud
like "$PLACED" "^(1999|2000)" "the second run of the name is placed by what it sent"
is "$(decision "$job" '.outcome, .profile' | paste -sd' ')" "placed null" \
	"placed without a profile"
like "$(scontrol show job "$job")" "AdminComment=commplace: policy=.* by its volume" \
	"its comment says so"
like "$(commplace explain "$job")" "placed by +its volume: 2.* GB/s of each node" \
	"and explain"
like "$(commplace replay "$CLUSTER/decisions/running/$job.json" 2>&1 | tail -n 1)" \
	"^1 equal, 0 different, 0 not" "it is made again from its record"
again=$(cd "$CLUSTER" && commplace explain "$job" --state state.json --json | jq -r .replay)
like "$again" "place --network .* --nodes 2 --volume " \
	"explain has the command that looks at why"
is "$(cd "$CLUSTER" && eval "$again --json" | jq -r '.hosts | sort | join(" ")')" \
	"$(job_hosts "$job" | tr ' ' '\n' | sort | paste -sd' ')" "which chooses its nodes"
cancel_all

# Another user's name is another one; so is a job that asks for nothing.
job=$(submit -N2 -n8 --exclusive -J loud)
wait_running "$job"
is "$(decision "$job" .volume_profile)/$(decision "$job" .outcome)" "0/stock" \
	"a job that asks for nothing has Slurm's nodes"
cancel_all
site "Unknown=measured MeasuredLinks=$links MeasuredMaxAge=30 DefaultPolicy=auto PlaceByVolume=yes"
job=$(submit -N2 -n8 --exclusive -J loud)
wait_running "$job"
is "$(decision "$job" .outcome)" placed \
	"but where the site wants that, PlaceByVolume=yes"
cancel_all

# slurmctld's restart; a file that is none.
cluster_restart_ctld
by_volume loud
like "$PLACED" "^(1999|2000)" "after a restart of slurmctld it is known"
cancel_all
cluster_stop_ctld
echo 'root:x:0:0' >"$CLUSTER/decisions/volumes"
cluster_start_ctld && wait_for 30 cluster_nodes_up
by_volume loud
is "$PLACED/$(decision "$job" .outcome)" "0/stock" \
	"a file of volumes that is none: the job has Slurm's nodes"
begins() {
	grep -q 'error: .*commplace: volumes of job names begin anew: .*/volumes:1: is no number of a user' \
		"$CLUSTER/log/slurmctld.log"
}
runs "which is said" wait_for 10 begins
cancel_all

# A server that takes requests and never answers, and one whose answer comes byte by
# byte. server WORDS-OF-PERL: PORT is where it is.
server() {
	perl -MIO::Socket::INET -e '
		$SIG{PIPE} = "IGNORE";
		my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 64);
		$| = 1;
		print $s->sockport, "\n";
		while (my $c = $s->accept) {
			push @kept, $c;
			next if $ARGV[0] eq "hangs";
			next if fork;
			for (split //, "HTTP/1.0 200 OK\r\n\r\n" . "x" x 1000) {
				last unless print $c $_;
				$c->flush;
				select undef, undef, undef, 0.1;
			}
			exit;
		}' "$1" >"$CLUSTER/port" &
	server=$!
	has_port() { [ -s "$CLUSTER/port" ]; }
	wait_for 10 has_port
	PORT=$(cat "$CLUSTER/port")
}
on_exit 'kill $server 2>/dev/null'
cluster_free() { [ "$(as_user squeue -h | wc -l)" = 0 ]; }
# without any, for what comes then
site ""
job=$(submit -N2 -n8 --exclusive --comm-profile=ring8)
wait_running "$job"
want=$(job_hosts "$job")
cancel_all
wait_for 20 cluster_free
lines() { grep -c "commplace: MeasuredLinks: http://127.0.0.1:$PORT/" "$CLUSTER/log/slurmctld.log"; }
for how in hangs dribbles; do
	server $how
	site "MeasuredLinks=http://127.0.0.1:$PORT/ MeasuredMaxAge=5"
	begun=${EPOCHREALTIME/[.,]/}
	job=$(submit -N2 -n8 --exclusive --comm-profile=ring8)
	wait_running "$job"
	is "$(decision "$job" .outcome) $(job_hosts "$job")" "placed $want" \
		"a server that $how: a job is placed as without it"
	is "$(decision "$job" .cut_short)" false "by a whole decision"
	# Whoever waits for a lock of slurmctld's waits here, too.
	slowest=0
	for ((i = 0; i < 30; i++)); do
		begun=${EPOCHREALTIME/[.,]/}
		squeue -h >"$CLUSTER/null"
		took=$((${EPOCHREALTIME/[.,]/} - begun))
		[ $took -gt $slowest ] && slowest=$took
		sleep 0.1
	done
	[ $slowest -lt 900000 ]
	ok $? "slurmctld answers meanwhile"
	diag "squeue took at most $slowest us in 30 calls"
	# Nobody asks meanwhile.
	said() { [ "$(lines)" -gt 0 ]; }
	runs "and says why nothing was read" wait_for 40 said
	sleep 2
	scancel "$job"
	job=$(submit -N2 -n8 --exclusive --comm-profile=ring8)
	wait_running "$job"
	is "$(lines)" 1 "once, however often it is asked"
	like "$(grep "MeasuredLinks: http://127.0.0.1:$PORT/" "$CLUSTER/log/slurmctld.log")" \
		"timed out; nothing of it counts" "by its reason"
	cancel_all
	wait_for 20 cluster_free
	kill $server
	wait $server 2>/dev/null
	rm "$CLUSTER/port"
done

# A file that nobody writes any more, and then does again, while no job comes.
old() { [ "$(has "$failed")" -gt "$had" ]; }
renewed() { [ "$(has "$again")" -gt "$had_again" ]; }
sample "0,1,5e8"
site "MeasuredLinks=$links MeasuredMaxAge=5"
has() { grep -c "$1" "$CLUSTER/log/slurmctld.log"; }
failed="MeasuredLinks: $links:.*; nothing of it counts" again="MeasuredLinks: 1 links are read again"
had=$(has "$failed")
runs "that a file grew old is said without a job" wait_for 40 old
had_again=$(has "$again")
sample "0,1,5e8"
runs "and that it is written again" wait_for 20 renewed
is "$(has "$failed")" $((had + 1)) "each once"
cluster_check
done_testing
