#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-or-later
# A node's hwloc XML from a table of its parts, one a line, # begins a comment:
#   package             what follows is in it; "machine": in no package
#   numa CORES THREADS  a NUMA node and its cores, numbered as Linux does: first
#                       threads of all cores, then second ones
#   gpumem NODE         memory of a GPU, number NODE, beside the last numa
#   host DOMAIN FIRST LAST   a host bridge with these buses, at the last numa of a
#                            package, or at the package if that has one
#   switch FIRST LAST   a PCI bridge below it; "end": what follows is beside it
#   gpu BUS:DEV.F CLASS VENDOR    a PCI device
#   nic BUS:DEV.F NAME [STATE]    one with a device of verbs, or of the network
#                                 where NAME begins with hsn or eth
function fail(text) {
	print FILENAME ":" FNR ": " text >"/dev/stderr"
	failed = 1
	exit 1
}
/^[ \t]*(#|$)/ { next }
$1 == "package" { package[++n_packages] = 0 }
$1 == "numa" {
	numa[++n_numas] = $2 "," $3
	in_package[n_numas] = n_packages
	package[n_packages]++
	cores += $2
	threads = $3
	outside = 0
}
$1 == "machine" { outside = 1 }
$1 == "gpumem" { gpumem[n_numas] = gpumem[n_numas] " " $2 }
$1 ~ /^(host|switch|end|gpu|nic)$/ {
	at = outside ? 0 : n_numas
	io[at] = io[at] $0 "\n"
}
$1 !~ /^(package|numa|machine|gpumem|host|switch|end|gpu|nic)$/ { fail("unknown " $1) }

# Bits first..last and those of the other threads, as hwloc writes them.
function mask(first, last, all, words, w, b, i, t, text) {
	words = int((all - 1) / 32) + 1
	for (w = 0; w < words; w++)
		word[w] = 0
	for (t = 0; t < all / per; t++)
		for (i = first; i <= last; i++) {
			b = i + t * per
			word[int(b / 32)] += 2 ^ (b % 32)
		}
	for (w = words - 1; w >= 0; w--)
		text = text (text ? "," : "") sprintf("0x%08x", word[w])
	return text
}
function cpus(first, last) {
	per = cores
	return mask(first, last, cores * threads)
}
function nodes(first, last,  more, i, w, list, n, text) {
	for (w = 0; w < 2; w++)
		word[w] = 0
	for (i = first; i <= last; i++) {
		word[0] += 2 ^ i
		n = split(gpumem[i + 1], list, " ")
		for (w = 1; w <= n; w++)
			word[int(list[w] / 32)] += 2 ^ (list[w] % 32)
	}
	return sprintf("0x%08x,0x%08x", word[1], word[0])
}
function sets(low, high, first, last, c, m) {
	c = cpus(low, high)
	m = nodes(first, last)
	return "cpuset=\"" c "\" complete_cpuset=\"" c "\" nodeset=\"" m "\" complete_nodeset=\"" m "\" gp_index=\"" ++id "\""
}
function pci(address, class, vendor) {
	return "<object type=\"PCIDev\" gp_index=\"" ++id "\" pci_busid=\"" domain ":" address "\" pci_type=\"" class " [" vendor ":0001] [" vendor ":0001] 01\" pci_link_speed=\"0.000000\""
}
function emit_io(text, line, n, i, f, open, kind) {
	n = split(text, line, "\n")
	for (i = 1; i < n; i++) {
		split(line[i], f, " ")
		if (f[1] == "host") {
			for (; open; open--)
				print "</object>"
			domain = f[2]
			print "<object type=\"Bridge\" gp_index=\"" ++id "\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"" domain ":[" f[3] "-" f[4] "]\">"
			bus = f[3]
			open = 1
		} else if (f[1] == "switch") {
			print "<object type=\"Bridge\" gp_index=\"" ++id "\" bridge_type=\"1-1\" depth=\"" open "\" bridge_pci=\"" domain ":[" f[2] "-" f[3] "]\" pci_busid=\"" domain ":" bus ":" sprintf("%02x", ++slot % 32) ".0\" pci_type=\"0604 [1000:c030] [1000:0001] 01\" pci_link_speed=\"0.000000\">"
			bus = f[2]
			open++
		} else if (f[1] == "end") {
			print "</object>"
			open--
		} else if (f[1] == "gpu") {
			print pci(f[2], f[3], f[4]) "/>"
		} else {
			kind = f[3] ~ /^(hsn|eth)/ ? 2 : 3
			print pci(f[2], kind == 2 ? "0200" : "0207", "15b3") ">"
			print "<object type=\"OSDev\" gp_index=\"" ++id "\" name=\"" f[3] "\" osdev_type=\"" kind "\">"
			if (f[4])
				print "<info name=\"Port1State\" value=\"" f[4] "\"/>"
			print "</object></object>"
		}
		delete f
	}
	for (; open; open--)
		print "</object>"
}
function emit_numa(k, type, os, s, f, c, t, list, n, i) {
	split(numa[k], f, ",")
	s = sets(first[k], first[k] + f[1] - 1, k - 1, k - 1)
	print "<object type=\"" type "\"" (type == "Group" ? " kind=\"10\" subkind=\"0\"" : " os_index=\"" os "\"") " " s ">"
	emit_memory(k, s)
	for (c = first[k]; c < first[k] + f[1]; c++) {
		print "<object type=\"Core\" os_index=\"" c "\" " sets(c, c, k - 1, k - 1) ">"
		per = cores * threads
		for (t = 0; t < threads; t++) {
			i = mask(c + t * cores, c + t * cores, per)
			n = nodes(k - 1, k - 1)
			print "<object type=\"PU\" os_index=\"" c + t * cores "\" cpuset=\"" i "\" complete_cpuset=\"" i "\" nodeset=\"" n "\" complete_nodeset=\"" n "\" gp_index=\"" ++id "\"/>"
		}
		print "</object>"
	}
	emit_io(io[k])
	print "</object>"
}
function emit_memory(k, s, list, n, i, m) {
	n = split((k - 1) gpumem[k], list, " ")
	for (i = 1; i <= n; i++) {
		word[0] = word[1] = 0
		word[int(list[i] / 32)] = 2 ^ (list[i] % 32)
		m = sprintf("0x%08x,0x%08x", word[1], word[0])
		split(s, part, " nodeset=")
		print "<object type=\"NUMANode\" os_index=\"" list[i] "\" " part[1] " nodeset=\"" m "\" complete_nodeset=\"" m "\"" (i > 1 ? " subtype=\"GPUMemory\"" : "") " gp_index=\"" ++id "\" local_memory=\"1073741824\"/>"
	}
}
END {
	if (failed)
		exit 1
	for (k = 1; k <= n_numas; k++) {
		first[k] = at_core
		split(numa[k], f, ",")
		at_core += f[1]
	}
	print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
	print "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"
	print "<topology version=\"2.0\">"
	all = sets(0, cores - 1, 0, n_numas - 1)
	extra = all
	sub(/ nodeset=.*/, "", extra)
	sub(/cpuset=/, "allowed_cpuset=", extra)
	sub(/ complete_cpuset=.*/, "", extra)
	print "<object type=\"Machine\" os_index=\"0\" " all " " extra " allowed_nodeset=\"" nodes(0, n_numas - 1) "\">"
	for (p = 1; p <= n_packages; p++) {
		if (package[p] == 1) {
			for (k = 1; in_package[k] != p; k++)
				;
			emit_numa(k, "Package", p - 1)
			continue
		}
		low = high = 0
		for (k = 1; k <= n_numas; k++)
			if (in_package[k] == p) {
				low = low ? low : k
				high = k
			}
		split(numa[high], f, ",")
		print "<object type=\"Package\" os_index=\"" p - 1 "\" " sets(first[low], first[high] + f[1] - 1, low - 1, high - 1) ">"
		for (k = low; k <= high; k++)
			emit_numa(k, "Group")
		print "</object>"
	}
	emit_io(io[0])
	print "</object>"
	print "</topology>"
}
