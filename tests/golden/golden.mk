# Output of the command compared with tables: TAP files *.t.
EXTRA_DIST += tests/golden/links.t tests/golden/links-collectives.t tests/golden/links-damselfly.t tests/golden/traffic.t tests/golden/links
EXTRA_DIST += tests/golden/explain.t tests/golden/status.t tests/golden/explain tests/golden/replay.t
EXTRA_DIST += tests/golden/site.t tests/golden/site
EXTRA_DIST += tests/golden/compare.t tests/golden/compare
EXTRA_DIST += tests/golden/import
EXTRA_DIST += tests/golden/mapping.t tests/golden/mapping
EXTRA_DIST += tests/golden/networks.t tests/golden/networks-aries.t tests/golden/against.t
EXTRA_DIST += tests/golden/scale.t tests/golden/times.t
EXTRA_DIST += tests/golden/manuals.t
EXTRA_DIST += tests/golden/map-output.t
EXTRA_DIST += tests/golden/binding.t tests/golden/names.t
EXTRA_DIST += tests/golden/simulate.t tests/golden/signature.t tests/golden/signature
EXTRA_DIST += tests/golden/job-profiles.t tests/golden/learn.t
EXTRA_DIST += tests/golden/campaign.t tests/golden/keep-whole.t
EXTRA_DIST += tests/golden/bench.t tests/golden/interleave.t tests/golden/doctor.t tests/golden/schema.t
EXTRA_DIST += tests/golden/python.t tests/golden/python
EXTRA_DIST += tests/golden/training.t
