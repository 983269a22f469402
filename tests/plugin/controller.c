/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "controller.h"
#include "slurmctld.h"

#include <dlfcn.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/common/hostlist.h"
#include "src/common/log.h"
#include "src/common/run_in_daemon.h"

char controller_dir[] = "/tmp/cpl-plugin-XXXXXX";

bitstr_t *controller_reserved;

int controller_threads = 1;
const char *controller_gres = "";

/* The stock plugin keeps the list of a job's GRES for good. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:gres_select_util_create_list_req_accum\n";
}

static part_record_t *part_main, *part_wide;
size_t controller_job_extra;
static uint32_t last_id;
static void *stock_job_test;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "controller: %s failed\n", what);
	exit(99);
}

static char *path_of(const char *name)
{
	char *path;

	need(asprintf(&path, "%s/%s", controller_dir, name) > 0, "asprintf");
	return path;
}

void controller_write(const char *name, const char *text)
{
	char *path = path_of(name);
	FILE *f = fopen(path, "w");

	need(f && fputs(text, f) >= 0 && fclose(f) == 0, path);
	free(path);
}

void controller_config(const char *lines)
{
	char *text;

	need(asprintf(&text,
	              "NetworkFile=%s/network.json\nProfileDir=%s/profiles\n"
	              "StateDir=%s/state\n%s\n",
	              controller_dir, controller_dir, controller_dir,
	              lines) > 0,
	     "asprintf");
	controller_write("commplace.conf", text);
	free(text);
}

void controller_profile(const char *name, int ranks, int far)
{
	char file[128], *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	fprintf(f,
	        "{ \"format\": \"commplace-signature\", \"version\": 1,"
	        " \"name\": \"%s\", \"ranks\": %d, \"phases\": [ { \"name\":"
	        " \"all\", \"weight\": 1, \"time\": 1, \"traffic\": [",
	        name, ranks);
	for (int r = 0; r < ranks; r++) {
		fprintf(f, "%s[%d, %d, %d, 10], ", r ? ", " : "", r,
		        (r + 1) % ranks, 1000 + r);
		fprintf(f, "[%d, %d, 50000, 10]", r, (r + far) % ranks);
	}
	fprintf(f, "] } ] }\n");
	fclose(f);
	snprintf(file, sizeof(file), "profiles/%s.json", name);
	controller_write(file, text);
	free(text);
}

static void write_slurm_conf(const char *type)
{
	int cpus = MACHINE_CORES * controller_threads;
	char *text;

	need(asprintf(&text,
	              "ClusterName=fake\nSlurmctldHost=localhost\n"
	              "PluginDir=%s:%s\nSelectType=select/%s\n"
	              "SelectTypeParameters=CR_Core\nAuthType=auth/none\n"
	              "CredType=cred/none\n"
	              "StateSaveLocation=%s\nSlurmdSpoolDir=%s\n"
	              "%s%s"
	              "NodeName=n[0-31] CPUs=%d Sockets=1 CoresPerSocket=4 "
	              "ThreadsPerCore=%d RealMemory=1000\n"
	              "NodeName=n[32-63] CPUs=%d Sockets=1 CoresPerSocket=4 "
	              "ThreadsPerCore=%d RealMemory=1000 %s\n"
	              "PartitionName=main Nodes=n[0-63] Default=YES\n",
	              CPL_TEST_PLUGIN_DIR, CPL_TEST_STOCK_DIR, type,
	              controller_dir, controller_dir,
	              slurmctld_conf,
	              *controller_gres ? "GresTypes=gpu\n" : "", cpus,
	              controller_threads, cpus, controller_threads,
	              controller_gres) > 0,
	     "asprintf");
	controller_write("slurm.conf", text);
	free(text);
}

static const char network[] =
        "{ \"format\": \"commplace-network\", \"version\": 1,"
        " \"name\": \"fake\", \"type\": \"dragonfly\", \"groups\": 4,"
        " \"rows\": 2, \"columns\": 4, \"nodes_per_router\": 2,"
        " \"global_links_per_group_pair\": 1,"
        " \"nodes\": \"n[0-63]\" }\n";

static part_record_t *new_part(const char *name)
{
	part_record_t *part = xmalloc(sizeof(*part));

	part->magic = PART_MAGIC;
	part->name = xstrdup(name);
	part->node_bitmap = bit_alloc(node_record_count);
	bit_set_all(part->node_bitmap);
	part->max_share = 1;
	part->max_cpus_per_node = INFINITE;
	slurmctld_partition(part);
	part->max_nodes = INFINITE;
	part->min_nodes = 1;
	part->priority_tier = 1;
	part->state_up = PARTITION_UP;
	list_append(part_list, part);
	return part;
}

static void init_nodes(void)
{
	init_node_conf();
	build_all_nodeline_info(true, slurmctld_tres_cnt);
	rehash_node();
	need(node_record_count == MACHINE_NODES, "node table");
	for (int i = 0; i < node_record_count; i++) {
		node_record_t *node = node_record_table_ptr[i];

		node->node_state = NODE_STATE_IDLE;
		node->cpus_efctv = node->cpus;
		node->owner = NO_VAL;
		if (node->config_ptr->gres)
			gres_init_node_config(node->config_ptr->gres,
			                      &node->gres_list);
	}
	avail_node_bitmap = bit_alloc(node_record_count);
	idle_node_bitmap = bit_alloc(node_record_count);
	share_node_bitmap = bit_alloc(node_record_count);
	bit_set_all(avail_node_bitmap);
	bit_set_all(idle_node_bitmap);
	bit_set_all(share_node_bitmap);
}

/* read_slurm_conf() of slurmctld, as far as select plugins see it. */
static void read_conf(void)
{
	struct listIterator *jobs;
	job_record_t *job;

	need(select_g_node_init() == SLURM_SUCCESS, "select_g_node_init");
	need(slurmctld_restore(job_list) == SLURM_SUCCESS, "restore");
	jobs = list_iterator_create(job_list);
	while ((job = list_next(jobs)))
		select_g_select_nodeinfo_set(job);
	list_iterator_destroy(jobs);
	need(select_g_reconfigure() == SLURM_SUCCESS, "reconfigure");
}

