/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "site/counters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

#define FORMAT "commplace-counters"
#define MAX_BYTES (1 << 20)
/* The limit of one number, since the sum of all buckets is one, too. */
#define MAX_VALUE (INT64_MAX / 2 / CPL_TIME_BUCKETS)

static const char *const reason_name[CPL_REASONS] = {
        [CPL_REASON_NONE] = "none",
        [CPL_REASON_OBSERVE] = "observe",
        [CPL_REASON_MIN_NODES] = "min_nodes",
        [CPL_REASON_OPTION] = "explicit_option",
        [CPL_REASON_NODES] = "nodes_not_free",
        [CPL_REASON_REQUIRED] = "required_nodes",
        [CPL_REASON_NO_PROFILE] = "no_profile",
        [CPL_REASON_MISSING] = "profile_missing",
        [CPL_REASON_RANKS] = "profile_ranks",
        [CPL_REASON_BROKEN] = "profile_broken",
        [CPL_REASON_LATE] = "profile_late",
        [CPL_REASON_REFUSED] = "refused",
        [CPL_REASON_BUSY] = "no_time_left",
        [CPL_REASON_FAILED] = "failed",
        [CPL_REASON_SILENT] = "nothing_sent",
        [CPL_REASON_TRIAL] = "trial",
        [CPL_REASON_STOPPED] = "trial_stop",
};

static const struct cpl_counter_name count_name[CPL_COUNT_REASON] = {
        [CPL_COUNT_PLACED] = {"decisions", "answer", "placed"},
        [CPL_COUNT_OBSERVED] = {"decisions", "answer", "observed"},
        [CPL_COUNT_STOCK] = {"decisions", "answer", "stock"},
        [CPL_COUNT_CUT_SHORT] = {"cut_short", NULL, NULL},
        [CPL_COUNT_CACHE_HIT] = {"cache_answers", "result", "hit"},
        [CPL_COUNT_CACHE_MISS] = {"cache_answers", "result", "miss"},
        [CPL_COUNT_START_PLACED] = {"job_starts", "outcome", "placed"},
        [CPL_COUNT_START_OBSERVED] = {"job_starts", "outcome", "observed"},
        [CPL_COUNT_START_STOCK] = {"job_starts", "outcome", "stock"},
        [CPL_COUNT_TRIAL_STOCK] = {"trial_starts", "arm", "stock"},
        [CPL_COUNT_TRIAL_OURS] = {"trial_starts", "arm", "commplace"},
};

static const struct cpl_counter_name timer_name[CPL_TIMERS] = {
        [CPL_TIME_DECISION] = {"decision", NULL, NULL},
        [CPL_TIME_HELD_SUBMIT] = {"lock_held", "hook", "submit"},
        [CPL_TIME_HELD_TEST] = {"lock_held", "hook", "test"},
        [CPL_TIME_HELD_START] = {"lock_held", "hook", "start"},
        [CPL_TIME_HELD_STEP] = {"lock_held", "hook", "step"},
        [CPL_TIME_HELD_END] = {"lock_held", "hook", "end"},
        [CPL_TIME_HELD_OTHER] = {"lock_held", "hook", "other"},
};

static const int64_t bound_ns[CPL_TIME_BOUNDS] = {
        100000,    200000,    500000,    1000000,    2000000,
        5000000,   10000000,  20000000,  50000000,   100000000,
        200000000, 500000000, 1000000000, 2000000000, 5000000000,
};

struct cpl_counter_name cpl_counter_name(enum cpl_counter which)
{
	if (which < CPL_COUNT_REASON)
		return count_name[which];
	return (struct cpl_counter_name){
	        "stock_answers", "reason",
	        reason_name[which - CPL_COUNT_REASON]};
}

const char *cpl_reason_name(enum cpl_reason reason)
{
	return reason_name[reason];
}

struct cpl_counter_name cpl_timer_name(enum cpl_timer which)
{
	return timer_name[which];
}

const char *cpl_reason_kind(enum cpl_reason reason)
{
	switch (reason) {
	case CPL_REASON_OBSERVE:
	case CPL_REASON_MIN_NODES:
	case CPL_REASON_OPTION:
	case CPL_REASON_NO_PROFILE:
	case CPL_REASON_SILENT:
	case CPL_REASON_TRIAL:
	case CPL_REASON_STOPPED:
		return "wish";
	case CPL_REASON_NODES:
	case CPL_REASON_REQUIRED:
		return "state";
	default:
		return "fallback";
	}
}

