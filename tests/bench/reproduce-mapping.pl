#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Inputs of reproduce-mapping (npb, hosts, cg) and its report:
# doc/reproduction/mapping.md from the evaluations in a folder, with figures.
use strict;
use warnings;
use JSON::PP;

# Messages of pairs, both ways (NPB 3.3: neighbors.f, make_set.f).
sub npb {
	my ($app, $ranks) = shift =~ /^(LU|BT)\.[CD]\.(\d+)$/ or die;
	my $side = sqrt $ranks;
	my %messages = (
		LU => {64 => 80829, 256 => 80829, 1024 => 80829, 4096 => 245021},
		BT => {64 => 3218, 256 => 6434, 1024 => 12866, 4096 => 32130});
	my $m = $messages{$app}{$ranks};
	print "# ranks $ranks\n";
	for my $c (0 .. $side - 1) {
		for my $r (0 .. $side - 1) {
			my $i = $r + $side * $c;
			my @to;
			if ($app eq 'LU') {
				push @to, [$i + 1, $c] if $r + 1 < $side;
				push @to, [$i + $side, $r] if $c + 1 < $side;
			} else {
				my $up = ($c + 1) % $side;
				@to = map { [$_] } ($r + 1) % $side + $side * $c,
					$r + $side * $up,
					($r - 1) % $side + $side * $up;
			}
			for (@to) {
				my ($j, $line) = @$_;
				my $n = $m + (defined $line
					&& ($line == 0 || $line == $side - 1));
				print "$i $j $n $n\n";
			}
		}
	}
}

# 512 of GPC's 3,090 nodes: 17 leaves, or drawn from all; by number or shuffled.
sub hosts {
	my $order = shift;
	my $x = 1;
	my $shuffle = sub {
		my @h = @_;
		for my $i (reverse 1 .. $#h) {
			$x = ($x * 1103515245 + 12345) % 2147483648;
			my $k = int($x / 65536) % ($i + 1);
			@h[$i, $k] = @h[$k, $i];
		}
		return @h;
	};
	my @h = $order =~ /^leaves/ ? (1 .. 512)
		: ($shuffle->(1 .. 3090))[0 .. 511];
	@h = $order =~ /shuffled$/ ? $shuffle->(@h) : sort { $a <=> $b } @h;
	printf "gpc%04d\n", $_ for @h;
}

# Class D on 32 x 32: 1,500,000 / 32 numbers in each message.
sub cg {
	my $bytes = 8 * 46875;
	print "# ranks 1024\n";
	for my $row (0 .. 31) {
		for my $column (0 .. 31) {
			my $i = 32 * $row + $column;
			for (my $bit = 1; $bit < 32; $bit *= 2) {
				printf "%d %d %d 1\n", $i,
					32 * $row + ($column ^ $bit), $bytes;
			}
			printf "%d %d %d 1\n", $i, 32 * $column + $row, $bytes
				if $row != $column;
		}
	}
}

my $folder;

# Rows of a --compare by algorithm; {} where it was not run.
sub rows {
	open my $in, '<', "$folder/$_[0].json" or return {};
	local $/;
	my $json = eval { decode_json(<$in>) } or return {};
	return {map { $_->{algorithm} => $_ }
		grep { !$_->{error} } @{$json->{rows}}};
}

sub text {
	open my $in, '<', "$folder/$_[0]" or return undef;
	local $/;
	return <$in>;
}

