# SPDX-License-Identifier: GPL-2.0-or-later
# build_mpich_recorder SOURCES MPICC DIR [FLAGS...]: libcommplace-record.so in DIR
# as src/record/record.mk builds it, with MPICH's headers and nothing of it linked.
# Needs COMMPLACE_BUILD.
build_mpich_recorder() {
	local top=$1 mpicc=$2 to=$3 word source
	local show flags=() sources=()
	shift 3
	read -ra show < <("$mpicc" -show)
	flags=(-std=gnu11 -O1 -g -ffp-contract=off -fPIC -fvisibility=hidden
		-I"$to" -I"$top/src/core" -I"$COMMPLACE_BUILD")
	for word in "${show[@]}"; do
		case $word in
		-I* | -D*) flags+=("$word") ;;
		esac
	done
	mkdir -p "$to/src/record"
	awk -f "$top/src/record/calls.awk" "$top/src/record/calls.list" \
		>"$to/src/record/calls.inc"
	for source in "$top"/src/record/*.c; do
		case ${source##*/} in
		transfer.c | nccl*) ;;
		*) sources+=("$source") ;;
		esac
	done
	"${CC:-gcc}" "${flags[@]}" "$@" -shared -o "$to/libcommplace-record.so" \
		"${sources[@]}" "$top/src/core/base/linking.c"
}
