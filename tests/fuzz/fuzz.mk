# Fuzz targets are built by tests/fuzz/run, with clang: fuzz_X.c, seeds in
# corpus/X. Nothing to register.
EXTRA_DIST += tests/fuzz
