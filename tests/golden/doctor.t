#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `commplace doctor`: each thing that an installation can have wrong, one at a
# time, and what is said first.
. "${0%/*}/golden.bash"
cd "$work" || bail "no $work"
export SLURM_CONF=$work/slurm.conf PATH=$work/bin:$PATH LC_ALL=C
unset COMMPLACE_CONF

# whole: an installation in which nothing is wrong but that no commplaced runs
whole() {
	rm -rf -- bin plugins profiles state *.conf *.json ctld
	mkdir bin plugins profiles state
	touch plugins/{select_cons_tres,select_cons_tres_commplace,job_submit_commplace}.so \
		plugins/{task_commplace,spank_commplace,switch_commplace}.so
	cat >slurm.conf <<-END
		SelectType=select/cons_tres_commplace
		jobsubmitplugins=lua,commplace
		TaskPlugin=task/commplace,task/affinity # first
		SwitchType=switch/commplace
		PluginDir=/nowhere:$work/plugins
		PartitionName=main Nodes=n[0-15]
	END
	echo "optional spank_commplace.so" >plugstack.conf
	cat >network.json <<-'END'
		{"format": "commplace-network", "version": 1, "name": "d", "type": "dragonfly",
		 "groups": 4, "rows": 2, "columns": 1, "nodes_per_router": 2,
		 "global_links_per_group_pair": 1, "nodes": "n[0-15]"}
	END
	cat >profiles/pair.json <<-'END'
		{"format": "commplace-signature", "version": 1, "name": "pair", "ranks": 2,
		 "phases": [{"name": "p", "weight": 1, "traffic": [[0, 1, 8, 1]]}]}
	END
	cat >commplace.conf <<-END
		NetworkFile=$work/network.json
		ProfileDir=$work/profiles
		StateDir=$work/state
	END
	cp slurm.conf ctld
	cat >bin/scontrol <<-END
		#!/bin/sh
		case "\$*" in
		"show config") cat "$work/ctld" ;;
		"-a -o show partitions") echo "PartitionName=main" ;;
		"-o show nodes") for i in \$(seq 0 15); do echo "NodeName=n\$i Arch=x"; done ;;
		*) exit 1 ;;
		esac
	END
	chmod 755 bin/scontrol
}

# finds NAME STATE WHAT REGEX TODO: that finding, and what is to be done is said
finds() {
	local name=$1 line
	"$commplace" doctor >out 2>err
	line=$(grep -E "^$2 +$3 " out)
	like "$line" "$4" "$name: found" || diag "$(cat out err)"
	like "$(sed -n '/^$/,$p' out)" "$5" "$name: what to do"
}

whole
"$commplace" doctor >out 2>err
is "$?:$(grep -c '^ok ' out):$(grep '^wrong' out | tr -s ' ')" \
	"1:10:wrong commplaced $work/state/status.socket: No such file or directory: no commplaced answers; commplace status without --tree shows what is on record" \
	"all is in order but the process that decides" || diag "$(cat out)"
is "$(cat err)" "commplace doctor: 1 of 11 findings are wrong" "one line on stderr"
"$commplace" doctor --json >out.json 2>err
is "$(json out.json wrong) $(json out.json findings 0 state) $(json out.json findings 0 what)" \
	"1 ok configuration" "--json"
like "$(json out.json todo 0)" "slurmctld's log" "--json: what to do"

