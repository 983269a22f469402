/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "slurm_compat.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/comment.h"
#include "site/config.h"

#include "src/common/log.h"

#define LINE_MAX_BYTES 2048

#define LOG(level)                                                             \
	void cplslurm_log_##level(const char *format, ...)                     \
	{                                                                      \
		char text[LINE_MAX_BYTES];                                     \
		va_list arguments;                                             \
                                                                               \
		va_start(arguments, format);                                   \
		vsnprintf(text, sizeof(text), format, arguments);              \
		va_end(arguments);                                             \
		level("%s", text);                                             \
	}

LOG(error)
LOG(info)
LOG(debug)

/* The functions below do without Slurm's x-versions, which end the process when
 * memory is out. */

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

int cplslurm_set_env(char ***env, uint32_t *n, const char *name,
                     const char *value)
{
	size_t length = strlen(name) + 1, size = length + strlen(value) + 1;
	char *entry = try_xmalloc(size);
	uint32_t i = 0;

	if (!entry)
		return -1;
	snprintf(entry, size, "%s=%s", name, value);
	while (i < *n && (!(*env)[i] || strncmp((*env)[i], entry, length)))
		i++;
	if (i < *n) {
		xfree((*env)[i]);
	} else if (try_xrealloc(*env, (*n + 2) * sizeof(**env))) {
		++*n;
		(*env)[*n] = NULL;
	} else {
		xfree(entry);
		return -1;
	}
	(*env)[i] = entry;
	return 0;
}

char *cplslurm_copy(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = try_xmalloc(size);

	if (copy)
		memcpy(copy, text, size);
	return copy;
}

void cplslurm_comment(char **comment, const char *text)
{
	char *with = cpl_comment_with(*comment, text);
	char *copy = with ? cplslurm_copy(with) : NULL;

	free(with);
	if (!copy)
		return;
	xfree(*comment);
	*comment = copy;
}

int cplslurm_put_env(char ***env, const char *name, const char *value)
{
	uint32_t n = cplslurm_count_env(*env);

	return cplslurm_set_env(env, &n, name, value);
}

uint32_t cplslurm_count_env(char *const *env)
{
	uint32_t n = 0;

	while (env && env[n])
		n++;
	return n;
}

const char *cplslurm_get_env(char *const *env, const char *name)
{
	return cplslurm_env(env, cplslurm_count_env(env), name);
}

void cplslurm_unset_env(char **env, const char *name)
{
	size_t length = strlen(name);
	char **to = env;

	for (char **from = env; from && *from; from++) {
		if (!strncmp(*from, name, length) && (*from)[length] == '=')
			xfree(*from);
		else
			*to++ = *from;
	}
	if (to)
		*to = NULL;
}

#define SPANK_OPTION "_SLURM_SPANK_OPTION_" CPLSLURM_SPANK_NAME "_"

struct cplslurm_options cplslurm_options(char *const *env, uint32_t n)
{
	static const char *const name[][2] = {
	        {"COMM_PROFILE", SPANK_OPTION "comm_profile"},
	        {"COMM_PLACEMENT_POLICY", SPANK_OPTION "placement_policy"},
	        {"COMM_RANK_MAPPING", SPANK_OPTION "rank_mapping"},
	        {"COMM_RECORD", SPANK_OPTION "comm_record"},
	};
	const char *value[4];

	for (int i = 0; i < 4; i++) {
		value[i] = cplslurm_env(env, n, name[i][0]);
		if (!value[i])
			value[i] = cplslurm_env(env, n, name[i][1]);
	}
	return (struct cplslurm_options){value[0], value[1], value[2],
	                                 value[3]};
}

void *cplslurm_open_plugin(const char *file, int flags)
{
	const char *dir = slurm_conf.plugindir;
	char path[PATH_MAX];
	void *so = NULL;

	while (dir && *dir && !so) {
		int n = (int)strcspn(dir, ":");

		if (n && snprintf(path, sizeof(path), "%.*s/%s", n, dir, file) <
		                 (int)sizeof(path))
			so = dlopen(path, flags);
		dir += n + (dir[n] == ':');
	}
	return so;
}

char *cplslurm_config_path(void)
{
	const char *conf = getenv("SLURM_CONF"), *slash;
	char *path;

	if (!conf || !*conf)
		conf = slurm_conf.slurm_conf;
	if (!conf || !(slash = strrchr(conf, '/')))
		return strdup(CPL_SLURM_CONF_DIR "/commplace.conf");
	if (asprintf(&path, "%.*s/commplace.conf", (int)(slash - conf), conf) <
	    0)
		return NULL;
	return path;
}

bool cplslurm_marks(char *const *env, uint32_t n)
{
	const char *value = cplslurm_env(env, n, CPLSLURM_MARKS);

	/* With CR_PACK_NODES the mark would change the layout, so there is none. */
	return !(slurm_conf.select_type_param & CR_PACK_NODES) && value &&
	       !strcmp(value, CPLSLURM_MARKS_MADE);
}

/* These are srun's short options, as getopt(3) has them. */
static const char short_options[] = "A:B:C:D:EF:G:HI::J:K::L:M:N:OQS:T:VW:XZ"
                                    "b:c:d:e:hi:k::lm:n:o:p:q:r:st:uvw:x:";
static const char without_value[] =
        "bcast compress contiguous debugger-test disable-status "
        "exclusive exact help hold immediate interactive "
        "kill-on-bad-exit label multi-prog nice no-allocate no-kill "
        "overcommit overlap oversubscribe preserve-env propagate "
        "pty quiet quit-on-interrupt reboot resv-ports send-libs "
        "spread-job test-only unbuffered use-min-nodes usage "
        "verbose version whole x11";

/* Tell whether the word behind "--name" is its value. */
static bool long_takes_next(const char *name, size_t n)
{
	if (memchr(name, '=', n))
		return false;
	for (const char *known = without_value; known;
	     known = strchr(known, ' ')) {
		known += *known == ' ';
		if (!strncmp(name, known, n))
			return false;
	}
	return true;
}

/* Do the same for a word of letters, and set *found where one of them is m. */
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
	bool found = false, value = true; /* The first word is srun itself. */

	while (line && *line && !found) {
		size_t n = strcspn(line, " ");

		if (value) {
			value = false;
		} else if (n > 2 && !strncmp(line, "--", 2)) {
			found = n >= 6 && !strncmp(line + 2, "distribution",
			                           strcspn(line + 2, "= "));
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
