/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commplace-layout PROGRAM: are fields of structures there where who asks has
 * them? Its standard input is a socket. In come lines "TYPE FIELD OFFSET SIZE",
 * those of one structure next to each other, and an end; out go "found N", or
 * "differs" and what differs first. DWARF is read by libdw, in the program's
 * own file or, by its build id or debug link, in the one that was split off it.
 */
#include "commplace-config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_BYTES 64
#define MOST_FIELDS 4096

static void answer(const char *text)
{
	send(STDIN_FILENO, text, strlen(text), MSG_NOSIGNAL);
}

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

static struct wanted_field {
	char type[NAME_BYTES], name[NAME_BYTES];
	size_t offset, size;
	bool done;
} field[MOST_FIELDS];
static int n_fields;

static void read_fields(void)
{
	FILE *in = fdopen(dup(STDIN_FILENO), "r");
	struct wanted_field *f = field;

	while (in && f < field + MOST_FIELDS &&
	       fscanf(in, "%63s %63s %zu %zu", f->type, f->name, &f->offset,
	              &f->size) == 4)
		f++;
	n_fields = (int)(f - field);
	if (in)
		fclose(in);
}

/* How many fields, from `at` on, are of one structure. */
static int run_of(int at)
{
	int n = 1;

	while (at + n < n_fields && !strcmp(field[at + n].type, field[at].type))
		n++;
	return n;
}

/* "X" or "struct X" for the type X_t. */
static bool is_named(Dwarf_Die *die, const char *type)
{
	const char *name = dwarf_diename(die);
	size_t n = strlen(type);

	if (!name)
		return false;
	if (dwarf_tag(die) == DW_TAG_typedef)
		return !strcmp(name, type);
	return n > 2 && strlen(name) == n - 2 && !strncmp(name, type, n - 2) &&
	       !strcmp(type + n - 2, "_t");
}

static Dwarf_Die *type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_formref_die(
	        dwarf_attr_integrate(die, DW_AT_type, &attribute), type);
}

/* The members of a structure that is described here; false: it is not. */
static bool first_member(Dwarf_Die *die, Dwarf_Die *member)
{
	Dwarf_Die type;

	if (dwarf_tag(die) == DW_TAG_typedef) {
		if (!type_of(die, &type))
			return false;
		die = &type;
	}
	return dwarf_tag(die) == DW_TAG_structure_type &&
	       !dwarf_hasattr(die, DW_AT_declaration) &&
	       dwarf_child(die, member) == 0;
}

static bool place_of(Dwarf_Die *member, Dwarf_Word *offset, Dwarf_Word *size)
{
	Dwarf_Attribute at;
	Dwarf_Die type;

	return dwarf_formudata(
	               dwarf_attr(member, DW_AT_data_member_location, &at),
	               offset) == 0 &&
	       type_of(member, &type) && dwarf_aggregate_size(&type, size) == 0;
}

static int differs(const struct wanted_field *f, Dwarf_Word offset, Dwarf_Word size)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "differs %s.%s has %zu bytes at %zu in our headers, here it "
	         "has %llu at %llu",
	         f->type, f->name, f->size, f->offset, (unsigned long long)size,
	         (unsigned long long)offset);
	answer(text);
	return -1;
}

static int is_gone(const struct wanted_field *f)
{
	char text[512];

	snprintf(text, sizeof(text), "differs %s.%s is not there here", f->type,
	         f->name);
	answer(text);
	return -1;
}

/* f[n] against the members. 1: all are as stated; 0: that cannot be told. */
static int compare(struct wanted_field *f, int n, Dwarf_Die *member)
{
	bool seen[MOST_FIELDS] = {false};
	Dwarf_Word offset, size;

	do {
		const char *name = dwarf_diename(member);

		if (!name || dwarf_tag(member) != DW_TAG_member)
			continue;
		for (int i = 0; i < n; i++) {
			if (strcmp(f[i].name, name) != 0)
				continue;
			if (!place_of(member, &offset, &size))
				return 0;
			if (offset != f[i].offset || size != f[i].size)
				return differs(&f[i], offset, size);
			seen[i] = true;
		}
	} while (dwarf_siblingof(member, member) == 0);
	for (int i = 0; i < n; i++)
		if (!seen[i])
			return is_gone(&f[i]);
	return 1;
}

/* A type of a unit. -1: something differs, and was told; else the fields found.
 */
static int look_at(Dwarf_Die *die)
{
	Dwarf_Die member;
	int found = 0, n, rc;

	for (int i = 0; i < n_fields; i += n) {
		n = run_of(i);
		if (field[i].done || !is_named(die, field[i].type) ||
		    !first_member(die, &member))
			continue;
		rc = compare(&field[i], n, &member);
		if (rc < 0)
			return -1;
		field[i].done = rc;
		found += rc ? n : 0;
	}
	return found;
}

static int search_unit(Dwarf_Die *unit)
{
	Dwarf_Die die;
	int found = 0, n, rc = dwarf_child(unit, &die);

	for (; rc == 0; rc = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag != DW_TAG_typedef && tag != DW_TAG_structure_type)
			continue;
		n = look_at(&die);
		if (n < 0)
			return -1;
		found += n;
	}
	return found;
}

static int search_program(Dwfl_Module *module)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	int found = 0, n;

	while (found < n_fields &&
	       (unit = dwfl_module_nextcu(module, unit, &bias))) {
		n = search_unit(unit);
		if (n < 0)
			return -1;
		found += n;
	}
	return found;
}

int main(int argc, char **argv)
{
	static const Dwfl_Callbacks callbacks = {
	        .find_debuginfo = dwfl_standard_find_debuginfo,
	        .section_address = dwfl_offline_section_address,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	char text[32];
	int found = 0;

	/* It would be asked over the network. */
	unsetenv("DEBUGINFOD_URLS");
	read_fields();
	module = argc == 2 && dwfl
	                 ? dwfl_report_offline(dwfl, argv[1], argv[1], -1)
	                 : NULL;
	if (module)
		found = search_program(module);
	snprintf(text, sizeof(text), "found %d", found);
	if (found >= 0)
		answer(text);
	dwfl_end(dwfl);
	return 0;
}
#else
int main(void)
{
	answer("found 0");
	return 0;
}
#endif
