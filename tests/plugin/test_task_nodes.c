/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches on machines that are not here, whose hardware tree comes from a
 * file as with HWLOC_XMLFILE in slurmd's environment; and with GPUs.
 */
#include "launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/common/bitstring.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/pack.h"

#include "binding/binding.h"

#define TOPOLOGIES CPL_TEST_SRCDIR "/etc/topologies/"

struct node {
	const char *file;
	struct machine machine;
	int domain; /* cores that share a cache or memory: the lowest level */
	int memory; /* cores beside one memory */
};

static const struct node genoa = {
        "genoa-2x96.txt", {2, 96, 2, 384, 384}, 8, 96};
static const struct node snc4 = {
        "xeon-2x56-snc4.txt", {2, 56, 2, 224, 224}, 14, 14};
static const struct node a64fx = {"a64fx.txt", {1, 48, 1, 48, 48}, 12, 12};
static const struct node gpu_node = {
        "gpu-node.xml", {1, 64, 2, 128, 128}, 16, 16};
static const struct node *const nodes[] = {&genoa, &snc4, &a64fx, &gpu_node};
#define N_NODES (sizeof(nodes) / sizeof(*nodes))

static char tree_file[256], all_cores[32];

/* As an administrator has it: written once, and named to slurmd. */
static void set_node(const struct node *node)
{
	hwloc_topology_t tree;
	struct cpl_error err = {""};
	char path[256];

	set_machine(&node->machine);
	unsetenv("HWLOC_SYNTHETIC");
	snprintf(path, sizeof(path), TOPOLOGIES "%s", node->file);
	snprintf(tree_file, sizeof(tree_file), "%s/tree.xml", launch_dir);
	assert_int_equal(cpl_topology_load(path, &tree, &err), 0);
	assert_int_equal(hwloc_topology_export_xml(tree, tree_file, 0), 0);
	hwloc_topology_destroy(tree);
	setenv("HWLOC_XMLFILE", tree_file, 1);
	snprintf(all_cores, sizeof(all_cores), "0-%d",
	         node->machine.sockets * node->machine.cores - 1);
	credential = all_cores;
	cpltask_plan_fini();
}

/* Profile "sets": every stride-th of n ranks talk among themselves. */
static void write_sets(int n, int stride)
{
	const char *comma = "";
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out,
	        "{\"format\": \"commplace-signature\", \"version\": 1,"
	        "\"name\": \"sets\", \"ranks\": %d, \"phases\": [{\"name\":"
	        "\"all\", \"weight\": 1, \"traffic\": [",
	        n);
	for (int i = 0; i < n; i++)
		for (int j = i % stride; j < n; j += stride)
			if (i != j) {
				fprintf(out, "%s[%d,%d,10,1]", comma, i, j);
				comma = ",";
			}
	fprintf(out, "]}]}");
	assert_int_equal(fclose(out), 0);
	write_file("sets.json", text);
	free(text);
}

static int first_of(const char *masks, int which, int weight)
{
	hwloc_bitmap_t set = cpltask_mask(masks, which);
	int first;

	assert_non_null(set);
	assert_int_equal(hwloc_bitmap_weight(set), weight);
	first = hwloc_bitmap_first(set);
	hwloc_bitmap_free(set);
	return first;
}

static void log_to(const char *path)
{
	log_options_t options = LOG_OPTS_INITIALIZER;

	options.stderr_level = LOG_LEVEL_QUIET;
	options.syslog_level = LOG_LEVEL_QUIET;
	options.logfile_level = path ? LOG_LEVEL_INFO : LOG_LEVEL_QUIET;
	log_alter(options, SYSLOG_FACILITY_DAEMON, (char *)path);
}

static int lines_with(const char *path, const char *text)
{
	FILE *in = fopen(path, "r");
	char line[1024];
	int n = 0;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		n += strstr(line, text) != NULL;
	fclose(in);
	return n;
}

