# SPDX-License-Identifier: GPL-2.0-or-later
# With read.awk: NAME.txt and a page of roff -> the page, in which @NAME@,
# @SYNOPSIS@, @EXAMPLES@ and @OPTIONS@ are sections that NAME.txt tells (@NAME@ the
# first two). Behind "@FOR WORD ...@" they are of these actions only, such as those
# of `commplace signature list`.
function escaped(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	gsub(/'/, "\\(aq", s)
	return s
}
# Words to be typed are bold, words that stand for others italic.
function marked(s,   out, style) {
	while (s != "") {
		style = "B"
		if (!match(s, /^(--?)?[a-z][a-z-]*/) && !match(s, /^--/)) {
			style = "I"
			if (!match(s, /^[A-Z]+(\.[a-z]+)?/)) {
				style = ""
				RLENGTH = 1
			}
		}
		out = out (style ? "\\f" style : "") escaped(substr(s, 1, RLENGTH)) \
			(style ? "\\fR" : "")
		s = substr(s, RLENGTH + 1)
	}
	return out
}
# The lines of --help, which are as wide.
# Whether a line is for an action of this page; one that names none is as the one
# before it was.
function is_wanted(s, before) {
	if (!wanted || !match(s, "commplace " name " [a-z-]+"))
		return before
	s = substr(s, RSTART, RLENGTH)
	sub(/.* /, "", s)
	return index(" " wanted " ", " " s " ") > 0
}
function synopsis(   line, i, count, on) {
	print ".SH SYNOPSIS\n.nf"
	count = split(head, line, "\n")
	on = 1
	for (i = 1; i <= count && line[i] != ""; i++) {
		on = is_wanted(line[i], on)
		if (on) {
			forms = forms line[i] " "
			print marked(substr(line[i], 8))
		}
	}
	print ".fi"
}
function examples(   line, i, count, on, kept) {
	print ".SH EXAMPLES\n.EX"
	count = split(tail, line, "\n")
	for (i = 1; i <= count; i++) {
		if (line[i] == "Examples:")
			on = kept = 1
		else if (on && sub(/^  /, "", line[i]) &&
			 (kept = is_wanted(line[i], kept)))
			print escaped(line[i])
	}
	print ".EE"
}
# The help's words as a sentence.
function sentence(s) {
	gsub(/\n/, " ", s)
	sub(/ $/, "", s)
	return escaped(toupper(substr(s, 1, 1)) substr(s, 2)) ".\n"
}
function options(   i, inside) {
	print ".SH OPTIONS"
	for (i = 1; i <= n; i++) {
		if (wanted && i < n && forms !~ (long[i] "[] ]") &&
		    !(letter[i] && forms ~ ("-" letter[i] " ")))
			continue
		if (nested[i] != inside)
			print nested[i] ? ".RS" : ".RE"
		inside = nested[i]
		print ".TP\n" marked(tag[i])
		printf "%s", text[i] ? text[i] : sentence(help[i])
	}
}
function done() { }
FILENAME ~ /\.txt$/ { next }
$0 == "@NAME@" {
	print ".SH NAME\n" escaped("commplace-" name) " \\- " escaped(summary)
	synopsis()
	next
}
$0 == "@SYNOPSIS@" { synopsis(); next }
/^@FOR .*@$/ {
	wanted = substr($0, 6, length($0) - 6)
	next
}
$0 == "@EXAMPLES@" { examples(); next }
$0 == "@OPTIONS@" { options(); next }
{ print }
