/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slurm_compat_slurmd.h"

#include <stdlib.h>
#include <string.h>

#include "src/common/bitstring.h"
#include "src/common/pack.h"

#define MAX_GPUS 1024
/* It limits the characters of --tres-bind: the list is read for each task, and Slurm
 * has no limit for a step's. */
#define MAX_OPTION 1024
#define GRES_TEXTS 5

enum how { CLOSEST, SINGLE, PER_TASK, MAP, MASK, FREE };

struct options {
	enum how how;
	unsigned long number; /* It counts tasks per GPU or GPUs per task. */
	const char *list;
};

/* Read options as gres.c does. Return false where they say that tasks are bound to no
 * GPU. */
static bool read_options(const launch_tasks_request_msg_t *req,
                         struct options *options)
{
	static const struct {
		const char *name;
		enum how how;
	} word[] = {{"single:", SINGLE},
	            {"closest", CLOSEST},
	            {"map_gpu:", MAP},
	            {"mask_gpu:", MASK},
	            {"per_task:", PER_TASK}};
	static const char gpu[] = "gpu:", verbose[] = "verbose,";
	const char *s = req->tres_bind ? strstr(req->tres_bind, gpu) : NULL;

	*options = (struct options){.how = CLOSEST, .number = 1};
	if (req->accel_bind_type & ACCEL_BIND_CLOSEST_GPU)
		return true;
	if (!s) {
		options->how = FREE;
		return true;
	}
	if (strlen(s) > MAX_OPTION)
		return false;
	s += sizeof(gpu) - 1;
	if (!strncasecmp(s, verbose, sizeof(verbose) - 1))
		s += sizeof(verbose) - 1;
	for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
		size_t length = strlen(word[i].name);

		if (strncasecmp(s, word[i].name, length))
			continue;
		options->how = word[i].how;
		options->list = s + length;
		options->number = strtoul(options->list, NULL, 10);
		if (options->number < 1 || options->number > MAX_GPUS)
			options->number = 1;
		return true;
	}
	return false;
}

struct held {
	int n; /* It counts the node's GPUs; 0: the step has none with files. */
	bool gpu[MAX_GPUS];
	uint64_t counted; /* Those of the step that have no files. */
};

static int add_bits(void *x, void *arg)
{
	gres_state_t *state = x;
	gres_step_state_t *step = state->gres_data;
	struct held *held = arg;
	int n;

	if (state->plugin_id != gres_build_id("gpu") || step->node_cnt != 1)
		return 0;
	if (!step->gres_bit_alloc || !step->gres_bit_alloc[0]) {
		if (step->gres_cnt_node_alloc)
			held->counted += step->gres_cnt_node_alloc[0];
		return 0;
	}
	n = (int)bit_size(step->gres_bit_alloc[0]);
	if (n > MAX_GPUS || (held->n && n != held->n))
		return 0;
	held->n = n;
	for (int i = 0; i < n; i++)
		if (bit_test(step->gres_bit_alloc[0], i))
			held->gpu[i] = true;
	return 0;
}

static void read_held(slurm_cred_t *cred, struct held *held)
{
	cplslurm_list *job = NULL, *step = NULL;

	memset(held, 0, sizeof(*held));
	get_cred_gres(cred, conf->node_name, &job, &step);
	if (step)
		list_for_each_ro(step, add_bits, held);
	FREE_NULL_LIST(job);
	FREE_NULL_LIST(step);
}

/* Tell the place of a GPU by its links "0,-1,0", where its own is -1. Return how many
 * are counted, or 0. */
static int read_links(const char *links, int *place)
{
	int n = 0, own = 0;

	*place = -1;
	for (const char *s = links; s && *s; n++) {
		char *end;
		long link = strtol(s, &end, 10);

		if (end == s || (*end && *end != ','))
			return 0;
		if (link == -1) {
			*place = n;
			own++;
		}
		s = *end ? end + 1 : end;
	}
	if (own == 1)
		return n;
	*place = -1;
	return 0;
}

/* A record of GPUs in what slurmd registers with: its texts are cores, links, name,
 * type and unique id. */
struct gpu_record {
	uint64_t count;
	char *text[GRES_TEXTS];
};

static int add_record(const struct gpu_record *record, struct cplslurm_gpus *out,
                      int at, char **type)
{
	const char *cores = record->text[0];
	const char *own = record->text[3] ? record->text[3] : "";
	int place, links = read_links(record->text[1], &place);

	if (!*type && !(*type = strdup(own)))
		return -1;
	out->alike = out->alike && !strcmp(*type, own);
	if (!at)
		out->n_physical = links;
	if (links != out->n_physical)
		out->n_physical = 0;
	for (uint64_t i = 0; i < record->count && at < out->n; i++, at++) {
		out->physical[at] = place;
		if (cores && *cores && !(out->cores[at] = strdup(cores)))
			return -1;
	}
	return at;
}

/* Slurm has the records in a list of its own, and in what slurmd registers with. Each
 * is given to add_record; without `out` they are counted. Return the number of GPUs,
 * or -1 where memory is out. */
