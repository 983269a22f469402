# SPDX-License-Identifier: GPL-2.0-or-later
# The packages' tests, in a root of their own: they install and remove. Sourced
# after tests/tools/tap.bash.
#
#   packages_run SUITE FIRST-PORT [PART...]
#
# PARTs are what runs beside the usual ones: guest takes some minutes. CI has rpms every
# other day.
# Needs and heeds what tests/versions/root.bash does.
. "${BASH_SOURCE[0]%/*}/../versions/root.bash"

packages_run() {
	local part parts=(debian)
	local suite=$1
	version_ports=${COMMPLACE_TEST_PORTS:-$2-$(($2 + 999))}
	shift 2
	version_root "$suite" "packages-$suite"
	version_need "packages or headers cannot be had in it" \
		version_in "$version_root" \
		/commplace/source/tests/packages/prepare
	turn 2 0 && parts+=(rpm dnf selinux spack)
	turn 2 1 && parts+=(ansible)
	for part in "${parts[@]}" "$@"; do
		version_in "$version_root" \
			"/commplace/source/tests/packages/$part.bash" |
			sed -u 's/^/    /'
		ok "${PIPESTATUS[0]}" "$part on $suite"
	done
	done_testing
}
