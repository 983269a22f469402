/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "signature/import/otf2_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "signature/signature.h"

int cpl_otf2_check(struct otf2_archive *a, OTF2_ErrorCode error, const char *what)
{
	if (error == OTF2_SUCCESS)
		return 0;
	return *a->err->text ? -1
	                     : cpl_fail(a->err, "%s: %s", what,
	                                OTF2_Error_GetDescription(error));
}

static CPL_SORT_BY(compare, struct otf2_known, CPL_UP(ref))

static int push(struct otf2_table *t, uint64_t ref, int64_t number,
                struct cpl_error *err)
{
	if (cpl_array_grow(&t->item, t->n, sizeof(*t->item), err))
		return -1;
	t->item[t->n++] = (struct otf2_known){ref, number};
	return 0;
}

static void sort(struct otf2_table *t)
{
	if (t->n)
		qsort(t->item, (size_t)t->n, sizeof(*t->item), compare);
}

int64_t cpl_otf2_find(const struct otf2_table *t, uint64_t ref)
{
	struct otf2_known key = {.ref = ref};
	const struct otf2_known *at =
	        t->n ? bsearch(&key, t->item, (size_t)t->n, sizeof(key),
	                       compare)
	             : NULL;

	return at ? at->number : -1;
}

static OTF2_CallbackCode on_clock(void *arg, uint64_t resolution,
                                  uint64_t offset, uint64_t length,
                                  uint64_t date)
{
	struct otf2_archive *a = arg;

	a->ticks = (double)resolution;
	a->offset = offset;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *arg, OTF2_StringRef self,
                                   const char *text)
{
	struct otf2_archive *a = arg;
	char *copy;

	if (push(&a->strings, self, a->n_strings, a->err) ||
	    cpl_array_grow(&a->string, a->n_strings, sizeof(*a->string),
	                   a->err))
		return cpl_otf2_code(-1);
	copy = strdup(text ? text : "");
	a->string[a->n_strings++] = copy;
	return cpl_otf2_code(copy ? 0 : cpl_fail_memory(a->err));
}

static OTF2_CallbackCode
on_region(void *arg, OTF2_RegionRef self, OTF2_StringRef name,
          OTF2_StringRef canonical, OTF2_StringRef description,
          OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
          OTF2_StringRef file, uint32_t begin, uint32_t end)
{
	struct otf2_archive *a = arg;

	if (paradigm != OTF2_PARADIGM_MPI)
		return OTF2_CALLBACK_SUCCESS;
	if (push(&a->regions, self, a->n_regions, a->err) ||
	    cpl_array_grow(&a->region, a->n_regions, sizeof(*a->region),
	                   a->err))
		return cpl_otf2_code(-1);
	a->region[a->n_regions++] = (struct otf2_region){
	        canonical == OTF2_UNDEFINED_STRING ? name : canonical, NULL};
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *arg, OTF2_LocationRef self,
                                     OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t events, OTF2_LocationGroupRef in)
{
	struct otf2_archive *a = arg;
	int64_t n = a->locations.n;

	if (cpl_array_grow(&a->location, n, sizeof(*a->location), a->err) ||
	    cpl_array_grow(&a->stated, n, sizeof(*a->stated), a->err))
		return cpl_otf2_code(-1);
	a->location[n] = self;
	a->stated[n] = events;
	return cpl_otf2_code(push(&a->locations, self, n, a->err));
}

static OTF2_CallbackCode on_group(void *arg, OTF2_GroupRef self,
                                  OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t n, const uint64_t *members)
{
	struct otf2_archive *a = arg;
	struct otf2_group *g;

	if (paradigm != OTF2_PARADIGM_MPI ||
	    (type != OTF2_GROUP_TYPE_COMM_LOCATIONS &&
	     type != OTF2_GROUP_TYPE_COMM_GROUP))
		return OTF2_CALLBACK_SUCCESS;
	if (push(&a->groups, self, a->n_groups, a->err) ||
	    cpl_array_grow(&a->group, a->n_groups, sizeof(*g), a->err))
		return cpl_otf2_code(-1);
	g = &a->group[a->n_groups];
	*g = (struct otf2_group){.n = n, .type = type};
	g->world_ranks = flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS;
	g->member = malloc(((size_t)n + 1) * sizeof(*g->member));
	g->rank = malloc(((size_t)n + 1) * sizeof(*g->rank));
	a->n_groups++;
	if (!g->member || !g->rank)
		return cpl_otf2_code(cpl_fail_memory(a->err));
	memcpy(g->member, members, (size_t)n * sizeof(*g->member));
	if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
		a->world = (int)a->n_groups - 1;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *arg, OTF2_CommRef self,
                                 OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct otf2_archive *a = arg;

	return cpl_otf2_code(push(&a->comms, self, group, a->err));
}

static OTF2_CallbackCode on_window(void *arg, OTF2_RmaWinRef self,
                                   OTF2_StringRef name, OTF2_CommRef comm,
                                   OTF2_RmaWinFlag flags)
{
	struct otf2_archive *a = arg;

	return cpl_otf2_code(push(&a->windows, self, comm, a->err));
}

const struct otf2_group *cpl_otf2_group_of(const struct otf2_archive *a,
                                       uint64_t comm)
{
	int64_t g = cpl_otf2_find(&a->comms, comm);

	g = g < 0 ? -1 : cpl_otf2_find(&a->groups, (uint64_t)g);
	return g < 0 ? NULL : &a->group[g];
}

