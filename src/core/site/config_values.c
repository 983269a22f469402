/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/config_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "binding/devices.h"
#include "binding/launch.h"
#include "mapping/mapping.h"
#include "measured/source.h"
#include "placement/cut.h"
#include "signature/install.h"
#include "signature/signature.h"
#include "site/user_dir.h"

#define MAX_DECISION_MS 60000

/* NULL: there is none. */
int config_set_text(struct config_parser *p, void *field, const char *value)
{
	char **out = field;

	free(*out);
	*out = value ? strdup(value) : NULL;
	return *out || !value ? 0 : cpl_fail_memory(p->err);
}

int config_set_path(struct config_parser *p, void *field, const char *value)
{
	if (value[0] != '/')
		return cpl_fail(p->err, " is a relative path; give one that "
		                        "starts with /");
	return config_set_text(p, field, value);
}

int config_set_user_dir(struct config_parser *p, void *field, const char *value)
{
	if (cpl_is_none(value))
		return config_set_text(p, field, NULL);
	return cpl_user_dir_check(value, p->err)
	               ? -1
	               : config_set_text(p, field, value);
}

int config_set_source(struct config_parser *p, void *field, const char *value)
{
	if (cpl_is_none(value))
		return config_set_text(p, field, NULL);
	return cpl_measured_source_check(value, p->err)
	               ? -1
	               : config_set_text(p, field, value);
}

/* Index of value in words, or -1 with err that lists them. */
static int choice(struct config_parser *p, const char *value)
{
	const char *const *words = p->rule->words;
	char list[256] = "";

	for (int i = 0; words[i]; i++) {
		size_t n = strlen(list);

		if (!strcasecmp(value, words[i]))
			return i;
		snprintf(list + n, sizeof(list) - n, "%s%s",
		         i == 0         ? ""
		         : words[i + 1] ? ", "
		                        : " or ",
		         words[i]);
	}
	return cpl_fail(p->err, " is not known; use %s", list);
}

int config_set_choice(struct config_parser *p, void *field, const char *value)
{
	int i = choice(p, value);

	if (i >= 0)
		memcpy(field, &i, sizeof(i));
	return i < 0 ? -1 : 0;
}

int config_set_flag(struct config_parser *p, void *field, const char *value)
{
	int i = choice(p, value);

	*(bool *)field = i == 1;
	return i < 0 ? -1 : 0;
}

int config_set_uint64(struct config_parser *p, void *field, const char *value)
{
	uint64_t v, low = p->rule->low, high = p->rule->high;
	char *end;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end)
		return cpl_fail(p->err, " is not a whole number");
	if (errno || v < low || v > high)
		return cpl_fail(p->err, " must lie in %llu to %llu",
		                (unsigned long long)low,
		                (unsigned long long)high);
	*(uint64_t *)field = v;
	return 0;
}

int config_set_int(struct config_parser *p, void *field, const char *value)
{
	uint64_t v;

	if (config_set_uint64(p, &v, value))
		return -1;
	*(int *)field = (int)v;
	return 0;
}

int config_set_volume(struct config_parser *p, void *field, const char *value)
{
	if (strcasecmp(value, "known"))
		return config_set_uint64(p, field, value)
		               ? cpl_fail(p->err,
		                          " is no volume; use known, or bytes "
		                          "per second from 1 to %llu",
		                          (unsigned long long)p->rule->high)
		               : 0;
	*(uint64_t *)field = 0;
	return 0;
}

int config_set_date(struct config_parser *p, void *field, const char *value)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M",
	                                    "%Y-%m-%dT%H:%M:%S"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = {.tm_isdst = -1}, given;
		const char *end = strptime(value, forms[i], &tm);
		time_t at;

		if (!end || *end)
			continue;
		/* The 31st of June would be the 1st of July. */
		given = tm;
		at = mktime(&tm);
		if (at <= 0 || tm.tm_mday != given.tm_mday)
			break;
		*(int64_t *)field = at;
		return 0;
	}
	return cpl_fail(p->err, " is no date; write YYYY-MM-DD, or "
	                        "YYYY-MM-DDTHH:MM");
}

int config_set_time(struct config_parser *p, void *field, const char *value)
{
	int64_t ms = cpl_milliseconds(value);

	if (ms < 0)
		return cpl_fail(p->err,
		                " is not a time; use milliseconds such as 200 "
		                "or 200ms, or seconds such as 2s");
	if (ms < 1 || ms > MAX_DECISION_MS)
		return cpl_fail(p->err, " must lie in 1ms to 60s");
	*(int *)field = (int)ms;
	return 0;
}

/* The command may have it; commplaced reads the same file. */
static int refuse_lacking(struct config_parser *p, const char *value)
{
	size_t n = strcspn(value, ":");

	return cpl_registry_find(&cpl_mappers_lacking, value, n, NULL, NULL)
	               ? cpl_fail(p->err,
	                          "commplaced lacks %.*s; use best, or build "
	                          "commplace with --enable-lab-mappers",
	                          (int)n, value)
	               : 0;
}

static int refuse_scotch(struct config_parser *p, const char *value)
{
	return strcasecmp(value, "scotch")
	               ? 0
	               : cpl_fail(p->err, "the plugins lack scotch; use best");
}

int config_set_policy(struct config_parser *p, void *field, const char *value)
{
	if (cpl_is_none(value))
		return config_set_text(p, field, CPL_NONE);
	return p->names && p->names->policy(p, value)
	               ? -1
	               : config_set_text(p, field, value);
}

int config_set_mapping(struct config_parser *p, void *field, const char *value)
{
	return refuse_lacking(p, value) || refuse_scotch(p, value) ||
	                       (p->names && p->names->mapping(p, value))
	               ? -1
	               : config_set_text(p, field, value);
}

