# SPDX-License-Identifier: GPL-2.0-or-later
# spank_commplace.c -> completions of the options that it adds to sbatch, salloc and srun,
# -v shell=bash, zsh or fish. Bash adds them to Slurm's own, which are loaded first.
function text(s) {
	gsub(/^[^"]*"|"[^"]*$/, "", s)
	return s
}
/^static struct option option\[\]/ { inside = 1 }
/^};/ { inside = 0 }
inside && /\.name = / { name[++n] = text($0) }
inside && /\.usage = /, /",$/ { usage[n] = usage[n] text($0) }
END {
	profiles = "commplace signature list 2>/dev/null | awk \"NR > 1 { print \\$1 }\""
	if (shell == "bash") {
		print "# Options of sbatch, salloc and srun that commplace has."
		print "_commplace_submit()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]}" \
			" before=${COMP_WORDS[COMP_CWORD-1]} slurm words="
		print "\t[ \"$cur\" = = ] && cur="
		print "\t[ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}"
		print "\tcase $before in\n\t--comm-profile | --comm-record)"
		print "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(" profiles ")\" -- \"$cur\")"
		print "\t\treturn ;;\n\tesac"
		print "\tcomplete -r \"$1\" 2>/dev/null"
		print "\t{ __load_completion \"$1\" || _comp_load \"$1\"; } >/dev/null 2>&1"
		print "\tslurm=$(complete -p \"$1\" 2>/dev/null | sed -n 's/.* -F \\([^ ]*\\) .*/\\1/p')"
		print "\tcomplete -o default -F _commplace_submit \"$1\"\n\tCOMPREPLY=()"
		print "\t[ -z \"$slurm\" ] || [ \"$slurm\" = _commplace_submit ] || \"$slurm\" \"$@\""
		for (i = 1; i <= n; i++)
			words = words " --" name[i] "="
		print "\t[[ $cur != -* ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY <" \
			" <(compgen -W \"" substr(words, 2) "\" -- \"$cur\")"
		print "\t[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null"
		print "}\ncomplete -o default -F _commplace_submit sbatch salloc srun"
	} else if (shell == "zsh") {
		print "#compdef sbatch salloc srun"
		print "_commplace_profiles() { local -a names; names=(none ${(f)\"$(" profiles ")\"}); compadd -a names }"
		print "_arguments \\"
	}
	for (i = 1; i <= n; i++) {
		gsub(/['`"@:\\\[\]]/, "", usage[i])
		mine = name[i] ~ /^comm-/
		if (shell == "zsh")
			print "\t'--" name[i] "=[" usage[i] "]:NAME:" (mine ? "_commplace_profiles" : " ") "' \\"
		if (shell == "fish")
			print "for c in sbatch salloc srun; complete -c $c -l " name[i] " -x" \
				(mine ? " -a '(" profiles ")'" : "") " -d '" usage[i] "'; end"
	}
	if (shell == "zsh")
		print "\t'*: :_files'"
}
