# SPDX-License-Identifier: GPL-2.0-or-later
# NAME.txt ... -> a table of C strings. The first line of a text is its summary,
# the second is blank, what follows is what --help prints.
BEGIN {
	print "#include \"help.h\""
	print "const struct cmd_help cmd_help_texts[] = {"
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\\&")
}
FNR == 1 {
	if (NR > 1)
		print "},"
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.txt$/, "", name)
	printf "{\"%s\", \"%s\",\n", name, $0
}
FNR > 2 { printf "\t\"%s\\n\"\n", $0 }
END { print "},\n{0}};" }
