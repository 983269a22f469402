/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/pattern/npb.h"

#include <string.h>

#include "base/json.h"

int npb_parse(const json_t *params, const struct npb_class *table,
              struct pattern *p, struct cpl_error *err)
{
	static const char *const keys[] = {"type", "class", "ranks", NULL};
	const char *letter = NULL;
	char letters[16] = "";
	int rc;

	if (cpl_json_known_keys(params, NULL, keys, err) ||
	    pattern_ranks(params, p, err))
		return -1;
	rc = cpl_json_string(params, "class", &letter, err);
	if (rc < 0)
		return -1;
	for (int i = 0; table[i].letter; i++) {
		letters[i] = table[i].letter;
		if (!letter || letter[0] != table[i].letter || letter[1])
			continue;
		p->npb_size = table[i].size;
		p->npb_iterations = table[i].iterations;
		return 0;
	}
	return cpl_fail(err, "\"class\" %s; one of %s is needed",
	                letter ? "is not known" : "is missing", letters);
}
