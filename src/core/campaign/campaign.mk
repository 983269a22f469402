lab_sources += src/core/campaign/asked.h src/core/campaign/asked.c \
	src/core/campaign/bound.h src/core/campaign/bound.c \
	src/core/campaign/nodes.h src/core/campaign/nodes.c \
	src/core/campaign/log.h src/core/campaign/log.c \
	src/core/campaign/jobs.h src/core/campaign/jobs.c \
	src/core/campaign/patterns.c \
	src/core/campaign/easy.h src/core/campaign/easy.c \
	src/core/campaign/backfill.h src/core/campaign/backfill.c \
	src/core/campaign/passes.c \
	src/core/campaign/stock.h src/core/campaign/stock.c \
	src/core/campaign/study.c \
	src/core/campaign/campaign.h src/core/campaign/campaign_internal.h \
	src/core/campaign/campaign.c src/core/campaign/kinds.c \
	src/core/campaign/play.h src/core/campaign/play.c \
	src/core/campaign/kind_traffic.c \
	src/core/campaign/running.h src/core/campaign/running.c \
	src/core/campaign/choose.c \
	src/core/campaign/summary.h src/core/campaign/summary.c

# What others choose, in the order of lists.
campaign_policies = src/core/campaign/policies.c
lab_sources += $(campaign_policies)
lab_tables += src/core/campaign/table.c
src/core/campaign/table.c: scripts/registry.awk Makefile $(campaign_policies)
	$(registry) -v type=campaign_policy -v registry=campaign_policies \
		-v header=campaign/campaign_internal.h $(campaign_policies) \
		>$(abs_builddir)/$@

