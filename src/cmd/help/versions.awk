# SPDX-License-Identifier: GPL-2.0-or-later
# With read.awk: NAME.txt ... -> which release an option came in.
function done(   i) {
	for (i = 1; i <= n; i++)
		printf "commplace %-12s %-18s %s\n", name, long[i], since[i]
}
END { done() }
