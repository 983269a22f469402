# SPDX-License-Identifier: GPL-2.0-or-later
# What src/cmd/help/NAME.txt says of a subcommand. Its first line is the summary,
# the second is blank. Then comes what --help prints, "Usage:" and an
# introduction, until the options, of which each is
#
#	-o, --output FILE 0.1
#		lines of --help
#	text of the man page, in roff; where there is none, it is that of --help
#
# with two blanks before it where it is an option of the one before. A line "%"
# ends them, and --help, which all have, stands there; what follows is printed by
# --help again, "Examples:" by the man page, too. done() of another script is
# called when all of a NAME.txt is known:
#	name, summary, head, tail; n options, of i: tag[i], since[i], nested[i],
#	help[i], text[i], letter[i], long[i], argument[i]
function unread() {
	head = tail = ""
	n = 0
	state = "head"
}
function option(line) {
	n++
	nested[n] = sub(/^  /, "", line)
	since[n] = line
	sub(/.* /, "", since[n])
	sub(/ [^ ]*$/, "", line)
	tag[n] = line
	help[n] = text[n] = ""
	letter[n] = line ~ /^-[a-z],/ ? substr(line, 2, 1) : ""
	sub(/^-[a-z], /, "", line)
	long[n] = argument[n] = line
	sub(/ .*/, "", long[n])
	if (!sub(/^[^ ]* /, "", argument[n]))
		argument[n] = ""
}
FILENAME ~ /\.txt$/ && FNR == 1 {
	if (name)
		done()
	unread()
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.txt$/, "", name)
	summary = $0
}
FILENAME ~ /\.txt$/ && FNR > 2 {
	if ($0 == "%") {
		state = "tail"
		option("-h, --help 0.1")
		help[n] = "print this text\n"
		text[n] = "Print a summary.\n"
	} else if (state != "tail" && /^ *-/) {
		state = "options"
		option($0)
	} else if (state == "head") {
		head = head $0 "\n"
	} else if (state == "tail") {
		tail = tail $0 "\n"
	} else if (/^\t/) {
		help[n] = help[n] substr($0, 2) "\n"
	} else {
		text[n] = text[n] $0 "\n"
	}
}