/* Slurm's own function for this remembers the node that it has seen first. */
static void test_cpus_of_cores(void **state)
{
	static uint16_t turned[] = {0, 4, 1, 5, 2, 6, 3, 7};
	static const struct {
		struct machine machine;
		const char *cores, *cpus; /* NULL: there are none */
	} row[] = {
	        {{2, 2, 2, 8, 8}, "0,3", "0,3-4,7"},
	        {{2, 2, 2, 8, 8}, "0-3", "0-7"},
	        {{2, 2, 2, 8, 8}, "", ""},
	        {{2, 2, 2, 8, 8}, "4", NULL},
	        {{2, 2, 2, 8, 8}, "2-", NULL},
	        {{2, 2, 2, 8, 8}, "no list", NULL},
	        /* Of another node, as after a reconfiguration. */
	        {{1, 4, 1, 4, 4}, "1-2", "0-1"},
	        {{1, 2, 1, 2, 2}, "1", "0"},
	        {{1, 2, 1, 2, 2}, "3", NULL},
	        {{4, 16, 1, 64, 8}, "8-9", "0,4"},
	        {{2, 2, 2, 8, 0}, "0", NULL},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char *cpus;

		set_machine(&row[i].machine);
		slurmd.block_map = turned;
		cpus = cplslurm_cpus_of_cores(row[i].cores);
		if (!row[i].cpus && cpus)
			fail_msg("row %zu: %s", i, cpus);
		if (row[i].cpus)
			assert_string_equal(cpus, row[i].cpus);
		free(cpus);
	}
	set_machine(&row[0].machine);
	slurmd.block_map = NULL;
	assert_null(cplslurm_cpus_of_cores("0"));
}

/* A rank on each core: those that talk share a domain, in the order that the
 * launch has its tasks in. The log gets one line that can be read. */
static void test_whole_nodes(void **state)
{
	char log[256];

	snprintf(log, sizeof(log), "%s/log", launch_dir);
	for (size_t k = 0; k < N_NODES; k++) {
		const struct node *node = nodes[k];
		const struct machine *m = &node->machine;
		int n = m->sockets * m->cores, stride = n / node->domain;
		uint32_t order[LAUNCH_TASKS];
		int domain[LAUNCH_TASKS];
		bool taken[LAUNCH_TASKS] = {false};
		launch_tasks_request_msg_t *req;
		const char *plan;

		set_node(node);
		write_sets(n, stride);
		for (int i = 0; i < n; i++)
			order[i] = (uint32_t)(n - 1 - i);
		req = new_request(n, order);
		env_array_overwrite(&req->env, "COMM_PROFILE", "sets");
		unlink(log);
		log_to(log);
		assert_int_equal(launch_bind(req, 0), SLURM_SUCCESS);
		log_to(NULL);
		assert_int_equal(lines_with(log, "masks 0x"), 1);
		assert_int_equal(lines_with(log, ""), 1);
		plan = getenvp(req->env, CPLTASK_PLAN);
		if (!plan)
			fail_msg("%s: no plan", node->file);
		memset(domain, -1, sizeof(domain));
		for (int i = 0; i < n; i++) {
			int core = first_of(plan, i, m->threads) / m->threads;
			int *want = &domain[order[i] % (uint32_t)stride];

			assert_false(taken[core]);
			taken[core] = true;
			if (*want < 0)
				*want = core / node->domain;
			if (*want != core / node->domain)
				fail_msg("%s: rank %u on core %d", node->file,
				         order[i], core);
		}
		free_request(req);
	}
}

static void test_memory_of_nodes(void **state)
{
	for (size_t k = 0; k < N_NODES; k++) {
		const struct node *node = nodes[k];
		const struct machine *m = &node->machine;
		int n = m->sockets * m->cores;
		launch_tasks_request_msg_t *req = new_request(n, NULL);
		struct cpltask_plan plan;
		struct cpl_error err = {""};

		set_node(node);
		write_config("BindMemory=yes");
		write_sets(n, n / node->domain);
		env_array_overwrite(&req->env, "COMM_PROFILE", "sets");
		if (plan_of(req, 0, &plan, &err) != 1)
			fail_msg("%s: %s", node->file, err.text);
		for (int i = 0; i < n; i++) {
			int core = first_of(plan.masks, i, m->threads) /
			           m->threads;

			assert_int_equal(first_of(plan.mems, i, 1),
			                 core / node->memory);
		}
		cpltask_plan_free(&plan);
		free_request(req);
	}
	write_config("");
}