double cpl_counters_bound(int bucket)
{
	return (double)bound_ns[bucket] / 1e9;
}

uint64_t cpl_histogram_count(const struct cpl_histogram *times)
{
	uint64_t n = 0;

	for (int i = 0; i < CPL_TIME_BUCKETS; i++)
		n += times->bucket[i];
	return n;
}

static void add_count(uint64_t *to, uint64_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

void cpl_count(struct cpl_counters *counters, enum cpl_counter which)
{
	add_count(&counters->count[which], 1);
}

void cpl_observe(struct cpl_counters *counters, enum cpl_timer which,
                 int64_t ns)
{
	struct cpl_histogram *times = &counters->time[which];
	uint64_t took = ns > 0 ? (uint64_t)ns : 0;
	uint64_t longest = __atomic_load_n(&times->longest, __ATOMIC_RELAXED);
	int i = 0;

	while (i < CPL_TIME_BOUNDS && ns > bound_ns[i])
		i++;
	add_count(&times->sum, took);
	add_count(&times->bucket[i], 1);
	while (took > longest &&
	       !__atomic_compare_exchange_n(&times->longest, &longest, took,
	                                    true, __ATOMIC_RELAXED,
	                                    __ATOMIC_RELAXED))
		;
}

static const char *key_of(struct cpl_counter_name name)
{
	return name.value ? name.value : name.what;
}

/* The object under a name's `what`, or root itself where it has no label. */
static json_t *home(json_t *root, struct cpl_counter_name name)
{
	json_t *at;

	if (!name.label)
		return root;
	at = json_object_get(root, name.what);
	if (!at && !json_object_set_new(root, name.what, json_object()))
		at = json_object_get(root, name.what);
	return at;
}

static json_t *times_json(const struct cpl_histogram *times)
{
	json_t *buckets = json_array();

	for (int i = 0; i < CPL_TIME_BUCKETS; i++)
		json_array_append_new(
		        buckets, json_integer((json_int_t)times->bucket[i]));
	return json_pack("{s:I, s:I, s:I, s:o}", "count",
	                 (json_int_t)cpl_histogram_count(times), "sum_ns",
	                 (json_int_t)times->sum, "longest_ns",
	                 (json_int_t)times->longest, "buckets", buckets);
}

json_t *cpl_counters_json(const struct cpl_counters *counters)
{
	json_t *root = json_pack("{s:s, s:i, s:I}", "format", FORMAT, "version",
	                         1, "since", (json_int_t)counters->since);
	json_t *bounds = json_array();
	int failed = !root;

	for (int i = 0; i < CPL_COUNTERS; i++) {
		struct cpl_counter_name name = cpl_counter_name(i);

		if (i == CPL_COUNT_REASON + CPL_REASON_NONE)
			continue;
		failed |= json_object_set_new(
		        home(root, name), key_of(name),
		        json_integer((json_int_t)counters->count[i]));
	}
	for (int i = 0; i < CPL_TIME_BOUNDS; i++)
		failed |= json_array_append_new(
		        bounds, json_integer((json_int_t)bound_ns[i]));
	failed |= json_object_set_new(root, "bounds_ns", bounds);
	for (int i = 0; i < CPL_TIMERS; i++) {
		struct cpl_counter_name name = cpl_timer_name(i);

		failed |= json_object_set_new(home(root, name), key_of(name),
		                              times_json(&counters->time[i]));
	}
	if (!failed)
		return root;
	json_decref(root);
	return NULL;
}

static int take_number(const json_t *object, const char *key, uint64_t *out,
                       struct cpl_error *err)
{
	int64_t value = 0;

	if (cpl_json_int(object, key, 0, MAX_VALUE, &value, err) < 0)
		return -1;
	*out = (uint64_t)value;
	return 0;
}

/* Find what is under a name; *out NULL: nothing. -1 with err: it is no
 * object. */
static int find_home(const json_t *root, struct cpl_counter_name name,
                     const json_t **out, struct cpl_error *err)
{
	*out = name.label ? json_object_get(root, name.what) : root;
	if (*out && !json_is_object(*out))
		return cpl_fail(err, "\"%s\" is not an object", name.what);
	return 0;
}

static int take_times(const json_t *object, struct cpl_histogram *out,
                      struct cpl_error *err)
{
	const json_t *buckets = json_object_get(object, "buckets");

	if (!json_is_object(object))
		return cpl_fail(err, "is not an object");
	if (take_number(object, "sum_ns", &out->sum, err) ||
	    take_number(object, "longest_ns", &out->longest, err))
		return -1;
	if (json_array_size(buckets) != CPL_TIME_BUCKETS)
		return cpl_fail(err, "\"buckets\" are not %d numbers",
		                CPL_TIME_BUCKETS);
	for (size_t i = 0; i < CPL_TIME_BUCKETS; i++) {
		const json_t *n = json_array_get(buckets, i);

		if (!json_is_integer(n) || json_integer_value(n) < 0 ||
		    json_integer_value(n) > MAX_VALUE)
			return cpl_fail(err, "bucket %zu is no count", i + 1);
		out->bucket[i] = (uint64_t)json_integer_value(n);
	}
	return 0;
}

/* Are its buckets ours? */
static bool same_bounds(const json_t *root)
{
	const json_t *bounds = json_object_get(root, "bounds_ns");
	bool same = json_array_size(bounds) == CPL_TIME_BOUNDS;

	for (size_t i = 0; i < CPL_TIME_BOUNDS && same; i++)
		same = json_integer_value(json_array_get(bounds, i)) ==
		       bound_ns[i];
	return same;
}

static int take_counters(const json_t *root, struct cpl_counters *out,
                         struct cpl_error *err)
{
	const json_t *at;

	if (cpl_json_expect_format(root, FORMAT, err) ||
	    cpl_json_int(root, "since", 0, MAX_VALUE, &out->since, err) < 0)
		return -1;
	for (int i = 0; i < CPL_COUNTERS; i++) {
		struct cpl_counter_name name = cpl_counter_name(i);

		if (find_home(root, name, &at, err) ||
		    (at && take_number(at, key_of(name), &out->count[i], err)))
			return -1;
	}
	for (int i = 0; i < CPL_TIMERS && same_bounds(root); i++) {
		struct cpl_counter_name name = cpl_timer_name(i);
		const json_t *times;

		if (find_home(root, name, &at, err))
			return -1;
		times = at ? json_object_get(at, key_of(name)) : NULL;
		if (times && take_times(times, &out->time[i], err))
			return cpl_fail_prefix(err, "\"%s\": ", key_of(name));
	}
	return 0;
}

int cpl_counters_parse(const char *text, size_t length, const char *name,
                       struct cpl_counters *out, struct cpl_error *err)
{
	json_t *root = cpl_json_parse(text, length, name, err);
	int rc;

	*out = (struct cpl_counters){.since = 0};
	if (!root)
		return -1;
	rc = take_counters(root, out, err);
	json_decref(root);
	if (rc) {
		*out = (struct cpl_counters){.since = 0};
		cpl_fail_prefix(err, "%s: ", name);
	}
	return rc;
}

/* 0, 1: there is no file, -1 with err: it cannot be read. */
static int read_file(const char *path, char **text, size_t *length,
                     struct cpl_file_stamp *stamp, struct cpl_error *err)
{
	struct cpl_error why = {""};
	int fd = cpl_file_open(path, CPL_LINKS_REFUSE, MAX_BYTES, stamp, &why);

	*text = NULL;
	if (fd < 0 && errno == ENOENT) {
		*stamp = (struct cpl_file_stamp){0};
		return 1;
	}
	if (fd < 0)
		return cpl_fail(err, "%s", why.text);
	*text = cpl_file_read_open(fd, path, MAX_BYTES, length, err);
	close(fd);
	return *text ? 0 : -1;
}

int cpl_counters_load(const char *path, struct cpl_counters *out,
                      struct cpl_error *err)
{
	struct cpl_file_stamp stamp;
	size_t length = 0;
	char *text;
	int rc = read_file(path, &text, &length, &stamp, err);

	*out = (struct cpl_counters){.since = 0};
	if (!rc)
		rc = cpl_counters_parse(text, length, path, out, err);
	free(text);
	return rc;
}

char *cpl_counters_path(const char *state_dir, struct cpl_error *err)
{
	return cpl_path_join(state_dir, "counters.json", err);
}

static uint64_t get(const uint64_t *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

/* What is counted by now. */
static struct cpl_counters copy(const struct cpl_counters *from)
{
	struct cpl_counters to = {.since = 0};

	for (int i = 0; i < CPL_COUNTERS; i++)
		to.count[i] = get(&from->count[i]);
	for (int i = 0; i < CPL_TIMERS; i++) {
		for (int k = 0; k < CPL_TIME_BUCKETS; k++)
			to.time[i].bucket[k] = get(&from->time[i].bucket[k]);
		to.time[i].sum = get(&from->time[i].sum);
		to.time[i].longest = get(&from->time[i].longest);
	}
	return to;
}

/* total += now - seen. Was there any? */
static bool add_new(struct cpl_counters *total, const struct cpl_counters *now,
                    const struct cpl_counters *seen)
{
	bool any = false;

	for (int i = 0; i < CPL_COUNTERS; i++) {
		any |= now->count[i] != seen->count[i];
		total->count[i] += now->count[i] - seen->count[i];
	}
	for (int i = 0; i < CPL_TIMERS; i++) {
		const struct cpl_histogram *from = &now->time[i];
		struct cpl_histogram *to = &total->time[i];

		to->sum += from->sum - seen->time[i].sum;
		if (from->longest > to->longest)
			to->longest = from->longest;
		for (int k = 0; k < CPL_TIME_BUCKETS; k++) {
			uint64_t before = seen->time[i].bucket[k];

			any |= from->bucket[k] != before;
			to->bucket[k] += from->bucket[k] - before;
		}
	}
	return any;
}

/* The longest times are in the file now, so that the next may be shorter. One
 * that came meanwhile stays. */
static void forget_longest(struct cpl_counters *counters,
                           const struct cpl_counters *written)
{
	for (int i = 0; i < CPL_TIMERS; i++) {
		uint64_t longest = written->time[i].longest;

		__atomic_compare_exchange_n(&counters->time[i].longest,
		                            &longest, 0, false,
		                            __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

static int write_file(const struct cpl_counters *total, const char *path,
                      const struct cpl_file_stamp *old, struct cpl_error *err)
{
	json_t *root = cpl_counters_json(total);
	struct cpl_file_stamp stamp;
	size_t length;
	char *text;
	int rc;

	if (!root)
		return cpl_fail_memory(err);
	text = cpl_json_text(root, &length, err);
	json_decref(root);
	if (!text)
		return -1;
	/* Somebody has just removed the file, to begin anew: the next call does
	 * so. */
	cpl_file_stamp(path, &stamp);
	rc = cpl_file_stamp_equal(&stamp, old)
	             ? cpl_file_write_atomic(path, text, length, 0644, err)
	             : cpl_fail(err, "%s: changed meanwhile", path);
	free(text);
	return rc;
}

int cpl_counters_merge(struct cpl_counters *counters, struct cpl_counters *seen,
                       const char *path, int64_t now, struct cpl_error *err)
{
	struct cpl_counters fresh = copy(counters), total = {.since = 0};
	struct cpl_error damaged = {""};
	struct cpl_file_stamp stamp;
	size_t length = 0;
	char *text = NULL;
	int rc;

	if (!add_new(&total, &fresh, seen))
		return 0;
	rc = read_file(path, &text, &length, &stamp, err);
	if (rc < 0)
		return -1;
	if (!rc && cpl_counters_parse(text, length, path, &total, &damaged) &&
	    cpl_error_is_memory(&damaged))
		rc = cpl_fail(err, "%s", damaged.text);
	else if (rc)
		total = (struct cpl_counters){.since = 0};
	free(text);
	if (rc < 0)
		return -1;
	if (!total.since)
		total.since = now;
	add_new(&total, &fresh, seen);
	if (write_file(&total, path, &stamp, err))
		return -1;
	forget_longest(counters, &fresh);
	*seen = fresh;
	if (damaged.text[0])
		cpl_fail(err, "%s; the counters begin anew", damaged.text);
	return 0;
}
