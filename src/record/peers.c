/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peers.h"
#include "kinds.h"
#include "pmpi.h"
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 256

static struct rec_peers *bucket[BUCKETS];
static struct rec_peers *last; /* most calls use the same one again */
static MPI_Group world_group;
static int comm_keyval, window_keyval;

static struct rec_peers **bucket_of(uintptr_t key)
{
	uint64_t h = (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15);

	return &bucket[h >> 56];
}

static struct rec_peers *find(uintptr_t key)
{
	if (last && last->key == key)
		return last;
	for (struct rec_peers *p = *bucket_of(key); p; p = p->next)
		if (p->key == key)
			return last = p;
	return NULL;
}

static void destroy(struct rec_peers *p)
{
	for (int i = 0; i < 2; i++) {
		free(p->world[i]);
		if (i == 0 || p->remote_size)
			pmpi.Group_free(&p->group[i]);
	}
	free(p->out);
	free(p);
}

static void forget(uintptr_t key)
{
	rec_lock();
	last = NULL;
	for (struct rec_peers **at = bucket_of(key); *at; at = &(*at)->next) {
		struct rec_peers *p = *at;

		if (p->key != key)
			continue;
		*at = p->next;
		destroy(p);
		break;
	}
	rec_unlock();
}

static int forget_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
	forget((uintptr_t)comm);
	return MPI_SUCCESS;
}

static int forget_window(MPI_Win window, int keyval, void *value, void *extra)
{
	forget((uintptr_t)window);
	return MPI_SUCCESS;
}

static int no_comm_copy(MPI_Comm comm, int keyval, void *extra, void *value,
                        void *copy, int *flag)
{
	*flag = 0;
	return MPI_SUCCESS;
}

static int no_window_copy(MPI_Win window, int keyval, void *extra, void *value,
                          void *copy, int *flag)
{
	*flag = 0;
	return MPI_SUCCESS;
}

int rec_peers_begin(MPI_Group world)
{
	world_group = world;
	if (pmpi.Comm_create_keyval(no_comm_copy, forget_comm, &comm_keyval,
	                            NULL) != MPI_SUCCESS ||
	    pmpi.Win_create_keyval(no_window_copy, forget_window,
	                           &window_keyval, NULL) != MPI_SUCCESS)
		return -1;
	return 0;
}

void rec_peers_end(void)
{
	rec_lock();
	last = NULL;
	for (int i = 0; i < BUCKETS; i++)
		for (struct rec_peers *p; (p = bucket[i]);) {
			bucket[i] = p->next;
			destroy(p);
		}
	rec_unlock();
}

/* This makes the map of one group, all unknown; the world in its own order needs
 * none. */
static int map_group(struct rec_peers *p, int i, int size)
{
	int same;

	if (pmpi.Group_compare(p->group[i], world_group, &same) ==
	            MPI_SUCCESS &&
	    same == MPI_IDENT)
		return 0;
	p->world[i] = malloc(sizeof(int) * (size_t)(size ? size : 1));
	if (!p->world[i])
		return -1;
	memset(p->world[i], 0xff, sizeof(int) * (size_t)size);
	return 0;
}

static struct rec_peers *new_comm(MPI_Comm comm)
{
	struct rec_peers *p = calloc(1, sizeof(*p));
	int inter = 0;

	if (!p)
		return NULL;
	p->key = (uintptr_t)comm;
	p->n_out = p->number = -1;
	pmpi.Comm_rank(comm, &p->rank);
	pmpi.Comm_size(comm, &p->size);
	pmpi.Comm_group(comm, &p->group[0]);
	pmpi.Comm_test_inter(comm, &inter);
	if (inter) {
		pmpi.Comm_remote_size(comm, &p->remote_size);
		pmpi.Comm_remote_group(comm, &p->group[1]);
	}
	if (map_group(p, 0, p->size) ||
	    (inter && map_group(p, 1, p->remote_size))) {
		destroy(p);
		return NULL;
	}
	return p;
}

static struct rec_peers *new_window(MPI_Win window)
{
	struct rec_peers *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->key = (uintptr_t)window;
	p->n_out = p->number = -1;
	pmpi.Win_get_group(window, &p->group[0]);
	pmpi.Group_size(p->group[0], &p->size);
	if (map_group(p, 0, p->size)) {
		destroy(p);
		return NULL;
	}
	return p;
}