/* A hardware tree that cannot be read: as Slurm alone, and one line. */
static void test_damaged_trees(void **state)
{
	static const char *const damage[] = {"cut", "empty", "absent", "other"};
	char log[256];

	snprintf(log, sizeof(log), "%s/log", launch_dir);
	for (size_t i = 0; i < sizeof(damage) / sizeof(*damage); i++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);

		set_node(&snc4);
		unlink(log);
		log_to(log);
		if (!strcmp(damage[i], "cut"))
			assert_int_equal(truncate(tree_file, 20000), 0);
		else if (!strcmp(damage[i], "empty"))
			assert_int_equal(truncate(tree_file, 0), 0);
		else if (!strcmp(damage[i], "absent"))
			assert_int_equal(unlink(tree_file), 0);
		else
			write_file("tree.xml", "<topology version=\"2.0\">\n"
			                       "<object type=\"Machine\"/>\n");
		assert_int_equal(launch_bind(req, 0), SLURM_SUCCESS);
		assert_int_equal(req->cpu_bind_type, 0);
		assert_null(req->cpu_bind);
		assert_null(getenvp(req->env, CPLTASK_BOUND));
		assert_null(getenvp(req->env, CPLTASK_PLAN));
		log_to(NULL);
		assert_int_equal(lines_with(log, "left to Slurm's binding: the "
		                                 "hardware tree has"),
		                 1);
		assert_int_equal(lines_with(log, ""), 1);
		free_request(req);
	}
}

/* What slurmd holds of gres.conf and the step of the node's eight GPUs. */
static const char *gpu_cores[8], *gpu_links[8], *gpu_types[8];
static unsigned step_gpus;
static uint64_t step_counted; /* without files; 0: with */
static bool constrained;

void get_cred_gres(slurm_cred_t *cred, char *node, cplslurm_list **job,
                   cplslurm_list **step)
{
	gres_state_t *state = xmalloc(sizeof(*state));
	gres_step_state_t *own = xmalloc(sizeof(*own));

	assert_ptr_equal(cred, launch_credential);
	own->node_cnt = 1;
	own->gres_cnt_node_alloc = xcalloc(1, sizeof(uint64_t));
	own->gres_cnt_node_alloc[0] = step_counted;
	own->gres_bit_alloc = xcalloc(1, sizeof(bitstr_t *));
	own->gres_bit_alloc[0] = bit_alloc(8);
	for (int i = 0; i < 8; i++)
		if (step_gpus >> i & 1)
			bit_set(own->gres_bit_alloc[0], i);
	if (step_counted)
		FREE_NULL_BITMAP(own->gres_bit_alloc[0]);
	state->plugin_id = gres_build_id("gpu");
	state->gres_data = own;
	*step = list_create(gres_step_list_delete);
	list_append(*step, state);
}

static void pack_record(buf_t *buffer, char *name, const char *cores,
                        const char *links, const char *type)
{
	pack32(GRES_MAGIC, buffer);
	pack64(1, buffer);
	pack32(128, buffer);
	pack32(0, buffer);
	pack32(gres_build_id(name), buffer);
	packstr((char *)cores, buffer);
	packstr((char *)links, buffer);
	packstr(name, buffer);
	packstr((char *)type, buffer);
	packstr(NULL, buffer);
}

int gres_node_config_pack(buf_t *buffer)
{
	pack16(SLURM_PROTOCOL_VERSION, buffer);
	pack16(9, buffer);
	pack_record(buffer, "nic", "0-1", NULL, NULL);
	for (int i = 0; i < 8; i++)
		pack_record(buffer, "gpu", gpu_cores[i], gpu_links[i],
		            gpu_types[i]);
	return SLURM_SUCCESS;
}

