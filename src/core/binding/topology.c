/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "binding/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* hwloc would build any size, for hours and gigabytes. */
#define MAX_OBJECTS (1 << 16)
#define MAX_XML_BYTES (64 << 20)

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
		return cpl_fail(err, "topology %s is no regular file", path);
	if (st.st_size > MAX_XML_BYTES)
		return cpl_fail(err, "topology %s has more than %d bytes", path,
		                MAX_XML_BYTES);
	return 0;
}

int cpl_topology_load(const char *text, hwloc_topology_t *out,
                      struct cpl_error *err)
{
	hwloc_topology_t topology;
	size_t len = text ? strlen(text) : 0;
	int xml = text && (strchr(text, '/') ||
	                   (len > 4 && !strcmp(text + len - 4, ".xml")));

	if (text && (xml ? check_xml(text, err) : check_synthetic(text, err)))
		return -1;
	if (hwloc_topology_init(&topology) < 0)
		return cpl_fail_memory(err);
	if (xml && hwloc_topology_set_xml(topology, text) < 0) {
		cpl_fail(err,
		         "topology %s is no hwloc XML file; write one with "
		         "lstopo --of xml",
		         text);
		goto failed;
	}
	if (text && !xml && hwloc_topology_set_synthetic(topology, text) < 0) {
		cpl_fail(err,
		         "topology \"%s\" is no synthetic description; right "
		         "is, for example, \"pack:2 l3:2 core:4 pu:2\"",
		         text);
		goto failed;
	}
	if (hwloc_topology_load(topology) < 0) {
		cpl_fail(err, "topology %s cannot be loaded; is it complete?",
		         text ? text : "of this machine");
		goto failed;
	}
	*out = topology;
	return 0;

failed:
	hwloc_topology_destroy(topology);
	return -1;
}
