# A site reads models and predicts by them; they are grown in the lab.
site_sources += src/core/learn/features.h src/core/learn/features.c \
	src/core/learn/tree.h src/core/learn/tree.c \
	src/core/learn/model.h src/core/learn/model.c \
	src/core/learn/learned.h src/core/learn/learned.c \
	src/core/learn/models.h src/core/learn/models.c
lab_sources += src/core/learn/concordant.h src/core/learn/concordant.c \
	src/core/learn/samples.h src/core/learn/samples.c \
	src/core/learn/learn.h src/core/learn/learn.c \
	src/core/learn/timed.h src/core/learn/timed.c

# One file for each method, in the order of lists.
learners = src/core/learn/extra_trees.c src/core/learn/boosted.c
lab_sources += $(learners)
lab_tables += src/core/learn/learners.c
src/core/learn/learners.c: scripts/registry.awk Makefile $(learners)
	$(registry) -v type=cpl_learner -v registry=cpl_learners \
		-v header=learn/learn.h $(learners) >$(abs_builddir)/$@
