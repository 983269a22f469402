# SPDX-License-Identifier: GPL-2.0-or-later
# The tests that depend on Slurm's version, in a bare root of another Debian release
# with that one's own Slurm. Sourced after tests/tools/tap.bash.
#
#   version_run SUITE FIRST-PORT LAYER...
#
# Needs what tests/tools/root.bash does, and heeds what that heeds: the roots, with
# their packages, are kept for the next run, too. What cannot be had is said, and
# the tests are skipped; with CI=true they fail. COMMPLACE_TEST_PORTS: in place of
# those from FIRST-PORT on.

: "${COMMPLACE_SOURCE:?root.bash: COMMPLACE_SOURCE is not set}"
. "${BASH_SOURCE[0]%/*}/../tools/root.bash"

# What there is no root without. Ends the test.
version_lacks() {
	if [ "${CI:-}" = true ]; then
		fail "$*"
		done_testing
	fi
	skip_all "$*"
}

# version_need TEXT COMMAND...: or it is lacking, and the end of the command's
# output says more.
version_need() {
	local text=$1 output
	shift
	output=$("$@" 2>&1) && return
	tail -n 20 <<<"$output" | sed 's/^/# /' >&2
	version_lacks "$text: $(tail -n 1 <<<"$output")"
}

version_in() { # ROOT COMMAND...
	local root=$1
	shift
	root_in "$root" COMMPLACE_TEST_PORTS="$version_ports" \
		${COMMPLACE_TEST_UNTIL:+COMMPLACE_TEST_UNTIL="${COMMPLACE_TEST_UNTIL%:all}:all"} "$@"
}

# Is this system of that release?
version_is() {
	local id
	id=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ "$id" = "$1" ] ||
		{ [ "$1" = sid ] && grep -q '/sid$' /etc/debian_version; }
}

# version_root SUITE NAME: a root with commplace in it, its directory in
# version_root; NAME tells those of one release apart.
version_root() {
	local suite=$1
	[ "$(id -u)" = 0 ] || version_lacks "needs root"
	command -v debootstrap >/dev/null ||
		version_lacks "debootstrap is missing: apt-get install debootstrap"
	if [ -n "${COMMPLACE_TEST_ROOTS:-}" ]; then
		version_root=$COMMPLACE_TEST_ROOTS/$2
	else
		version_root=$(mktemp -d "${TMPDIR:-/tmp}/commplace-$2.XXXXXX")
		on_exit "rm -rf --one-file-system '$version_root'"
	fi
	on_exit "root_umount '$version_root'"
	on_exit "root_keep_debs '$suite' '$version_root'"
	[ -f "$version_root/commplace/made" ] ||
		version_need "no root of $suite can be made" \
			root_make "$suite" "$version_root"
	version_need "no proc, sys and dev in a root" root_mount "$version_root"
	version_need "no commplace in a root" root_copy "$version_root"
}

# The turn of a release: of three days sid has one, trixie one, and what is of this
# system or built from source one.
version_turn() {
	case $1 in
	sid) turn 3 0 ;;
	trixie) turn 3 1 ;;
	*) turn 3 2 ;;
	esac
}

# Live files whose subject is what differs by series: how nodes are asked for
# and how steps, layouts, credentials and cpusets come about; options and wishes that
# only some series have; how daemons load plugins, read files anew and recover jobs.
# What is ours alone (what is chosen, the site's rules, what explain says, limits of
# memory and time, hostile users) CI runs on this system's Slurm alone; so it does with
# t49-reconfigure, which on a machine of much other work leaves newer Slurms with jobs
# that neither run nor end.
version_differ() {
	sed 's/ *#.*//' <<-'END'
	t20-sizes        # RUN_NOW and WILL_RUN, how many nodes
	t22-queue        # backfill, preemption, requeue, suspend, resize
	t23-restart      # jobs in the saved state, reconfigure
	t24-ranks        # layouts of steps and who passes them on
	t26-explicit     # options that newer series have
	t28-installs     # how daemons load plugins, and what of another Slurm is refused
	t29-topologies   # beside Slurm's topology plugins, the same as without us
	t33-wishes       # GRES, features, licences, clouds
	t48-gres-kinds
	t50-stepmgr
	t51-switch       # a site's switch plugin in ours
	t57-constraints  # segments, switches, blocks
	t52-credential   # what travels with a launch
	t61-configless
	t62-newer-jobs
	t66-consumers    # jobcomp plugins, JSON
	END
}

version_run() {
	local suite=$1 low=$2 log status
	shift 2
	version_ports=${COMMPLACE_TEST_PORTS:-$low-$((low + 2999))}
	if version_is "$suite"; then
		skip_all "this system is $suite: the other layers are for it"
	fi
	version_root "$suite" "$suite"
	log=$(mktemp)
	on_exit "rm -f '$log'"
	version_in "$version_root" COMMPLACE_TEST_AT_ONCE=3 \
		/commplace/source/run-tests -d /commplace/build "$@" >"$log" 2>&1
	status=$?
	if [ "$status" -ne 0 ]; then
		version_need "$suite's packages cannot be installed" \
			version_in "$version_root" \
			/commplace/source/scripts/install-packages live
		version_need "the headers of $suite's Slurm cannot be had" \
			version_in "$version_root" \
			/commplace/source/scripts/fetch-slurm-source \
			/commplace/build/slurm-source
	fi
	ok "$status" "$suite: ./run-tests ${*##*/}"
	diag "$suite: exit code $status, $SECONDS s with making the root" >&2
	diag "$(grep -aE '^(Files=|Result:)' "$log" | paste -sd' ')"
	grep -aE '\.\. skipped' "$log" | sed "s/^/# $suite: /" >&2
	# What failed, wherever it was, and the end.
	[ "$tap_failed" -eq 0 ] || {
		grep -aE '^ *#|FAILED' "$log" | tail -n 200
		tail -n 40 "$log"
	} >&2
	done_testing
}
