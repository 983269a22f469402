lab_sources += src/core/simulate/simulate.h src/core/simulate/simulate_internal.h \
	src/core/simulate/simulate.c src/core/simulate/ranks.c src/core/simulate/rank_times.c \
	src/core/simulate/transfers.c src/core/simulate/costs.c src/core/simulate/requests.c \
	src/core/simulate/stuck.c \
	src/core/simulate/trace.h src/core/simulate/trace_internal.h \
	src/core/simulate/trace.c src/core/simulate/trace_calls.c \
	src/core/simulate/trace_walk.c src/core/simulate/trace_communicators.c \
	src/core/simulate/trace_collectives.c \
	src/core/simulate/program.h src/core/simulate/program.c \
	src/core/simulate/events.h src/core/simulate/events.c \
	src/core/simulate/timeline.h src/core/simulate/timeline.c \
	src/core/simulate/latencies.h src/core/simulate/latencies.c \
	src/core/simulate/maxmin.h src/core/simulate/maxmin.c \
	src/core/simulate/packets.h src/core/simulate/packet_room.c

# One file for each level, in the order of lists.
sim_levels = src/core/simulate/flow.c src/core/simulate/packet.c
lab_sources += $(sim_levels)
lab_tables += src/core/simulate/sim_levels.c
src/core/simulate/sim_levels.c: scripts/registry.awk Makefile $(sim_levels)
	$(registry) -v type=cpl_sim_level -v registry=cpl_sim_levels \
		-v header=simulate/simulate.h $(sim_levels) >$(abs_builddir)/$@

sim_routings = src/core/simulate/packet_route.c
lab_sources += $(sim_routings)
lab_tables += src/core/simulate/sim_routings.c
src/core/simulate/sim_routings.c: scripts/registry.awk Makefile $(sim_routings)
	$(registry) -v type=cpl_sim_routing -v registry=cpl_sim_routings \
		-v header=simulate/simulate.h $(sim_routings) >$(abs_builddir)/$@
