/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

char *bind_ranks_on(const struct bind_job *job, hwloc_obj_t object)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	int n = 0;

	if (job->allowed &&
	    !hwloc_bitmap_intersects(object->cpuset, job->allowed))
		return strdup("");
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (int i = 0; i < job->n_ranks; i++)
		if (hwloc_bitmap_intersects(job->result.cpuset[i],
		                            object->cpuset))
			fprintf(out, "%s%d", n++ ? "," : "", job->rank[i]);
	if (n == 0)
		fputc('-', out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static json_t *set_json(hwloc_const_bitmap_t set)
{
	json_t *list = json_array();
	unsigned i;

	hwloc_bitmap_foreach_begin(i, set)
	        json_array_append_new(list, json_integer(i));
	hwloc_bitmap_foreach_end();
	return list;
}

/* How many memory domains (cores with the same NUMA nodes) may be used and how
 * many are, and the most ranks in one. */
struct domain_counts {
	int n, used, most;
};

/* Count the domains of these ranks; a rank counts where its first core is. */
static struct domain_counts count_domains(const struct bind_job *job)
{
	struct domain_counts d = {0};
	hwloc_obj_t core = NULL, last = NULL;
	int ranks = 0;

	while ((core = hwloc_get_next_obj_by_type(job->topology, HWLOC_OBJ_CORE,
	                                          core))) {
		if (job->allowed &&
		    !hwloc_bitmap_intersects(core->cpuset, job->allowed))
			continue;
		if (!last ||
		    !hwloc_bitmap_isequal(core->nodeset, last->nodeset)) {
			d.n++;
			ranks = 0;
		}
		last = core;
		for (int i = 0; i < job->n_ranks; i++) {
			int cpu = hwloc_bitmap_first(job->result.cpuset[i]);

			if (!hwloc_bitmap_isset(core->cpuset, (unsigned)cpu))
				continue;
			d.used += !ranks++;
			d.most = ranks > d.most ? ranks : d.most;
		}
	}
	return d;
}

static json_t *levels_json(const struct cpl_bind_result *result)
{
	json_t *levels = json_array();

	for (int l = 0; l < result->n_levels; l++) {
		const struct cpl_bind_level *level = &result->level[l];

		cpl_json_append(levels, "{s:s, s:i, s:f, s:f}", "name",
		                level->name, "distance", level->distance,
		                "bytes", level->bytes, "messages",
		                level->messages);
	}
	return levels;
}

/* The GPUs of a rank, by their place in the machine. */
static json_t *gpus_of(const struct bind_job *job, int rank)
{
	json_t *list = json_array();

	for (int g = 0; g < job->n_gpus; g++)
		if (job->uses[(size_t)rank * (size_t)job->n_gpus + (size_t)g])
			json_array_append_new(list, json_integer(job->gpu[g]));
	return list;
}

static json_t *nics_of(const struct bind_job *job, int rank)
{
	const char *s = job->near.nic[rank];
	json_t *list = json_array();

	while (s && *s) {
		size_t length = strcspn(s, ",");

		json_array_append_new(list, json_stringn(s, length));
		s += length + (s[length] == ',');
	}
	return list;
}

static void add_gpus(const struct bind_job *job, json_t *out)
{
	json_t *gpus = json_array(), *nics = json_array();
	json_t *all = json_array();

	for (int g = 0; g < job->devices.n_gpus; g++)
		json_array_append_new(all,
		                      json_string(job->devices.gpu[g].address));
	json_object_set_new(out, "gpus", all);
	for (int i = 0; i < job->n_ranks; i++) {
		json_array_append_new(gpus, gpus_of(job, i));
		json_array_append_new(nics, nics_of(job, i));
	}
	json_object_set_new(out, "rank_to_gpus", gpus);
	json_object_set_new(out, "rank_to_nics", nics);
	json_object_set_new(out, "gpu_cores",
	                    json_string(job->near.from == CPL_GPU_SPLIT
	                                        ? "split"
	                                        : "tree"));
}

json_t *bind_json(const struct bind_job *job)
{
	json_t *out;
	json_t *ranks = json_array(), *pus = json_array();
	json_t *masks = json_array(), *nodes = json_array();
	struct domain_counts d = count_domains(job);

	for (int i = 0; i < job->n_ranks; i++) {
		char *mask = NULL;

		hwloc_bitmap_taskset_asprintf(&mask, job->result.cpuset[i]);
		json_array_append_new(ranks, json_integer(job->rank[i]));
		json_array_append_new(pus, set_json(job->result.cpuset[i]));
		json_array_append_new(nodes, set_json(job->result.nodeset[i]));
		json_array_append_new(masks, json_string(mask ? mask : ""));
		free(mask);
	}
	out = json_pack(
	        "{s:s, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:i, s:{s:i, s:i, "
	        "s:i}, s:o}",
	        "algorithm", job->binder->name, "ranks", ranks, "rank_to_pus",
	        pus, "masks", masks, "rank_to_numa_nodes", nodes, "cost",
	        job->result.cost, "cost_packed", job->packed.cost,
	        "cost_round_robin", job->round_robin.cost, "far_from_gpu",
	        job->result.n_far, "memory_domains", "allowed", d.n, "used",
	        d.used, "most_ranks", d.most, "levels",
	        levels_json(&job->result));
	if (out && job->has_gpus)
		add_gpus(job, out);
	return out;
}

int bind_print_masks(const struct cmd *self, const struct bind_job *job)
{
	for (int i = 0; i < job->n_ranks; i++) {
		char *mask = NULL;

		hwloc_bitmap_taskset_asprintf(&mask, job->result.cpuset[i]);
		if (!mask)
			return cmd_fail_memory(self);
		printf("%s%s", i ? "," : "", mask);
		free(mask);
	}
	putchar('\n');
	return CMD_OK;
}

/* Logical indexes of the cores that a set of CPUs lies in. */
static char *cores_of(hwloc_topology_t topology, hwloc_const_cpuset_t set)
{
	hwloc_bitmap_t cores = hwloc_bitmap_alloc();
	hwloc_obj_t core = NULL;
	char *text = NULL;

	while (cores && (core = hwloc_get_next_obj_by_type(
	                         topology, HWLOC_OBJ_CORE, core)))
		if (hwloc_bitmap_intersects(core->cpuset, set))
			hwloc_bitmap_set(cores, core->logical_index);
	if (cores)
		hwloc_bitmap_list_asprintf(&text, cores);
	hwloc_bitmap_free(cores);
	return text;
}

/* Masks of more digits than a person reads are left to --format mask. */
static bool masks_are_short(const struct bind_job *job)
{
	for (int i = 0; i < job->n_ranks; i++)
		if (hwloc_bitmap_last(job->result.cpuset[i]) >= 64)
			return false;
	return true;
}

static const char *or_unknown(const char *text)
{
	return text ? text : "?";
}

/* The GPUs of a rank as "0,1", to be freed; NULL: memory. */
static char *gpu_list(const struct bind_job *job, int rank)
{
	const bool *uses = job->uses + (size_t)rank * (size_t)job->n_gpus;
	const char *comma = "";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int g = 0; out && g < job->n_gpus; g++)
		if (uses[g]) {
			fprintf(out, "%s%d", comma, job->gpu[g]);
			comma = ",";
		}
	if (out && fclose(out)) {
		free(text);
		text = NULL;
	}
	return text;
}