bool gres_use_local_device_index(void)
{
	return constrained;
}

static void forget_cores(void)
{
	memset(gpu_cores, 0, sizeof(gpu_cores));
	memset(gpu_links, 0, sizeof(gpu_links));
	memset(gpu_types, 0, sizeof(gpu_types));
	step_counted = 0;
}

static void test_gpus_of_tasks(void **state)
{
	static char many_words[1 << 16];
	static const struct {
		const char *bind;
		int accel;
		unsigned step;
		bool local;
		const char *bound; /* by task; NULL: to none */
	} row[] = {
	        {NULL, 0, 0x35, false, "free 0245 0245 0245 0245"},
	        {NULL, 0, 0, false, NULL},
	        {"gpu:none", 0, 0xff, false, NULL},
	        {"nic:closest", 0, 0x41, false, "free 06 06 06 06"},
	        {"gpu:closest", 0, 0, false, NULL},
	        {"gpu:closest", 0, 0x0c, false, "23 23 23 23"},
	        {"gpu:verbose,closest", 0, 0x0c, false, "23 23 23 23"},
	        {NULL, ACCEL_BIND_CLOSEST_GPU, 0x81, false, "07 07 07 07"},
	        {NULL, ACCEL_BIND_CLOSEST_NIC, 0x81, false,
	         "free 07 07 07 07"},
	        {"gpu:per_task:1", 0, 0xff, false, "0 1 2 3"},
	        {"gpu:per_task:2", 0, 0xff, true, "01 23 45 67"},
	        {"gpu:per_task:2", 0, 0x5a, false, "13 46 1 1"},
	        {"gpu:single:1", 0, 0xf0, false, "4 5 6 7"},
	        {"gpu:single:2", 0, 0x81, false, "0 0 7 7"},
	        {"gpu:single:1", 0, 0x81, false, "0 7 0 7"},
	        {"gpu:single:0", 0, 0x81, false, "0 7 0 7"},
	        {"gpu:map_gpu:7,0", 0, 0xff, false, "7 0 7 0"},
	        {"gpu:map_gpu:3*2,1", 0, 0xff, false, "3 3 1 3"},
	        {"gpu:map_gpu:0,1", 0, 0xc0, false, "6 6 6 6"},
	        {"gpu:map_gpu:0,1", 0, 0xc0, true, "6 7 6 7"},
	        {"gpu:mask_gpu:0x3,0xc0", 0, 0xff, false, "01 67 01 67"},
	        {"gpu:mask_gpu:0x2,0x3", 0, 0x88, true, "7 37 7 37"},
	        {"gpu:map_gpu:", 0, 0xff, false, "0 0 0 0"},
	        {"gpu:map_gpu:,*,zebra", 0, 0x06, false, "1 1 1 1"},
	        /* Numbers that nobody can mean. */
	        {"gpu:single:2147483648", 0, 0x81, false, "0 7 0 7"},
	        {"gpu:per_task:4294967297", 0, 0x81, false, "0 7 0 0"},
	        {"gpu:map_gpu:7*9223372036854775807", 0, 0xff, false,
	         "7 7 7 7"},
	        {"gpu:map_gpu:99999999999999999999", 0, 0x81, false, "0 0 0 0"},
	        {many_words, 0, 0xff, false, NULL},
	};

	strcpy(many_words, "gpu:map_gpu:7");
	while (strlen(many_words) + 2 < sizeof(many_words))
		memcpy(many_words + strlen(many_words), ",7", 2);
	slurmd.node_name = "n0";
	forget_cores();
	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		struct cplslurm_launch launch;
		struct cplslurm_gpus gpus;
		char text[64] = "";
		int rc;

		req->tres_bind = (char *)row[k].bind;
		req->accel_bind_type = (uint16_t)row[k].accel;
		step_gpus = row[k].step;
		constrained = row[k].local;
		assert_true(cplslurm_launch(req, 0, &launch));
		rc = cplslurm_gpus(&launch, &gpus);
		assert_int_equal(rc, row[k].bound ? 1 : 0);
		if (rc && gpus.is_free)
			strcpy(text, "free ");
		for (int i = 0; rc && i < gpus.n_tasks * gpus.n; i++)
			snprintf(text + strlen(text),
			         sizeof(text) - strlen(text), "%s%.*s",
			         i && i % gpus.n == 0 ? " " : "",
			         gpus.bound[i] ? 1 : 0,
			         &"01234567"[i % gpus.n]);
		if (rc && strcmp(text, row[k].bound))
			fail_msg("row %d: %s: %s", (int)k, row[k].bind, text);
		cplslurm_gpus_free(&gpus);
		free_request(req);
	}
	constrained = false;
}