whole; rm commplace.conf
finds "no commplace.conf" wrong configuration "No such file" "^.first  write $work/commplace.conf"
whole; echo Nonsense=1 >>commplace.conf
finds "a wrong line" wrong configuration "commplace.conf:4: .*Nonsense" "first  correct commplace.conf"
whole; echo Mode=observe >>commplace.conf
finds "Mode=observe" note mode "no job is placed" "then   set Mode=on"
whole; rm profiles/*
finds "no profile" note profiles "none in" "record an application"
whole; rm slurm.conf
finds "no slurm.conf" note slurm.conf "cannot be read" "first  say by SLURM_CONF"
whole; sed -i s/cons_tres_commplace/cons_tres/ slurm.conf
finds "stock SelectType" wrong SelectType "cons_tres without select/cons_tres_commplace: no job" \
	"first  set select/cons_tres_commplace as SelectType in $work/slurm.conf"
whole; sed -i /jobsubmit/d slurm.conf
finds "no JobSubmitPlugins" wrong JobSubmitPlugins "not set without commplace" "first  add commplace to JobSub"
whole; sed -i s/lua,commplace/lua,commplacer/ slurm.conf
finds "another of a longer name" wrong JobSubmitPlugins "lua,commplacer without" "add commplace"
whole; sed -i 's|task/commplace,task/affinity|task/affinity,task/commplace|' slurm.conf
finds "task/commplace not first" wrong TaskPlugin "binds first" "first  put task/commplace first"
whole; sed -i /SwitchType/d slurm.conf
finds "no SwitchType" wrong SwitchType "not set .*Slurm's order" "set switch/commplace"
whole; sed -i /SwitchType/d slurm.conf; rm plugins/switch*
"$commplace" doctor >out 2>err
unlike "$(cat out)" SwitchType "no SwitchType, of a Slurm that has none of ours"
whole; rm plugins/task*
finds "a plugin is missing" wrong TaskPlugin "task_commplace.so is not in /nowhere:" "first  install"
whole; echo "# spank_commplace.so" >plugstack.conf
finds "no line in plugstack.conf" wrong plugstack "does not name spank" 'first  add the line "optional spank_commplace.so"'
whole; mkdir plug.d; mv plugstack.conf plug.d/c.conf; echo "include $work/plug.d/*.conf" >plugstack.conf
"$commplace" doctor >out 2>err
like "$(grep plugstack out)" "^ok" "a line in a file that plugstack.conf includes"
whole; echo Trial=20 >>commplace.conf
finds "a trial without comments" note AccountingStoreFlags "not set without job_comment" "add job_comment"
echo AccountingStoreFlags=job_script,job_comment >>slurm.conf
"$commplace" doctor >out 2>err
unlike "$(cat out)" AccountingStoreFlags "a trial with comments"
whole; printf '#!/bin/sh\necho "slurm_load_ctl_conf error: no route"; exit 1\n' >bin/scontrol
finds "slurmctld is silent" wrong slurmctld "no route" "first  start slurmctld"
whole; sed -i s/cons_tres_commplace/cons_tres/ ctld
finds "slurmctld was not restarted" wrong slurmctld "runs with SelectType=select/cons_tres, not" "first  restart all"
whole; sed -i 's/"n\[0-15\]"/"n[0-13],m[0-1]"/' network.json
finds "other nodes" note nodes "14 in both, 2 in Slurm only, 2 in the network file only" "network check $work/network.json"
whole; sed -i 's/"n\[0-15\]"/"m[0-15]"/' network.json
finds "no node of Slurm's" wrong nodes "0 in both" "network check"
whole
cat >state/counters.json <<-'END'
	{"format": "commplace-counters", "version": 1, "since": 1700000000,
	 "decisions": {"placed": 5}, "stock_answers": {"failed": 2, "refused": 3, "min_nodes": 9}}
END
finds "answers that fell back" note decisions '5 placed, 5 fell back .*\(3\) by "refused"' "status --counters"

# Without a word
is "$("$commplace" 2>&1 | grep -c '^Here: .commplace status.')" 1 "commplace alone: on"
echo Mode=observe >>commplace.conf
like "$("$commplace" 2>&1 | tail -1)" "^Here: Mode=observe in .*commplace doctor" "observing"
rm commplace.conf
like "$("$commplace" 2>&1 | tail -1)" "^Here: Slurm is here, and commplace is not set up" "not set up"
# A host without Slurm: nothing is wrong with it. Where the system has one, it is found.
if [ ! -e /etc/slurm/slurm.conf ]; then
	(unset SLURM_CONF; COMMPLACE_CONF=$work/no/commplace.conf "$commplace" doctor) >out 2>err
	is "$? $(grep -c '^wrong' out)" "0 0" "doctor without Slurm" || diag "$(cat out err)"
	like "$(grep ^first out)" " a host without Slurm, compare, place" "says what needs none"
	like "$(unset SLURM_CONF; COMMPLACE_CONF=$work/no/commplace.conf "$commplace" 2>&1 | tail -1)" \
		"^Here: no Slurm is set up here" "commplace alone without Slurm"
fi
done_testing
