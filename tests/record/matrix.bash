# SPDX-License-Identifier: GPL-2.0-or-later
# For the recorders' tests: what signature files hold.

# Rows of a signature, one pair a line, sorted.
matrix() {
	awk -F'[][, ]+' '/^\[[0-9]/ { b[$2 " " $3] += $4; m[$2 " " $3] += $5 }
		END { for (p in b) printf "%s %.0f %.0f\n", p, b[p], m[p] }' \
		"$1" | LC_ALL=C sort
}

# A value of the "recorded" object.
recorded() {
	sed -n 's/^"'"$2"'": \(.*[^,]\),*$/\1/p' "$1"
}
