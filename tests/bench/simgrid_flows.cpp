/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simgrid_flows.h"

#include <cmath>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

const bool flows_are_ours = false;

namespace
{

/* No window of TCP, no part of the bandwidth for headers or
 * for acknowledgements. */
const char *const settings[] = {
        "network/model:CM02",       "network/bandwidth-factor:1",
        "network/latency-factor:1", "network/weight-S:0",
        "network/TCP-gamma:0",      "network/crosstraffic:0",
};

void send_all(const flow_problem *p, flow_run *run,
              const std::vector<sg::Host *> &from,
              const std::vector<sg::Host *> &to)
{
	double start = sg::Engine::get_clock();
	std::vector<sg::CommPtr> comms;

	for (int i = run->first; i < run->first + run->n; i++) {
		size_t path = (size_t)p->flow[i].path;

		comms.push_back(sg::Comm::sendto_async(
		        from[path / to.size()], to[path % to.size()],
		        (uint64_t)std::llround(p->flow[i].bytes)));
	}
	sg::Comm::wait_all(comms);
	run->seconds = sg::Engine::get_clock() - start;
}

void run_one(const flow_problem *p, flow_run *run,
             const std::vector<sg::Host *> &from,
             const std::vector<sg::Host *> &to)
{
	double second = 0;

	if (!(p->period > 0)) {
		send_all(p, run, from, to);
		return;
	}
	for (int i = 0; i < 3; i++) {
		double start = run->start + i * p->period;

		if (start > sg::Engine::get_clock())
			sg::this_actor::sleep_until(start);
		send_all(p, run, from, to);
		if (i == 1)
			second = run->seconds;
	}
	run->seconds = second;
}

void run_all(const flow_problem *p, const std::vector<sg::Host *> &from,
             const std::vector<sg::Host *> &to)
{
	for (int r = 0; r < p->n_runs; r++) {
		flow_run *run = &p->run[r];
		sg::ActorPtr actor = sg::Actor::create(
		        "run", from[0],
		        [p, run, &from, &to] { run_one(p, run, from, to); });

		if (!p->together)
			actor->join();
	}
}

} // namespace

void flows_simulate(const flow_problem *p)
{
	int argc = 1;
	char name[] = "simgrid_check", *argv[] = {name, nullptr};
	sg::Engine engine(&argc, argv);

	xbt_log_control_set("xbt_cfg.thres:warning");
	for (const char *setting : settings)
		if (p->ideal)
			sg::Engine::set_config(setting);
	sg::NetZone *zone = sg::create_full_zone("machine");
	std::vector<const sg::Link *> link;
	std::vector<sg::Host *> from, to;
	/* A pair of hosts has one route; these stand for paths, not nodes. */
	int side = (int)std::ceil(std::sqrt(p->n_paths)) + 1;

	for (int i = 0; i < p->n_links; i++)
		link.push_back(zone->create_link("link" + std::to_string(i),
		                                 p->bandwidth[i])
		                       ->set_latency(p->ideal ? 0 : p->latency)
		                       ->seal());
	for (int i = 0; i < side; i++) {
		from.push_back(
		        zone->create_host("from" + std::to_string(i), 1));
		to.push_back(zone->create_host("to" + std::to_string(i), 1));
	}
	for (int i = 0; i < p->n_paths; i++) {
		std::vector<sg::LinkInRoute> route;

		for (int k = p->path_first[i]; k < p->path_first[i + 1]; k++)
			route.emplace_back(link[(size_t)p->path_link[k]]);
		zone->add_route(from[(size_t)(i / side)]->get_netpoint(),
		                to[(size_t)(i % side)]->get_netpoint(), nullptr,
		                nullptr, route, false);
	}
	zone->seal();
	sg::Actor::create("driver", from[0],
	                  [p, &from, &to] { run_all(p, from, to); });
	engine.run();
}
