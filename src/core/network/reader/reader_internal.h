/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the readers share: a graph that grows. */
#pragma once

#include <stdbool.h>

#include "base/hostlist.h"
#include "base/lines.h"
#include "network/reader/reader.h"

struct cpl_draft_router {
	char *name;
	char *shown; /* its name for people, NULL: the same */
	struct cpl_hostlist hosts;
	int line; /* where it stands, 0: only named so far */
	int id;   /* in the description, see cpl_draft_finish */
};

struct cpl_draft_link {
	int from, to;           /* indexes of routers */
	int from_port, to_port; /* of the switches, where the format has them */
	int class, line;
	int parallel; /* number among those of the same two routers */
};

#define CPL_DRAFT_MAX_CLASSES 16
/* A description of more links would be larger than the 64 MB that are read. */
#define CPL_DRAFT_MAX_LINKS (1 << 20)

/* Zero-initialise with err set. */
struct cpl_draft {
	struct cpl_error *err;
	struct cpl_draft_router *router;
	int n_routers;
	json_t *index; /* router name -> index */
	json_t *hosts; /* host name -> index of its router */
	int n_hosts;
	struct cpl_draft_link *link;
	int n_links;
	bool directed;
	int n_classes;
	char class[CPL_DRAFT_MAX_CLASSES][16];
	double bandwidth[CPL_DRAFT_MAX_CLASSES];
	const char *routing;  /* of the graph, NULL: the default */
	int nodes_per_router; /* 0: as many as the largest has */
	/* Made by the reader where it is no graph; else why it is one. */
	json_t *description;
	json_t *accelerators; /* of a graph's description, or NULL */
	struct cpl_error why;
	/* What the text does not tell and the description takes for granted, a
	 * line each: see cpl_draft_doubt. */
	struct cpl_error doubt;
	/* Bytes/s of the fastest host's link, 0: not told. */
	double host_rate;
	bool host_rates_differ;
	int more_ports; /* hosts' ports on other routers than their first */
};

enum cpl_topology_kind {
	CPL_TOPOLOGY_SWITCH,
	CPL_TOPOLOGY_BLOCK,
	CPL_TOPOLOGY_RING,
	CPL_TOPOLOGY_TORUS
};

/* What Slurm's topology files describe: host lists or NULL. */
struct cpl_topology_entry {
	const char *name, *nodes, *switches;
	enum cpl_topology_kind kind;
	int dims[3]; /* of a torus, 0: not given */
};

/* Who takes the entries of a topology.yaml: 0, or -1 with err. */
struct cpl_topology_taker {
	int (*take)(void *into, struct cpl_lines *in,
	            const struct cpl_topology_entry *entry);
	void *into;
};

/* Hand the entries of the topology of that name, or of the cluster's default one,
 * to the taker. How many there are, or -1 with err. */
int cpl_topology_yaml(struct cpl_lines *in, const char *topology,
                      const struct cpl_topology_taker *to);
/* Is a text that, rather than lines of topology.conf? */
bool cpl_topology_is_yaml(const char *text, const char *end);

/* Add the entry of the line at hand, or of the lines up to it. 0, or -1 with
 * err. */
int cpl_topology_add(struct cpl_lines *in, struct cpl_draft *draft,
                     const struct cpl_topology_entry *entry);
/* After the last: is every child described? */
int cpl_topology_check(const struct cpl_lines *in, struct cpl_draft *draft);

/* Bytes/s of hosts' links: of the fastest, else of the fastest of all links, with
 * a doubt; 1 where no speeds are told. */
double cpl_draft_host_rate(struct cpl_draft *draft);

/* ibnetdiscover: leaf switches that all have as many links to each spine are a
 * fat tree, in draft->description; else it is untouched. 0, or -1 with err
 * (memory). O(links + routers). */
int cpl_ib_fattree(const struct cpl_network_import *how,
                   struct cpl_draft *draft);

/* One doubt more. */
void cpl_draft_doubt(struct cpl_draft *draft, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/*
 * ibnetdiscover: the fabric as a dragonfly+ in draft->description if its cells
 * can be told by how switches are joined, otherwise untouched, with
 * draft->why where it is nearly one. 0, or -1 with err (memory). O(links +
 * routers + cells^2 * (K + routers / cells)).
 */
int cpl_ib_dragonfly_plus(const struct cpl_network_import *how,
                          struct cpl_draft *draft);

/* Index of the router of that name, made where it is new; -1 with err. */
int cpl_draft_router(struct cpl_draft *draft, const char *name, size_t length);
/* The same when it is there, else -1. */
int cpl_draft_find(const struct cpl_draft *draft, const char *name);
/* 1 when added, 0 when the host is there already, -1 with err. */
int cpl_draft_host(struct cpl_draft *draft, int router, const char *host);
int cpl_draft_add_link(struct cpl_draft *draft,
                       const struct cpl_draft_link *link);
/* Class of that name; -1 with err when there are too many. */
int cpl_draft_class(struct cpl_draft *draft, const struct cpl_lines *in,
                    const char *name, double bandwidth);
/* Append what a router is called to a list (NULL: there is none). -1: memory. */
int cpl_draft_name_router(const struct cpl_draft *draft, int router,
                          json_t *names);
/* Number routers (those with hosts first, in order of appearance) and parallel
 * links, and make the description. NULL with err. */
json_t *cpl_draft_finish(struct cpl_draft *draft,
                         const struct cpl_network_import *in);
void cpl_draft_free(struct cpl_draft *draft);

struct cpl_network_reader {
	CPL_ENTRY; /* name: the format's */
	/* Read the text into draft. 0 or -1 with err. */
	int (*read)(struct cpl_lines *in, const struct cpl_network_import *how,
	            struct cpl_draft *draft);
	/* Text of the routing table for the routes, NULL: has none. */
	char *(*routes)(struct cpl_lines *in, struct cpl_draft *draft);
};
