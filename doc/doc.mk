# man pages and guides
dist_man_MANS += doc/man1/commplace-reorder.1 doc/man1/commplace.1 \
	doc/man5/commplace-events.5 doc/man5/commplace-jobs.5 \
	doc/man5/commplace-machine.5 doc/man5/commplace-network.5 \
	doc/man5/commplace-signature.5 doc/man5/commplace-state.5 \
	doc/man5/commplace-time-model.5 \
	doc/man8/commplace-layout.8 doc/man8/commplaced.8 doc/man8/job_submit_commplace.8 \
	doc/man8/select_cons_tres_commplace.8 doc/man8/spank_commplace.8 \
	doc/man8/switch_commplace.8 doc/man8/task_commplace.8
# Pages of subcommands, each with what src/cmd/help says of its options.
command_pages = doc/man1/commplace-interleave.1 doc/man1/commplace-bench.1 doc/man1/commplace-benefit.1 doc/man1/commplace-bind.1 doc/man1/commplace-campaign.1 \
	doc/man1/commplace-characterize.1 doc/man1/commplace-compare.1 \
	doc/man1/commplace-config.1 doc/man1/commplace-doctor.1 \
	doc/man1/commplace-explain.1 \
	doc/man1/commplace-features.1 doc/man1/commplace-learn.1 \
	doc/man1/commplace-map.1 doc/man1/commplace-network.1 \
	doc/man1/commplace-place.1 doc/man1/commplace-predict-time.1 \
	doc/man1/commplace-record.1 doc/man1/commplace-replay.1 \
	doc/man1/commplace-note.1 doc/man1/commplace-segment.1 doc/man1/commplace-signature.1 doc/man1/commplace-signature-phases.1 doc/man1/commplace-simulate.1 \
	doc/man1/commplace-status.1 doc/man1/commplace-traffic.1
man_MANS = $(command_pages) doc/man5/commplace.conf.5
page_sources = $(command_pages:.1=.1.in)
$(command_pages): src/cmd/help/read.awk src/cmd/help/man.awk $(help_texts) $(page_sources)
	$(AM_V_GEN)$(MKDIR_P) doc/man1 && page=$(@F) && \
	name=$${page#commplace-} && name=$${name%.1} && cd $(srcdir) && \
	text=src/cmd/help/$$name.txt && { test -f $$text || \
	text=src/cmd/help/$${name%-*}.txt; } && \
	$(read_help) src/cmd/help/man.awk $$text $@.in >$(abs_builddir)/$@.new
	$(AM_V_at)mv $@.new $@
doc/man5/commplace.conf.5: $(read_keys) doc/man5/commplace.conf.5.in
	$(make_keys) what=man src/core/site/config_keys.txt $@.in >$(abs_builddir)/$@.new
	$(AM_V_at)mv $@.new $@
CLEANFILES += $(man_MANS)
EXTRA_DIST += src/cmd/help/man.awk $(page_sources) doc/man5/commplace.conf.5.in
# Completions for shells.
completion_bash = completions/bash/commplace
completion_zsh = completions/zsh/_commplace
completion_fish = completions/fish/commplace.fish
bashdir = $(datadir)/bash-completion/completions
zshdir = $(datadir)/zsh/site-functions
fishdir = $(datadir)/fish/vendor_completions.d
nodist_bash_DATA = $(completion_bash)
nodist_zsh_DATA = $(completion_zsh)
nodist_fish_DATA = $(completion_fish)
completions = $(completion_bash) $(completion_zsh) $(completion_fish)
$(completions): src/cmd/help/read.awk src/cmd/help/complete.awk $(help_texts)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && shell=$(@D) && cd $(srcdir) && \
	$(AWK) -v shell=$${shell#completions/} -f src/cmd/help/read.awk \
		-f src/cmd/help/complete.awk $(help_texts) >$(abs_builddir)/$@.new
	$(AM_V_at)mv $@.new $@
# Those of sbatch's, salloc's and srun's options that the SPANK plugin adds.
submit_bash = completions/submit/bash/commplace
submit_zsh = completions/submit/zsh/_commplace-submit
submit_fish = completions/submit/fish/commplace.fish
submitbashdir = $(sysconfdir)/bash_completion.d
submitfishdir = $(datadir)/fish/vendor_conf.d
nodist_submitbash_DATA = $(submit_bash)
nodist_zsh_DATA += $(submit_zsh)
nodist_submitfish_DATA = $(submit_fish)
submit_completions = $(submit_bash) $(submit_zsh) $(submit_fish)
submit_options = $(srcdir)/src/plugins/spank/spank_commplace.c
$(submit_completions): src/cmd/help/submit.awk $(submit_options)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && shell=$(@D) && \
	$(AWK) -v shell=$${shell#completions/submit/} \
		-f $(srcdir)/src/cmd/help/submit.awk $(submit_options) >$@.new
	$(AM_V_at)mv $@.new $@
CLEANFILES += $(submit_completions)
EXTRA_DIST += src/cmd/help/submit.awk
# Which release brought an option, or a key of commplace.conf.
doc_DATA = doc/options-in-versions
doc/options-in-versions: src/cmd/help/read.awk src/cmd/help/versions.awk $(help_texts) $(read_keys)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cd $(srcdir) && \
	{ $(read_help) src/cmd/help/versions.awk $(help_texts) && \
	$(AWK) -f src/core/site/config_keys.awk what=versions src/core/site/config_keys.txt; } \
		>$(abs_builddir)/$@.new
	$(AM_V_at)mv $@.new $@
CLEANFILES += $(completions) doc/options-in-versions
EXTRA_DIST += src/cmd/help/complete.awk src/cmd/help/versions.awk
dist_doc_DATA = README.md NEWS doc/users-guide.md doc/admin-guide.md doc/five-minutes.md doc/five-minutes-row.svg \
	doc/five-minutes-chosen.svg doc/offline.md \
	doc/glossary.md doc/peers.md doc/architecture.md doc/library.md doc/python.md \
	doc/tours.md doc/adding-a-slurm-series.md doc/faults.md \
	doc/symbols-in-versions
exampledir = $(docdir)/examples
dist_example_DATA = doc/examples/map_job.c doc/examples/draw_loads.py

# make html: guides and man pages as a site that needs no network; cmark-gfm, mandoc and
# perl make it.
htmldir_built = html
html_manuals = $(man_MANS) $(dist_man_MANS)
html-local: $(html_manuals)
	@for program in cmark-gfm mandoc perl; do command -v $$program >/dev/null || \
		{ echo "make html needs cmark-gfm, mandoc and perl; $$program is missing" >&2; exit 1; }; done
	$(AM_V_GEN)rm -rf $(htmldir_built) && pages= && \
	for page in $(html_manuals); do \
		[ -f $$page ] || page=$(srcdir)/$$page; pages="$$pages $$page"; done && \
	perl $(srcdir)/doc/html/build.pl $(htmldir_built) $(srcdir) $$pages
install-html-local: html-local
	$(MKDIR_P) $(DESTDIR)$(htmldir) && cp -R $(htmldir_built)/. $(DESTDIR)$(htmldir)
clean-local: clean-html
clean-html:
	rm -rf html
.PHONY: clean-html
EXTRA_DIST += doc/html/build.pl doc/html/style.css doc/html/search.js
