#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lists of things are made from the files that define them (scripts/registry.awk):
# a file on a list that defines none is told of, not passed over.
here=$(cd "${0%/*}" && pwd)
. "$here/../tools/tap.bash"
script=$here/../../scripts/registry.awk
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cd "$work" || bail "no $work"
# registry VARIABLE FILE...: status, out and err
registry() {
	awk -f "$script" -v type=thing -v registry=things -v header=thing.h \
		-v "$@" >out 2>err
	status=$?
}

printf 'const struct thing one = {\n\t.name = "one",\n};\n' >one.c
printf 'const struct thing two = {\n\t.name = "two",\n};\n' >two.c
registry members= one.c two.c
is "$status $(grep -c 'entry,$' out) $(cat err)" "0 2 " "files with a thing each"
printf 'static const struct thing hidden = {\n};\n' >hidden.c
: >empty.c
for mode in members= names=1; do
	for file in hidden.c empty.c; do
		registry $mode one.c "$file" two.c
		is "$status $(cat err)" \
			"1 registry.awk: $file defines no struct thing, but is on a list of such" \
			"$file, $mode"
	done
done
done_testing