sub table {
	my @rows = @_;
	print '| ', join(' | ', @{$rows[0]}), " |\n|",
		join('|', map { '---' } @{$rows[0]}), "|\n";
	print '| ', join(' | ', @$_), " |\n" for @rows[1 .. $#rows];
	print "\n";
}

my @sharunov = qw(mapper minmd bipartition pacmap topoaware-1 greedy greedyallc
	fhgreedy udfs);
my %total = ('LU.C.64' => 9052876, 'LU.C.256' => 38797980,
	'LU.C.1024' => 160364860, 'LU.D.4096' => 1975849596,
	'BT.C.64' => 617856, 'BT.C.256' => 4941312, 'BT.C.1024' => 39524352,
	'BT.D.4096' => 394813440);
my @metrics = qw(hop_bytes max_congestion nonzero_congestion_average
	nonzero_congestion_variance);
my %printed; # workload, machine: values of the thesis

sub sharunov {
	my ($same, $cells, $better) = (0, 0, 0);
	while (my $line = <DATA>) {
		my ($app, $machine, @value) = split ' ', $line;
		$printed{$app}{$machine} = \@value;
	}
	print <<'END';
## Sharunov 2017: chapter 4 and appendix B

Hops per message (IeNPC / IePLC) on a 3-D mesh, torus and HAEC Box, one rank a
node, weights are numbers of messages. *thesis* | *ours*; **bold** where the
number behind both is the same: the total of hops, or on the mesh from 256 ranks
on WTAD cut to a whole number (there the thesis's totals contradict its WTAD, and
hops are taken from WTAD). `linear` is the default order; of it the thesis prints
WTAD and the C.64 averages, and what is here follows from those. "-": not run in
the thesis.

END
	for my $app (qw(LU.C.64 BT.C.64 LU.C.256 BT.C.256 LU.C.1024 BT.C.1024
		LU.D.4096 BT.D.4096)) {
		my ($n) = $app =~ /(\d+)$/;
		my %rows = map { lc substr($_, 0, 1) => rows("sharunov-$app-$_") }
			qw(mesh torus haec);
		my @table = [$app, 'mesh', 'ours', 'torus', 'ours', 'HAEC',
			'ours'];
		for my $name ('linear', @sharunov, 'best') {
			my ($k) = grep { $sharunov[$_] eq $name } 0 .. $#sharunov;
			my @row = ("`$name`");
			for my $machine (qw(M T H)) {
				my $ours = $rows{lc $machine}{$name};
				my $got = $ours ? $ours->{hop_bytes} : undef;
				my $has = defined $k ? $printed{$app}{$machine}[$k]
					: '';
				my ($equal, $hops) = (0, '');
				if ($has eq '*') { $hops = '-' }
				elsif ($has =~ s/^w//) {
					$hops = $has * ($n * $n - 1) / 2 / $total{$app};
					$equal = defined $got
						&& int(2 * $got / ($n * $n - 1)) == $has;
				} elsif ($has) {
					$hops = $has / $total{$app};
					$equal = defined $got && $got == $has;
				}
				if ($has && $has ne '*' && defined $got) {
					$cells++;
					$same += $equal;
					$better += !$equal
						&& $got / $total{$app} < $hops * (1 - 1e-3);
				}
				$hops = sprintf '%.3f', $hops if $hops =~ /^\d/;
				my $text = defined $got
					? sprintf('%.3f', $got / $total{$app}) : 'not run';
				push @row, $equal ? ("**$hops**", "**$text**")
					: ($hops, $text);
			}
			push @table, \@row;
		}
		table(@table);
	}
	print <<"END";
Of $cells cells $same are the same and $better are lower here. The same are GreedyALLC on
the mesh (8 of 8) and first-order TopoAware on the mesh (6 of 6). The rest cannot
be: `mapper` draws random numbers, `bipartition` depends on METIS's version and
seed, the others on how ties between tasks or nodes are broken, which the thesis
does not say (200 random tie-breaks of GreedyALLC on LU.C.64, mesh, span 1.32 to
2.05). GreedyALLC on LU.C.64 is the same on torus and HAEC Box too when it starts
on node (1,1,1), as the thesis does: on a torus all nodes are alike, and ours
starts with the first host of the list. `tests/unit/test_sharunov.c` gives that
node first and gets the mapping of all 64 tasks, the totals 9052876 and 9295364,
and the hops by message size of Tables B.9 and B.11.

END
	print <<'END';
![Hops of a message, and the thesis' as marks](mapping-sharunov.svg)

### Claims (S1 to S24)

Numbers are those of the list that the issues go by. What a test asserts fails where it
no longer holds. The rest is in the tables above; times, rates and energy are in
[simulation.md](simulation.md).

| claim | here | |
|---|---|---|
| S1: messages of the eight workloads in all | `reproduce-mapping.pl npb APPLICATION`, summed: all eight | yes |
| S2: pairs that talk, and messages of each: least, mean, most | the same: all eight | yes |
| S3: LU.C.64's messages by size (Table 5.1) | `test_sharunov`, test_histograms | yes |
| S4: hops of the default order, LU and BT, three topologies | `test_sharunov`, test_default_order | yes |
| S5: the same by size of message | test_hops_by_size | yes |
| S6: WTAD of the default order is one number on all topologies | test_default_order: it is that of the mesh; `map` has WTAD with the topology's own distance | yes |
| S7: diameters 9, 6, 4 | test_distances | yes |
| S8: hops from (0,0,0) to (2,0,1) of 3 x 3 x 3 | test_distances | yes |
| S9: hops before the simulation are those in it | by the same rule of hops; the default's in [simulation.md](simulation.md) | yes |
| S10: on the mesh WTAD is IeNPC times 2 / (n^2 - 1), cut, at 64 ranks, and the printed totals contradict it from 256 on | `test_mappers` asserts total and WTAD of each of 14 mappings; theirs agree with the printed WTAD | yes |
| S11: total over mean of a link is the number of links in use | our GreedyALLC of LU.C.64 on the torus has 112 pairs one hop apart: 112 links of 80,830 at most, as theirs | yes |
| S12: GreedyALLC on the mesh, lowest index | the tables: 8 of 8; `test_mappers` | yes |
| S13: GreedyALLC of LU.C.64 on torus and HAEC from node (1,1,1) | `test_sharunov`, test_greedyallc_from_the_centre | yes |
| S14: first-order TopoAware on the mesh | the tables: 6 of 6; `test_mappers` | yes |
| S15: LU.C.64 on the torus has an order of dilation 1 | `pacmap`, `topoaware-1`, `greedyallc`, `fhgreedy`, `best` find one | yes |
| S15b: TopoAware of order 2 is that of order 1 on a torus | test_topoaware_2_is_1_on_a_torus | yes |
| S16: Mapper at 64 ranks | all six within what 200 seeds span | yes |
| S17: five leaders at 64 ranks: Mapper, PaCMap, TopoAware, GreedyALLC, FHGreedy | here they are the first five in all six columns; in the thesis FHGreedy is not | yes |
| S18: LU is best with GreedyALLC on the torus, BT with Mapper on HAEC | 1.000 and 1.115, the least of that mapper and of that column; by time: [simulation.md](simulation.md) | yes |
| S19: hops fall from mesh to torus to HAEC for every mapper | 66 of 72 rows of mappers; theirs have two exceptions, ours are PaCMap, TopoAware and GreedyALLC where they find the torus' optimum | mostly |
| S20: the five leaders beat the default on torus and HAEC (LU.C.64) | all ten; theirs but FHGreedy on the torus | yes |
| S22: seconds of mapping, PaCMap from 1,024 to 4,096 ranks some 50 times | CPU seconds of `map --raw --threads 1` on the torus: PaCMap 0.023 and 0.214, GreedyALLC 0.009 and 0.031, TopoAware 0.027 and 0.463 | no: the thesis measures Python on a laptop |
| S24: cells of Bipartition, PaCMap, Greedy, FHGreedy, UDFS, MinMD, and of TopoAware and GreedyALLC beyond the mesh | ours beside theirs in the tables | cannot: how ties are broken, METIS' version and the order of searches are not told; 300,000 variants tried found none |

END
}

my @order = (
	['leaves-shuffled', '17 leaf switches, host list in no order'],
	['leaves-by-number', '17 leaf switches, by number'],
	['scattered-shuffled', 'drawn from all nodes, host list in no order'],
	['scattered-by-number', 'drawn from all nodes, by number']);
my @pattern = (['5-point', '2-D 5-point'], ['15-point', '3-D 15-point'],
	['all-to-all', 'sub-communicator all-to-all']);
my @names = (['ptram-refine', 'PTRAM'], ['greedy', 'LibTopoMap greedy'],
	['recursive', 'LibTopoMap Rec'], ['rcm', 'LibTopoMap RCM'],
	['scotch', 'LibTopoMap Scotch'], ['best', '`best`']);

sub ratios {
	my ($order, $pattern, $name) = @_;
	my $rows = rows("ptram-$order-$pattern");
	$rows = {%$rows, %{rows("ptram-scotch-$order-$pattern")}};
	return () unless $rows->{$name} && $rows->{linear};
	return map { $rows->{linear}{$_} ? $rows->{$name}{$_}
		/ $rows->{linear}{$_} : 1 } @metrics;
}

sub ptram {
	print <<'END';
## PTRAM: Figures 5 and 6

4,096 ranks, 8 a node, on 512 nodes of the GPC fat tree. All numbers are relative
to the block in-order mapping. The paper's figures are bars; what its text says is
in the second line of each table. Neither GPC's static routes nor the job's nodes
are published. Assumed here (`etc/networks/gpc-nodes.json`): every node has a
cable of its own, so that a route is 2, 4 or 6 links and goes by its destination
node; the port up is the destination's number modulo the ports at each level
(`dmodk`). Which nodes, and in which order the host list has them, is tried four
ways; the first gives the paper's gains, for all three patterns:
**512 nodes of 17 whole leaf switches, host list in no particular order.** Sorted
by number, the default order is already near for a 2-D grid.

Groups of ranks (the first stage) are ours for all mappers; the paper has Scotch's
for PTRAM and ParMETIS's for LibTopoMap. LibTopoMap's four are better here than
in the paper, where they often are worse than the default order: ours see the
distances of the fat tree and start from the same groups.

END
	my %says = ('5-point' => ['below 0.40', '0.32', '0.27', 'below 0.40'],
		'15-point' => ['below 1', '0.50', 'below 1', 'below 1'],
		'all-to-all' => ['below 1', '0.50', 'below 1', 'below 1']);
	for my $order (@order) {
		print "### $order->[1]\n\n";
		my @head = map { ("HB", "MC", "NZCA", "NZCV") } @pattern;
		my @table = ['', map { my $p = $_->[0];
			map { "$p $_" } qw(HB MC NZCA NZCV) } @pattern];
		push @table, ['paper, PTRAM', map { @{$says{$_->[0]}} } @pattern]
			if $order == $order[0];
		for my $name (@names) {
			push @table, [$name->[1], map {
				my @r = ratios($order->[0], $_->[0], $name->[0]);
				@r ? map({ sprintf '%.2f', $_ } @r)
					: ('not run') x 4 } @pattern];
		}
		table(@table);
	}
	print "![Metrics of the first reading](mapping-ptram.svg)\n\n";
	claims();
	my $stages = text('stages.txt');
	print <<'END';
### By stage (Figure 6), first reading

Largest congestion relative to the default order. The paper: 5-point 0.45 after
the groups, 0.3 at the end; 15-point 0.71 and 0.50; all-to-all about 1 and 0.50.

END
	print $stages ? "```\n$stages```\n\n"
		: "Not run: reproduce-mapping with BENCH.\n\n";
	print <<'END';
| claim | here | |
|---|---|---|
| P5: 2-D: groups bring the largest congestion to 0.45, the mapping to some 0.3 | 0.64, 0.25, refined 0.24 | the end yes, groups less: ours are not Scotch's |
| P6: 2-D: groups of Scotch and ParMETIS are alike; LibTopoMap's mapping then makes them worse | one way of grouping here; its four mappers lower it from 0.64 to 0.25 to 0.46 | no: they see the tree's distances here |
| P7: 3-D: PTRAM adds 21 points (0.71 to 0.50) and ends best | 0.72 to 0.43, Scotch 0.42 | the points yes, best nearly |
| P8: all-to-all: groups have almost no effect, the mapping does it all | 1.07, then 0.41 | yes |
| P15: Gadget's metrics 0.3 of the default's | | cannot: its pattern is not published |
| Q1: refinement never raises the largest congestion, at most 10 swaps, none the second time | `test_ptram`, test_refinement | yes |
| Q2: the unit of volume changes nothing | test_unit_of_volume | yes |
| Q3: the default order scores 4 | test_default_order_scores_4 | yes |
| Q4: sums kept along are those computed again | test_sums_follow_the_model | yes |
| Q5: of two nodes with equal hop-bytes the one with less congestion | test_routes_tell_equal_hops_apart | yes |
| Q6: 2-D below the default in all stages; all-to-all by the mapping | the stages above; test_five_point_stencil | yes |
| Q7: the default order where nothing is better | `test_mapping_properties`, test_never_worse_than_default | yes |

END
	figure();
}

# Of the first reading: what the paper says, what comes out.
sub claims {
	my @four = grep { $_->[1] =~ /^Lib/ } @names;
	my $r = sub { my @r = ratios('leaves-shuffled', @_); \@r };
	my $percent = sub { map { defined $_
		? sprintf('%+.0f%%', 100 * ($_ - 1)) : 'not run' } @_ };
	my @table = ['Claim', 'here', 'holds'];
	my @five = @{$r->('5-point', 'ptram-refine')};
	return unless @five;
	push @table, ['P1: 2-D: all four numbers fall by more than 60 %',
		join(', ', $percent->(@five)),
		(grep { $_ >= 0.4 } @five) ? 'no' : 'yes'];
	push @table, ['P1: 2-D: NZCA falls most, by 73 %; largest congestion by 68 %',
		join(', ', $percent->(@five[2, 1])),
		$five[1] <= 0.32 && $five[2] <= 0.27 ? 'yes' : $five[1] <= 0.32
		? 'largest congestion only' : 'no'];
	for (['15-point', 'P3: 3-D'], ['all-to-all', 'P4: all-to-all']) {
		my $mc = $r->($_->[0], 'ptram-refine')->[1];
		push @table, ["$_->[1]: largest congestion falls by 50 %",
			$percent->($mc), $mc <= 0.5 ? 'yes'
			: $mc <= 0.6 ? 'nearly' : 'no'];
	}
	my @others = map { $r->('5-point', $_->[0]) } @four;
	push @table, ['P2: 2-D: LibTopoMap is worse than the default order',
		'hop-bytes ' . join(', ', $percent->(map { $_->[0] } grep { @$_ }
			@others)),
		(grep { @$_ && $_->[0] <= 1 } @others) ? 'no' : 'yes'];
	my %number = ('5-point' => 'P2', '15-point' => 'P3', 'all-to-all' => 'P4');
	for my $p (@pattern) {
		my $own = $r->($p->[0], 'ptram-refine')->[1];
		my @mc = map { $_->[1] } grep { @$_ }
			map { $r->($p->[0], $_->[0]) } @four;
		push @table, ["$number{$p->[0]}: $p->[1]: PTRAM's largest congestion is below "
			. "LibTopoMap's", join(' ', $percent->($own), 'against',
			join ', ', $percent->(@mc)),
			(grep { $_ < $own } @mc) ? 'no' : 'yes'];
	}
	for my $p (@pattern) {
		my @own = @{$r->($p->[0], 'ptram-refine')};
		my @best = @{$r->($p->[0], 'best')} or next;
		my @lower = (qw(HB MC NZCA NZCV))[grep { $best[$_] <= $own[$_] }
			0 .. 3];
		push @table, ["$p->[1]: `best` is below PTRAM",
			join(', ', $percent->(@best)), @lower == 4 ? 'yes'
			: @lower ? 'in ' . join ', ', @lower : 'no'];
	}
	table(@table);
}

# Bars: a group for each pattern and number, a bar for each mapper.
sub figure {
	my @colour = ('#1f5fa8', '#8a8a8a', '#a8a8a8', '#c4c4c4', '#e0e0e0',
		'#d9822b');
	my @bars;
	for my $p (@pattern) {
		push @bars, [$p->[1], map { [ratios('leaves-shuffled', $p->[0],
			$_->[0])] } @names];
	}
	my ($w, $h, $left, $top, $panel) = (960, 330, 50, 50, 300);
	open my $out, '>', "$folder/mapping-ptram.svg" or die "$folder: $!\n";
	print $out qq(<svg xmlns="http://www.w3.org/2000/svg" width="$w" ),
		qq(height="$h" font-family="sans-serif" font-size="12">\n),
		qq(<rect width="$w" height="$h" fill="white"/>\n);
	my $scale = 190;
	my $base = $top + $scale * 1.1;
	for my $y (0, 0.25, 0.5, 0.75, 1) {
		my $at = $base - $scale * $y;
		printf $out qq(<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" ) .
			qq(stroke="%s"/>\n<text x="%d" y="%.1f" text-anchor="end">) .
			qq(%s</text>\n), $left, $w - 10, $at, $at,
			$y == 1 ? '#444' : '#ddd', $left - 6, $at + 4, $y;
	}
	for my $i (0 .. $#bars) {
		my ($title, @values) = @{$bars[$i]};
		my $x0 = $left + 10 + $i * $panel;
		printf $out qq(<text x="%.1f" y="%d" text-anchor="middle" ) .
			qq(font-size="14">%s</text>\n), $x0 + 138, $top - 10, $title;
		for my $m (0 .. 3) {
			my $x = $x0 + $m * 72;
			printf $out qq(<text x="%.1f" y="%.1f" text-anchor=) .
				qq("middle">%s</text>\n), $x + 30, $base + 16,
				(qw(HB MC NZCA NZCV))[$m];
			for my $k (0 .. $#names) {
				next unless @{$values[$k]};
				my $v = $values[$k][$m];
				my $tall = $scale * ($v > 1.1 ? 1.1 : $v);
				printf $out qq(<rect x="%.1f" y="%.1f" width="9" ) .
					qq(height="%.1f" fill="%s"/>\n), $x + 10 * $k,
					$base - $tall, $tall, $colour[$k];
			}
		}
	}
	my $x = $left + 10;
	for my $k (0 .. $#names) {
		next unless @{$bars[0][1 + $k]};
		(my $name = $names[$k][1]) =~ s/`//g;
		printf $out qq(<rect x="%d" y="%d" width="11" height="11" ) .
			qq(fill="%s"/>\n<text x="%d" y="%d">%s</text>\n), $x,
			$h - 28, $colour[$k], $x + 16, $h - 18, $name;
		$x += 40 + 7 * length $name;
	}
	print $out "</svg>\n";
	close $out or die "mapping-ptram.svg: $!\n";
}

sub routing_aware {
	print <<'END';
## A routing table tells equal distances apart

In the manner of PTRAM's Figures 1 and 2 (their graph is not in the text):
`tests/golden/mapping/two-halves.json`, three nodes on each of two switches that
are joined by two ways, routes by destination: two of the far nodes are reached
through the one, the third through the other. `linear`, `greedyallc`, `minmd`,
`topoaware`, `greedy`, `fhgreedy`, `pacmap`, `udfs` and `astar` end with 208
hop-bytes and a largest congestion of 8; `ptram`, `ptram-refine`, `fhgreedy-mc`
and `best` with the same hop-bytes and 4. With `--routing shortest-path`, which
takes one of the two ways for all, `ptram` has 8 as well.
`tests/golden/mapping.t` runs it.

END
}

sub dragonfly {
	print <<'END';
## NAS CG on a dragonfly

1,024 ranks (class D, one product of matrix and vector), one a node, the first
1,024 nodes of `etc/networks/edison.json` in order. The default order suits the
sums over rows, so that a mapper can end above it; `best` starts from it as well.

END
	my @table = ['', 'hop-bytes', 'largest congestion, default 1'];
	my $default;
	for my $name (qw(scotch treematch recursive best)) {
		my $rows = rows("cg-$name");
		my $d = $rows->{linear};
		push @table, ['`linear`, the default order',
			sprintf('%.2f GB', $d->{hop_bytes} / 1e9), '1.00']
			if $d && @table == 1;
		my $r = $rows->{$name};
		push @table, ["`$name`", $r
			? (sprintf('%.2f GB', $r->{hop_bytes} / 1e9), sprintf('%.2f',
				$r->{max_congestion} / $d->{max_congestion}))
			: ('not run', 'not run')];
	}
	table(@table);
}

sub block {
	my ($title, $file, $words) = @_;
	my $text = text($file);
	print "## $title\n\n$words\n\n",
		defined $text ? "```\n$text```\n\n" : "Not run.\n\n";
}

sub report {
	$folder = shift // '.';
	print <<'END';
# Mapping: the sources' numbers and ours

Made by `tests/bench/reproduce-mapping`, which says how to make it again. Mappers
are as they are, without the rule of `commplace map` that the default order is
kept where it is better.

END
	sharunov();
	ptram();
	routing_aware();
	dragonfly();
	block('Measured applications', 'maplib.txt',
		"CG, AMG, LULESH, BT-MZ at 64 ranks on a 4 x 4 x 4 torus, 12 published\n"
		. "placements each: `bench_mapping -m FOLDER`. The least hop-bytes and the least\n"
		. "largest link load of the placements, then those of `best` and their ratio to\n"
		. "them.");
	block('Against Scotch', 'scotch.txt',
		"Scotch's gmap, the better of its strategies in each number, and `best` on one thread\n"
		. "with as much processor time as gmap's slowest strategy took: `bench_mapping -g\n"
		. "scotch_gmap -s -t 1`, or reproduce-mapping with BENCH and GMAP.");
	block('Time', 'times.txt',
		"`bench_times`, CPU seconds of one thread. The marks to meet:\n"
		. "`greedyallc` on 4,096 tasks 0.3 s, `topoaware-1` on 1,024 0.3 s, `ptram` on\n"
		. "512 nodes (groups and heuristic, 5-point) 0.2 s, its refinement 0.1 s.");
}

my $what = shift // '';
if ($what eq 'npb') { npb(shift) }
elsif ($what eq 'hosts') { hosts(shift) }
elsif ($what eq 'cg') { cg() }
elsif ($what eq 'report') { report(shift) }
else { die "usage: $0 npb APP | hosts ORDER | cg | report FOLDER\n" }

__DATA__
LU.C.64 M 14225946 18994893 18024923 14630085 12609362 25057044 10992778 20692274 19075674
LU.C.64 T 12609356 18509915 17054971 13983449 12124382 22632174 9052876 16812480 16650804
LU.C.64 H 9214534 13660147 10750291 11235261 9133705 13983468 9295364 10588631 13255986
BT.C.64 M 1293646 1570384 1576820 1255020 1171352 1872876 1209968 1589692 1879312
BT.C.64 T 1029760 1390176 1357996 1113428 1055504 1576820 1094120 1370868 1551076
BT.C.64 H 685434 920348 878514 881732 740140 933220 762666 936438 1020106
LU.C.256 M w2881 w3820 w2915 w2168 w1822 w4637 w2276 w3095 w4366
LU.C.256 T 85517198 100389820 85921361 68623896 68543081 125770042 63046690 94085104 112109885
LU.C.256 H 40252904 67573189 53670536 52134782 40414561 79778340 43405240 75009404 65067405
BT.C.256 M w463 w482 w567 w337 w307 w709 w342 w492 w567
BT.C.256 T 10628968 13704420 14302782 10275098 9599528 19192622 10371608 13800930 15203542
BT.C.256 H 5784166 8923958 11439652 7759404 5983620 12359714 5951450 10390910 9052638
LU.C.1024 M w774 w1248 w1455 w673 w335 w1772 w763 w1009 w1452
LU.C.1024 T 336329731 492491514 559822037 342310983 333904816 679448820 332611496 444317336 591345098
LU.C.1024 H 211206351 250650977 503403339 248306842 165376267 389919341 172650878 391050904 382482954
BT.C.1024 M w268 w305 w388 w183 w160 w503 w189 w279 w413
BT.C.1024 T 92712396 133626276 156682148 89856144 83899186 191832060 88479482 127244740 166846288
BT.C.1024 H 67649428 72860158 130293982 66813138 48131706 119100562 51078020 113465254 118264272
LU.D.4096 M * w1214 w1128 w556 * w1499 w577 w892 w1550
LU.D.4096 T * 8404956438 7350385784 4462567878 * 10216886160 4374360289 6908367878 9575175921
LU.D.4096 H * 3558685601 6574159166 3443035424 * 5418639916 2104240619 5588684537 6046138454
BT.D.4096 M * w242 w255 w122 * w446 w121 w223 w332
BT.D.4096 T * 1623593160 1661185260 944686260 * 2518413660 924155190 1538769960 2070296550
BT.D.4096 H * 770316750 1436339520 661717350 * 1498928760 527446080 1366103340 1388979900
