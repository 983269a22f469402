# SPDX-License-Identifier: GPL-2.0-or-later
# With read.awk: NAME.txt ... -> what --help prints and which options there are,
# as tables of C.
function quoted(s) {
	gsub(/\\/, "&&", s)
	gsub(/"/, "\\\"", s)
	gsub(/\n/, "\\n\"\n\t\"", s)
	return "\"" s "\""
}
# An option of --help: its lines begin in column 22.
function lines(i,   s, t) {
	s = (nested[i] ? "    " : "  ") tag[i]
	t = help[i]
	gsub(/\n/, "\n                      ", t)
	sub(/ *$/, "", t)
	if (length(s) > 21)
		return s "\n                      " t
	return sprintf("%-22s%s", s, t)
}
function done(   i, s) {
	printf "static const struct cmd_help_option options_%d[] = {\n", ++subs
	for (i = 1; i <= n; i++)
		printf "\t{\"%s\", %s, %s_argument},\n", substr(long[i], 3),
			letter[i] ? "'" letter[i] "'" : "0", \
			argument[i] == "" ? "no" : \
			argument[i] ~ /^\[/ ? "optional" : "required"
	print "\t{0}};"
	s = head
	for (i = 1; i <= n; i++)
		s = s lines(i)
	table = table "{\"" name "\", " quoted(summary) ", options_" subs ",\n\t" \
		quoted(s tail) "},\n"
}
BEGIN { print "#include \"help.h\"" }
END {
	done()
	printf "const struct cmd_help cmd_help_texts[] = {\n%s{0}};\n", table
}
