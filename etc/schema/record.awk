# SPDX-License-Identifier: GPL-2.0-or-later
# src/core/site/record.c -> the JSON Schema of a decision record: its tables of
# fields are what the reader goes by.
BEGIN {
	kind["TEXT"] = "{\"type\": \"string\"}"
	kind["TEXT_OR_NULL"] = "{\"type\": [\"string\", \"null\"]}"
	kind["OUTCOME"] = "{\"enum\": [\"stock\", \"observed\", \"placed\"]}"
	kind["INT"] = kind["INT64"] = "{\"type\": \"integer\"}"
	kind["UINT32"] = kind["UINT64"] = "{\"type\": \"integer\", \"minimum\": 0}"
	kind["BOOL"] = "{\"type\": \"boolean\"}"
	kind["REAL"] = "{\"type\": \"number\"}"
}
/^const struct record_field/ { table++ }
/^ +\{"[a-z_]+", [A-Z0-9_]+, AT\(/ {
	split($0, part, /[",{ ]+/)
	if (!(part[3] in kind)) {
		print FILENAME ": " part[3] " has no type" >"/dev/stderr"
		exit 1
	}
	fields[table] = fields[table] "  \"" part[2] "\": " kind[part[3]] ",\n"
}
function array(of) { return "{\"type\": \"array\", \"items\": " of "}" }
END {
	text = kind["TEXT"]
	n = kind["UINT32"]
	print "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\"," \
		"\n \"$id\": \"https://commplace.invalid/schema/record-1.json\"," \
		"\n \"title\": \"What was decided for a job, commplace-state(5)\"," \
		"\n \"type\": \"object\",\n \"required\": [\"format\", \"version\", \"job\", \"hosts\"]," \
		"\n \"additionalProperties\": false,\n \"properties\": {\n  \"$schema\": " text \
		",\n  \"format\": {\"const\": \"commplace-decision\"},\n  \"version\": {\"const\": 1},"
	printf "%s", fields[1]
	print "  \"background\": " array(n) ",\n  \"hosts\": " array(text) \
		",\n  \"rank_host\": " array(n) \
		",\n  \"candidates\": " array("{\"$ref\": \"#/$defs/candidate\"}") "},"
	sub(/,\n$/, "", fields[2])
	print " \"$defs\": {\"candidate\": {\"type\": \"object\", \"additionalProperties\": false,\n" \
		"  \"properties\": {\n" fields[2] "}}}}"
}
