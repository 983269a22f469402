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
/* A record's texts are cores, links, name, type and unique id. */
#define GRES_TEXTS 5

enum how { CLOSEST, SINGLE, PER_TASK, MAP, MASK };

struct options {
	enum how how;
	unsigned long number; /* It counts tasks per GPU or GPUs per task. */
	const char *list;
};

/* Read options as gres.c does. Return false where tasks are bound to no GPU. */
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
	if (!s || strlen(s) > MAX_OPTION)
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
	int n; /* It counts the node's GPUs; 0: the step has none. */
	bool gpu[MAX_GPUS];
};

static int add_bits(void *x, void *arg)
{
	gres_state_t *state = x;
	gres_step_state_t *step = state->gres_data;
	struct held *held = arg;
	int n;

	if (state->plugin_id != gres_build_id("gpu") || step->node_cnt != 1 ||
	    !step->gres_bit_alloc || !step->gres_bit_alloc[0])
		return 0;
	n = (int)bit_size(step->gres_bit_alloc[0]);
	if (n > MAX_GPUS || (held->n && n != held->n))
		return 0;
	held->n = n;
	for (int i = 0; i < n; i++)
		if (bit_test(step->gres_bit_alloc[0], i))
			held->gpu[i] = true;
	return 0;
}

/* List the numbers of the step's GPUs here, MAX_GPUS at most; *n is the node's. */
static int step_gpus(slurm_cred_t *cred, int *gpu, int *n)
{
	cplslurm_list *job = NULL, *step = NULL;
	struct held held = {0};
	int count = 0;

	get_cred_gres(cred, conf->node_name, &job, &step);
	if (step)
		list_for_each_ro(step, add_bits, &held);
	*n = held.n;
	for (int i = 0; i < held.n; i++)
		if (held.gpu[i])
			gpu[count++] = i;
	FREE_NULL_LIST(job);
	FREE_NULL_LIST(step);
	return count;
}

/* Slurm has the cores in a list of its own, and in what slurmd registers with. */
static int read_cores(struct cplslurm_gpus *out)
{
	buf_t *buffer = init_buf(BUF_SIZE);
	uint16_t version, records = 0;
	uint32_t number, id;
	uint64_t count;
	char *text[GRES_TEXTS] = {NULL};
	int at = 0, rc = 0;

	gres_node_config_pack(buffer);
	set_buf_offset(buffer, 0);
	safe_unpack16(&version, buffer);
	safe_unpack16(&records, buffer);
	while (records-- && !rc) {
		safe_unpack32(&number, buffer);
		safe_unpack64(&count, buffer);
		safe_unpack32(&number, buffer);
		safe_unpack32(&number, buffer);
		safe_unpack32(&id, buffer);
		for (int i = 0; i < GRES_TEXTS; i++)
			safe_unpackstr_xmalloc(&text[i], &number, buffer);
		if (id == gres_build_id("gpu"))
			for (; count && at < out->n; count--, at++)
				if (text[0] && *text[0] &&
				    !(out->cores[at] = strdup(text[0])))
					rc = -1;
		for (int i = 0; i < GRES_TEXTS; i++)
			xfree(text[i]);
	}
unpack_error:
	for (int i = 0; i < GRES_TEXTS; i++)
		xfree(text[i]);
	FREE_NULL_BUFFER(buffer);
	return rc;
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

int cplslurm_gpus(const struct cplslurm_launch *launch,
                  struct cplslurm_gpus *out)
{
	const launch_tasks_request_msg_t *req = launch->request;
	struct options options;
	int gpu[MAX_GPUS], count;

	memset(out, 0, sizeof(*out));
	if (!req->cred || !read_options(req, &options))
		return 0;
	count = step_gpus(req->cred, gpu, &out->n);
	if (!count)
		return 0;
	out->n_tasks = launch->tasks;
	out->cores = calloc((size_t)out->n, sizeof(*out->cores));
	out->bound = calloc((size_t)out->n_tasks * (size_t)out->n,
	                    sizeof(*out->bound));
	if (!out->cores || !out->bound || read_cores(out)) {
		cplslurm_gpus_free(out);
		return -1;
	}
	for (int i = 0; i < out->n_tasks; i++)
		bind_task(&options, i, gpu, count, out->bound + i * out->n);
	return 1;
}

void cplslurm_gpus_free(struct cplslurm_gpus *gpus)
{
	for (int i = 0; gpus->cores && i < gpus->n; i++)
		free(gpus->cores[i]);
	free(gpus->cores);
	free(gpus->bound);
	memset(gpus, 0, sizeof(*gpus));
}
