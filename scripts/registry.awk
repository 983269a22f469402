# SPDX-License-Identifier: GPL-2.0-or-later
# FILE.c ... -> the registry of the things that they define, in that order, see
# src/core/base/registry.h. type=cpl_mapper: of struct cpl_mapper;
# registry=cpl_mappers: its name; header: where both are declared; members:
# others of its members, such as ".exact = true".
BEGIN {
	thing = "^const struct " type " [a-z0-9_]+ = \\{$"
	print "#include \"" header "\"\n"
}
$0 ~ thing {
	print "extern const struct " type " " $4 ";"
	table = table "\t&" $4 ".entry,\n"
}
END {
	print "\nstatic const struct cpl_entry *const table[] = {\n" table "\tNULL,\n};"
	print "\nconst struct cpl_registry " registry " = {"
	print "\t.entry = table," (members ? " " members "," : "") "\n};"
}
