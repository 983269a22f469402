# SPDX-License-Identifier: GPL-2.0-or-later
# config_keys.txt, and a page or a sample with @KEYS@ -> what `what` says: c, the
# table of the keys; man or sample, that with the keys in it; versions, a list.
function is_general(i) { return where[i] == "general" || where[i] == "any" }
# A page's paragraphs on keys; of those that a line shares with all, their names.
function paragraphs(scope,   i, shared) {
	for (i = 1; i <= n; i++)
		if (scope != "general" && where[i] == "any")
			shared = shared (shared ? " ,\n.BR " : ".BR ") key[i]
	if (shared) {
		sub(/ ,\n\.BR [A-Za-z]*$/, "\n&", shared)
		sub(/\n ,\n\.BR /, "\nand\n.BR ", shared)
		print "These keys may stand there, with the meaning that they have above:"
		print shared " ."
	}
	for (i = 1; i <= n; i++) {
		if (scope == "general" ? !is_general(i) : \
		    scope != "match" || is_general(i))
			continue
		printf ".TP\n.BI %s= %s\n%s", key[i], value[i], text[i]
		if (built_in[i] == "-")
			continue
		gsub(/-/, "\\-", built_in[i])
		printf "Default: \\fB%s\\fR.\n", built_in[i]
	}
}
FILENAME ~ /\.txt$/ && /^#/ { next }
FILENAME ~ /\.txt$/ && /^[A-Z][A-Za-z]*=[^ ]+ [^ ]+ [a-z]+ [0-9.]+$/ {
	n++
	key[n] = value[n] = $1
	sub(/=.*/, "", key[n])
	sub(/[^=]*=/, "", value[n])
	built_in[n] = $2
	where[n] = $3
	if (what == "versions")
		printf "commplace.conf %s= %s\n", key[n], $4
	next
}
FILENAME ~ /\.txt$/ {
	if (/^\t/)
		sample[n] = sample[n] substr($0, 2) "\n"
	else
		text[n] = text[n] $0 "\n"
	next
}
/^@KEYS [a-z]*@$/ {
	sub(/@$/, "", $2)
	paragraphs($2)
	next
}
$0 == "@KEYS@" {
	for (i = 1; i <= n; i++)
		printf "%s%s", sample[i] ~ /^# / ? "\n" : "", sample[i]
	next
}
{ print }
END {
	if (what != "c")
		exit
	print "enum {"
	for (i = 1; i <= n; i++)
		print "\tKEY_" key[i] ","
	print "\tN_KEYS\n};\nstatic const struct cpl_config_key keys[N_KEYS] = {"
	for (i = 1; i <= n; i++)
		printf "\t{\"%s\", \"%s\", \"%s\", %s},\n", key[i], value[i],
			built_in[i] == "-" ? "" : built_in[i], toupper(where[i])
	print "};"
}
