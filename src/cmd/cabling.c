/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "cabling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "cmd.h"

/* Of routers, and of links. */
#define LISTED 10

#define NAME_SIZE 160

static const char *router_name(const struct cpl_network *net, int router,
                               char out[NAME_SIZE])
{
	if (net->router_name && *net->router_name[router])
		snprintf(out, NAME_SIZE, "%s", net->router_name[router]);
	else
		snprintf(out, NAME_SIZE, "router %d", router);
	return cpl_printable(out);
}

static const char *end_name(const struct cpl_network *net, int64_t link,
                            bool to, char out[NAME_SIZE])
{
	int64_t cables = cpl_network_port_cables(net),
	        cable = link - net->n_links;

	if (cable < 0)
		return router_name(
		        net, to ? net->link_to[link] : net->link_from[link],
		        out);
	if (to == (cable < cables))
		return router_name(net, net->port_router[cable % cables], out);
	cable %= cables;
	snprintf(out, NAME_SIZE, "%s", net->node_name[cable / net->n_ports]);
	if (net->n_ports > 1)
		snprintf(out + strlen(out), NAME_SIZE - strlen(out), ":%d",
		         (int)(cable % net->n_ports));
	return cpl_printable(out);
}
#define END_NAME(net, link, to) end_name(net, link, to, (char[NAME_SIZE]){""})
#define ROUTER_NAME(net, router) router_name(net, router, (char[NAME_SIZE]){""})

bool cabling_differs(const struct cabling_view *view)
{
	return view->measured->n_odds || cpl_cabling_differs(view->cabling);
}

static void print_odds(const struct cpl_measured *m, FILE *out)
{
	for (int i = 0; i < m->n_odds; i++) {
		const struct cpl_measured_odd *o = &m->odd[i];

		fprintf(out, "         %s - %s: ", *o->from ? o->from : "?",
		       *o->to ? o->to : "?");
		if (o->cables)
			fprintf(out, "%d cables were counted, the file has %d\n",
			       o->counted, o->cables);
		else
			fprintf(out, "counted, but not in the file\n");
	}
	if (m->n_odds == CPL_MEASURED_ODDS)
		fprintf(out, "         and so on\n");
}

static void print_routers(const struct cabling_view *view, FILE *out)
{
	const struct cpl_cabling *c = view->cabling;

	for (int i = 0; i < c->n_swaps; i++) {
		const int64_t *link = c->swap[i].link;

		fprintf(out, "         %s - %s and %s - %s %s exchanged\n",
		       END_NAME(view->net, link[0], false),
		       END_NAME(view->net, link[0], true),
		       END_NAME(view->net, link[1], false),
		       END_NAME(view->net, link[1], true),
		       c->n_swaps > 1 ? "may be" : "look");
	}
	for (int64_t i = 0; i < c->n_routers && i < LISTED; i++)
		fprintf(out, "         %s gets %s/s and passes on %s/s\n",
		       ROUTER_NAME(view->net, c->router[i].router),
		       CMD_BYTES(c->router[i].in), CMD_BYTES(c->router[i].out));
	if (c->n_routers > LISTED)
		fprintf(out, "         and so do %" PRId64 " more\n",
		       c->n_routers - LISTED);
}

static void print_links(const struct cabling_view *view, FILE *out)
{
	const struct cpl_cabling *c = view->cabling;

	for (int64_t i = 0; i < c->n_links && i < LISTED; i++)
		fprintf(out, "         %s to %s: %s/s measured, %s/s predicted\n",
		       END_NAME(view->net, c->link[i].link, false),
		       END_NAME(view->net, c->link[i].link, true),
		       CMD_BYTES(c->link[i].measured),
		       CMD_BYTES(c->link[i].predicted));
	if (c->n_links > LISTED)
		fprintf(out, "         and %" PRId64 " more\n", c->n_links - LISTED);
}

void cabling_print(const struct cabling_view *view, FILE *out)
{
	const struct cpl_cabling *c = view->cabling;

	fprintf(out, "cabling  ");
	if (cabling_differs(view))
		fprintf(out, "not as the network file has it:\n");
	else if (c->judged || c->compared)
		fprintf(out, "as the network file has it: %" PRId64
		       " routers pass on what they get\n",
		       c->judged);
	else
		fprintf(out, "not known: of no router all links were measured\n");
	print_odds(view->measured, out);
	print_routers(view, out);
	if (view->job < 0)
		return;
	if (!c->compared)
		fprintf(out, "         job %" PRId64 " sends nothing\n", view->job);
	else if (!c->n_links)
		fprintf(out, "         job %" PRId64
		       ", if it is alone, loads %" PRId64
		       " links as predicted\n",
		       view->job, c->compared);
	else
		fprintf(out, "         job %" PRId64
		       ", if it is alone, loads %" PRId64 " of %" PRId64
		       " links otherwise than predicted%s:\n",
		       view->job, c->n_links, c->compared,
		       cabling_differs(view) ? "" : ", by another routing");
	print_links(view, out);
}

static json_t *links_json(const struct cabling_view *view)
{
	const struct cpl_cabling *c = view->cabling;
	json_t *list = json_array();

	for (int64_t i = 0; i < c->n_links; i++)
		cpl_json_append(
		        list, "{s:s, s:s, s:f, s:f}", "from",
		        END_NAME(view->net, c->link[i].link, false), "to",
		        END_NAME(view->net, c->link[i].link, true), "predicted",
		        c->link[i].predicted, "measured", c->link[i].measured);
	return list;
}

static json_t *routers_json(const struct cabling_view *view)
{
	const struct cpl_cabling *c = view->cabling;
	json_t *list = json_array();

	for (int64_t i = 0; i < c->n_routers; i++)
		cpl_json_append(list, "{s:s, s:f, s:f}", "router",
		                ROUTER_NAME(view->net, c->router[i].router),
		                "in", c->router[i].in, "out", c->router[i].out);
	return list;
}

static json_t *swaps_json(const struct cabling_view *view)
{
	const struct cpl_cabling *c = view->cabling;
	json_t *list = json_array();

	for (int i = 0; i < c->n_swaps; i++) {
		const int64_t *link = c->swap[i].link;

		cpl_json_append(list, "[[s, s], [s, s]]",
		                END_NAME(view->net, link[0], false),
		                END_NAME(view->net, link[0], true),
		                END_NAME(view->net, link[1], false),
		                END_NAME(view->net, link[1], true));
	}
	return list;
}

static json_t *odds_json(const struct cpl_measured *m)
{
	json_t *list = json_array();

	for (int i = 0; i < m->n_odds; i++)
		cpl_json_append(list, "{s:s, s:s, s:i, s:i}", "from",
		                m->odd[i].from, "to", m->odd[i].to, "counted",
		                m->odd[i].counted, "cables", m->odd[i].cables);
	return list;
}

json_t *cabling_json(const struct cabling_view *view)
{
	const struct cpl_cabling *c = view->cabling;
	json_t *root = json_pack(
	        "{s:b, s:I, s:o, s:o, s:o}", "differs", cabling_differs(view),
	        "judged", (json_int_t)c->judged, "routers", routers_json(view),
	        "exchanged", swaps_json(view), "odd",
	        odds_json(view->measured));

	if (root && view->job >= 0)
		cpl_json_update(root, "{s:I, s:I, s:f, s:o}", "job",
		                (json_int_t)view->job, "compared",
		                (json_int_t)c->compared, "scale", c->scale,
		                "links", links_json(view));
	return root;
}
