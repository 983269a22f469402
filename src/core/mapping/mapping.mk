core_sources += src/core/mapping/mapping.h \
	src/core/mapping/mapping_internal.h src/core/mapping/mapping.c \
	src/core/mapping/capacity.c \
	src/core/mapping/host_graph.c src/core/mapping/link_sums.h \
	src/core/mapping/link_sums.c src/core/mapping/refine.c \
	src/core/mapping/bundles.h src/core/mapping/bundles.c \
	src/core/mapping/bundle_loads.c \
	src/core/mapping/repair.c src/core/mapping/refine_links.c \
	src/core/mapping/tables.c \
	src/core/mapping/rank_groups.h src/core/mapping/rank_groups.c \
	src/core/mapping/rank_boxes.h src/core/mapping/rank_boxes.c \
	src/core/mapping/host_evaluate.h src/core/mapping/host_evaluate.c \
	src/core/mapping/host_search.h src/core/mapping/host_search.c \
	src/core/mapping/quick.h \
	src/core/mapping/rank_order.h src/core/mapping/rank_order.c \
	src/core/mapping/clusters.h src/core/mapping/clusters.c

# One file for each paper's algorithm, in the order of lists; a new one is a
# line here.
mappers = src/core/mapping/linear.c \
	src/core/mapping/quick.c \
	src/core/mapping/greedyallc.c \
	src/core/mapping/random.c \
	src/core/mapping/mapper.c \
	src/core/mapping/minmd.c \
	src/core/mapping/topoaware.c \
	src/core/mapping/greedy.c \
	src/core/mapping/fhgreedy.c \
	src/core/mapping/udfs.c \
	src/core/mapping/rcm.c \
	src/core/mapping/bipartition.c \
	src/core/mapping/recursive.c \
	src/core/mapping/treematch.c \
	src/core/mapping/tile.c \
	src/core/mapping/sfc.c \
	src/core/mapping/network_order.c \
	src/core/mapping/pacmap.c \
	src/core/mapping/ptram.c \
	src/core/mapping/ptram_refine.c \
	src/core/mapping/astar.c \
	src/core/mapping/best/best.c
core_sources += $(mappers) src/core/mapping/mappers.h \
	src/core/mapping/ptram.h src/core/mapping/tile.h \
	 src/core/mapping/tile_option.c
core_tables += src/core/mapping/table.c
src/core/mapping/table.c: scripts/registry.awk Makefile $(mappers)
	$(registry) -v type=cpl_mapper -v registry=cpl_mappers \
		-v header=mapping/mapping.h $(mappers) >$(abs_builddir)/$@

core_sources += src/core/mapping/best/best.h \
	src/core/mapping/best/anneal.c src/core/mapping/best/bits.c \
	src/core/mapping/best/chain.h src/core/mapping/best/cliques.c \
	src/core/mapping/best/fold.c \
	src/core/mapping/best/grid.c src/core/mapping/best/mappers.c \
	src/core/mapping/best/nest.c src/core/mapping/best/pack.c \
	src/core/mapping/best/refine_bundles.c \
	src/core/mapping/best/rounds.c \
	src/core/mapping/best/starts.c \
	src/core/mapping/best/swaps.c src/core/mapping/best/symmetry.c
