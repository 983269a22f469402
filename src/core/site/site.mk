core_sources += src/core/site/config.h src/core/site/record.h src/core/site/state.h  src/core/site/config.c src/core/site/config_internal.h src/core/site/config_keys.c src/core/site/resolve.c src/core/site/resolve.h src/core/site/site_internal.h src/core/site/state.c src/core/site/state_loads.c src/core/site/record.c src/core/site/record_internal.h src/core/site/record_text.c src/core/site/record_read.c src/core/site/record_store.c
core_sources += src/core/site/size.h src/core/site/size.c
core_sources += src/core/site/engine.h src/core/site/engine_internal.h src/core/site/engine.c src/core/site/engine_decide.c src/core/site/engine_deciding.h src/core/site/engine_offer.c src/core/site/engine_compare.c src/core/site/engine_choice.c src/core/site/engine_running.c src/core/site/engine_loads.c src/core/site/background.h src/core/site/background.c src/core/site/engine_start.c src/core/site/engine_submit.c src/core/site/submit.h src/core/site/launch.c src/core/site/launch.h src/core/site/engine_step.c src/core/site/engine_handover.c src/core/site/engine_load.c src/core/site/engine_memo.c src/core/site/engine_groups.c src/core/site/engine_pass.c src/core/site/engine_reach.c src/core/site/engine_shape.c src/core/site/engine_times.c
core_sources += src/core/site/worker.h src/core/site/worker.c src/core/site/worker_internal.h src/core/site/worker_lanes.c src/core/site/store.h src/core/site/store.c src/core/site/store_entries.c src/core/site/store_find.c src/core/site/store_internal.h src/core/site/store_profile.c src/core/site/store_read.c src/core/site/store_rights.c
core_sources += src/core/site/record_dir.h src/core/site/record_dir_internal.h \
	src/core/site/record_dir.c src/core/site/record_dir_queue.c \
	src/core/site/record_dir_folder.c \
	src/core/site/record_prune.h src/core/site/record_prune.c
core_sources += src/core/site/profiles.h src/core/site/profiles.c
core_sources += src/core/site/counters.h src/core/site/counters.c
core_sources += src/core/site/usage.h src/core/site/usage.c src/core/site/user_dir.h src/core/site/user_dir.c
core_sources += src/core/site/match.h src/core/site/match.c