static int read_records(struct cplslurm_gpus *out)
{
	buf_t *buffer = init_buf(BUF_SIZE);
	uint16_t version, records = 0;
	uint32_t number, id;
	struct gpu_record r = {0};
	char *type = NULL;
	int at = 0;

	gres_node_config_pack(buffer);
	set_buf_offset(buffer, 0);
	safe_unpack16(&version, buffer);
	safe_unpack16(&records, buffer);
	while (records-- && at >= 0) {
		safe_unpack32(&number, buffer);
		safe_unpack64(&r.count, buffer);
		safe_unpack32(&number, buffer);
		safe_unpack32(&number, buffer);
		safe_unpack32(&id, buffer);
		for (int i = 0; i < GRES_TEXTS; i++)
			safe_unpackstr_xmalloc(&r.text[i], &number, buffer);
		if (id == gres_build_id("gpu") && out)
			at = add_record(&r, out, at, &type);
		else if (id == gres_build_id("gpu"))
			at = r.count > (uint64_t)(MAX_GPUS - at)
			             ? MAX_GPUS
			             : at + (int)r.count;
		for (int i = 0; i < GRES_TEXTS; i++)
			xfree(r.text[i]);
	}
unpack_error:
	for (int i = 0; i < GRES_TEXTS; i++)
		xfree(r.text[i]);
	FREE_NULL_BUFFER(buffer);
	free(type);
	return at;
}

/* Return the task's word of "0,2*3,1", which begins again when tasks are more. */
static unsigned long word_of(const char *list, int task)
{
	long left = task, all = 0;

	for (const char *s = list;;) {
		char *end;
		unsigned long value = strtoul(s, &end, 0);
		long times = *end == '*' ? strtol(end + 1, &end, 10) : 1;

		times = times < 1 ? 1 : times;
		all += times;
		if (left < times)
			return value;
		left -= times;
		s = *end == ',' ? end + 1 : list;
		if (s == list)
			left %= all;
	}
}

static void bind_task(const struct options *options, int task, const int *gpu,
                      int count, bool *bound)
{
	/* With ConstrainDevices numbers count among the step's GPUs. */
	bool local = gres_use_local_device_index();
	bool listed = options->how == MAP || options->how == MASK;
	unsigned long value = listed ? word_of(options->list, task) : 0;
	unsigned long t = (unsigned long)task;
	int found = 0;

	for (int k = 0; k < count; k++) {
		unsigned long i = (unsigned long)(local ? k : gpu[k]);
		bool is = true;

		if (options->how == SINGLE)
			is = t / options->number % (unsigned long)count ==
			     (unsigned long)k;
		else if (options->how == PER_TASK)
			is = (unsigned long)k / options->number == t;
		else if (options->how == MAP)
			is = value == i;
		else if (options->how == MASK)
			is = i < 8 * sizeof(value) && (value >> i & 1);
		bound[gpu[k]] = is;
		found += is;
	}
	/* Slurm takes the first GPU then. */
	if (!found)
		bound[gpu[0]] = true;
}

/* Without files the step's GPUs are numbered only where it has all of the node's, else
 * they may be any. Return how many the node has, or -1 where memory is out. */
static int all_fileless(struct held *held, struct options *options)
{
	int n = read_records(NULL);

	for (int i = 0; i < n; i++)
		held->gpu[i] = true;
	if (n > 0 && held->counted < (uint64_t)n)
		options->how = CLOSEST;
	return n;
}

/* List the numbers of the step's GPUs, MAX_GPUS at most. */
static int list_held(const struct held *held, int n, int *gpu)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		if (held->gpu[i])
			gpu[count++] = i;
	return count;
}

int cplslurm_gpus(const struct cplslurm_launch *launch,
                  struct cplslurm_gpus *out)
{
	const launch_tasks_request_msg_t *req = launch->request;
	struct options options;
	struct held held;
	int gpu[MAX_GPUS], count;

	memset(out, 0, sizeof(*out));
	if (!req->cred || !read_options(req, &options))
		return 0;
	read_held(req->cred, &held);
	out->n = held.n;
	if (!held.n && held.counted)
		out->n = all_fileless(&held, &options);
	if (out->n <= 0)
		return out->n;
	out->n_tasks = launch->tasks;
	out->alike = true;
	out->cores = calloc((size_t)out->n, sizeof(*out->cores));
	out->physical = malloc((size_t)out->n * sizeof(*out->physical));
	out->bound = calloc((size_t)out->n_tasks * (size_t)out->n,
	                    sizeof(*out->bound));
	if (!out->cores || !out->physical || !out->bound)
		goto failed;
	memset(out->physical, -1, (size_t)out->n * sizeof(*out->physical));
	if (read_records(out) < 0)
		goto failed;
	count = list_held(&held, out->n, gpu);
	if (!count) {
		cplslurm_gpus_free(out);
		return 0;
	}
	out->is_free = options.how == FREE;
	for (int i = 0; i < out->n_tasks; i++)
		bind_task(&options, i, gpu, count, out->bound + i * out->n);
	return 1;
failed:
	cplslurm_gpus_free(out);
	return -1;
}

void cplslurm_gpus_free(struct cplslurm_gpus *gpus)
{
	for (int i = 0; gpus->cores && i < gpus->n; i++)
		free(gpus->cores[i]);
	free(gpus->cores);
	free(gpus->physical);
	free(gpus->bound);
	memset(gpus, 0, sizeof(*gpus));
}
