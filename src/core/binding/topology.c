/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* Without limits hwloc would build any size, for hours and gigabytes. */
#define MAX_OBJECTS (1 << 16)
#define MAX_XML_BYTES (64 << 20)
#define MAX_SYNTHETIC_BYTES (64 << 10)

static int check_synthetic(const char *text, struct cpl_error *err)
{
	int depth = 0;
	double objects = 1;

	for (const char *s = text; *s; s++) {
		if (*s == '(' || *s == '[')
			depth++;
		else if (*s == ')' || *s == ']')
			depth--;
		else if (depth == 0 && *s >= '0' && *s <= '9' &&
		         (s == text || s[-1] == ':' || s[-1] == ' ')) {
			char *end;

			objects *= strtod(s, &end);
			s = end - 1;
		}
		if (objects > MAX_OBJECTS)
			return cpl_fail(err,
			                "topology \"%s\" has more than %d "
			                "objects on a level; give a smaller "
			                "one",
			                text, MAX_OBJECTS);
	}
	return 0;
}

static int check_xml(const char *path, struct cpl_error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return cpl_fail(err, "topology %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cpl_fail(err, "topology %s is not a regular file", path);
	if (st.st_size > MAX_XML_BYTES)
		return cpl_fail(err, "topology %s has more than %d bytes", path,
		                MAX_XML_BYTES);
	return 0;
}

/* Is the file XML, by its name or its first byte? */
static int is_xml(const char *path, bool *xml, struct cpl_error *err)
{
	size_t len = strlen(path);
	FILE *in;
	int c;

	*xml = true;
	if (check_xml(path, err) < 0)
		return -1;
	if (len > 4 && !strcmp(path + len - 4, ".xml"))
		return 0;
	in = fopen(path, "re");
	if (!in)
		return cpl_fail(err, "topology %s: %s", path, strerror(errno));
	c = getc(in);
	*xml = c == '<' || c == EOF;
	fclose(in);
	return 0;
}

/* Reads the description in a file, without comments and on one line. */
static char *read_synthetic(const char *path, struct cpl_error *err)
{
	size_t length, n = 0;
	char *text = cpl_file_read(path, MAX_SYNTHETIC_BYTES, &length, err);
	bool comment = false;

	if (!text)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '#' || text[i] == '\n')
			comment = text[i] == '#';
		if (!comment)
			text[n++] = strchr("\t\r\n", text[i]) ? ' ' : text[i];
	}
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
	memmove(text, text + strspn(text, " "), n - strspn(text, " ") + 1);
	return text;
}

static int load(hwloc_topology_t topology, const char *text, bool xml,
                struct cpl_error *err)
{
	if (text && !xml && check_synthetic(text, err) < 0)
		return -1;
	if (xml && hwloc_topology_set_xml(topology, text) < 0)
		return cpl_fail(err,
		                "topology %s is not an hwloc XML file; write "
		                "one with lstopo --of xml",
		                text);
	if (xml)
		hwloc_topology_set_io_types_filter(
		        topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (text && !xml && hwloc_topology_set_synthetic(topology, text) < 0)
		return cpl_fail(
		        err,
		        "topology \"%.200s\" is not a synthetic description "
		        "such as \"pack:2 l3:2 core:4 pu:2\", pu always last",
		        text);
	if (hwloc_topology_load(topology) < 0)
		return cpl_fail(err,
		                "topology %s cannot be loaded; is it complete?",
		                text ? text : "of this machine");
	return 0;
}

int cpl_topology_machine(bool devices, hwloc_topology_t *out,
                         struct cpl_error *err)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) < 0)
		return cpl_fail_memory(err);
	if (devices)
		hwloc_topology_set_io_types_filter(
		        topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (hwloc_topology_set_flags(
	            topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
	    load(topology, NULL, false, err) < 0) {
		hwloc_topology_destroy(topology);
		return cpl_fail(err, "the hardware tree cannot be loaded");
	}
	*out = topology;
	return 0;
}

int cpl_topology_load(const char *text, hwloc_topology_t *out,
                      struct cpl_error *err)
{
	hwloc_topology_t topology = NULL;
	size_t len = text ? strlen(text) : 0;
	char *description = NULL;
	bool xml = false;
	int rc = -1;

	if (text && (strchr(text, '/') ||
	             (len > 4 && !strcmp(text + len - 4, ".xml")))) {
		if (is_xml(text, &xml, err) < 0)
			return -1;
		if (!xml) {
			description = read_synthetic(text, err);
			if (!description)
				return -1;
		}
	}
	if (hwloc_topology_init(&topology) < 0)
		cpl_fail_memory(err);
	else
		rc = load(topology, description ? description : text, xml, err);
	if (rc < 0 && description)
		cpl_fail_prefix(err, "%s: ", text);
	if (rc < 0 && topology)
		hwloc_topology_destroy(topology);
	else
		*out = topology;
	free(description);
	return rc;
}