static void print_rank(const struct bind_job *job, int i,
                       struct cmd_table *table)
{
	char *cpus = NULL, *mask = NULL, *nodes = NULL, *gpus = NULL;
	char *cores = cores_of(job->topology, job->result.cpuset[i]);

	hwloc_bitmap_list_asprintf(&cpus, job->result.cpuset[i]);
	hwloc_bitmap_list_asprintf(&nodes, job->result.nodeset[i]);
	hwloc_bitmap_taskset_asprintf(&mask, job->result.cpuset[i]);
	if (job->has_gpus) {
		const char *nic = job->near.nic[i];

		gpus = gpu_list(job, i);
		cmd_table_row(table, "%d|%s|%s|%s|%s|%s|%s", job->rank[i],
		              or_unknown(cores), or_unknown(cpus),
		              or_unknown(nodes), or_unknown(gpus),
		              nic ? nic : "-", or_unknown(mask));
	} else {
		cmd_table_row(table, "%d|%s|%s|%s|%s", job->rank[i],
		              or_unknown(cores), or_unknown(cpus),
		              or_unknown(nodes), or_unknown(mask));
	}
	cpl_free_all(cores, cpus, nodes, gpus, mask);
}

static int print_ranks(const struct bind_job *job)
{
	bool masks = masks_are_short(job);
	struct cmd_table *table =
	        cmd_table_new(job->has_gpus ? (masks ? "rllllll" : "rlllll")
	                                    : (masks ? "rllll" : "rlll"));

	if (job->has_gpus)
		cmd_table_row(table, "RANK|CORES|CPUS|NUMA|GPU|NIC|MASK");
	else
		cmd_table_row(table, "RANK|CORES|CPUS|NUMA|MASK");
	for (int i = 0; i < job->n_ranks; i++)
		print_rank(job, i, table);
	return cmd_table_print(table);
}