int config_set_order(struct config_parser *p, void *field, const char *value)
{
	if (cpl_is_none(value))
		return config_set_text(p, field, CPL_NONE);
	return p->names && p->names->order(p, value)
	               ? -1
	               : config_set_text(p, field, value);
}

/* Whether the routing suits the network is known once that is loaded. */
int config_set_routing(struct config_parser *p, void *field, const char *value)
{
	return p->names && p->names->routing(p, value)
	               ? -1
	               : config_set_text(p, field, value);
}

int config_set_binding(struct config_parser *p, void *field, const char *value)
{
	if (cpl_is_none(value))
		return config_set_text(p, field, CPL_NONE);
	if (refuse_scotch(p, value) || !cpl_binder_find(value, p->err))
		return -1;
	return config_set_text(p, field, value);
}

int config_set_objective(struct config_parser *p, void *field,
                         const char *value)
{
	return cpl_objective_parse(value, field, p->err);
}

int config_set_override(struct config_parser *p, void *field, const char *value)
{
	static const char *const names[] = {"profile", "policy", "mapping"};
	const char *word = value;
	int may = 0;

	if (!strcasecmp(value, "all")) {
		may = CPL_MAY_ALL;
	} else if (!cpl_is_none(value)) {
		for (;;) {
			size_t n = strcspn(word, ",");
			int i = 0;

			while (i < 3 && (strlen(names[i]) != n ||
			                 strncasecmp(names[i], word, n)))
				i++;
			if (i == 3)
				return cpl_fail(p->err,
				                ": \"%.*s\" is not known; use "
				                "all, none, or a list of "
				                "profile, policy and mapping",
				                (int)n, word);
			if (may & 1 << i)
				return cpl_fail(p->err, " names %s twice",
				                names[i]);
			may |= 1 << i;
			if (!word[n])
				break;
			word += n + 1;
		}
	}
	*(int *)field = may;
	return 0;
}

_Static_assert(CPL_MAY_PROFILE == 1 << 0 && CPL_MAY_POLICY == 1 << 1 &&
                       CPL_MAY_MAPPING == 1 << 2,
               "the order of names");

/* Whether the network has such units is known once it is loaded. */
int config_set_units(struct config_parser *p, void *field, const char *value)
{
	if (cpl_is_none(value))
		return config_set_text(p, field, CPL_NONE);
	if (!cpl_cut_is_spelled(value))
		return cpl_fail(p->err, " is no name of units; use none, "
		                        "router, chassis, group or another "
		                        "level, a number from 1, or boxes such "
		                        "as 4x4x2");
	return config_set_text(p, field, value);
}

/* Whether a job's name makes one of a profile is known once there is the
 * job. */
int config_set_record(struct config_parser *p, void *field, const char *value)
{
	char name[CPL_PROFILE_NAME_MAX + 1];

	if (cpl_is_none(value))
		return config_set_text(p, field, CPL_NONE);
	if (cpl_record_name(value, "x", name, sizeof(name), p->err))
		return -1;
	return config_set_text(p, field, value);
}

/* Entries separated by commas, none empty. */
int config_set_list(struct config_parser *p, void *field, const char *value)
{
	const char *list = value;
	char entry[2];

	while (cpl_config_next(&list, entry, sizeof(entry)))
		if (!*entry)
			return cpl_fail(p->err, " has an empty entry");
	return config_set_text(p, field, value);
}

/* "no", "yes", or names of variables. */
int config_set_nic(struct config_parser *p, void *field, const char *value)
{
	const char *list = value;
	char entry[CPL_LAUNCH_NAME_MAX + 1];
	size_t all = strlen(value);

	if (!strcasecmp(value, "no"))
		return config_set_text(p, field, NULL);
	if (!strcasecmp(value, "yes"))
		return config_set_text(p, field, "yes");
	if (all > CPL_LAUNCH_NAME_MAX)
		return cpl_fail(p->err, " has more than %d characters",
		                CPL_LAUNCH_NAME_MAX);
	while (cpl_config_next(&list, entry, sizeof(entry)))
		if (!cpl_nic_variable_check(entry))
			return cpl_fail(p->err,
			                " is not no, yes or names of "
			                "variables such as UCX_NET_DEVICES");
	return config_set_text(p, field, value);
}

/* "64", "64-", "64-512", "-512"; the low end is 1 or more. */
int config_set_range(struct config_parser *p, void *field, const char *value)
{
	struct cpl_range *range = field;
	size_t low = strspn(value, "0123456789");
	bool to = value[low] == '-';
	const char *second = value + low + to;
	size_t high = strspn(second, "0123456789");

	if (low > 8 || high > 8 || second[high] || (!to && high) ||
	    low + high == 0)
		return cpl_fail(p->err, " is not a number of nodes or a range "
		                        "such as 64-512, 64- or -512");
	range->low = low ? atoi(value) : 1;
	range->high = !to ? range->low : high ? atoi(second) : INT32_MAX;
	if (range->low < 1 || range->low > range->high)
		return cpl_fail(p->err, " is a range that holds no number of "
		                        "nodes");
	return 0;
}

int config_set_profile(struct config_parser *p, void *field, const char *value)
{
	if (cpl_profile_name_check(value, p->err))
		return -1;
	return config_set_text(p, field, value);
}

bool cpl_config_next(const char **list, char *text, size_t size)
{
	size_t n;

	if (!*list)
		return false;
	n = strcspn(*list, ",");
	snprintf(text, size, "%.*s", (int)n, *list);
	*list = (*list)[n] ? *list + n + 1 : NULL;
	return true;
}
