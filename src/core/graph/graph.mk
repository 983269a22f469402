node_sources += src/core/graph/arena.h src/core/graph/arena.c \
	src/core/graph/comm.h src/core/graph/comm_rows.h \
	src/core/graph/comm.c src/core/graph/contract.h \
	src/core/graph/contract.c src/core/graph/heap.h \
	src/core/graph/heap.c src/core/graph/members.h \
	src/core/graph/members.c src/core/graph/partition.h \
	src/core/graph/bisect.c src/core/graph/partition.c \
	src/core/graph/rank_grid.h src/core/graph/rank_grid.c \
	src/core/graph/grouping.h src/core/graph/groups.c src/core/graph/grouping.c \
	src/core/graph/grouping_fast.c src/core/graph/grouping_uneven.c \
	src/core/graph/tree.h src/core/graph/tree.c \
	src/core/graph/treematch.h src/core/graph/treematch.c
lab_sources += src/core/graph/comm_gather.h src/core/graph/comm_gather.c
