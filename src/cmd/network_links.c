/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network_links.h"

#include "job_traffic.h"

static void end_row(double bandwidth, const double *bytes, double parts,
                    FILE *out)
{
	fprintf(out, ",%.17g", bandwidth);
	if (bytes)
		fprintf(out, ",%.17g", *bytes / parts);
	putc('\n', out);
}

static void write_cables(const struct cpl_network *net,
                         const struct cpl_load *load, FILE *out)
{
	for (int64_t link = 0; link < net->n_links; link++) {
		int cables = cpl_network_link_cables(net, link);

		for (int i = 0; i < cables; i++) {
			fprintf(out, "%s,%d,%d",
			        net->link_class[net->link_class_of[link]].name,
			        net->link_from[link], net->link_to[link]);
			end_row(cpl_network_link_bandwidth(net, link) / cables,
			        load ? &load->link[link] : NULL, cables, out);
		}
	}
}

/* Links of accelerators: "HOST:NUMBER", and the domain or nothing. */
static void write_inside(const struct cpl_network *net,
                         const struct cpl_load *load,
                         const struct inside_links *links, FILE *out)
{
	const struct cpl_accelerators *a = &net->accelerators;
	const double *bytes = load ? inside_links_of(load, links) : NULL;

	for (int64_t i = 0; i < a->n; i++) {
		int64_t node = i / a->per_node;
		const char *host = net->node_name[node];
		int k = (int)(i % a->per_node);
		char switch_id[24] = "";

		if (!host)
			continue;
		if (links->kind == CPL_INSIDE_DOMAIN)
			snprintf(switch_id, sizeof(switch_id), "%d",
			         a->domain_of[node]);
		if (links->in)
			fprintf(out, "%s,%s,%s:%d", links->name, switch_id,
			        host, k);
		else
			fprintf(out, "%s,%s:%d,%s", links->name, host, k,
			        switch_id);
		end_row(a->bandwidth[links->kind], bytes ? &bytes[i] : NULL, 1,
		        out);
	}
}

void network_write_links(const struct cpl_network *net,
                         const struct cpl_load *load, FILE *out)
{
	struct inside_links inside[2 * CPL_INSIDES];
	int n = inside_links(net, inside);

	fprintf(out, "class,from,to,bandwidth%s\n", load ? ",bytes" : "");
	write_cables(net, load, out);
	for (int k = 0; k < n; k++)
		write_inside(net, load, &inside[k], out);
}