static int print_costs(const struct bind_job *job)
{
	const struct {
		const char *name;
		const struct cpl_bind_result *result;
	} row[] = {{"packed", &job->packed},
	           {"round-robin", &job->round_robin},
	           {job->binder->name, &job->result}};
	struct cmd_table *table = cmd_table_new("lrlrr");

	cmd_table_row(table, "ALGORITHM|COST|TRAFFIC WITHIN|BYTES|MESSAGES");
	for (int i = 0; i < 3; i++) {
		const struct cpl_bind_result *r = row[i].result;
		char cost[32];

		snprintf(cost, sizeof(cost), "%.6g", r->cost);
		if (r->n_levels == 0)
			cmd_table_row(table, "%s|%s|-|-|-", row[i].name, cost);
		for (int l = 0; l < r->n_levels; l++)
			cmd_table_row(table, "%s|%s|%s|%s|%.6g",
			              l ? "" : row[i].name, l ? "" : cost,
			              r->level[l].name,
			              CMD_BYTES(r->level[l].bytes),
			              r->level[l].messages);
	}
	return cmd_table_print(table);
}

hwloc_obj_t bind_branching(hwloc_obj_t object)
{
	while (object->arity == 1 && !bind_is_core(object))
		object = object->first_child;
	return object;
}

bool bind_is_core(hwloc_obj_t object)
{
	return object->type == HWLOC_OBJ_CORE || object->arity == 0 ||
	       object->first_child->type == HWLOC_OBJ_PU;
}

/* One object of a name; groups are only known by their memory. */
static void append_name(hwloc_obj_t object, char *name, size_t size)
{
	size_t used = strlen(name);

	if (object->type == HWLOC_OBJ_GROUP)
		return;
	used += (size_t)snprintf(name + used, size - used, "%s",
	                         used ? ", " : "");
	if (used < size)
		hwloc_obj_type_snprintf(name + used, size - used, object, 0);
	used = strlen(name);
	if (object->parent)
		snprintf(name + used, size - used, " %u",
		         object->logical_index);
}

void bind_name(hwloc_obj_t object, char *name, size_t size)
{
	hwloc_obj_t top = object;
	bool own_memory;
	size_t used;

	name[0] = '\0';
	while (top->parent && top->parent->arity == 1)
		top = top->parent;
	for (hwloc_obj_t o = top; o; o = o == object ? NULL : o->first_child)
		append_name(o, name, size);
	own_memory =
	        object->nodeset && top->parent && top->parent->nodeset &&
	        hwloc_bitmap_weight(object->nodeset) == 1 &&
	        !hwloc_bitmap_isequal(object->nodeset, top->parent->nodeset);
	used = strlen(name);
	if (own_memory)
		snprintf(name + used, size - used,
		         used ? " (NUMA %d)" : "NUMA %d",
		         hwloc_bitmap_first(object->nodeset));
	else if (used == 0)
		snprintf(name, size, "Group %u", object->logical_index);
}

