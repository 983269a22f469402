site_sources += src/core/mapping/mapping.h \
	src/core/mapping/mapping_internal.h src/core/mapping/mapping.c \
	src/core/mapping/capacity.c src/core/mapping/keyed.c \
	src/core/mapping/host_graph.c src/core/mapping/link_sums.h \
	src/core/mapping/link_sums.c src/core/mapping/refine.c \
	src/core/mapping/bundles.h src/core/mapping/bundles.c \
	src/core/mapping/bundle_loads.c \
	src/core/mapping/repair.c src/core/mapping/refine_links.c \
	src/core/mapping/tables.c \
	src/core/mapping/segments.h src/core/mapping/segments.c src/core/mapping/rank_groups.h src/core/mapping/rank_groups.c \
	src/core/mapping/rank_boxes.h src/core/mapping/rank_boxes.c \
	src/core/mapping/host_evaluate.h src/core/mapping/host_evaluate.c \
	src/core/mapping/host_search.h src/core/mapping/host_search.c \
	src/core/mapping/quick.h \
	src/core/mapping/cell_spread.h src/core/mapping/cell_spread.c \
	src/core/mapping/replace.h src/core/mapping/replace.c \
	src/core/mapping/group_layout.h src/core/mapping/group_layout.c \
	src/core/mapping/domain_layout.h src/core/mapping/domain_layout.c \
	src/core/mapping/domain_search.h src/core/mapping/domain_search.c \
	src/core/mapping/clusters.h src/core/mapping/clusters.c

# One file for each mapper, in the order of lists; a new one is a line here. Lists
# of the lab have what only papers need: no default, nothing that "best" begins
# with.
mappers_1 = src/core/mapping/linear.c \
	src/core/mapping/quick.c \
	src/core/mapping/greedyallc.c
lab_mappers_2 = src/core/mapping/random.c \
	src/core/mapping/mapper.c
mappers_3 = src/core/mapping/minmd.c \
	src/core/mapping/topoaware.c \
	src/core/mapping/greedy.c \
	src/core/mapping/fhgreedy.c
lab_mappers_4 = src/core/mapping/udfs.c
mappers_5 = src/core/mapping/rcm.c \
	src/core/mapping/bipartition.c \
	src/core/mapping/recursive.c \
	src/core/mapping/treematch.c \
	src/core/mapping/tile.c \
	src/core/mapping/sfc.c \
	src/core/mapping/network_order.c \
	src/core/mapping/groups.c \
	src/core/mapping/pacmap.c \
	src/core/mapping/ptram.c \
	src/core/mapping/ptram_refine.c
lab_mappers_6 = src/core/mapping/astar.c
mappers_7 = src/core/mapping/best/best.c
site_mappers = $(mappers_1) $(mappers_3) $(mappers_5) $(mappers_7)
lab_mappers = $(lab_mappers_2) $(lab_mappers_4) $(lab_mappers_6)
mappers = $(mappers_1) $(lab_mappers_2) $(mappers_3) $(lab_mappers_4) \
	$(mappers_5) $(lab_mappers_6) $(mappers_7)
site_sources += $(site_mappers) src/core/mapping/mappers.h \
	src/core/mapping/ptram.h src/core/mapping/tile.h \
	src/core/mapping/tile_option.c
lab_sources += $(lab_mappers)

# commplaced has the site's alone, unless it is configured with all.
if LAB_MAPPERS
commplaced_mappers = $(mappers)
lacking_mappers =
else
commplaced_mappers = $(site_mappers)
lacking_mappers = $(lab_mappers)
endif
mapper_table = $(registry) -v type=cpl_mapper -v header=mapping/mapping.h
whole_tables += src/core/mapping/table.c
src/core/mapping/table.c: scripts/registry.awk Makefile $(mappers)
	$(mapper_table) -v registry=cpl_mappers $(mappers) >$(abs_builddir)/$@
commplaced_tables += src/core/mapping/commplaced_table.c
src/core/mapping/commplaced_table.c: scripts/registry.awk Makefile $(mappers)
	$(mapper_table) -v registry=cpl_mappers $(commplaced_mappers) \
		>$(abs_builddir)/$@
node_sources += src/core/mapping/named.c
node_tables += src/core/mapping/names.c src/core/mapping/lacking.c
src/core/mapping/names.c: scripts/registry.awk Makefile $(mappers)
	$(mapper_table) -v registry=cpl_mapper_names -v names=1 \
		$(commplaced_mappers) >$(abs_builddir)/$@
src/core/mapping/lacking.c: scripts/registry.awk Makefile $(mappers)
	$(mapper_table) -v registry=cpl_mappers_lacking -v names=1 \
		$(lacking_mappers) </dev/null >$(abs_builddir)/$@

site_sources += src/core/mapping/best/best.h \
	src/core/mapping/best/anneal.c src/core/mapping/best/bits.c \
	src/core/mapping/best/chain.h src/core/mapping/best/chain.c src/core/mapping/best/cliques.c \
	src/core/mapping/best/fold.c \
	src/core/mapping/best/grid.c src/core/mapping/best/mappers.c \
	src/core/mapping/best/nest.c src/core/mapping/best/pack.c \
	src/core/mapping/best/refine_bundles.c \
	src/core/mapping/best/rounds.c \
	src/core/mapping/best/starts.c \
	src/core/mapping/best/swaps.c src/core/mapping/best/symmetry.c
node_sources += src/core/mapping/rank_order.h src/core/mapping/rank_order.c
