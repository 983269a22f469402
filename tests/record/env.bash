# SPDX-License-Identifier: GPL-2.0-or-later
# For the recorder's tests: paths, Open MPI on loopback, what files hold.
# Needs COMMPLACE_BUILD, the build directory.

: "${COMMPLACE_BUILD:?the build directory}"
COMMPLACE=${COMMPLACE:-$COMMPLACE_BUILD/commplace}
PROGRAMS=$COMMPLACE_BUILD/tests/record
LIBRARY=$COMMPLACE_BUILD/.libs/libcommplace-record.so

command -v mpirun >/dev/null || skip_all "no mpirun"
[ -e "$LIBRARY" ] || skip_all "the recorder is not built"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
# The default of Open MPI 4, rdma, has nothing to work on with these; 5 has no
# pt2pt. 6 warns of the names that the others have, and of its own default, ucx,
# on hosts without such a network.
case $(mpirun --version | head -1) in
*" 4."*)
	export OMPI_MCA_osc=pt2pt OMPI_MCA_oob_tcp_if_include=lo
	;;
*" 5."*)
	export OMPI_MCA_oob_tcp_if_include=lo
	export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
	;;
*)
	export OMPI_MCA_osc=rdma
	export PRTE_MCA_prte_if_include=lo PRTE_MCA_mapby=:oversubscribe
	;;
esac
unset COMMPLACE_RECORD_OUT COMMPLACE_RECORD_NAME COMMPLACE_RECORD_APPLICATION

. "${BASH_SOURCE[0]%/*}/matrix.bash"
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
cd "$work" || exit 1

# The sum of the tables of some cases.
expected() {
	local case
	for case in "$@"; do
		awk 'NR > 1 { n = split($1, from, ","); k = split($2, to, ",")
			for (i = 1; i <= n; i++) for (j = 1; j <= k; j++)
				print from[i], to[j], $3, $4 }' \
			"$here/expected/$case"
	done | awk '{ b[$1 " " $2] += $3; m[$1 " " $2] += $4 }
		END { for (p in b) print p, b[p], m[p] }' | LC_ALL=C sort
}

ranks_of() {
	awk '{ print $2; exit }' "$here/expected/$1"
}