/* Where gres.conf says more of GPUs than their cores. */
static void test_gpus_by_links(void **state)
{
	static const struct {
		const char *links[8], *types[8];
		const char *physical; /* -: not known */
		int n;
		bool alike;
	} row[] = {
	        {{NULL}, {NULL}, "--------", 0, true},
	        /* Slices of two devices, as AutoDetect=nvml writes them. */
	        {{"-1,0", "-1,0", "-1,0", "0,-1", "0,-1", "0,-1", "0,-1",
	          "0,-1"},
	         {"1g.10gb", "1g.10gb", "3g.40gb", "1g.10gb", "1g.10gb",
	          "1g.10gb", "1g.10gb", "1g.10gb"},
	         "00011111", 2, false},
	        {{"-1", "-1", "-1", "-1", "-1", "-1", "-1", "-1"},
	         {"1g", "1g", "1g", "1g", "1g", "1g", "1g", "1g"},
	         "00000000", 1, true},
	        {{"4,-1", NULL, "4,-1", "4,-1", "4,-1", "4,-1", "4,-1", "4,-1"},
	         {NULL}, "1-111111", 0, true},
	        {{"-1,-1", "a", "", "-1,", ",", "1,2", "-1;2",
	          "99999999999999999999"},
	         {NULL}, "---0----", 0, true},
	};

	slurmd.node_name = "n0";
	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		struct cplslurm_launch launch;
		struct cplslurm_gpus gpus;

		forget_cores();
		memcpy(gpu_links, row[k].links, sizeof(gpu_links));
		memcpy(gpu_types, row[k].types, sizeof(gpu_types));
		step_gpus = 0xff;
		assert_true(cplslurm_launch(req, 0, &launch));
		assert_int_equal(cplslurm_gpus(&launch, &gpus), 1);
		assert_int_equal(gpus.n, 8);
		assert_int_equal(gpus.n_physical, row[k].n);
		assert_int_equal(gpus.alike, row[k].alike);
		for (int i = 0; i < 8; i++) {
			char c = row[k].physical[i];

			if (gpus.physical[i] != (c == '-' ? -1 : c - '0'))
				fail_msg("row %d: %d is %d", (int)k, i,
				         gpus.physical[i]);
		}
		cplslurm_gpus_free(&gpus);
		free_request(req);
	}
	forget_cores();
}

