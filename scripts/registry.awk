# SPDX-License-Identifier: GPL-2.0-or-later
# FILE.c ... -> the registry of the things that they define, in that order, see
# src/core/base/registry.h. type=cpl_mapper: of struct cpl_mapper;
# registry=cpl_mappers: its name; header: where both are declared; members:
# others of its members, such as ".exact = true". names=1: what the things are
# called alone, for programs that have none of them. A file that defines none of
# them is refused; without a file the registry is empty.
BEGIN {
	thing = "^const struct " type " [a-z0-9_]+ = \\{$"
	print "#include \"" header "\"\n"
}
$0 ~ thing {
	defines[FILENAME] = 1
}
names {
	if ($0 ~ thing) {
		inside = 1
		fields = flags = ""
	} else if (inside && /^};/) {
		entries = entries "\t{" fields " .flags = 0" flags "},\n"
		table = table "\t&name[" n++ "],\n"
		inside = 0
	} else if (inside && /\.(name|short_name) = /) {
		sub(/^[ \t]+/, "")
		fields = fields " " $0
	} else if (inside && sub(/^[ \t]+\.flags = /, "")) {
		sub(/,$/, "")
		flags = flags " | " $0
	} else if (inside && /\.check(_option)? = /) {
		flags = flags " | CPL_NAME_OPTION"
	}
	next
}
$0 ~ thing {
	print "extern const struct " type " " $4 ";"
	table = table "\t&" $4 ".entry,\n"
}
END {
	for (i = 1; i < ARGC; i++)
		if (!(ARGV[i] in defines)) {
			print "registry.awk: " ARGV[i] " defines no struct " type \
				", but is on a list of such" >"/dev/stderr"
			exit 1
		}
	if (entries)
		print "static const struct cpl_entry name[] = {\n" entries "};"
	print "\nstatic const struct cpl_entry *const table[] = {\n" table "\tNULL,\n};"
	print "\nconst struct cpl_registry " registry " = {"
	print "\t.entry = table," (members ? " " members "," : "") "\n};"
}
