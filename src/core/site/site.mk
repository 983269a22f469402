site_sources += src/core/site/config.h src/core/site/record.h src/core/site/state.h  src/core/site/config.c src/core/site/config_internal.h src/core/site/config_keys.c src/core/site/config_values.c src/core/site/config_names.c src/core/site/config_values.h src/core/site/resolve.c src/core/site/resolve.h src/core/site/site_internal.h src/core/site/state.c src/core/site/record.c src/core/site/record_internal.h src/core/site/record_text.c src/core/site/record_read.c src/core/site/record_store.c
site_sources += src/core/site/size.h src/core/site/size.c
site_sources += src/core/site/engine.h src/core/site/engine_internal.h src/core/site/engine_clerk.h src/core/site/engine_desk.h src/core/site/engine_ledger.h src/core/site/engine.c src/core/site/engine_decide.c src/core/site/engine_deciding.h src/core/site/engine_offer.c src/core/site/engine_compare.c src/core/site/engine_clerk.c src/core/site/engine_decided.c src/core/site/engine_map.c src/core/site/engine_bounds.c src/core/site/engine_choice.c src/core/site/engine_running.c src/core/site/engine_loads.c src/core/site/engine_start.c src/core/site/engine_submit.c src/core/site/submit.h src/core/site/launch.c src/core/site/launch.h src/core/site/engine_step.c src/core/site/engine_handover.c src/core/site/engine_load.c src/core/site/engine_memo.c src/core/site/engine_groups.c src/core/site/engine_segment.c src/core/site/engine_pass.c src/core/site/engine_reach.c src/core/site/engine_shape.c src/core/site/engine_tree.c src/core/site/engine_trial.c src/core/site/engine_unknown.c src/core/site/engine_kept.c src/core/site/engine_volume.c src/core/site/engine_links.c src/core/site/engine_rest.c src/core/site/engine_former.c
site_sources += src/core/site/trial.h src/core/site/trial.c
site_sources += src/core/site/volumes.h src/core/site/volumes.c src/core/site/sample.h src/core/site/sample.c
site_sources += src/core/site/worker.h src/core/site/worker.c src/core/site/worker_internal.h src/core/site/worker_threads.c src/core/site/store.h src/core/site/store.c src/core/site/store_entries.c src/core/site/store_find.c src/core/site/store_internal.h src/core/site/store_profile.c src/core/site/store_read.c src/core/site/store_rights.c
site_sources += src/core/site/record_dir.h src/core/site/record_dir_internal.h \
	src/core/site/record_dir.c src/core/site/record_dir_say.c src/core/site/record_dir_queue.c \
	src/core/site/record_dir_folder.c \
	src/core/site/record_prune.h src/core/site/record_prune.c
# What commands ask of the same files.
lab_sources += src/core/site/profiles.h src/core/site/profiles.c \
	src/core/site/state_loads.c src/core/site/usage.h src/core/site/usage.c
site_sources += src/core/site/counters.h src/core/site/counters.c
site_sources += src/core/site/user_dir.h src/core/site/user_dir.c
site_sources += src/core/site/match.h src/core/site/match.c
node_sources += src/core/site/comment.h src/core/site/comment.c
node_sources += src/core/site/handed.h src/core/site/handed.c src/core/site/verdict.c

# The keys of commplace.conf, from what is said of them.
read_keys = src/core/site/config_keys.awk src/core/site/config_keys.txt
make_keys = $(AM_V_GEN)$(MKDIR_P) $(@D) && cd $(srcdir) && $(AWK) -f src/core/site/config_keys.awk
src/core/site/config_keys.inc: $(read_keys)
	$(make_keys) what=c src/core/site/config_keys.txt >$(abs_builddir)/$@.new
	$(AM_V_at)mv $@.new $@
CLEANFILES += src/core/site/config_keys.inc
EXTRA_DIST += $(read_keys)
$(libsite_la_OBJECTS): src/core/site/config_keys.inc