/* A rank for each GPU; those that talk have theirs far apart. */
static void test_ranks_near_their_gpus(void **state)
{
	static const char *const reversed[8] = {"48-63", "48-63", "32-47",
	                                        "32-47", "16-31", "16-31",
	                                        "0-15",  "0-15"};
	static const char *const one[8] = {"0-15", "0-15", "0-15", "0-15",
	                                   "0-15", "0-15", "0-15", "0-15"};
	static const char *const backwards[8] = {
	        "0,0,0,0,0,0,0,-1", "0,0,0,0,0,0,-1,0", "0,0,0,0,0,-1,0,0",
	        "0,0,0,0,-1,0,0,0", "0,0,0,-1,0,0,0,0", "0,0,-1,0,0,0,0,0",
	        "0,-1,0,0,0,0,0,0", "-1,0,0,0,0,0,0,0"};
	static const struct {
		const char *bind;
		unsigned step;
		const char *const *cores, *const *links;
		uint64_t counted;
		const char *groups; /* of each rank; NULL: of partners */
	} row[] = {
	        {"gpu:per_task:1", 0xff, NULL, NULL, 0, "33110022"},
	        {"gpu:single:2", 0xf0, NULL, NULL, 0, "00002222"},
	        {"gpu:map_gpu:0,2,4,6", 0xff, NULL, NULL, 0, "31023102"},
	        /* Slurm knows better than the order of the bus. */
	        {"gpu:per_task:1", 0xff, reversed, NULL, 0, "33221100"},
	        {"gpu:per_task:1", 0xff, NULL, backwards, 0, "22001133"},
	        {"gpu:closest", 0x03, NULL, NULL, 0, "33333333"},
	        {"gpu:none", 0xff, reversed, NULL, 0, NULL},
	        /* One list for all tells nothing; the bus does. */
	        {"gpu:per_task:1", 0xff, one, NULL, 0, "33110022"},
	        /* Bound by nobody: as many as there are tasks, and others. */
	        {NULL, 0xff, NULL, NULL, 0, "33110022"},
	        {NULL, 0xff, reversed, NULL, 0, "33221100"},
	        {NULL, 0xf0, NULL, NULL, 0, NULL},
	        {NULL, 0x04, NULL, NULL, 0, "11111111"},
	        /* Without files: all of them, and any. */
	        {NULL, 0, NULL, NULL, 8, "33110022"},
	        {"gpu:single:2", 0, NULL, NULL, 8, "33331111"},
	        {"gpu:single:2", 0, NULL, NULL, 3, NULL},
	        {NULL, 0, NULL, NULL, 7, NULL},
	};

	set_node(&gpu_node);
	write_sets(8, 4);
	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		launch_tasks_request_msg_t *req = new_request(8, NULL);
		struct cpltask_plan plan;
		struct cpl_error err = {""};
		int group[8];

		forget_cores();
		if (row[k].cores)
			memcpy(gpu_cores, row[k].cores, sizeof(gpu_cores));
		if (row[k].links)
			memcpy(gpu_links, row[k].links, sizeof(gpu_links));
		step_gpus = row[k].step;
		step_counted = row[k].counted;
		req->tres_bind = (char *)row[k].bind;
		env_array_overwrite(&req->env, "COMM_PROFILE", "sets");
		if (plan_of(req, 0, &plan, &err) != 1)
			fail_msg("row %d: %s", (int)k, err.text);
		assert_int_equal(plan.n_far, 0);
		assert_false(plan.split);
		for (int i = 0; i < 8; i++)
			group[i] = first_of(plan.masks, i, 2) / 32;
		for (int i = 0; i < 8; i++)
			if (row[k].groups ? group[i] != row[k].groups[i] - '0'
			                  : group[i] != group[(i + 4) % 8])
				fail_msg("row %d: rank %d in group %d", (int)k,
				         i, group[i]);
		cpltask_plan_free(&plan);
		free_request(req);
	}
	forget_cores();
}

/* A job that has the second half of a node's GPUs, and tasks that nobody has bound to
 * them; the site wants adapters told. */
static void test_half_a_node(void **state)
{
	static const struct {
		const char *config, *nics;
	} row[] = {
	        {"NearNic=UCX_NET_DEVICES",
	         "verbs;UCX_NET_DEVICES;mlx5_6;mlx5_9;mlx5_10;mlx5_11"},
	        {"NearNic=yes", "verbs;yes;mlx5_6;mlx5_9;mlx5_10;mlx5_11"},
	        {"NearNic=no", NULL},
	};
	static const struct machine machine = {2, 56, 2, 224, 224};
	char command[1024];

	set_node(&snc4);
	set_machine(&machine);
	snprintf(command, sizeof(command),
	         "awk -f " CPL_TEST_SRCDIR "/tests/tools/node-xml.awk "
	         CPL_TEST_SRCDIR "/tests/nodes/dgx-h100.txt >%s",
	         tree_file);
	assert_int_equal(system(command), 0);
	unsetenv("HWLOC_SYNTHETIC");
	setenv("HWLOC_XMLFILE", tree_file, 1);
	write_sets(4, 2);
	forget_cores();
	step_gpus = 0xf0;
	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		launch_tasks_request_msg_t *req = new_request(4, NULL);
		struct cpltask_plan plan;
		struct cpl_error err = {""};

		cpltask_plan_fini();
		write_config(row[k].config);
		req->cpus_per_task = 28;
		env_array_overwrite(&req->env, "COMM_PROFILE", "sets");
		if (plan_of(req, 0, &plan, &err) != 1)
			fail_msg("%s", err.text);
		assert_int_equal(plan.n_far, 0);
		assert_false(plan.split);
		for (int i = 0; i < 4; i++)
			assert_true(first_of(plan.masks, i, 28) >= 56);
		if (row[k].nics)
			assert_string_equal(plan.nics, row[k].nics);
		else
			assert_null(plan.nics);
		cpltask_plan_free(&plan);
		free_request(req);
	}
	write_config("");
}

