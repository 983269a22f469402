/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "openmetrics.h"

#include "cmd.h"

void metric_family(FILE *out, const char *name, const char *type,
                   const char *unit, const char *help)
{
	fprintf(out, "# TYPE commplace_%s %s\n", name, type);
	if (unit)
		fprintf(out, "# UNIT commplace_%s %s\n", name, unit);
	fprintf(out, "# HELP commplace_%s %s\n", name, help);
}

void metric_label(FILE *out, const char *name, const char *value)
{
	char text[CPL_ERROR_MAX];

	fprintf(out, "%s=\"", name);
	for (const char *c = cmd_printable(value, text, sizeof(text)); *c; c++) {
		if (*c == '\\' || *c == '"')
			putc('\\', out);
		putc(*c, out);
	}
	putc('"', out);
}
