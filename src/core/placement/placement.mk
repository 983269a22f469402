site_sources += src/core/placement/decide.h src/core/placement/placement.h \
	src/core/placement/placement.c src/core/placement/candidate.c src/core/placement/decide.c \
	src/core/placement/judge.h src/core/placement/judge.c \
	src/core/placement/judge_compare.c src/core/placement/judge_each.c src/core/placement/judge_work.c src/core/placement/judge_internal.h src/core/placement/judge_map.c \
	src/core/placement/judge_order.c src/core/placement/judge_search.c src/core/placement/judge_stated.c

site_sources += src/core/placement/bounds.h src/core/placement/bounds.c src/core/placement/bounds_fit.c src/core/placement/bounds_hold.c src/core/placement/bounds_wish.c
site_sources += src/core/placement/unit_sets.h src/core/placement/unit_sets.c \
	src/core/placement/cut.h src/core/placement/cut.c \
	src/core/placement/wish.h src/core/placement/wish.c \
	src/core/placement/repair.h src/core/placement/repair.c

# The policies, in the order of candidates under "auto": linear is
# the baseline and comes first. A new one is a line here.
policies = src/core/placement/linear.c \
	src/core/placement/best_fit.c \
	src/core/placement/units.c \
	src/core/placement/blocked.c \
	src/core/placement/compact.c \
	src/core/placement/spread.c \
	src/core/placement/whole.c \
	src/core/placement/keep_whole.c \
	src/core/placement/groups.c \
	src/core/placement/segments.c \
	src/core/placement/per_router.c \
	src/core/placement/searches.c
site_sources += $(policies)
site_tables += src/core/placement/table.c
src/core/placement/table.c: scripts/registry.awk Makefile $(policies)
	$(registry) -v type=cpl_placement_policy -v registry=cpl_placements \
		-v header=placement/placement.h $(policies) >$(abs_builddir)/$@
node_tables += src/core/placement/names.c
src/core/placement/names.c: scripts/registry.awk Makefile $(policies)
	$(registry) -v type=cpl_placement_policy -v registry=cpl_placement_names \
		-v header=placement/placement.h -v names=1 $(policies) \
		>$(abs_builddir)/$@
