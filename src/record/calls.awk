# SPDX-License-Identifier: GPL-2.0-or-later
# calls.list -> calls.inc, a line for each call:
# CALL(Name, name, number of parameters, (C's parameters), (C's arguments),
#      what to count in C, what to count in Fortran, of the addresses a1, ...)
# and for the form with large counts, where LARGE is defined,
# LARGE(Name_c, Name, (C's parameters), (C's arguments), what to count in C)

# Parameters in the text as Fortran's addresses a1, ... give them.
function fortran(text, n,    out, i, word) {
	while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
		word = substr(text, RSTART, RLENGTH)
		out = out substr(text, 1, RSTART - 1)
		text = substr(text, RSTART + RLENGTH)
		for (i = 1; i <= n && param[i] != word; i++)
			;
		if (i <= n) {
			word = reader[param[i]]
			sub(/@/, "a" i, word)
		}
		out = out word
	}
	return out text
}

function write(name, n,    i, params, args) {
	for (i = 1; i <= n; i++) {
		params = params (i > 1 ? ", " : "") type[param[i]] " " param[i]
		args = args (i > 1 ? ", " : "") param[i]
	}
	printf "CALL(%s, %s, %d, (%s), (%s), %s, %s)\n", name, tolower(name),
		n, params, args, count, fortran(count, n)
}

# Has the call counts of a datatype?
function counts(n,    i, some, datatype) {
	for (i = 1; i <= n; i++) {
		some += param[i] in large
		datatype += type[param[i]] ~ /MPI_Datatype/
	}
	return some && datatype
}

function write_large(name, n,    i, params, args, p) {
	for (i = 1; i <= n; i++) {
		p = param[i]
		params = params (i > 1 ? ", " : "") \
			(p in large ? large[p] : type[p]) " " p
		args = args (i > 1 ? ", " : "") p
	}
	printf "LARGE(%s_c, %s, (%s), (%s), %s)\n", name, name, params, args,
		count
}

# The call in both forms.
function both(name, n) {
	write(name, n)
	if (!counts(n))
		return
	print "#if defined(LARGE) && REC_LARGE"
	write_large(name, n)
	print "#endif"
}

function flush() {
	if (call)
		both(call, n)
	if (call && immediate) {
		param[n + 1] = "request"
		both("I" tolower(substr(call, 1, 1)) substr(call, 2), n + 1)
	}
	if (call && persistent) {
		param[n + 1] = "info"
		param[n + 2] = "request"
		count = "rec_capture(); " count "; rec_captured(REQUEST(request))"
		print "#if REC_MPI_4"
		both(call "_init", n + 2)
		print "#endif"
	}
	call = count = ""
}

/^(#|$)/ {
	next
}
/^type\t/ {
	split($0, field, /\t+/)
	names = split(field[4], name, " ")
	for (i = 1; i <= names; i++) {
		type[name[i]] = field[2]
		reader[name[i]] = field[3] == "-" ? "@" : field[3]
	}
	next
}
/^large\t/ {
	split($0, field, /\t+/)
	names = split(field[3], name, " ")
	for (i = 1; i <= names; i++)
		large[name[i]] = field[2]
	next
}
/^\t/ {
	sub(/^\t/, "")
	count = count (count ? "; " : "") $0
	next
}
/^if / {
	flush()
	print "#if " $2
	next
}
/^endif$/ {
	flush()
	print "#endif"
	next
}
{
	flush()
	call = $1
	persistent = sub(/\*$/, "", call)
	immediate = sub(/\+$/, "", call)
	n = NF - 1
	for (i = 1; i <= n; i++)
		param[i] = $(i + 1)
}
END {
	flush()
}
