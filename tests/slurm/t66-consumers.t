#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who is told of ended jobs has the decision's line: a script, Lua, an index over HTTP
# and whoever reads a topic of Kafka by jobcomp plugins, and readers of JSON.
. "${0%/*}/../tools/tap.bash"
. "${0%/*}/cluster.bash"
CLUSTER_EXTRA=JobCompType=jobcomp/script
eval "plain_$(declare -f cluster_write_conf)"
cluster_write_conf() {
	plain_cluster_write_conf
	echo "JobCompLoc=$CLUSTER/etc/jobcomp" >>"$SLURM_CONF"
	# As a consumer would that has more of a job than its environment.
	cat >"$CLUSTER/etc/jobcomp" <<-SCRIPT
	#!/bin/bash
	export SLURM_CONF=$SLURM_CONF
	echo "\$JOBID \$JOBSTATE \$($(type -P scontrol) -o show job "\$JOBID" |
		grep -o 'AdminComment=commplace.*' | head -c 300)" >>$CLUSTER/ended
	SCRIPT
	cat >"$CLUSTER/etc/jobcomp.lua" <<-LUA
	function slurm_jobcomp_log_record(job)
		local f = io.open("$CLUSTER/ended", "a")
		f:write(job.job_id, " ", job.admin_comment or "", "\n")
		f:close()
		return slurm.SUCCESS
	end
	LUA
	chmod 755 "$CLUSTER/etc/jobcomp"
}
cluster_start
cluster_signature pairs8 8 pairs

# consume PLUGIN PATTERN [LOCATION [COMMAND...]]: an ended job's line arrives, as the
# pattern has it behind the job's number; the command brings lines into $CLUSTER/ended
consume() {
	cluster_has_plugin "jobcomp_$1" || {
		skip "jobcomp/$1" "this Slurm was built without it, or its package is not installed"
		return
	}
	sed -i "s|^JobCompType=.*|JobCompType=jobcomp/$1|;
		s|^JobCompLoc=.*|JobCompLoc=${3:-$CLUSTER/etc/jobcomp}|" "$SLURM_CONF"
	cluster_restart_ctld || { fail "slurmctld with jobcomp/$1"; return; }
	job=$(submit -N4 -n8 --exclusive --comm-profile=pairs8 --wrap true)
	wait_ended "$job"
	told() {
		"${@:4}"
		grep -qE "${2//JOB/$job}" "$CLUSTER/ended"
	}
	# jobcomp/elasticsearch may begin with half a minute of waiting for its address.
	wait_for 60 told "$@"
	ok $? "jobcomp/$1: an ended job has the decision's line" ||
		diag "$(tail -n 3 "$CLUSTER/ended")" "$(grep -i jobcomp "$CLUSTER/log/slurmctld.log" | tail -n 5)"
	is "$(decision "$job" .outcome)" placed "jobcomp/$1: of a job that was placed"
}

consume script '^JOB COMPLETED AdminComment=commplace: policy='
if scontrol --help | grep -q -- --json && cluster_has_plugin serializer_json; then
	like "$(scontrol show job "$job" --json | jq -r '.jobs[0].admin_comment')" \
		'^commplace: policy=' "JSON: admin_comment"
else
	skip "JSON: admin_comment" "this scontrol has no --json, or was built without json-c"
fi
consume lua '^JOB commplace: policy='

# An index that takes all documents and keeps each as a line.
index() {
	perl -MIO::Socket::INET -e '
		my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 64);
		$| = 1;
		print $s->sockport, "\n";
		while (my $c = $s->accept) {
			my ($length, $waits, $body) = (0, 0, "");
			while (my $line = <$c>) {
				last if $line eq "\r\n";
				$length = $1 if $line =~ /^content-length: *(\d+)/i;
				$waits = 1 if $line =~ /^expect:/i;
			}
			print $c "HTTP/1.1 100 Continue\r\n\r\n" if $waits;
			$c->flush;
			read $c, $body, $length;
			$body =~ s/\n/ /g;
			print $c "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n",
				"Connection: close\r\n\r\n{}";
			close $c;
			open my $f, ">>", $ARGV[0];
			print $f "$body\n";
			close $f;
		}' "$CLUSTER/ended" >"$CLUSTER/port" 3>&- 4>&- &
	on_exit "kill $! 2>/dev/null"
	has_port() { [ -s "$CLUSTER/port" ]; }
	wait_for 10 has_port
}

# librdkafka has a broker for tests in its clients, here in slurmctld; consumers reach
# it as they do a real one, on a port of loopback that is in no configuration.
topic() {
	local pid=$(cat "$CLUSTER/run/slurmctld.pid") port
	for port in $(perl -e '
		my %mine;
		m/socket:\[(\d+)\]/ and $mine{$1} = 1
			for map { readlink $_ // "" } glob "/proc/$ARGV[0]/fd/*";
		open my $f, "<", "/proc/net/tcp";
		while (<$f>) {
			my ($at, $state, $inode) = (split)[1, 3, 9];
			print hex(($at =~ /:(.*)/)[0]), "\n"
				if $state eq "0A" && $at =~ /^0100007F/ && $mine{$inode};
		}' "$pid"); do
		timeout 10 kcat -C -q -e -o beginning -b "127.0.0.1:$port" -t ended \
			2>/dev/null >>"$CLUSTER/ended"
	done
}
document='"jobid": *JOB,.*"admin_comment": *"commplace: policy=|"admin_comment": *"commplace: policy=.*"jobid": *JOB,'
if [ "$CLUSTER_SERIES" -lt 2605 ]; then
	skip "jobcomp/elasticsearch, jobcomp/kafka" "they send no AdminComment before 26.05"
else
	index
	export no_proxy=127.0.0.1
	consume elasticsearch "$document" "http://127.0.0.1:$(cat "$CLUSTER/port")/slurm/_doc"
	if command -v kcat >/dev/null; then
		echo test.mock.num.brokers=1 >"$CLUSTER/etc/kafka.conf"
		echo JobCompParams=topic=ended >>"$SLURM_CONF"
		consume kafka "$document" "$CLUSTER/etc/kafka.conf" topic
	else
		skip jobcomp/kafka "kcat, which reads a topic, is not installed"
	fi
fi
cluster_check
done_testing
