/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm_compat.h"

#include <stdlib.h>
#include <string.h>

#include "site/config.h"

/* slurm_xlator.h and the allocator macros leave these alone, but Slurm's
 * x-versions would end the process when memory is out. */

const char *cplslurm_env(char *const *env, uint32_t n, const char *name)
{
	size_t len = strlen(name);
	const char *found = NULL;

	for (uint32_t i = 0; env && i < n; i++) {
		if (!env[i] || strncmp(env[i], name, len) || env[i][len] != '=')
			continue;
		found = env[i][len + 1] ? env[i] + len + 1 : NULL;
	}
	return found;
}

static const char *first_of(char *const *env, uint32_t n,
                            const char *const *names)
{
	const char *value = NULL;

	for (; *names && !value; names++)
		value = cplslurm_env(env, n, *names);
	return value;
}

#define SPANK_OPTION "_SLURM_SPANK_OPTION_" CPLSLURM_SPANK_NAME "_"

struct cplslurm_options cplslurm_options(char *const *env, uint32_t n)
{
	static const char *const profile[] = {
	        "COMM_PROFILE", SPANK_OPTION "comm_profile", NULL};
	static const char *const policy[] = {
	        "COMM_PLACEMENT_POLICY", SPANK_OPTION "placement_policy", NULL};
	static const char *const mapping[] = {
	        "COMM_RANK_MAPPING", SPANK_OPTION "rank_mapping", NULL};
	struct cplslurm_options options = {
	        .profile = first_of(env, n, profile),
	        .policy = first_of(env, n, policy),
	        .mapping = first_of(env, n, mapping),
	};

	return options;
}

char *cplslurm_config_path(void)
{
	static const char name[] = "commplace.conf";
	const char *conf = getenv("SLURM_CONF"), *slash;
	char *path;
	size_t dir;

	if (!conf || !*conf)
		conf = slurm_conf.slurm_conf;
	if (!conf || !(slash = strrchr(conf, '/')))
		return strdup(CPL_CONFIG_DEFAULT_PATH);
	dir = (size_t)(slash - conf) + 1;
	path = malloc(dir + sizeof(name));
	if (!path)
		return NULL;
	memcpy(path, conf, dir);
	memcpy(path + dir, name, sizeof(name));
	return path;
}

bool cplslurm_marks(char *const *env, uint32_t n)
{
	/* There the mark would change the layout, so that there is none. */
	return !(slurm_conf.select_type_param & CR_PACK_NODES) &&
	       cplslurm_env(env, n, CPLSLURM_MARKS);
}

/* srun's options, as getopt(3) has the short ones. */
static const char short_options[] = "A:B:C:D:EF:G:HI::J:K::L:M:N:OQS:T:VW:XZ"
                                    "b:c:d:e:hi:k::lm:n:o:p:q:r:st:uvw:x:";
static const char *const without_value[] = {
        "bcast",
        "compress",
        "contiguous",
        "debugger-test",
        "disable-status",
        "exclusive",
        "exact",
        "help",
        "hold",
        "immediate",
        "interactive",
        "kill-on-bad-exit",
        "label",
        "multi-prog",
        "nice",
        "no-allocate",
        "no-kill",
        "overcommit",
        "overlap",
        "oversubscribe",
        "preserve-env",
        "propagate",
        "pty",
        "quiet",
        "quit-on-interrupt",
        "reboot",
        "resv-ports",
        "send-libs",
        "spread-job",
        "test-only",
        "unbuffered",
        "use-min-nodes",
        "usage",
        "verbose",
        "version",
        "whole",
        "x11",
        NULL,
};

static bool begins(const char *text, size_t n, const char *word)
{
	return n <= strlen(word) && !strncmp(text, word, n);
}

/* Is the word behind "--name" its value? */
static bool long_takes_next(const char *name, size_t n)
{
	if (memchr(name, '=', n))
		return false;
	for (const char *const *known = without_value; *known; known++)
		if (begins(name, n, *known))
			return false;
	return true;
}

/* The same for a word of letters; *found: one of them is m. */
static bool short_takes_next(const char *letter, size_t n, bool *found)
{
	for (size_t i = 0; i < n; i++) {
		const char *known = strchr(short_options, letter[i]);

		*found = *found || letter[i] == 'm';
		if (!known || letter[i] == ':' || known[1] != ':')
			continue;
		return known[2] != ':' && i + 1 == n;
	}
	return false;
}

bool cplslurm_states_distribution(const char *line)
{
	bool found = false, value = true; /* the first word is srun itself */

	while (line && *line && !found) {
		size_t n = strcspn(line, " ");

		if (value) {
			value = false;
		} else if (n > 2 && !strncmp(line, "--", 2)) {
			found = n >= 6 &&
			        begins(line + 2, strcspn(line + 2, "= "),
			               "distribution");
			value = long_takes_next(line + 2, n - 2);
		} else if (n > 1 && line[0] == '-' && line[1] != '-') {
			value = short_takes_next(line + 1, n - 1, &found);
		} else {
			break;
		}
		line += n + (line[n] == ' ');
	}
	return found;
}
