site_sources += src/core/routing/routing.h src/core/routing/routing.c \
	src/core/routing/dimensions.h src/core/routing/route_finder.c src/core/routing/dragonfly_paths.h \
	src/core/routing/static_indirect.h \
	src/core/routing/legs.h src/core/routing/local_paths.h src/core/routing/kinds_direct.h \
	src/core/routing/backlog.h src/core/routing/backlog.c \
	src/core/routing/one_link.c src/core/routing/many_links.c

# One file for each routing; the first that a network takes is its default. A
# new one is a line here.
routings = src/core/routing/static_direct.c \
	src/core/routing/kinds_direct.c \
	src/core/routing/static_indirect.c \
	src/core/routing/kinds_indirect.c \
	src/core/routing/static_indirect_sampled.c \
	src/core/routing/adaptive_routings.c \
	src/core/routing/dimension_order.c \
	src/core/routing/adaptive_minimal.c \
	src/core/routing/dmodk.c \
	src/core/routing/shortest_path.c \
	src/core/routing/table.c \
	src/core/routing/ecmp.c \
	src/core/routing/ecmp_graph.c \
	src/core/routing/haec.c \
	src/core/routing/progressive/progressive.c \
	src/core/routing/adaptive_hops.c \
	src/core/routing/adaptive_up.c \
	src/core/routing/ugal.c \
	src/core/routing/o1turn.c
site_sources += $(routings)
site_tables += src/core/routing/routings.c
src/core/routing/routings.c: scripts/registry.awk Makefile $(routings)
	$(registry) -v type=cpl_routing -v registry=cpl_routings \
		-v header=routing/routing.h $(routings) >$(abs_builddir)/$@

site_sources += src/core/routing/progressive/progressive.h \
	src/core/routing/progressive/groups.h \
	src/core/routing/progressive/groups.c \
	src/core/routing/progressive/runs.c \
	src/core/routing/progressive/runs.h \
	src/core/routing/progressive/equilibrium.h \
	src/core/routing/progressive/equilibrium.c
site_sources += src/core/routing/adaptive/adaptive.h \
	src/core/routing/adaptive/path_table.h \
	src/core/routing/adaptive/solver.h \
	src/core/routing/adaptive/adaptive.c src/core/routing/adaptive/direct.c \
	src/core/routing/adaptive/blocks.c src/core/routing/adaptive/drawn.c \
	src/core/routing/adaptive/links.c src/core/routing/adaptive/transits.c \
	src/core/routing/adaptive/turns.c \
	src/core/routing/adaptive/memory.c \
	src/core/routing/adaptive/path_table.c