/* All GPUs in one place: each rank has its share of the cores, and it is logged. */
static void test_gpus_in_one_place(void **state)
{
	launch_tasks_request_msg_t *req = new_request(4, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};
	char log[256];

	set_node(&snc4);
	write_sets(4, 2);
	forget_cores();
	for (int i = 0; i < 8; i++)
		gpu_cores[i] = "0-111";
	snprintf(log, sizeof(log), "%s/log", launch_dir);
	step_gpus = 0xf0;
	req->cpus_per_task = 56;
	env_array_overwrite(&req->env, "COMM_PROFILE", "sets");
	if (plan_of(req, 0, &plan, &err) != 1)
		fail_msg("%s", err.text);
	assert_true(plan.split);
	assert_int_equal(plan.n_far, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(first_of(plan.masks, i, 56), 56 * i);
	cpltask_plan_free(&plan);
	unlink(log);
	log_to(log);
	launch_bind(req, 0);
	log_to(NULL);
	assert_int_equal(lines_with(log, "GPUs not told apart: cores split "
	                                 "evenly"),
	                 1);
	free_request(req);
	forget_cores();
}

/* More ranks than cores near their GPU, and GPUs nobody knows the place of. */
static void test_gpus_far_away(void **state)
{
	launch_tasks_request_msg_t *req = new_request(8, NULL);
	struct cpltask_plan plan;
	struct cpl_error err = {""};
	char log[256];

	set_node(&gpu_node);
	write_sets(8, 4);
	snprintf(log, sizeof(log), "%s/log", launch_dir);
	step_gpus = 0x01;
	credential = "0-3,48-51";
	req->tres_bind = (char *)"gpu:closest";
	env_array_overwrite(&req->env, "COMM_PROFILE", "sets");
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	assert_int_equal(plan.n_far, 4);
	cpltask_plan_free(&plan);
	unlink(log);
	log_to(log);
	launch_bind(req, 0);
	log_to(NULL);
	assert_int_equal(lines_with(log, ", 4 tasks not near their GPU"), 1);
	/* Cores that make no sense. */
	gpu_cores[0] = "zebra";
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	assert_int_equal(plan.n_far, 4);
	cpltask_plan_free(&plan);
	forget_cores();
	/* hwloc sees none of the eight. */
	set_node(&snc4);
	credential = "0-7";
	assert_int_equal(plan_of(req, 0, &plan, &err), 1);
	assert_int_equal(plan.n_far, 0);
	cpltask_plan_free(&plan);
	free_request(req);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_cpus_of_cores),
	        cmocka_unit_test(test_whole_nodes),
	        cmocka_unit_test(test_memory_of_nodes),
	        cmocka_unit_test(test_damaged_trees),
	        cmocka_unit_test(test_gpus_of_tasks),
	        cmocka_unit_test(test_gpus_by_links),
	        cmocka_unit_test(test_ranks_near_their_gpus),
	        cmocka_unit_test(test_half_a_node),
	        cmocka_unit_test(test_gpus_in_one_place),
	        cmocka_unit_test(test_gpus_far_away),
	};

	return cmocka_run_group_tests(tests, launch_set_up, launch_tear_down);
}
