#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real application: LAMMPS on 4 x 2 x 2 ranks exchanges halos with its
# neighbours in the grid; nearly all bytes go there, the same in every run.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tools/tap.bash"
. "$here/env.bash"
command -v lmp >/dev/null || skip_all "no lmp; apt-get install lammps"

cat >in.lj <<'END'
units lj
atom_style atomic
processors 4 2 2
lattice fcc 0.8442
region box block 0 16 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
run 100
END

for run in first second; do
	runs "$run run" "$COMMPLACE" record -o $run.json -- \
		mpirun -n 16 lmp -in in.lj -log none
	matrix $run.json >$run.matrix
done
ok "$([ -s first.matrix ]; echo $?)" "there is traffic"
cmp -s first.matrix second.matrix
ok $? "both runs have the same matrix"

# Rank = (x * 2 + y) * 2 + z; partners in periodic dimensions.
for ((r = 0; r < 16; r++)); do
	x=$((r / 4)) rest=$((r % 4))
	echo "$r $(((x + 1) % 4 * 4 + rest))"
	echo "$r $(((x + 3) % 4 * 4 + rest))"
	echo "$r $((x * 4 + (rest ^ 1)))"
	echo "$r $((x * 4 + (rest ^ 2)))"
done | sort >halo
is "$(awk '$3 > 100000 { print $1, $2 }' first.matrix | sort)" "$(cat halo)" \
	"pairs of more than 100 kB are the neighbours in the grid, both ways"
share=$(awk 'NR == FNR { halo[$1 " " $2] = 1; next }
	{ all += $3; if (($1 " " $2) in halo) in_halo += $3 }
	END { print int(100 * in_halo / all) }' halo first.matrix)
ok "$([ "$share" -ge 95 ]; echo $?)" "the halo has $share % of all bytes"
is "$(recorded first.json lost_messages)" 0 "nothing was lost"
like "$(grep '"application"' first.json)" '"lmp"' "application"

done_testing