const struct otf2_group *cpl_otf2_group_of_window(const struct otf2_archive *a,
                                              uint64_t window)
{
	int64_t comm = cpl_otf2_find(&a->windows, window);

	return comm < 0 ? NULL : cpl_otf2_group_of(a, (uint64_t)comm);
}

/* This is cpl_otf2_world_rank without an error. */
static int world_rank(const struct otf2_archive *a, const struct otf2_group *g,
                      uint32_t of)
{
	if (g->world_ranks)
		return of < (uint32_t)a->ranks ? (int)of : -1;
	return of < g->n ? g->rank[of] : -1;
}

int cpl_otf2_world_rank(const struct otf2_archive *a, const struct otf2_group *g,
                    uint32_t of, int rank)
{
	int world = world_rank(a, g, of);

	return world >= 0 ? world
	                  : cpl_fail(a->err,
	                             "an event of rank %d names rank %u of a "
	                             "communicator of %lld",
	                             rank, of, (long long)g->n);
}

int cpl_otf2_group_rank(const struct otf2_archive *a,
                        const struct otf2_group *g, int rank)
{
	int64_t place = cpl_otf2_find(&g->places, (uint64_t)rank);

	return place >= 0 ? (int)place
	                  : cpl_fail(a->err,
	                             "rank %d takes part in a collective "
	                             "operation of a communicator that it is "
	                             "not in",
	                             rank);
}

int cpl_otf2_root_rank(const struct otf2_archive *a, const struct otf2_group *g,
                       uint32_t root, int rank)
{
	int world = world_rank(a, g, root);
	int64_t place =
	        world < 0 ? -1 : cpl_otf2_find(&g->places, (uint64_t)world);

	return place >= 0 ? (int)place
	                  : cpl_fail(a->err,
	                             "a collective operation of rank %d has "
	                             "root %u, which its communicator has not",
	                             rank, root);
}

static int resolve_group(struct otf2_archive *a, struct otf2_group *g)
{
	if (g->n > a->ranks)
		return cpl_fail(a->err, "a communicator of %lld has more ranks "
		                        "than the %d of the program",
		                (long long)g->n, a->ranks);
	for (int64_t i = 0; i < g->n; i++) {
		uint64_t m = g->type == OTF2_GROUP_TYPE_COMM_LOCATIONS
		                     ? (uint64_t)i
		                     : g->member[i];

		if (m >= (uint64_t)a->ranks)
			return cpl_fail(a->err,
			                "a communicator has rank %llu of %d",
			                (unsigned long long)m, a->ranks);
		g->rank[i] = (int)m;
		if (push(&g->places, m, i, a->err))
			return -1;
	}
	sort(&g->places);
	return 0;
}

/* This resolves the ranks of communicators and the names of functions. */
static int resolve(struct otf2_archive *a)
{
	if (a->world < 0 || !a->group[a->world].n)
		return cpl_fail(a->err, "is no trace of an MPI program");
	if (a->group[a->world].n > CPL_SIGNATURE_MAX_RANKS)
		return cpl_fail(a->err, "has more than %d ranks",
		                CPL_SIGNATURE_MAX_RANKS);
	a->ranks = (int)a->group[a->world].n;
	sort(&a->groups);
	sort(&a->comms);
	sort(&a->windows);
	sort(&a->locations);
	sort(&a->strings);
	sort(&a->regions);
	for (int64_t r = 0; r < a->n_regions; r++) {
		int64_t s = cpl_otf2_find(&a->strings, a->region[r].name);

		a->region[r].text = s < 0 ? NULL : a->string[s];
	}
	for (int64_t g = 0; g < a->n_groups; g++)
		if (resolve_group(a, &a->group[g]))
			return -1;
	return 0;
}

int cpl_otf2_definitions(struct otf2_archive *a, bool names)
{
	OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(a->reader);
	OTF2_GlobalDefReaderCallbacks *on = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_ErrorCode error = OTF2_ERROR_INVALID;
	uint64_t n = 0, stated = 0;

	if (defs && on) {
		OTF2_GlobalDefReaderCallbacks_SetLocationCallback(on,
		                                                  on_location);
		OTF2_GlobalDefReaderCallbacks_SetGroupCallback(on, on_group);
		OTF2_GlobalDefReaderCallbacks_SetCommCallback(on, on_comm);
		OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(on, on_window);
		OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
		        on, on_clock);
		if (names) {
			OTF2_GlobalDefReaderCallbacks_SetStringCallback(
			        on, on_string);
			OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
			        on, on_region);
		}
		error = OTF2_Reader_RegisterGlobalDefCallbacks(a->reader, defs,
		                                               on, a);
		if (error == OTF2_SUCCESS)
			error = OTF2_Reader_ReadAllGlobalDefinitions(a->reader,
			                                             defs, &n);
		OTF2_Reader_GetNumberOfGlobalDefinitions(a->reader, &stated);
	}
	OTF2_GlobalDefReaderCallbacks_Delete(on);
	if (cpl_otf2_check(a, error, "definitions"))
		return -1;
	if (n < stated)
		return cpl_fail(a->err, "its definitions end after %llu of %llu",
		                (unsigned long long)n,
		                (unsigned long long)stated);
	return resolve(a);
}