static void load_stock(void)
{
	void *so = dlopen(CPL_TEST_STOCK_DIR "/select_cons_tres.so",
	                  RTLD_LAZY | RTLD_LOCAL);

	need(so != NULL, "dlopen of the stock plugin");
	stock_job_test = dlsym(so, "select_p_job_test");
	need(stock_job_test != NULL, "select_p_job_test");
}

void controller_start(const char *type)
{
	log_options_t log = LOG_OPTS_STDERR_ONLY;
	char *conf;

	log.stderr_level =
	        getenv("CPL_TEST_VERBOSE") ? LOG_LEVEL_DEBUG3 : LOG_LEVEL_QUIET;
	log_init("slurmctld", log, SYSLOG_FACILITY_DAEMON, NULL);
	need(mkdtemp(controller_dir) != NULL, "mkdtemp");
	conf = path_of("profiles");
	need(!mkdir(conf, 0755), "mkdir");
	free(conf);
	write_slurm_conf(type);
	controller_write("network.json", network);
	controller_config("MaxDecisionTime=20s");
	conf = path_of("slurm.conf");
	setenv("SLURM_CONF", conf, 1);
	setenv("COMMPLACED", CPL_TEST_COMMPLACED, 1);
	slurm_conf_init(conf);
	if (getenv("CPL_TEST_VERBOSE"))
		slurm_conf.debug_flags |= DEBUG_FLAG_SELECT_TYPE;
	free(conf);
	need(slurmctld_start() == SLURM_SUCCESS, "slurmctld_start");
	need(gres_init() == SLURM_SUCCESS, "gres_init");
	job_list = list_create(NULL);
	part_list = list_create(NULL);
	init_nodes();
	part_main = new_part("main");
	part_wide = new_part("wide");
	read_conf();
	load_stock();
}

void controller_restart(void)
{
	need(slurmctld_stop() == SLURM_SUCCESS, "slurmctld_stop");
	need(slurmctld_start() == SLURM_SUCCESS, "slurmctld_start");
	read_conf();
}

void controller_reconfigure(void)
{
	read_conf();
}

void controller_update(void)
{
	need(select_g_reconfigure() == SLURM_SUCCESS, "reconfigure");
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
	return remove(path);
}

