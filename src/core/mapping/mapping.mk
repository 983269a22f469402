core_sources += src/core/mapping/mapping.h \
	src/core/mapping/mapping_internal.h src/core/mapping/mapping.c \
	src/core/mapping/distance.c src/core/mapping/refine.c \
	src/core/mapping/linear.c src/core/mapping/greedyallc.c
core_sources += src/core/mapping/bisect.c src/core/mapping/partition.c
core_sources += src/core/mapping/tasks.h src/core/mapping/tasks.c \
	src/core/mapping/link_sums.h src/core/mapping/link_sums.c \
	src/core/mapping/random.c src/core/mapping/mapper.c \
	src/core/mapping/minmd.c src/core/mapping/topoaware.c \
	src/core/mapping/greedy.c src/core/mapping/fhgreedy.h \
	src/core/mapping/fhgreedy.c src/core/mapping/fhgreedy_refine.c \
	src/core/mapping/udfs.c src/core/mapping/rcm.c \
	src/core/mapping/pacmap.c src/core/mapping/ptram.h \
	src/core/mapping/ptram.c src/core/mapping/ptram_refine.c \
	src/core/mapping/astar.c
core_sources += src/core/mapping/best.c src/core/mapping/best_internal.h \
	src/core/mapping/best_swaps.c src/core/mapping/best_grid.c \
	src/core/mapping/anneal.c src/core/mapping/fold.c \
	src/core/mapping/refine_links.c src/core/mapping/tables.c \
	src/core/mapping/best_chain.h src/core/mapping/best_starts.c \
	src/core/mapping/best_bits.c src/core/mapping/best_nodes.c \
	src/core/mapping/best_symmetry.c \
	src/core/mapping/best_mappers.c
core_sources += src/core/mapping/bipartition.c src/core/mapping/sfc.c
core_sources += src/core/mapping/recursive.c src/core/mapping/treematch.c \
	src/core/mapping/tile.c src/core/mapping/tile.h \
	src/core/mapping/tile_option.c \
	src/core/mapping/capacity.c src/core/mapping/host_graph.c \
	src/core/mapping/rings.c src/core/mapping/rings.h