/* This returns with the lock held. */
static struct rec_peers *insert(struct rec_peers *p)
{
	struct rec_peers *other;

	rec_lock();
	other = find(p->key);
	if (other) {
		destroy(p);
		return other;
	}
	p->next = *bucket_of(p->key);
	return last = *bucket_of(p->key) = p;
}

/* The attribute is set without our lock, since the library calls back with its own
 * attribute lock held, and that callback takes ours. */
struct rec_peers *rec_peers_comm(MPI_Comm comm)
{
	struct rec_peers *p;

	rec_lock();
	p = find((uintptr_t)comm);
	if (p)
		return p;
	rec_unlock();
	p = new_comm(comm);
	if (!p)
		return NULL;
	pmpi.Comm_set_attr(comm, comm_keyval, NULL);
	return insert(p);
}

struct rec_peers *rec_peers_window(MPI_Win window)
{
	struct rec_peers *p;

	rec_lock();
	p = find((uintptr_t)window);
	if (p)
		return p;
	rec_unlock();
	p = new_window(window);
	if (!p)
		return NULL;
	pmpi.Win_set_attr(window, window_keyval, NULL);
	return insert(p);
}

int rec_peers_world(struct rec_peers *p, bool remote, int rank)
{
	int *map = p->world[remote], world = MPI_UNDEFINED;

	if (!map)
		return rank;
	if (map[rank] == -1) {
		pmpi.Group_translate_ranks(p->group[remote], 1, &rank,
		                           world_group, &world);
		map[rank] = world < 0 ? REC_OUTSIDE : world;
	}
	return map[rank];
}

uint64_t rec_peers_hash(struct rec_peers *p)
{
	uint64_t h = REC_HASH;

	/* The two groups of an intercommunicator may come in any order. */
	for (int side = 0; side < 2; side++)
		for (int r = 0; r < (side ? p->remote_size : p->size); r++) {
			uint64_t world = (uint64_t)rec_peers_world(p, side, r);

			if (p->remote_size)
				h += rec_hash(REC_HASH, world);
			else
				h = rec_hash(h, world);
		}
	return h;
}

static int cart_neighbours(struct rec_peers *p, MPI_Comm comm)
{
	int n = 0;

	pmpi.Cartdim_get(comm, &n);
	p->out = malloc(sizeof(int) * (size_t)(2 * n + 1));
	if (!p->out)
		return -1;
	for (int d = 0; d < n; d++)
		pmpi.Cart_shift(comm, d, 1, &p->out[2 * d], &p->out[2 * d + 1]);
	p->n_out = 2 * n;
	return 0;
}

static int graph_neighbours(struct rec_peers *p, MPI_Comm comm)
{
	int n = 0;

	pmpi.Graph_neighbors_count(comm, p->rank, &n);
	p->out = malloc(sizeof(int) * (size_t)(n + 1));
	if (!p->out)
		return -1;
	pmpi.Graph_neighbors(comm, p->rank, n, p->out);
	p->n_out = n;
	return 0;
}

static int dist_graph_neighbours(struct rec_peers *p, MPI_Comm comm)
{
	int n_in = 0, n_out = 0, weighted;
	int *other;

	pmpi.Dist_graph_neighbors_count(comm, &n_in, &n_out, &weighted);
	/* This holds sources, their weights and our weights. */
	other = malloc(sizeof(int) * (size_t)(2 * n_in + n_out + 1));
	p->out = malloc(sizeof(int) * (size_t)(n_out + 1));
	if (!other || !p->out) {
		free(other);
		return -1;
	}
	pmpi.Dist_graph_neighbors(comm, n_in, other, other + n_in, n_out,
	                          p->out, other + 2 * (size_t)n_in);
	free(other);
	p->n_out = n_out;
	return 0;
}

int rec_peers_neighbours(struct rec_peers *p, MPI_Comm comm)
{
	int kind = MPI_UNDEFINED;

	if (p->n_out >= 0)
		return 0;
	free(p->out);
	p->out = NULL;
	pmpi.Topo_test(comm, &kind);
	switch (kind) {
	case MPI_CART:
		return cart_neighbours(p, comm);
	case MPI_GRAPH:
		return graph_neighbours(p, comm);
	case MPI_DIST_GRAPH:
		return dist_graph_neighbours(p, comm);
	default:
		p->n_out = 0;
		return 0;
	}
}
