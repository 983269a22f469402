/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "signature/signature.h"
#include "site_files.h"

static int option(FILE *to, const char *name, const char *value)
{
	char *quoted;

	if (!value || !*value)
		return 0;
	quoted = cmd_shell_quote(value);
	if (!quoted)
		return -1;
	fprintf(to, " %s %s", name, quoted);
	free(quoted);
	return 0;
}

char *explain_replay(const struct cpl_record *r,
                     const struct cpl_config *config, const char *state)
{
	char *text = NULL, *signature = NULL;
	size_t size;
	FILE *to;
	int bad;

	if (!r->network_file || !*r->network_file || !r->policy_asked ||
	    !r->n_candidates)
		return NULL;
	to = open_memstream(&text, &size);
	if (!to)
		return NULL;
	if (r->profile)
		signature = config ? cpl_profile_path(config->profile_dir,
		                                      r->profile, NULL)
		                   : strdup(r->profile);
	fprintf(to, "commplace place");
	bad = option(to, "--network", r->network_file);
	bad |= option(to, "--signature", signature);
	fprintf(to, " --nodes %d --ranks-per-node %d", r->nodes_wanted,
	        r->ranks_per_node);
	bad |= option(to, "--policy", r->policy_asked);
	bad |= option(to, "--objective", r->objective);
	bad |= option(to, "--routing", r->routing);
	if (config)
		fprintf(to, " --seed %" PRIu64, config->seed);
	bad |= option(to, "--free", r->free_hosts);
	bad |= option(to, "--require", r->required_hosts);
	if (r->n_background)
		bad |= option(to, "--running", state ? state : "STATE.json");
	free(signature);
	if (fclose(to) || bad) {
		free(text);
		return NULL;
	}
	return text;
}

int explain_background(const struct cpl_record *record, const char *state_dir,
                       struct cpl_state *out, struct cpl_error *err)
{
	memset(out, 0, sizeof(*out));
	out->job = calloc((size_t)record->n_background + 1, sizeof(*out->job));
	if (!out->job)
		return cpl_fail_memory(err);
	for (int64_t i = 0; i < record->n_background; i++) {
		struct cpl_record *r;
		bool ended;
		int rc;

		r = cpl_record_find(state_dir, record->background[i], &ended,
		                    err);
		if (!r)
			return cpl_fail_prefix(
			        err, "background of job %" PRId64 ": ",
			        record->job);
		rc = cpl_record_job(r, &out->job[out->n_jobs], err);
		cpl_record_free(r);
		if (rc)
			return -1;
		out->n_jobs++;
	}
	return 0;
}
