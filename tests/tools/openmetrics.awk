# SPDX-License-Identifier: GPL-2.0-or-later
# Is a file OpenMetrics text (1.0.0), as far as counters, gauges and histograms
# go? Prints "LINE: reason" and exits 1 where it is not.
#
#   awk -f openmetrics.awk FILE

function bad(why)
{
	printf "%d: %s\n", NR, why
	failed = 1
	exit 1
}

# Into name, labels[], n_labels and key (the series) and value.
function take_sample(line,    rest, label, text)
{
	if (!match(line, /^[a-zA-Z_:][a-zA-Z0-9_:]*/))
		bad("no name of a metric")
	name = substr(line, 1, RLENGTH)
	rest = substr(line, RLENGTH + 1)
	split("", labels)
	n_labels = 0
	if (substr(rest, 1, 1) == "{") {
		rest = substr(rest, 2)
		while (substr(rest, 1, 1) != "}") {
			if (n_labels++ && !sub(/^,/, "", rest))
				bad("no comma between labels")
			if (!match(rest, /^[a-zA-Z_][a-zA-Z0-9_]*="/))
				bad("no name of a label")
			label = substr(rest, 1, RLENGTH - 2)
			rest = substr(rest, RLENGTH + 1)
			if (label in labels)
				bad("label " label " twice")
			if (!match(rest, /^([^"\\]|\\["\\n])*"/))
				bad("label " label ": a value that does not end")
			labels[label] = substr(rest, 1, RLENGTH - 1)
			rest = substr(rest, RLENGTH + 1)
		}
		rest = substr(rest, 2)
	}
	if (rest !~ /^ ([-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?|[-+]?Inf|NaN)$/)
		bad("no value: " rest)
	value = substr(rest, 2)
	key = substr(line, 1, length(line) - length(rest))
}

# Labels but "le", in the order of the line.
function without_le(key)
{
	gsub(/,?le="[^"]*"/, "", key)
	sub(/^[^{]*/, "", key)
	return key == "{}" ? "" : key
}

function end_family(    k)
{
	for (k in last_bucket)
		if (!(k in infinite) || !(k in count) || count[k] != last_bucket[k])
			bad("histogram " family k ": +Inf and _count differ")
	split("", last_bucket)
	split("", last_bound)
	split("", infinite)
	split("", count)
}

ended { bad("text behind # EOF") }
/^# EOF$/ { end_family(); ended = 1; next }
/^# (TYPE|UNIT|HELP) / {
	if ($3 !~ /^[a-zA-Z_:][a-zA-Z0-9_:]*$/)
		bad("no name of a family")
	if ($3 != family) {
		end_family()
		family = $3
		if (family in seen)
			bad(family " comes again")
		seen[family] = 1
		type = ""
		sampled = 0
	}
	if (sampled)
		bad($2 " behind samples")
	if ((family, $2) in told)
		bad($2 " twice")
	told[family, $2] = 1
	if ($2 == "TYPE") {
		type = $4
		if (type !~ /^(counter|gauge|histogram)$/ || NF != 4)
			bad("type " type)
	}
	if ($2 == "UNIT" && (NF != 4 || substr(family, \
	    length(family) - length($4)) != "_" $4))
		bad("unit " $4 " is not the end of " family)
	if ($2 == "HELP" && $0 ~ /\\([^n\\"]|$)/)
		bad("an escape that there is none of")
	next
}
/^#/ { bad("a comment") }
{
	take_sample($0)
	sampled = 1
	suffix = substr(name, length(family) + 1)
	if (family == "" || substr(name, 1, length(family)) != family)
		bad(name " has no family")
	if ((type == "counter" && suffix != "_total") || \
	    (type == "gauge" && suffix != "") || \
	    (type == "histogram" && suffix !~ /^_(bucket|count|sum)$/) || \
	    type == "")
		bad(name ": not of a " type)
	if (key in series)
		bad(key " twice")
	series[key] = 1
	if (type != "gauge" && value + 0 < 0)
		bad(key " is below 0")
	if (suffix == "_bucket") {
		if (!("le" in labels))
			bad("a bucket without le")
		k = without_le(key)
		bound = labels["le"] == "+Inf" ? 1e300 : labels["le"] + 0
		if (k in last_bound && (bound <= last_bound[k] || \
		    value + 0 < last_bucket[k]))
			bad("buckets do not increase")
		last_bound[k] = bound
		last_bucket[k] = value + 0
		if (labels["le"] == "+Inf")
			infinite[k] = 1
	} else if (suffix == "_count") {
		count[without_le(key)] = value + 0
	}
}
END {
	if (!failed && !ended) {
		print NR ": no # EOF"
		exit 1
	}
	exit failed
}