static int print_cores(const struct bind_job *job, hwloc_obj_t object,
                       int width)
{
	for (unsigned i = 0; i < object->arity; i++) {
		char *ranks = bind_ranks_on(job, object->children[i]);

		if (!ranks)
			return -1;
		printf(" %*s", width, *ranks ? ranks : "x");
		free(ranks);
	}
	putchar('\n');
	return 0;
}

/* label: columns of the names next to it; cell: of the ranks on a core. */
static int print_object(const struct bind_job *job, hwloc_obj_t object,
                        int indent, int label, int cell)
{
	char name[80];
	int length = 0;

	object = bind_branching(object);
	bind_name(object, name, sizeof(name));
	if (bind_is_core(object)) {
		char *ranks = bind_ranks_on(job, object);

		if (!ranks)
			return -1;
		printf("%*s%s:%*s %s\n", indent, "", name,
		       label - (int)strlen(name), "",
		       *ranks ? ranks : "not allowed");
		free(ranks);
		return 0;
	}
	printf("%*s%s", indent, "", name);
	if (object->first_child->type == HWLOC_OBJ_CORE ||
	    hwloc_get_nbobjs_inside_cpuset_by_type(
	            job->topology, object->cpuset, HWLOC_OBJ_CORE) ==
	            (int)object->arity) {
		printf(":%*s", label - (int)strlen(name), "");
		return print_cores(job, object, cell);
	}
	putchar('\n');
	for (unsigned i = 0; i < object->arity; i++) {
		bind_name(bind_branching(object->children[i]), name,
		          sizeof(name));
		if ((int)strlen(name) > length)
			length = (int)strlen(name);
	}
	for (unsigned i = 0; i < object->arity; i++)
		if (print_object(job, object->children[i], indent + 2, length,
		                 cell))
			return -1;
	return 0;
}

/* Columns of the longest list of ranks on one core. */
static int cell_columns(const struct bind_job *job)
{
	hwloc_obj_t core = NULL;
	int columns = 1;

	while ((core = hwloc_get_next_obj_by_type(job->topology, HWLOC_OBJ_CORE,
	                                          core))) {
		char *ranks = bind_ranks_on(job, core);

		if (!ranks)
			return -1;
		if ((int)strlen(ranks) > columns)
			columns = (int)strlen(ranks);
		free(ranks);
	}
	return columns;
}

static int print_tree(const struct bind_job *job)
{
	int columns = cell_columns(job);

	printf("\nRanks on the cores (-: free, x: not allowed)\n");
	if (columns < 0)
		return -1;
	return print_object(job, hwloc_get_root_obj(job->topology), 0, 0,
	                    columns);
}

static void print_domains(const struct bind_job *job)
{
	struct domain_counts d = count_domains(job);

	if (d.n < 2)
		return;
	printf("\nRanks are in %d of %d memory domains, at most %d in one",
	       d.used, d.n, d.most);
	if (d.used < d.n)
		printf("; the memory bandwidth of %d is idle", d.n - d.used);
	putchar('\n');
}

int bind_print(const struct cmd *self, const struct bind_job *job)
{
	int rc = print_ranks(job);

	if (rc == CMD_OK) {
		if (print_tree(job))
			return cmd_fail_memory(self);
		putchar('\n');
		rc = print_costs(job);
		print_domains(job);
	}
	if (rc == CMD_OK && job->result.n_far)
		printf("\n%d ranks are not near their GPU: too few cores "
		       "there\n",
		       job->result.n_far);
	if (rc == CMD_OK && job->has_gpus && job->near.from == CPL_GPU_SPLIT)
		printf("\nThe topology has all GPUs in one place: cores are "
		       "split evenly in their order\n");
	return rc;
}
