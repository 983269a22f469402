/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The busiest link of a job on hosts in rank order, and in a better order:
 * cc map_job.c $(pkg-config --cflags --libs commplace)
 * ./a.out NETWORK SIGNATURE HOSTLIST */
#include <commplace/commplace.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct commplace_error err = {""};
	struct commplace_network *net = NULL;
	struct commplace_signature *sig = NULL;
	struct commplace_traffic *traffic = NULL;
	struct commplace_mapping *map = NULL;
	int n, *node = NULL, rc = EXIT_FAILURE;

	if (argc == 4 && (net = commplace_network_load(argv[1], &err)) &&
	    (sig = commplace_signature_load(argv[2], &err)) &&
	    (node = commplace_network_hostlist(net, argv[3], &n, &err)) &&
	    (traffic = commplace_traffic_new(net, 1, &err)) &&
	    commplace_traffic_add(traffic, sig, node, n, 1, NULL, &err) >= 0 &&
	    !commplace_traffic_evaluate(traffic, &err) &&
	    (map = commplace_mapping_make(net, sig, node, n, 1, "greedyallc",
					  NULL, &err))) {
		printf("busiest link: %.9g s, mapped %.9g s\n",
		       commplace_traffic_max_congestion(traffic),
		       commplace_mapping_max_after(map));
		for (int r = 0; r < commplace_signature_ranks(sig); r++)
			puts(commplace_network_host(
				net, commplace_mapping_rank_node(map)[r]));
		rc = EXIT_SUCCESS;
	} else
		fprintf(stderr, "%s\n", argc == 4 ? err.text : "3 arguments");
	commplace_mapping_free(map), commplace_traffic_free(traffic);
	commplace_signature_free(sig), commplace_network_free(net);
	free(node);
	return rc;
}
