# SPDX-License-Identifier: GPL-2.0-or-later
# With read.awk: NAME.txt ... -> completions for a shell, -v shell=bash, zsh or fish:
# subcommands, their actions (`signature list`), options, and files where an option
# takes one.
function add(list, s) { return list (list ? " " : "") s }
function plain(s) { # for single quotes of all three
	gsub(/\n/, " ", s)
	gsub(/['`"@:\\\[\]]/, "", s)
	sub(/ *$/, "", s)
	return s
}
# What else is said after the name of the subcommand in its usage.
function actions(   line, i, count, list, s) {
	count = split(head, line, "\n")
	for (i = 1; i <= count && line[i] != ""; i++) {
		s = line[i]
		if (!sub("^(Usage:|      ) commplace " name " ", "", s) ||
		    !match(s, /^[a-z][a-z-]*/))
			continue
		s = substr(s, 1, RLENGTH)
		if (index(" " list " ", " " s " ") == 0)
			list = add(list, s)
	}
	return list
}
function is_file(what) {
	return what ~ /FILE|DIR|OUT|STATE|SIG|NETWORK|MODEL|MAP|^[ST]$/
}
function bash(words,   i) {
	for (i = 1; i <= n; i++)
		if (argument[i] && is_file(argument[i]))
			files = add(files, name long[i])
		else if (argument[i] && argument[i] !~ /^\[/)
			others = add(others, name long[i])
	print "\t" name ") words='" words "' ;;"
}
function zsh(words,   i, list, kind, s) {
	list = ""
	for (i = 1; i <= n; i++) {
		kind = argument[i] ~ /^\[/ ? "=-" : argument[i] ? "=" : ""
		s = "[" plain(help[i]) "]" (argument[i] ? \
			(argument[i] ~ /^\[/ ? "::" : ":") plain(argument[i]) ":" \
			(is_file(argument[i]) ? "_files" : " ") : "")
		list = list " \\\n\t\t'*" long[i] kind s "'"
	}
	print "\t" name ") _arguments" list " \\\n\t\t'1: :" \
		(words ? "(" words ")" : "_files") "' '*: :_files' ;;"
}
function fish(words,   i, s) {
	print "complete -c commplace -n __fish_use_subcommand -a " name " -d '" \
		plain(summary) "'"
	s = "complete -c commplace -n '__fish_seen_subcommand_from " name "' "
	if (words)
		print s "-a '" words "'"
	for (i = 1; i <= n; i++)
		print s (letter[i] ? "-s " letter[i] " " : "") "-l " \
			substr(long[i], 3) (argument[i] && argument[i] !~ /^\[/ ? \
			" -r" (is_file(argument[i]) ? " -F" : " -f") : "") \
			" -d '" plain(help[i]) "'"
}
function done(   i, words) {
	names = add(names, name)
	values = values " '" name "[" plain(summary) "]'"
	if (!begun++ && shell != "fish")
		print opening[shell]
	words = actions()
	if (shell == "zsh")
		zsh(words)
	else if (shell == "fish")
		fish(words)
	for (i = 1; i <= n; i++)
		words = add(words, long[i])
	if (shell == "bash")
		bash(words)
}
BEGIN {
	print (shell == "zsh" ? "#compdef commplace" : "# Completion for " shell ".")
	opening["bash"] = "_commplace()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]}" \
		" sub=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n" \
		"\tcase $sub in"
	opening["zsh"] = "local curcontext=$curcontext state\n" \
		"_arguments -C '1: :->subcommand' '*:: :->rest'\n" \
		"[[ $state = rest ]] && case $words[1] in"
}
END {
	done()
	if (shell == "bash") {
		print "\tesac\n\t[ \"$COMP_CWORD\" = 1 ] && words='" names \
			" --help --version'"
		print "\t[ \"$cur\" = = ] && cur="
		print "\t[ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}"
		print "\tcase \" " others " \" in\n\t*\" $sub$before \"*) return ;;\n\tesac"
		print "\tcase \" " files " \" in\n\t*\" $sub$before \"*) words= ;;\n\tesac"
		print "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")"
		print "\t[[ $cur = -* || $COMP_CWORD = 1 ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")"
		print "}\ncomplete -o filenames -F _commplace commplace"
	} else if (shell == "zsh") {
		print "esac\n[[ $state = subcommand ]] && _values subcommand" values
	} else {
		print "complete -c commplace -n __fish_use_subcommand -f"
	}
}
