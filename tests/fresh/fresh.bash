# SPDX-License-Identifier: GPL-2.0-or-later
# What the README promises to newcomers, each in a bare root of a Debian release
# that has seen nothing. Sourced after tests/tools/tap.bash.
#
#   fresh_run SUITE FIRST-PORT
#
# Needs and heeds what tests/versions/root.bash does. ./run-tests, too, with
# COMMPLACE_FRESH_TESTS=yes: CI, itself in a bare root, has no time for that, and has one
# release a day (version_turn).
. "${BASH_SOURCE[0]%/*}/../versions/root.bash"

# fresh_try NAME COMMAND...: in a new root, with exit code and times.
fresh_try() {
	local name=$1 status log times
	shift
	log=$(mktemp) times=$(mktemp)
	on_exit "rm -f '$log' '$times'"
	# Of a run that was killed.
	[ -z "${COMMPLACE_TEST_ROOTS:-}" ] ||
		{ root_umount "$COMMPLACE_TEST_ROOTS/fresh-$suite" &&
			rm -rf --one-file-system "$COMMPLACE_TEST_ROOTS/fresh-$suite"; }
	version_root "$suite" "fresh-$suite"
	version_need "$suite: no lists of packages" \
		version_in "$version_root" apt-get -q update
	TIMEFORMAT='%0R s, %0U + %0S s of CPU'
	{ time version_in "$version_root" "$@" >"$log" 2>&1 </dev/null; } 2>"$times"
	status=$?
	ok "$status" "$suite: $name" || tail -n 60 "$log" | sed 's/^/# /' >&2
	diag "$suite: $name: exit code $status, $(tail -n 1 "$times")" >&2
	grep -aE '^(Result:|Total time|  busiest link)' "$log" | sed 's/^/#   /' >&2
	root_keep_debs "$suite" "$version_root"
	root_umount "$version_root" &&
		rm -rf --one-file-system "$version_root"
}

fresh_run() {
	local suite=$1 package
	version_turn "$suite" ||
		skip_all "other releases have their turn today; COMMPLACE_EVERY=yes has all"
	version_ports=${COMMPLACE_TEST_PORTS:-$2-$(($2 + 999))}
	package=$(sed -n 's/ *#.*//; /^apt-get update$/p; /^apt-get .*[.][/]/p' \
		"$COMMPLACE_SOURCE/README.md")
	is "$(wc -l <<<"$package")" 3 "the README says how packages are made"
	fresh_try ./quickstart bash -o pipefail -ec "./quickstart | tee /tmp/quickstart.out
		grep 'ms where stock Slurm puts it' /tmp/quickstart.out
		grep 'commplace compare --network' /tmp/quickstart.out"
	# Those of this system's release are what tests/packages is about.
	version_is "$suite" && [ "${CI:-}" = true ] ||
		fresh_try "$(paste -sd';' <<<"$package")" bash -ec "$package
		commplace --version
		dpkg -L slurm-commplace-plugins | grep select_cons_tres_commplace.so"
	[ "${COMMPLACE_FRESH_TESTS:-}" != yes ] ||
		fresh_try ./run-tests ./run-tests
	done_testing
}
