# SPDX-License-Identifier: GPL-2.0-or-later
# What a soak does, a line each, with tabs:
#   awk -v jobs=N -v seed=S -v fakes=F [-v commplaced=0] -f plan.awk
# The same N, S and F, the same lines. See tests/soak/run.
#
#   job NAME COUNT OPTION...  submit, COUNT jobs in all (an array)
#   cancel|requeue|hold|release|suspend|resume|shrink NAME
#   ctld SIGNAL                end slurmctld so and start it again
#   commplaced SIGNAL          each 50 jobs, but with commplaced=0
#   slurmd NODE SIGNAL         end it; slurmd NODE start: start it again; fakesK
#                              for NODE: of a quarter of the fake nodes
#   reconfigure; drain NODE; undrain NODE
#   damage WHAT HOW; mend WHAT profile, record, conf, network
#   disk full; disk free
#   clock SECONDS              the daemons' clock is so far ahead
#   check                      wait, mend, and compare with a computation
#                              from scratch

# Park and Miller's: below 2^53, so that each awk has the same.
function below(n)
{
	state = state * 16807 % 2147483647
	return state % n
}

function one_of(list,  a, n)
{
	n = split(list, a, " ")
	return a[below(n) + 1]
}

function seconds()
{
	return one_of("0 0 0 0 0.1 0.1 0.2 0.3 0.5 1 2")
}

# In so many lines from here something has to be undone.
function later(lines, what)
{
	due[at + lines] = due[at + lines] what "\n"
}

function body(  kind)
{
	kind = below(20)
	if (kind == 0)
		return "exit 3"
	if (kind < 4)
		return "srun true; sleep " seconds()
	return "sleep " seconds()
}

# How it is to be placed and mapped, where its user says so.
function ways(  o)
{
	if (below(6) == 0)
		o = T "--placement-policy=" one_of("traffic linear random-nodes round-robin-routers random-groups")
	if (below(8) == 0)
		o = o T "--rank-mapping=" one_of("linear greedyallc best")
	return o
}

# A job with a profile: nodes and tasks that fit it, sometimes not.
function with_profile(  ranks, nodes, o)
{
	ranks = one_of("8 8 8 16 16 32 64")
	nodes = one_of(ranks == 64 ? "8 12" : ranks == 32 ? "4 8" : "2 3 4")
	o = "-N" nodes T "-n" (below(25) ? ranks : ranks / 2)
	o = o T "--comm-profile=" one_of("ring pairs") ranks
	if (below(8) == 0)
		o = o T "--exclusive"
	return o ways()
}

function without(  o)
{
	o = "-N1" T "-n" one_of("1 1 2 4 8")
	if (below(4) == 0)
		o = "-N" one_of("2 3 5") T "-n8"
	if (below(12) == 0)
		o = o T "--exclusive"
	return o
}

# What Slurm alone serves, and some more of it.
function wish(  o)
{
	if (below(5))
		return ""
	o = one_of("--contiguous --switches=1 --spread-job --exclusive=user " \
		"-mcyclic -xn[3-5] -wn7 --mem=100 -c2 --overcommit " \
		"--no-requeue --nice=100 -t1 --use-min-nodes")
	return T o
}

# Many jobs on the nodes n16.. that are not there, or on all; those know "sleep"
# and "exit" only.
function bulk(  o, n, ranks)
{
	ranks = one_of("8 16 16 32 32 64")
	o = "-p" one_of("bulk bulk bulk bulk wide") T "-n" ranks
	o = o T "-N" one_of(ranks == 64 ? "8 16 32" : ranks == 32 ? "4 8 16 32" : "2 4 8")
	if (below(10))
		o = o T "--comm-profile=" one_of("ring pairs") ranks
	if (below(3) == 0)
		o = o T "--exclusive"
	o = o ways()
	if (below(10) == 0)
		o = o T one_of("--contiguous --switches=1 --spread-job -mcyclic --mem=100 --no-requeue --nice=100")
	n = below(59) + 2
	if (n > jobs - made)
		n = jobs - made
	names++
	made += n
	return "job" T "s" names T n T o T "--array=1-" n T "--wrap=" \
		(below(20) ? "sleep " seconds() : "exit 3")
}

function submit(  o, n)
{
	if (fakes && below(3) == 0)
		return bulk()
	o = (below(5) < 3 ? with_profile() : without()) wish()
	n = 1
	if (below(3) == 0) {
		n = below(6) ? below(6) + 2 : below(40) + 2
		if (n > jobs - made)
			n = jobs - made
		o = o T "--array=1-" n
	}
	names++
	made += n
	return "job" T "s" names T n T o T "--wrap=" body()
}

function recent()
{
	return "s" (names > 12 ? names - below(12) : below(names) + 1)
}

# With a slurmd of its own, or a quarter of the fake ones.
function daemon()
{
	if (fakes && below(5) == 0)
		return "fakes" below(4)
	return "n" below(nodes)
}

function node()
{
	return "n" below(nodes + fakes)
}

function harm(  k, n)
{
	k = below(100)
	if (k < 24) {
		print one_of("cancel cancel requeue hold suspend shrink") T recent()
	} else if (k < 30) {
		n = recent()
		print "hold" T n
		later(below(20) + 1, "release" T n)
		print "suspend" T n
		later(below(20) + 1, "resume" T n)
	} else if (k < 42) {
		n = daemon()
		print "slurmd" T n T one_of("KILL TERM")
		later(below(12) + 1, "slurmd" T n T "start")
	} else if (k < 50) {
		if (below(2))
			print "ctld" T one_of("KILL KILL TERM")
	} else if (k < 56) {
		print "reconfigure"
	} else if (k < 66) {
		n = node()
		print "drain" T n
		later(below(25) + 5, "undrain" T n)
	} else if (k < 76) {
		print "damage" T "profile" T one_of("cut empty gone fifo folder noise")
		later(below(15) + 3, "mend" T "profile")
	} else if (k < 82) {
		print "damage" T "record" T one_of("cut empty gone noise folder")
		if (below(2))
			print "ctld" T "KILL"
	} else if (k < 86) {
		print "damage" T "conf" T one_of("cut gone noise")
		print one_of("reconfigure ctld") T "TERM"
		later(below(10) + 2, "mend" T "conf")
	} else if (k < 90) {
		print "damage" T "network" T one_of("cut gone noise")
		print one_of("reconfigure ctld") T "KILL"
		later(below(10) + 2, "mend" T "network")
	} else if (k < 94) {
		print "disk" T "full"
		later(below(25) + 10, "disk" T "free")
	} else {
		print "clock" T one_of("-20 -1 0 0 1 10 20")
	}
}

BEGIN {
	T = "\t"
	nodes = 16
	state = seed % 2147483646 + 1
	below(2)
	quarter = int((jobs + 3) / 4)
	checks = 1
	while (made < jobs) {
		at++
		print submit()
		if (below(4) == 0)
			harm()
		if (int(made / 50) > killed && commplaced != "0") {
			killed = int(made / 50)
			print "commplaced" T (killed % 4 ? "KILL" : "STOP")
			if (killed % 4 == 0)
				later(3, "commplaced" T "CONT")
		}
		printf "%s", due[at]
		delete due[at]
		if (made >= checks * quarter && made < jobs) {
			checks++
			print "check"
		}
	}
	print "check"
}