void controller_stop(void)
{
	slurmctld_stop();
	nftw(controller_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bitstr_t *bitmap_of(const char *names)
{
	bitstr_t *bitmap = NULL;
	char *copy = xstrdup(names);

	need(slurmctld_bitmap(copy, &bitmap) == SLURM_SUCCESS, names);
	xfree(copy);
	return bitmap;
}

static void add_env(job_record_t *job, const char *name, const char *value)
{
	if (!value)
		return;
	xrecalloc(job->spank_job_env, job->spank_job_env_size + 1,
	          sizeof(char *));
	job->spank_job_env[job->spank_job_env_size++] =
	        xstrdup_printf("%s=%s", name, value);
}

job_record_t *controller_job(const struct job_options *options)
{
	job_record_t *job = xmalloc(sizeof(*job) + controller_job_extra);
	job_details_t *details = xmalloc(sizeof(*details));
	int per_task = options->cpus_per_task ? options->cpus_per_task : 1;
	int nodes = options->nodes ? options->nodes : 1;

	job->magic = JOB_MAGIC;
	job->job_id = ++last_id;
	job->array_task_id = NO_VAL;
	job->name = xstrdup("job");
	job->partition =
	        xstrdup(options->partition ? options->partition : "main");
	job->part_ptr =
	        options->partition && !xstrcmp(options->partition, "wide")
	                ? part_wide
	                : part_main;
	job->priority = 1;
	job->best_switch = true;
	job->user_id = 1000;
	job->details = details;
	details->magic = DETAILS_MAGIC;
	details->min_nodes = (uint32_t)nodes;
	details->max_nodes = (uint32_t)options->max_nodes;
	details->num_tasks = (uint32_t)options->tasks;
	details->ntasks_per_node = (uint16_t)options->tasks_per_node;
	if (!details->num_tasks && options->tasks_per_node)
		details->num_tasks =
		        (uint32_t)(options->tasks_per_node * nodes);
	details->cpus_per_task = (uint16_t)per_task;
	details->min_cpus =
	        MAX(details->num_tasks, (uint32_t)nodes) * (uint32_t)per_task;
	details->pn_min_cpus =
	        (uint32_t)(per_task * (options->tasks_per_node
	                                       ? options->tasks_per_node
	                                       : 1));
	details->max_cpus = NO_VAL;
	details->core_spec = NO_VAL16;
	details->ntasks_per_tres = NO_VAL16;
	details->task_dist = SLURM_DIST_UNKNOWN;
	details->whole_node = options->exclusive        ? WHOLE_NODE_REQUIRED
	                      : options->exclusive_user ? WHOLE_NODE_USER
	                                                : 0;
	if (options->dist)
		details->task_dist = options->dist;
	if (options->core_spec)
		details->core_spec = (uint16_t)options->core_spec;
	details->share_res = 0;
	details->contiguous = options->contiguous;
	details->pn_min_memory = (uint64_t)options->memory;
	details->mc_ptr = xmalloc(sizeof(*details->mc_ptr));
	details->mc_ptr->sockets_per_node = NO_VAL16;
	details->mc_ptr->cores_per_socket = NO_VAL16;
	details->mc_ptr->threads_per_core = NO_VAL16;
	details->mc_ptr->ntasks_per_socket = INFINITE16;
	details->mc_ptr->ntasks_per_core = INFINITE16;
	if (options->tasks_per_core)
		details->mc_ptr->ntasks_per_core =
		        (uint16_t)options->tasks_per_core;
	if (options->threads_per_core)
		details->mc_ptr->threads_per_core =
		        (uint16_t)options->threads_per_core;
	if (options->tasks_per_socket)
		details->mc_ptr->ntasks_per_socket =
		        (uint16_t)options->tasks_per_socket;
	job->req_switch = (uint32_t)options->switches;
	if (options->spread)
		job->bit_flags |= SPREAD_JOB;
	if (options->gres)
		need(slurmctld_gres(job, options->gres) == SLURM_SUCCESS,
		     options->gres);
	if (options->nodelist)
		details->req_node_bitmap = bitmap_of(options->nodelist);
	if (options->exclude)
		details->exc_node_bitmap = bitmap_of(options->exclude);
	add_env(job, "COMM_PROFILE", options->profile);
	add_env(job, "_SLURM_SPANK_OPTION_commplace_placement_policy",
	        options->policy);
	add_env(job, "COMM_RANK_MAPPING", options->mapping);
	add_env(job, "COMM_RECORD", options->record);
	add_env(job, "COMM_DISTRIBUTION", options->marks);
	return job;
}

void controller_job_free(job_record_t *job)
{
	job_details_t *details = job->details;

	free_job_resources(&job->job_resrcs);
	FREE_NULL_BITMAP(job->node_bitmap);
#if CPLSLURM_SERIES >= 2411
	FREE_NULL_BITMAP(job->node_bitmap_preempt);
#endif
	FREE_NULL_BITMAP(details->req_node_bitmap);
	FREE_NULL_BITMAP(details->exc_node_bitmap);
	FREE_NULL_LIST(job->gres_list_req);
	xfree(details->mc_ptr);
	xfree(details->submit_line);
	for (int i = 0; i < details->env_cnt; i++)
		xfree(details->env_sup[i]);
	xfree(details->env_sup);
	xfree(job->details);
	for (uint32_t i = 0; i < job->spank_job_env_size; i++)
		xfree(job->spank_job_env[i]);
	xfree(job->spank_job_env);
	xfree(job->admin_comment);
	xfree(job->partition);
	xfree(job->name);
	xfree(job);
}

bitstr_t *controller_candidates(const job_record_t *job)
{
	bitstr_t *bitmap = bit_copy(job->part_ptr->node_bitmap);
	bitstr_t *busy = bit_copy(idle_node_bitmap);

	bit_or(busy, share_node_bitmap);
	bit_and(bitmap, busy);
	bit_and(bitmap, avail_node_bitmap);
	if (job->details->whole_node == WHOLE_NODE_REQUIRED)
		bit_and(bitmap, idle_node_bitmap);
	if (job->details->exc_node_bitmap)
		bit_and_not(bitmap, job->details->exc_node_bitmap);
	FREE_NULL_BITMAP(busy);
	return bitmap;
}

/* min, max and wanted nodes as slurmctld passes them. */
static void limits(const job_record_t *job, uint32_t *min, uint32_t *max,
                   uint32_t *req)
{
	const job_details_t *details = job->details;
	bool by_tasks = details->min_nodes == 1 && details->num_tasks > 1 &&
	                !details->max_nodes;

	*min = details->min_nodes;
	*req = details->max_nodes ? details->max_nodes : *min;
	*max = by_tasks ? 500000 : *req;
}

static int test_by(void *plugins, job_record_t *job, uint16_t mode,
                   bitstr_t *bitmap)
{
	struct slurmctld_test test = {.job = job,
	                              .bitmap = bitmap,
	                              .mode = mode,
	                              .reserved = controller_reserved};

	limits(job, &test.min, &test.max, &test.req);
#if CPLSLURM_SERIES >= 2611
	/* slurmctld does, whenever what they follow from changes. */
	job_record_set_flags(job);
#endif
	return slurmctld_job_test(plugins, &test);
}

int controller_test(job_record_t *job, uint16_t mode, bitstr_t *bitmap)
{
	return test_by(NULL, job, mode, bitmap);
}

int controller_stock_test(job_record_t *job, uint16_t mode, bitstr_t *bitmap)
{
	return test_by(stock_job_test, job, mode, bitmap);
}

char *controller_names(const bitstr_t *bitmap)
{
	char *text = bitmap2node_name((bitstr_t *)bitmap);
	char *copy = strdup(text ? text : "");

	xfree(text);
	return copy;
}

char *controller_stock_nodes(job_record_t *job)
{
	bitstr_t *bitmap = controller_candidates(job);
	char *names;

	if (controller_stock_test(job, SELECT_MODE_RUN_NOW, bitmap))
		names = strdup("");
	else
		names = controller_names(bitmap);
	free_job_resources(&job->job_resrcs);
	FREE_NULL_BITMAP(bitmap);
	return names;
}

/* Nodes without a free core leave `share`, nodes with a job leave `idle`. */
static void account(void)
{
	int used[MACHINE_NODES] = {0};
	uint32_t owner[MACHINE_NODES];
	struct listIterator *jobs = list_iterator_create(job_list);
	job_record_t *job;

	for (int i = 0; i < MACHINE_NODES; i++)
		owner[i] = NO_VAL;
	while ((job = list_next(jobs))) {
		for (int i = 0, at = 0; i < node_record_count; i++) {
			if (!bit_test(job->node_bitmap, i))
				continue;
			if (job->details->whole_node == WHOLE_NODE_USER)
				owner[i] = job->user_id;
			used[i] +=
			        job->details->whole_node == WHOLE_NODE_REQUIRED
			                ? MACHINE_CORES * controller_threads
			                : job->job_resrcs->cpus[at];
			at++;
		}
	}
	list_iterator_destroy(jobs);
	bit_set_all(idle_node_bitmap);
	bit_set_all(share_node_bitmap);
	for (int i = 0; i < node_record_count; i++) {
		node_record_t *node = node_record_table_ptr[i];

		if (used[i])
			bit_clear(idle_node_bitmap, i);
		if (used[i] >= MACHINE_CORES * controller_threads)
			bit_clear(share_node_bitmap, i);
		node->owner = owner[i];
		node->node_state = (node->node_state & NODE_STATE_FLAGS) |
		                   (used[i] ? NODE_STATE_ALLOCATED
		                            : NODE_STATE_IDLE);
	}
	last_node_update = time(NULL);
}

char *controller_run(job_record_t *job)
{
	bitstr_t *bitmap = controller_candidates(job);
	char *names;

	if (controller_test(job, SELECT_MODE_RUN_NOW, bitmap)) {
		FREE_NULL_BITMAP(bitmap);
		return strdup("");
	}
	need(job->job_resrcs != NULL, "job_resrcs");
	job->node_bitmap = bitmap;
	job->start_time = time(NULL);
	job->end_time = job->start_time + 3600;
	need(select_g_job_begin(job) == SLURM_SUCCESS, "select_g_job_begin");
	job->job_state = JOB_RUNNING;
	need(select_g_select_nodeinfo_set(job) == SLURM_SUCCESS,
	     "select_g_select_nodeinfo_set");
	list_append(job_list, job);
	account();
	names = controller_names(bitmap);
	return names;
}

static int same_job(void *x, void *key)
{
	return x == key;
}

void controller_end(job_record_t *job)
{
	need(select_g_job_fini(job) == SLURM_SUCCESS, "select_g_job_fini");
	list_delete_all(job_list, same_job, job);
	account();
	controller_job_free(job);
}

job_record_t *controller_find(uint32_t id)
{
	return find_job_record(id);
}

char *controller_step(job_record_t *job, int tasks, uint32_t dist,
                      const char *submit_line)
{
	step_record_t *step = xmalloc(sizeof(*step));
	slurm_step_layout_t *layout = slurmctld_layout(job, tasks, dist);
	char *text = NULL, **node = calloc((size_t)tasks, sizeof(char *));
	size_t size;
	struct hostlist *hosts;
	FILE *f;

	need(layout && node, "step layout");
	step->magic = STEP_MAGIC;
	step->job_ptr = job;
	step->step_layout = layout;
	step->step_id.job_id = job->job_id;
	step->submit_line = (char *)submit_line;
	slurmctld_step_start(step);
	xfree(step);
	hosts = hostlist_create(layout->node_list);
	for (uint32_t i = 0; i < layout->node_cnt; i++) {
		char *name = hostlist_nth(hosts, (int)i);

		for (int k = 0; k < layout->tasks[i]; k++)
			node[layout->tids[i][k]] = strdup(name);
		for (int k = 1; k < layout->tasks[i]; k++)
			need(layout->tids[i][k] > layout->tids[i][k - 1],
			     "order of tids");
		free(name);
	}
	hostlist_destroy(hosts);
	f = open_memstream(&text, &size);
	for (int r = 0; r < tasks; r++) {
		fprintf(f, "%s%s", r ? "," : "", node[r]);
		free(node[r]);
	}
	fclose(f);
	free(node);
	slurm_step_layout_destroy(layout);
	return text;
}
