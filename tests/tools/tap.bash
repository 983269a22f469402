# SPDX-License-Identifier: GPL-2.0-or-later
# TAP for bash. Source it; end the file with done_testing. A test file that
# leaves early (bail, an unset variable, a signal) exits non-zero.
#
#   ok STATUS NAME             STATUS is 0 for a pass: `some command; ok $? "..."`
#   pass NAME; fail NAME
#   skip NAME REASON
#   todo NAME REASON           a failure that is known
#   is GOT WANT NAME           equal text
#   isnt GOT UNWANTED NAME
#   like GOT REGEX NAME        extended regular expression
#   unlike GOT REGEX NAME
#   runs NAME COMMAND...       the command exits 0; its output is shown if not
#   diag TEXT...               a comment
#   json FILE KEY...           the value there in a JSON file, "-" for stdin:
#                              arrays with commas, numbers in 12 digits
#   on_exit COMMAND            run at exit, last one first
#   bail TEXT...               a failure after which this file makes no sense
#   skip_all REASON...         instead of all tests: the file cannot be run here
#   turn PARTS PART            is today the turn of that one of so many parts? CI has no
#                              time for all each day; without CI=true, or with
#                              COMMPLACE_EVERY=yes, it always is
#   needs_turn PARTS PART      else the file is skipped

set -uo pipefail

tap_count=0
tap_failed=0
tap_done=
tap_exit_commands=()

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

json() {
	local file=$1
	shift
	perl -MJSON::PP -0777 -e 'my $v = decode_json(<STDIN>);
		for (@ARGV) { $v = ref $v eq "ARRAY" ? $v->[$_] : $v->{$_} }
		print JSON::PP::is_bool($v) ? ($v ? "true" : "false") :
			ref $v ? join(",", @$v) :
			$v =~ /^[-0-9.e+]+$/i ? sprintf("%.12g", $v) : $v' \
		"$@" < <(cat -- "$file")
}

turn() {
	[ "${CI:-}" != true ] || [ "${COMMPLACE_EVERY:-}" = yes ] ||
		[ $((EPOCHSECONDS / 86400 % $1)) -eq "$2" ]
}

needs_turn() {
	turn "$@" || skip_all "other parts have their turn today; COMMPLACE_EVERY=yes has all"
}

on_exit() {
	tap_exit_commands=("$1" "${tap_exit_commands[@]}")
}

tap_at_exit() {
	local status=$? command
	trap - EXIT
	# Who cuts a file off may say so twice (timeout does), and may read its
	# output no more: what is to be ended is ended all the same.
	trap : HUP INT TERM PIPE
	for command in "${tap_exit_commands[@]}"; do
		eval "$command"
	done
	[ -n "$tap_done" ] || [ "$status" -ne 0 ] || status=255
	exit "$status"
}
trap tap_at_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM

tap_result() {
	tap_count=$((tap_count + 1))
	# '#' would start a TAP directive.
	local name=${2//#/}
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $name"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $name"
	# prove shows the numbers of failed tests only, and stderr.
	echo "# failed: $tap_count - $name" >&2
	return 1
}

ok() {
	tap_result "$1" "$2"
}

pass() {
	tap_result 0 "$1"
}

fail() {
	tap_result 1 "$1"
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - ${1//#/} # SKIP $2"
}

todo() {
	tap_count=$((tap_count + 1))
	echo "not ok $tap_count - ${1//#/} # TODO ${2//#/}"
}

is() {
	[ "$1" = "$2" ] && pass "$3" && return
	fail "$3"
	diag "got:  $1" >&2
	diag "want: $2" >&2
	return 1
}

isnt() {
	[ "$1" != "$2" ] && pass "$3" && return
	fail "$3"
	diag "got, and must not be: $1" >&2
	return 1
}

like() {
	[[ $1 =~ $2 ]] && pass "$3" && return
	fail "$3"
	diag "got:     $1" >&2
	diag "pattern: $2" >&2
	return 1
}

unlike() {
	[[ ! $1 =~ $2 ]] && pass "$3" && return
	fail "$3"
	diag "got:              $1" >&2
	diag "must not match: $2" >&2
	return 1
}

runs() {
	local name=$1 output
	shift
	output=$("$@" 2>&1) && pass "$name" && return
	fail "$name"
	diag "$*" >&2
	diag "$output" >&2
	return 1
}

# Not TAP's "Bail out!", with which prove ends all other files, too.
bail() {
	fail "$*"
	done_testing
}

skip_all() {
	echo "1..0 # SKIP $*"
	tap_done=yes
	exit 0
}

done_testing() {
	tap_done=yes
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ] || exit 1
	exit 0
}
