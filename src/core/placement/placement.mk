core_sources += src/core/placement/decide.h src/core/placement/placement.h \
	src/core/placement/placement_internal.h \
	src/core/placement/placement.c src/core/placement/required.c \
	src/core/placement/units.c src/core/placement/linear.c \
	src/core/placement/random_nodes.c \
	src/core/placement/random_routers.c \
	src/core/placement/random_chassis.c \
	src/core/placement/random_groups.c \
	src/core/placement/round_robin_nodes.c \
	src/core/placement/round_robin_routers.c \
	src/core/placement/blocked.c src/core/placement/objective.c \
	src/core/placement/decide_internal.h \
	src/core/placement/decide.c src/core/placement/evaluator.c \
	src/core/placement/traffic_search.c
