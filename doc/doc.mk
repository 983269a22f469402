# man pages and guides
dist_man_MANS += doc/man1/commplace.1 doc/man1/commplace-explain.1 doc/man1/commplace-status.1 doc/man1/commplace-replay.1
dist_man_MANS += doc/man8/spank_commplace.8 doc/man8/job_submit_commplace.8
dist_man_MANS += doc/man1/commplace-place.1 doc/man1/commplace-map.1
dist_man_MANS += doc/man1/commplace-bind.1 doc/man8/task_commplace.8
dist_man_MANS += doc/man5/commplace-network.5 doc/man1/commplace-network.1 doc/man1/commplace-traffic.1
dist_doc_DATA = README.md NEWS doc/users-guide.md doc/admin-guide.md doc/offline.md \
	doc/glossary.md doc/architecture.md doc/library.md \
	doc/tours.md doc/adding-a-slurm-series.md doc/faults.md
exampledir = $(docdir)/examples
dist_example_DATA = doc/examples/map_job.c
dist_man_MANS += doc/man1/commplace-record.1 doc/man1/commplace-reorder.1 doc/man5/commplace-events.5 doc/man5/commplace-machine.5
dist_man_MANS += doc/man5/commplace-signature.5 doc/man5/commplace.conf.5 doc/man5/commplace-state.5 doc/man1/commplace-signature.1 doc/man1/commplace-config.1
dist_man_MANS += doc/man8/select_cons_tres_commplace.8 doc/man8/switch_commplace.8
dist_man_MANS += doc/man1/commplace-compare.1
dist_man_MANS += doc/man1/commplace-campaign.1 doc/man1/commplace-characterize.1 doc/man1/commplace-simulate.1 doc/man5/commplace-jobs.5
dist_man_MANS += doc/man1/commplace-features.1 doc/man1/commplace-learn.1 doc/man1/commplace-predict-time.1 doc/man5/commplace-time-model.5
