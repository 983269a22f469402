#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# What reproduce-damselfly found, in the folder that is given: prints
# doc/reproduction/damselfly.md; --plot PLOT_ROWS FOLDER draws its figures there;
# --best MACHINE JOB PLACEMENT prints the routing with the job's least maximum;
# --only PLACEMENT,... WORKLOAD,... FOLDER tests claims R23 to R37 on the full machine
# with no more than these, and prints the rows of those that can be tested so.
use strict;
use warnings;
use JSON::PP;

our @placements = qw(RDN RDR RDC RDG RRN RRR);
my @long = qw(random-nodes random-routers random-chassis random-groups
	round-robin-nodes round-robin-routers);
my @routings = qw(SD SI AD AI AH);
my @long_routings = qw(static-direct static-indirect adaptive-direct
	adaptive-indirect adaptive-hybrid);
my @blocking = qw(RDN RDR RDC RDG);
my @main = qw(umesh stencil-4d many-to-many spread);
my @parts = qw(many-to-many many-to-many-66 many-to-many-33);
our @workloads = qw(w1 w2 w3 w4 w5);
my (%short, %row, %cost);
@short{@long, @long_routings} = (@placements, @routings);

sub slurp {
	open my $in, '<', $_[0] or die "$_[0]: $!\n";
	local $/;
	return scalar <$in>;
}

# A file NAME.PLACEMENT.ROUTINGS.json of a machine's folder
sub load {
	my ($machine, $file) = @_;
	my ($name, $placement, $routings) =
		$file =~ m{([^/]+)\.(R\w\w)\.([\w+]+)\.json$} or return;
	my $text = slurp($file);
	$text =~ s/"hosts":\s*\[[^\]]*\]/"hosts": []/g;
	my $json = decode_json($text);
	if ($json->{rows}) {
		# Job by job the row says what those of no routing of their own have.
		$row{$machine}{$name}{$routings eq 'JS' ? $routings : $short{$_->{routing}}}{$placement} = $_
			for @{$json->{rows}};
	} else {
		$row{$machine}{$name}{$routings}{$placement} = $json;
	}
	(my $time = $file) =~ s/json$/time/;
	return unless -e $time;
	my ($seconds, $user, $memory, $system) = split ' ', slurp($time);
	return unless defined $memory;
	push @{$cost{$machine}{$name}{$routings}},
		[$seconds, $user + ($system || 0), $memory];
}

if (@ARGV && $ARGV[0] eq '--best') {
	my (undef, $machine, $job, $placement) = @ARGV;
	my ($best, $least);
	for my $r (qw(AD AI AH)) {
		load($machine, "$machine/$job.$placement.$r.json");
		my $max = $row{$machine}{$job}{$r}{$placement}{links}{all}{max};
		($best, $least) = ($r, $max) if !defined $least || $max < $least;
	}
	print "$best\n";
	exit;
}

my $plot = @ARGV && $ARGV[0] eq '--plot' ? $ARGV[1] : undef;
my $only = @ARGV == 4 && $ARGV[0] eq '--only';
my $folder = $ARGV[-1] // die "usage: $0 FOLDER\n";
chdir $folder or die "$folder: $!\n";
for my $machine (qw(full consecutive small)) { load($machine, $_) for sort glob "$machine/*.json" }

# The placements that were run under all of the routings
sub under_all {
	my ($rows, @of) = @_;
	return grep { my $p = $_; !grep { !$rows->{$_}{$p} } @of } @placements;
}

# Of the routings that were run with all placements; of few cases, with two at least,
# those with all routings.
sub plot {
	my ($file, $title, $machine, $name, $panel, @of) = @_;
	my $rows = $row{$machine}{$name} or return;
	my %long = reverse %short;
	$long{JS} = 'job-specific';
	my @whole = grep { under_all($rows, $_) == @placements } @of;
	@of = @whole if @whole;
	my @with = under_all($rows, @of);
	return unless @with > 1;
	open my $out, '|-', $plot, $file, $title, join(',', map { "$long{$_}=$_" } @of),
		join(',', map { "$long{$_}=$_" } @with) or die "$plot: $!\n";
	for my $class (qw(all global)) {
		print $out "$panel, $class links\n";
		for my $r (@of) { for my $p (@with) {
			print $out join(' ', map { sprintf '%.17g', $rows->{$r}{$p}{links}{$class}{$_} } qw(min q1 median mean q3 max)), "\n";
		} }
	}
	close $out or die "$plot failed\n";
}

my %title = (umesh => 'UMesh', 'stencil-4d' => '4-D stencil',
	'many-to-many' => 'Many-to-many', spread => 'Spread',
	'many-to-many-66' => 'Many-to-many, 66%', 'many-to-many-33' => 'Many-to-many, 33%',
	map { $_ => 'Workload ' . uc } @workloads);
if ($plot) {
	plot("damselfly-$_.svg", 'Link traffic on 92,160 routers, 8,847,360 ranks', 'full', $_, $title{$_}, @routings) for @main;
	plot("damselfly-$_.svg", 'Link traffic on 2,880 routers, 138,240 ranks', 'small', $_, $title{$_}, qw(AD AI AH JS)) for qw(w1 w2 w3 w4);
	plot("damselfly-full-$_.svg", 'Link traffic on 92,160 routers, 8,847,360 ranks', 'full', $_, $title{$_}, qw(AD AI AH JS)) for qw(w1 w2 w3 w4 w5);
	exit;
}

# Where the claims are looked at
our $m;

# v(pattern, routing, placement, stat, class): class all when not said; dies
# where it was not run.
sub v {
	my ($pattern, $routing, $placement, $stat, $class) = @_;
	my $r = $row{$m}{$pattern}{$routing}{$placement} or die "not run\n";
	return $r->{links}{$class // 'all'}{$stat};
}

# The placements that were run under all of the routings, some at least
sub run_under {
	my ($pattern, @of) = @_;
	my @run = grep { my $p = $_; !grep { !$row{$m}{$pattern}{$_}{$p} } @of } @placements;
	die "not run\n" if @run < 3;
	return @run;
}

sub bytes {
	my $x = shift;
	my @unit = qw(B kB MB GB TB);
	while ($x >= 999.5 && @unit > 1) { $x /= 1000; shift @unit }
	return sprintf($x >= 99.95 ? '%.0f %s' : '%.3g %s', $x, $unit[0]);
}

# "RDN 1 MB, RDR 2 MB": a stat over placements
sub list {
	my ($pattern, $routing, $stat, $class, @over) = @_;
	@over = @placements unless @over;
	return join ', ',
		map { "$_ " . bytes(v($pattern, $routing, $_, $stat, $class)) } @over;
}

sub falls {
	my @x = @_;
	for (1 .. $#x) { return 0 if $x[$_] > $x[$_ - 1] * 1.0001 }
	return 1;
}

sub all(&@) { my $code = shift; for (@_) { return 0 unless $code->() } 1 }
sub percent { sprintf '%+.0f%%', 100 * ($_[0] - 1) }
sub ratio { my ($a, $b) = @_; $b > 0 ? $a / $b : $a > 0 ? 9e99 : 1 }

# max of b against a per placement: "RDN -10%"
sub changes {
	my ($pattern, $a, $b, $stat, @over) = @_;
	@over = @placements unless @over;
	return join ', ', map {
		"$_ " . percent(ratio(v($pattern, $b, $_, $stat), v($pattern, $a, $_, $stat)))
	} @over;
}

# largest load inside groups
sub local_max {
	my ($p, $r, $pl) = @_;
	my ($a, $b) = map { v($p, $r, $pl, 'max', $_) } qw(row column);
	return $a > $b ? $a : $b;
}

# [maximum, routing, placement] of what was run, least first
sub ranking {
	my ($pattern, @of) = @_;
	my @found;
	for my $r (@of) { for my $pl (@placements) {
		push @found, [v($pattern, $r, $pl, 'max'), $r, $pl] if $row{$m}{$pattern}{$r}{$pl};
	} }
	die "not run\n" unless @found;
	return sort { $a->[0] <=> $b->[0] } @found;
}

# The least maxima: "AH RDN 1 MB, AH RDR 2 MB, AI RRR 3 MB"
sub first {
	my ($n, @ranking) = @_;
	return join ', ', map { "$_->[1] $_->[2] " . bytes($_->[0]) } @ranking[0 .. $n - 1];
}

# Every routing and placement of a workload was run
sub whole { my $w = shift; for my $r (@_) { v($w, $r, $_, 'max') for @placements } }

# The largest reduction of the maximum by adapting, over placements
sub gain {
	my ($w, @over) = @_;
	my @best = (9);
	for my $pair (['SD', 'AD'], ['SI', 'AI']) { for (@over ? @over : @placements) {
		next unless $row{$m}{$w}{$pair->[1]}{$_};
		my $q = ratio(v($w, $pair->[1], $_, 'max'), v($w, $pair->[0], $_, 'max'));
		@best = ($q, "$pair->[1] $_") if $q < $best[0];
	} }
	die "not run\n" if $best[0] == 9;
	return @best;
}

# Spearman's coefficient of two lists without ties
sub rank_correlation {
	my ($x, $y) = @_;
	my ($n, $d) = (scalar @$x, 0);
	my @r = map { my $v = $_; my @o = sort { $v->[$a] <=> $v->[$b] } 0 .. $n - 1; my @k; @k[@o] = 0 .. $n - 1; [@k] } $x, $y;
	$d += ($r[0][$_] - $r[1][$_]) ** 2 for 0 .. $n - 1;
	return 1 - 6 * $d / ($n * ($n * $n - 1));
}

# A workload's maxima under the 18 combinations
sub maxima { my $w = shift; [map { my $r = $_; map { v($w, $r, $_, 'max') } @placements } qw(AD AI AH)] }

# With RDN and with RDR, AH has a lower maximum than AD and AI
sub hybrid_lowest {
	my $w = shift;
	return all { my $p = $_; all { v($w, 'AH', $p, 'max') < v($w, $_, $p, 'max') } qw(AD AI) } qw(RDN RDR);
}
sub adaptive_maxima { my $w = shift; join '; ', map { "$_ " . list($w, $_, 'max', 'all', qw(RDN RDR)) } qw(AD AI AH) }

my @six = qw(min q1 median mean q3 max);
my @random = qw(RDN RDR);
our @blocked = qw(RDC RDG);
my @claims = (
	R1 => 'Indirect routing raises the mean of all patterns, about twice the hops',
	sub {
		my @r = map { my $s = $_; map { ratio(v($s, 'SI', $_, 'mean'), v($s, 'SD', $_, 'mean')) } @placements } @main;
		my ($low, $high) = (sort { $a <=> $b } @r)[0, -1];
		($low > 1, sprintf 'mean SI / SD between %.2f and %.2f over %d cases', $low, $high, scalar @r)
	},
	R2 => 'UMesh: blocking (RDN, RDR, RDC, RDG) lowers maximum, mean and quartiles strongly',
	sub {
		my $ok = all { my $s = $_; falls(map { v('umesh', 'SD', $_, $s) } @blocking) } qw(max mean q3);
		($ok, 'SD maximum: ' . list('umesh', 'SD', 'max', 'all', @blocking) . '; mean: ' . list('umesh', 'SD', 'mean', 'all', @blocking))
	},
	R3 => 'UMesh: the median is near the mean under indirect, mostly 0 under direct routing',
	sub {
		my $zero = grep { v('umesh', 'SD', $_, 'median') == 0 } @placements;
		my $ok = all { ratio(v('umesh', 'SI', $_, 'median'), v('umesh', 'SI', $_, 'mean')) >= 0.5 } @placements;
		($zero > 3 && $ok, "SD median 0 in $zero of 6 placements; SI median / mean: " . join ', ', map { sprintf '%s %.2f', $_, ratio(v('umesh', 'SI', $_, 'median'), v('umesh', 'SI', $_, 'mean')) } @placements)
	},
	R4 => 'UMesh: the maximum under indirect is never above that under direct routing',
	sub { (all(sub { v('umesh', 'SI', $_, 'max') <= v('umesh', 'SD', $_, 'max') * 1.0001 }, @placements), 'SI against SD: ' . changes('umesh', 'SD', 'SI', 'max')) },
	R5 => 'UMesh SD with RRN, RRR: few global links have the maximum; indirect off-loads them',
	sub {
		my $ok = all { v('umesh', 'SD', $_, 'max', 'global') == v('umesh', 'SD', $_, 'max') && v('umesh', 'SD', $_, 'q3', 'global') * 4 < v('umesh', 'SD', $_, 'max', 'global') && v('umesh', 'SI', $_, 'max', 'global') < v('umesh', 'SD', $_, 'max', 'global') } qw(RRN RRR);
		($ok, 'global SD q3: ' . list('umesh', 'SD', 'q3', 'global', qw(RRN RRR)) . '; maximum: ' . list('umesh', 'SD', 'max', 'global', qw(RRN RRR)) . '; SI: ' . list('umesh', 'SI', 'max', 'global', qw(RRN RRR)))
	},
	R6 => 'UMesh, RDC and RDG: the maximum of AI is 50% below that of SI (the direction is tested)',
	sub { (all(sub { v('umesh', 'AI', $_, 'max') < v('umesh', 'SI', $_, 'max') }, qw(RDC RDG)), 'AI against SI: ' . changes('umesh', 'SI', 'AI', 'max', qw(RDC RDG))) },
	R7 => 'Adaptive routings: "very similar distribution" with "similar or lesser values" than the static ones (tested: no mean and no maximum more than 2% above, no q3 more than a third, as in R12)',
	sub {
		my ($n, %allowed, %most, %above) = (0, mean => 1.02, max => 1.02, q3 => 4 / 3);
		my %name = (mean => 'mean', max => 'maximum', q3 => 'q3');
		for my $p (@main) { for my $pair (['SD', 'AD'], ['SI', 'AI']) { for my $pl (@placements) {
			next unless $row{$m}{$p}{$pair->[1]}{$pl};
			$n++;
			for my $s (qw(mean max q3)) {
				my $q = ratio(v($p, $pair->[1], $pl, $s), v($p, $pair->[0], $pl, $s));
				$above{$s}++ if $q > $allowed{$s};
				$most{$s} = [$q, "$title{$p} $pair->[1] $pl"] if !$most{$s} || $q > $most{$s}[0];
			}
		} } }
		die "not run\n" unless $n;
		(!%above, "$n cases; the highest against static: " . join '; ', map { "$name{$_} " . percent($most{$_}[0]) . " ($most{$_}[1])" . ($above{$_} ? ", $above{$_} beyond what is allowed" : '') } qw(mean max q3))
	},
	R8 => '4-D stencil, direct: the mean falls with blocking, the maximum rises',
	sub {
		my $mean = falls(map { v('stencil-4d', 'SD', $_, 'mean') } @blocking);
		my $max = falls(map { v('stencil-4d', 'SD', $_, 'max') } reverse @blocking);
		($mean && $max, 'mean: ' . list('stencil-4d', 'SD', 'mean', 'all', @blocking) . '; maximum: ' . list('stencil-4d', 'SD', 'max', 'all', @blocking))
	},
	R9 => '4-D stencil RDG direct: most global links unused, those between groups 12 apart overloaded; by hand 9,216 (small: 1,152) ranks x 2 MiB',
	sub {
		my $l = $row{$m}{'stencil-4d'}{SD}{RDG} or die "not run\n";
		$l = $l->{links}{global};
		my $want = ($m eq 'small' ? 1152 : 9216) * 2097152;
		($l->{max} == $want && $l->{used} * 2 < $l->{count}, "$l->{used} of $l->{count} used, maximum " . sprintf('%.0f MiB, by hand %d MiB', $l->{max} / 1048576, $want / 1048576))
	},
	R10 => '4-D stencil: indirect removes the skew of the global links and raises the mean',
	sub {
		my $ok = all { v('stencil-4d', 'SI', $_, 'mean') > v('stencil-4d', 'SD', $_, 'mean') && ratio(v('stencil-4d', 'SI', $_, 'max', 'global'), v('stencil-4d', 'SI', $_, 'mean', 'global')) < ratio(v('stencil-4d', 'SD', $_, 'max', 'global'), v('stencil-4d', 'SD', $_, 'mean', 'global')) } @placements;
		($ok, 'global maximum / mean, SD to SI: ' . join ', ', map { my $p = $_; sprintf '%s %.1f to %.1f', $p, map { ratio(v('stencil-4d', $_, $p, 'max', 'global'), v('stencil-4d', $_, $p, 'mean', 'global')) } qw(SD SI) } @placements)
	},
	R11 => '4-D stencil: AI lowers the maximum by up to 25% against SI for RDG, RRN, RRR (the direction is tested)',
	sub { (all(sub { v('stencil-4d', 'AI', $_, 'max') < v('stencil-4d', 'SI', $_, 'max') }, qw(RDG RRN RRR)), 'AI against SI: ' . changes('stencil-4d', 'SI', 'AI', 'max', qw(RDG RRN RRR))) },
	R12 => '4-D stencil: AH is similar to AI (maximum within a third)',
	sub {
		my @run = run_under('stencil-4d', 'AI', 'AH');
		(all(sub { my $q = ratio(v('stencil-4d', 'AH', $_, 'max'), v('stencil-4d', 'AI', $_, 'max')); $q < 4 / 3 && $q > 2 / 3 }, @run), 'AH against AI: ' . changes('stencil-4d', 'AI', 'AH', 'max', @run))
	},
	R13 => 'Many-to-many direct: the mean falls little with blocking (less than half), the maximum rises much (more than twice), q3 is far below it',
	sub {
		my $p = 'many-to-many';
		my $ok = v($p, 'SD', 'RDG', 'mean') > v($p, 'SD', 'RDN', 'mean') / 2 && v($p, 'SD', 'RDG', 'max') > 2 * v($p, 'SD', 'RDN', 'max') && v($p, 'SD', 'RDG', 'q3') * 4 < v($p, 'SD', 'RDG', 'max');
		($ok, 'mean: ' . list($p, 'SD', 'mean', 'all', @blocking) . '; maximum: ' . list($p, 'SD', 'max', 'all', @blocking))
	},
	R14 => 'Many-to-many: indirect loads the links inside groups more; the maximum with RDN and RDR is lower for direct',
	sub { (all(sub { v('many-to-many', 'SD', $_, 'max') < v('many-to-many', 'SI', $_, 'max') && local_max('many-to-many', 'SI', $_) > local_max('many-to-many', 'SD', $_) }, qw(RDN RDR)), 'SI against SD: ' . changes('many-to-many', 'SD', 'SI', 'max', qw(RDN RDR))) },
	R15 => 'Many-to-many: best is direct routing with RDN or RDR',
	sub {
		my @of = grep { %{$row{$m}{'many-to-many'}{$_} // {}} } @routings;
		my @best = ranking('many-to-many', @routings);
		die "not run\n" if @of < 3;
		(scalar($best[0][1] =~ /^[SA]D$/ && $best[0][2] =~ /^RD[NR]$/), "lowest maxima of @of: " . first(4, @best))
	},
	R16 => 'Many-to-many SD with RRN: skew of few global links that AD cannot mend (less than 20%)',
	sub { (v('many-to-many', 'SD', 'RRN', 'max', 'global') == v('many-to-many', 'SD', 'RRN', 'max') && v('many-to-many', 'AD', 'RRN', 'max') > 0.8 * v('many-to-many', 'SD', 'RRN', 'max'), 'SD global maximum ' . bytes(v('many-to-many', 'SD', 'RRN', 'max', 'global')) . ', all ' . bytes(v('many-to-many', 'SD', 'RRN', 'max')) . '; AD against SD: ' . changes('many-to-many', 'SD', 'AD', 'max', 'RRN')) },
	R17 => 'Many-to-many: AH improves on AI (mean and maximum)',
	sub { (all(sub { v('many-to-many', 'AH', $_, 'max') <= v('many-to-many', 'AI', $_, 'max') && v('many-to-many', 'AH', $_, 'mean') <= v('many-to-many', 'AI', $_, 'mean') }, @placements), 'maximum: ' . changes('many-to-many', 'AI', 'AH', 'max') . '; mean: ' . changes('many-to-many', 'AI', 'AH', 'mean')) },
	R18 => 'Spread: nearly all links are used, placement has little effect (maximum within 1.5)',
	sub {
		my ($used, $spread) = (1, 0);
		for my $r (qw(SD SI)) {
			my @max = sort { $a <=> $b } map { v('spread', $r, $_, 'max') } @placements;
			$spread = $max[-1] / $max[0] if $max[-1] / $max[0] > $spread;
			for (@placements) { my $q = v('spread', $r, $_, 'used') / v('spread', $r, $_, 'count'); $used = $q if $q < $used }
		}
		($used > 0.95 && $spread < 1.5, sprintf 'SD and SI: at least %.1f%% used, highest maximum / lowest %.2f', 100 * $used, $spread)
	},
	R19 => 'Spread: every data point is lower for direct than for indirect routing',
	sub {
		my @bad;
		for my $pl (@placements) { for my $s (@six) { push @bad, "$pl $s" if v('spread', 'SD', $pl, $s) > v('spread', 'SI', $pl, $s) } }
		(!@bad, @bad ? 'not: ' . join(', ', @bad) : '36 of 36')
	},
	R20 => 'Spread: adaptivity lowers the maximum by up to 10%; AH has less than AI',
	sub {
		my $ok = all { v('spread', 'AD', $_, 'max') < v('spread', 'SD', $_, 'max') && v('spread', 'AI', $_, 'max') < v('spread', 'SI', $_, 'max') && v('spread', 'AH', $_, 'max') < v('spread', 'AI', $_, 'max') } @placements;
		($ok, 'AD against SD: ' . changes('spread', 'SD', 'AD', 'max') . '; AI against SI: ' . changes('spread', 'SI', 'AI', 'max') . '; AH against AI: ' . changes('spread', 'AI', 'AH', 'max'))
	},
	R21 => 'Spread: maximum - q3 is larger for indirect, because of links inside groups',
	sub {
		my $ok = all { v('spread', 'SI', $_, 'max') - v('spread', 'SI', $_, 'q3') > v('spread', 'SD', $_, 'max') - v('spread', 'SD', $_, 'q3') && local_max('spread', 'SI', $_) == v('spread', 'SI', $_, 'max') } @placements;
		($ok, 'maximum - q3, SD to SI: ' . join(', ', map { my $p = $_; $p . ' ' . join ' to ', map { bytes(v('spread', $_, $p, 'max') - v('spread', $_, $p, 'q3')) } qw(SD SI) } @placements) . '; SI maximum inside groups in ' . scalar(grep { local_max('spread', 'SI', $_) == v('spread', 'SI', $_, 'max') } @placements) . ' of 6')
	},
	R22 => 'Many-to-many on 66% and 33% of the cores: loads of RDN and RDR fall; direct with RDN, RDR stays below indirect in the maximum',
	sub {
		my $ok = all { my $p = $_; falls(map { v($_, 'SD', $p, 'max') } qw(many-to-many many-to-many-66 many-to-many-33)) } qw(RDN RDR);
		$ok &&= all { my $s = $_; all { v($s, 'SD', $_, 'max') < v($s, 'SI', $_, 'max') } qw(RDN RDR) } qw(many-to-many-66 many-to-many-33);
		($ok, join '; ', map { "$_: SD " . list($_, 'SD', 'max', 'all', qw(RDN RDR)) . ', SI ' . list($_, 'SI', 'max', 'all', qw(RDN RDR)) } qw(many-to-many many-to-many-66 many-to-many-33))
	},
	R23 => 'Many-to-many: adaptivity reduces the maximum by up to 10.2%, 31.1%, 35% at 100, 66, 33% of the cores (tested: reduces, more for smaller jobs)',
	sub {
		my @with = @placements;
		for my $part (@parts) { my @run = under_all($row{$m}{$part}, qw(SD SI AD AI)); @with = grep { my $p = $_; grep { $_ eq $p } @run } @with }
		die "not run\n" if @with < 2;
		my @best = map { [gain($_, @with)] } @parts;
		($best[0][0] < 1 && falls(map { $_->[0] } @best), 'up to ' . join ', ', map { percent($_->[0]) . " ($_->[1])" } @best)
	},
	R24 => 'Many-to-many at smaller sizes, RDN and RDR: AH is clearly below AI; at 33% AH has the least maximum of all',
	sub {
		my $ok = all { my $s = $_; all { my $p = $_; all { v($s, 'AH', $p, $_) < v($s, 'AI', $p, $_) } qw(max mean median) } qw(RDN RDR) } qw(many-to-many-66 many-to-many-33);
		my @best = ranking('many-to-many-33', @routings);
		($ok && $best[0][1] eq 'AH', 'AH against AI at 33%: maximum ' . changes('many-to-many-33', 'AI', 'AH', 'max', qw(RDN RDR)) . ', mean ' . changes('many-to-many-33', 'AI', 'AH', 'mean', qw(RDN RDR)) . '; least of all: ' . first(3, @best))
	},
	R25 => 'Workloads: AD with RDC, RDG has a very high maximum on few global links, also in the fifth without a 4-D stencil (tested: on a global link, over twice that of RDN, over 4 times q3)',
	sub {
		my $ok = 1;
		die "not run\n" unless @blocked;
		for my $w (@workloads) { for (@blocked) {
			my $max = v($w, 'AD', $_, 'max', 'global');
			$ok = 0 unless $max == v($w, 'AD', $_, 'max') && $max > 2 * v($w, 'AD', 'RDN', 'max') && $max > 4 * v($w, 'AD', $_, 'q3', 'global');
		} }
		($ok, 'AD maximum: ' . join '; ', map { my $w = $_; uc($w) . ' ' . list($w, 'AD', 'max', 'all', qw(RDN RDC RDG)) } @workloads)
	},
	R26 => 'W1: under AD with RDC, RDG the mean is far above the median; RDN, RDR with indirect (AI) have less skew and a lower maximum',
	sub {
		die "not run\n" unless @blocked;
		my $skew = sub { ratio(v('w1', $_[0], $_[1], 'mean'), v('w1', $_[0], $_[1], 'median')) };
		my $ok = all { my $b = $_; $skew->('AD', $b) > 1.5 && all { $skew->('AI', $_) < $skew->('AD', $b) && v('w1', 'AI', $_, 'max') < v('w1', 'AD', $b, 'max') } @random } @blocked;
		($ok, 'mean / median: ' . join(', ', (map { my $q = $skew->('AD', $_); $q < 9e9 ? sprintf('AD %s %.2f', $_, $q) : "AD $_ median 0" } @blocked), map { sprintf 'AI %s %.2f', $_, $skew->('AI', $_) } @random) . '; maximum: AD ' . list('w1', 'AD', 'max', 'all', @blocked) . ', AI ' . list('w1', 'AI', 'max', 'all', @random))
	},
	R27 => 'W1: the lowest maxima are those of AI with RRR and AH with RDN, RDR (tested: the lowest of all is one of them)',
	sub {
		whole('w1', qw(AD AI AH));
		my @best = ranking('w1', qw(AD AI AH));
		(scalar("$best[0][1] $best[0][2]" =~ /^(AI RRR|AH RD[NR])$/), 'lowest: ' . first(4, @best) . '; AI RRR ' . bytes(v('w1', 'AI', 'RRR', 'max')))
	},
	R28 => 'W1: adapting cuts the maximum by up to 35% against static (the direction is tested)',
	sub { whole('w1', qw(SD SI AD AI)); my @best = gain('w1'); ($best[0] < 1, 'up to ' . percent($best[0]) . " ($best[1])") },
	R29 => 'W2: the lowest maxima are those of AD with RRR and AH with RDN, RDR (tested: the lowest of all is one of them)',
	sub {
		whole('w2', qw(AD AI AH));
		my @best = ranking('w2', qw(AD AI AH));
		(scalar("$best[0][1] $best[0][2]" =~ /^(AD RRR|AH RD[NR])$/), 'lowest: ' . first(4, @best) . '; AD RRR ' . bytes(v('w2', 'AD', 'RRR', 'max')))
	},
	R30 => 'W2: adapting cuts the maximum by up to 34.3% (the direction is tested)',
	sub { whole('w2', qw(SD SI AD AI)); my @best = gain('w2'); ($best[0] < 1, 'up to ' . percent($best[0]) . " ($best[1])") },
	R31 => 'W3: AH has the lowest maximum for RDN, RDR; AI has generally more than AH',
	sub {
		my $more = grep { v('w3', 'AI', $_, 'max') > v('w3', 'AH', $_, 'max') } @placements;
		(hybrid_lowest('w3') && $more > @placements / 2, adaptive_maxima('w3') . "; AI above AH in $more of " . @placements . "; lowest: " . first(3, ranking('w3', qw(AD AI AH))))
	},
	R32 => 'W4 is very similar to W3 (tested: AH has the lowest maximum for RDN, RDR; the maxima of the 18 combinations correlate above 0.9 in rank)',
	sub {
		my $rho = rank_correlation(map { maxima($_) } qw(w3 w4));
		(hybrid_lowest('w4') && $rho > 0.9, adaptive_maxima('w4') . sprintf('; rank correlation %.2f', $rho))
	},
	R33 => 'The same jobs in other proportions have similar distributions (tested: the maxima of the 18 combinations of W1 to W4 rank alike, each two correlated above 0.7)',
	sub {
		my @rho;
		my @w = grep { $_ ne 'w5' } @workloads;
		for my $i (0 .. $#w - 1) { push @rho, rank_correlation(map { maxima($w[$_]) } $i, $_) for $i + 1 .. $#w }
		die "not run\n" unless @rho;
		((sort { $a <=> $b } @rho)[0] > 0.7, 'rank correlations ' . join ', ', map { sprintf '%.2f', $_ } @rho)
	},
	R34 => 'AH combines the good features of AD and AI (tested, W1 to W5: its mean is below that of AI, its maximum with RDC, RDG below that of AD)',
	sub {
		my ($n, @bad) = (0);
		for my $w (@workloads) {
			for (@placements) { $n++; push @bad, "$w $_ mean" if v($w, 'AH', $_, 'mean') >= v($w, 'AI', $_, 'mean') }
			for (@blocked) { $n++; push @bad, "$w $_ maximum" if v($w, 'AH', $_, 'max') >= v($w, 'AD', $_, 'max') }
		}
		(!@bad, ($n - @bad) . " of $n" . (@bad ? '; not ' . join(', ', @bad) : ''))
	},
	R35 => 'W2 with job-specific routing (JS): like AH, lower minimum and q1 for RDN, RDR, maximum reduced for all placements',
	sub {
		my @high = grep { v('w2', 'JS', $_, 'max') >= v('w2', 'AH', $_, 'max') } @placements;
		my $low = all { v('w2', 'JS', $_, 'q1') < v('w2', 'AH', $_, 'q1') && v('w2', 'JS', $_, 'min') <= v('w2', 'AH', $_, 'min') } @random;
		($low && !@high, 'JS against AH: maximum ' . changes('w2', 'AH', 'JS', 'max') . '; q1 ' . changes('w2', 'AH', 'JS', 'q1', @random) . '; minimum ' . changes('w2', 'AH', 'JS', 'min', @random) . '; mean ' . changes('w2', 'AH', 'JS', 'mean'))
	},
	R36 => 'W4 with job-specific routing: like AI, similar maximum for the best placements (tested: mean within 15%, maximum of RDN, RDR within 25% of the lowest of AD, AI, AH)',
	sub {
		my $mean = all { abs(ratio(v('w4', 'JS', $_, 'mean'), v('w4', 'AI', $_, 'mean')) - 1) < 0.15 } @placements;
		my @best = ranking('w4', qw(AD AI AH));
		my $max = all { v('w4', 'JS', $_, 'max') < 1.25 * $best[0][0] } @random;
		($mean && $max, 'JS against AI: mean ' . changes('w4', 'AI', 'JS', 'mean') . '; maximum JS ' . list('w4', 'JS', 'max', 'all', @random) . ', lowest ' . first(1, @best))
	},
	R37 => 'For workloads AH is recommended, with RDN or RDR (3.2.6; tested on W1 to W5: with both AH has a lower maximum than AD and AI; of the placements under AH one of them has the least, as a geometric mean)',
	sub {
		my (%mean, @bad);
		for my $r (qw(AD AI AH)) { for my $p (@placements) {
			my $log = 0;
			$log += log v($_, $r, $p, 'max') for @workloads;
			$mean{"$r $p"} = exp($log / @workloads);
		} }
		for my $w (@workloads) { for my $p (@random) { for (qw(AD AI)) {
			push @bad, uc($w) . " $p $_" if v($w, $_, $p, 'max') <= v($w, 'AH', $p, 'max');
		} } }
		my @best = sort { $mean{$a} <=> $mean{$b} } keys %mean;
		my ($first) = grep { /^AH/ } @best;
		(!@bad && $first =~ /RD[NR]/, (@bad ? 'not below ' . join(', ', @bad) : 'below AD and AI in ' . 2 * @workloads . ' of ' . 2 * @workloads) . '; means: ' . join ', ', map { "$_ " . bytes($mean{$_}) } @best[0 .. ($#best < 7 ? $#best : 7)])
	},
);

# Why some do not hold; printed with "no" only, or where one wiring has it.
my %why = (
	R16 => 'with RRN partners are whole multiples of 16 groups apart, and the '
		. 'wiring modulo has the links to those on 6 of 96 routers, so that column '
		. 'links to these have the maximum; with the wiring consecutive the claim '
		. 'holds, and the thesis does not give the wiring',
	R12 => 'with RRN the minimal paths of a whole axis share a few global '
		. 'links (under SD'
		. (eval { local $m = 'full'; ' ' . bytes(v('stencil-4d', 'SD', 'RRN', 'max', 'global')) . ' on the largest' } || ' too')
		. '); AH offers up to two minimal paths of four to each message and '
		. 'leaves more on those links than AI, which offers none; means are alike',
	R29 => 'AD with RRR cannot be among the lowest with the placement as it is '
		. 'described: on the full machine the 4-D stencil\'s third axis is 2,304 '
		. 'ranks or 24 routers, so that 24 groups further; 19.2 routers of a group '
		. 'x 96 ranks x 2 MiB = 3.9 GB have one minimal link, whatever the wiring'
		. (eval { local $m = 'full'; ' (found: ' . bytes(v('w2', 'SD', 'RRR', 'max', 'global')) . ', all jobs)' } || '')
		. '. AH is lowest, but round-robin placements of it have less than RDN',
	R31 => 'AH is lowest for both as said; that AI has more elsewhere the thesis '
		. 'puts down to Spread, whose partners it suspects of not being uniform '
		. '(3.2.4). Ours are' . uniform(),
	R35 => 'minimum, q1 and the maximum with RDN and RDR are as said; with the '
		. 'others it is that of AH within a few per cent, since each job is '
		. 'given its routing without regard to the other jobs. What the 2-D '
		. 'stencil, which 3.2.4 has not, was given the thesis does not say',
	R36 => 'the maxima are as said. Alone, UMesh and the 4-D stencil, which '
		. 'dominate W4, have the least maximum under AI in the thesis; here with '
		. 'RDC, RRN and RRR, but with RDN and RDR under AH, whose shorter ways '
		. 'lower the mean',
);

# How uniform our Spread is: the largest column link against the mean of them
sub uniform {
	local $m = 'full';
	my $q = eval { ratio(v('spread', 'SI', 'RDN', 'max', 'column'), v('spread', 'SI', 'RDN', 'mean', 'column')) } or return '';
	return ': under SI with RDN the largest column link has ' . sprintf('%.0f%%', 100 * ($q - 1)) . ' more than the mean one';
}

if ($only) {
	@placements = split /,/, $ARGV[1];
	@workloads = split /,/, $ARGV[2];
	@blocked = grep { my $p = $_; grep { $_ eq $p } @placements } @blocked;
	$m = 'full';
	while (my ($id, $says, $test) = splice @claims, 0, 3) {
		next if $id !~ /^R(2[3-9]|3[0-7])$/;
		my ($ok, $got) = eval { $test->() };
		die "$id: $@" if $@ && $@ ne "not run\n";
		print "| $id | $says | $got | ", $ok ? 'yes' : 'no', " |\n" unless $@;
	}
	exit;
}

my %n = (yes => 0, no => 0, 'not run' => 0, wiring => 0);
my $table = '';
while (my ($id, $says, $test) = splice @claims, 0, 3) {
	my (%verdict, %text);
	for my $machine (qw(full consecutive small)) {
		local $m = $machine;
		my ($ok, $got) = eval { $test->() };
		die "$id: $@" if $@ && $@ ne "not run\n";
		$verdict{$machine} = $@ ? '-' : $ok ? 'yes' : 'no';
		$text{$machine} = $got;
	}
	my @run = grep { $verdict{$_} ne '-' } qw(full consecutive small);
	my $verdict = @run ? $verdict{$run[0]} : 'not run';
	my $got = @run ? $text{$run[0]} : '';
	$got .= "; $_: $text{$_}" for grep { $verdict{$_} ne $verdict } @run;
	if ($verdict{full} eq 'no' && $verdict{consecutive} eq 'yes') {
		$n{wiring}++;
		$verdict = 'yes';
		$got .= ". Why: $why{$id}" if $why{$id};
	}
	$n{$verdict}++;
	$got .= ". Why: $why{$id}" if $verdict eq 'no' && $why{$id};
	$table .= "| $id | $says | $got | $verdict{full} | $verdict{consecutive} | $verdict{small} |\n";
}

# Tables 8.3 to 8.5: L1 used, least, largest, L2 used, least, largest.
my @exact = (
	R38 => 'Scatter, two-tier', 'scatter-two-tier', ['960', '1 MB', '64 MB', '63', '1 MB', '16 MB'], 'the last block of the node that a link leads to counts too (65); the least of L2 can only be a group\'s blocks',
	R39 => 'Scatter, binomial', 'scatter-binomial', ['1036', '1 MB', '141 MB', '56', '16.7 MB', '520 MB'], 'ours follow from the pattern; the thesis differs a little',
	R40 => 'Broadcast, van de Geijn', 'broadcast-van-de-geijn', ['1588', '2 MB', '1.1 GB', '95', '32 MB', '1.09 GB'], '',
	R42 => 'Allgather, ring', 'allgather-ring', ['1080', '1 GB', '1 GB', '634', '1 GB', '1 GB'], 'a ring over 64 groups in order leaves each group once: 64',
	R43 => 'Allgather, recursive doubling', 'allgather-recursive-doubling', ['10496', '16 MB', '15.1 GB', '384', '4.2 GB', '4.3 GB'], 'the last step between groups carries 32 times what the first does, so that the largest cannot be near the least',
	R44 => 'Allgather, two-tier', 'allgather-two-tier', ['15360', '65 MB', '65 MB', '4032', '16 MB', '16 MB'], 'nodes whose link would lead to their own group pass on one block less (49)',
	R45 => 'Reduce-scatter, pairwise', 'reduce-scatter-pairwise', ['15360', '2 GB', '2 GB', '4032', '4 GB', '4 GB'], '',
	R46 => 'Reduce, Rabenseifner', 'reduce-rabenseifner', ['15360', '2 GB', '3 GB', '4032', '4 GB', '5 GB'], 'rank 0 also receives the blocks that it gathers, 2.23 GB in all',
);

# A number as it is or as the thesis prints it, rounded or cut, in MB or MiB.
sub agrees {
	my ($x, $cell) = @_;
	my ($number, $unit) = split ' ', $cell;
	return $x == $number unless $unit;
	my $step = $number =~ /\.(\d+)/ ? 10 ** -length $1 : 1;
	for my $base (1000, 1024) {
		my $y = $x / $base ** ($unit eq 'MB' ? 2 : 3);
		return 1 if $y >= $number - $step / 2 && $y < $number + $step;
	}
	return 0;
}

my $exact = '';
while (my ($id, $says, $file, $want, $note) = splice @exact, 0, 5) {
	my @got = -e "exact/$file.txt" ? split ' ', slurp("exact/$file.txt") : ();
	my $same = grep { agrees($got[$_], $want->[$_]) } @got ? 0 .. 5 : ();
	$exact .= "| $id | $says | " . join(' / ', @$want[0 .. 2]) . '; ' . join(' / ', @$want[3 .. 5]) . ' | ';
	$exact .= @got ? join('; ', map { my $o = $_; "$got[$o] / " . join ' / ', map { sprintf('%.5g MB', $got[$o + $_] / 1e6) } 1, 2 } 0, 3) . " | $same of 6" . ($same < 6 && $note ? ": $note" : '') . " |\n" : "| not run |\n";
}

# Seconds, CPU seconds and memory of all measured runs
sub range {
	my @x = sort { $a <=> $b } @_;
	my ($low, $high) = map { sprintf $_ < 9.95 ? '%.1f' : '%.0f', $_ } @x[0, -1];
	return $low eq $high ? $low : "$low to $high";
}
sub cost_row {
	my ($machine, $what, $name, $routing, $thesis) = @_;
	my $all = $cost{$machine}{$name}{$routing} or return '';
	my $memory = (sort { $a <=> $b } map { $_->[2] } @$all)[-1];
	return "| $what | $routing | $thesis | " . scalar(@$all) . ' | ' . range(map { $_->[0] } @$all) . ' | ' . range(map { $_->[1] } @$all) . ' | ' . sprintf('%.1f', $memory / 1048576) . " |\n";
}
my @cpu = -e '/proc/cpuinfo' ? slurp('/proc/cpuinfo') =~ /^model name\s*:\s*(.*)$/mg : ();
my $cpus = @cpu ? @cpu . ' CPUs (' . $cpu[0] . ')' : 'an unknown number of CPUs';
my $costs = '';
for my $r (qw(SD+SI AD AI AH)) { for my $p (@main) {
	my $heavy = $p eq 'many-to-many' ? '4,096 to 8,192 x up to 120' : $p eq 'spread' ? '2,048 x 30 to 8,192 x 120' : '2,048 x 30';
	$costs .= cost_row('full', $title{$p}, $p, $r, $r eq 'AD' ? '512 x 5' : $r eq 'SD+SI' ? "512 x 5; $heavy" : $heavy);
} }
for my $r (qw(SD+SI AD AI AH JS)) { $costs .= cost_row('full', $title{$_}, $_, $r, '') for 'many-to-many-66', 'many-to-many-33', @workloads }
my $small = '';
for my $r (qw(SD+SI AD AI AH JS)) { $small .= cost_row('small', $title{$_}, $_, $r, '') for @main, @workloads }

# What bandwidths change: the largest bytes of row and column links, and the
# largest congestion.
my $bandwidths = '';
for my $case (['hand.linear', 'by hand'], ['edison.RDG', 'UMesh, RDG, Edison'], ['equal.RDG', 'the same, all links alike']) {
	next unless -e "bandwidths/$case->[0].SD+AD.json";
	my %of = map { $short{$_->{routing}} => $_ } @{decode_json(slurp("bandwidths/$case->[0].SD+AD.json"))->{rows}};
	my ($sd, $ad) = @of{qw(SD AD)};
	$bandwidths .= "| $case->[1] | " . join(' | ', map { my $c = $_; bytes($sd->{links}{$c}{max}) . ' to ' . bytes($ad->{links}{$c}{max}) } qw(row column global)) . sprintf(" | %s | %s |\n", map { percent($_) } ratio($ad->{links}{all}{max}, $sd->{links}{all}{max}), ratio($ad->{max_congestion}, $sd->{max_congestion}));
}

# Stages: limit, seconds, evaluations made, found, left out
my $stages = '';
for (qw(static exact bandwidths AD small workloads AI-AH W1 Spread curves turns)) {
	next unless -e "stages/$_.stage";
	my ($limit, $took, $made, $found, $left) = split ' ', slurp("stages/$_.stage");
	$stages .= "| $_ | $limit | $took | $made | " . ($left ? "$left not run: out of time" : '') . " |\n";
}

# What bench_scale printed: blank lines part its tables, the first line of each
# says what it is, the second heads the columns.
my $curves = '';
for my $part (qw(messages routers threads adaptive)) {
	next unless -e "stages/curve-$part.txt";
	for my $table (split /\n\n+/, slurp("stages/curve-$part.txt")) {
		my ($what, undef, @line) = split /\n/, $table =~ s/^\n+//r;
		my (%cell, @over, @pattern);
		for (@line) {
			my ($pattern, $x, $wall, $cpu) = /^(\S+(?: \S+)*?) {2,}(.*?\S) +([\d.]+) +([\d.]+)$/ or next;
			push @over, $x unless grep { $_ eq $x } @over;
			push @pattern, $pattern unless grep { $_ eq $pattern } @pattern;
			$cell{$pattern}{$x} = "$wall ($cpu)";
		}
		next unless @over;
		$curves .= "\n$what: seconds (CPU seconds).\n\n| | " . join(' | ', @over) . " |\n|" . '---|' x (@over + 1) . "\n";
		$curves .= "| $_ | " . join(' | ', map { $_ // '-' } @{$cell{$_}}{@over}) . " |\n" for @pattern;
	}
}
$curves = "\n`tests/bench/bench_scale`:\n$curves" if $curves;

my $histogram = '';
for my $r (qw(SD SI)) {
	my $file = "full/stencil-4d.RDG.$r.histogram";
	next unless -e $file;
	my %count = split ' ', slurp($file);
	$histogram .= "- $r: " . join(', ', map { ($_ < 0 ? 'none' : $_ ? 2 ** ($_ - 1) . ' to ' . 2 ** $_ . ' MiB' : 'up to 1 MiB') . ": $count{$_}" } sort { $a <=> $b } keys %count) . "\n";
}

sub figures { my $prefix = shift; join ', ', map { "[$title{$_}](damselfly-$prefix$_.svg)" } grep { -e "damselfly-$prefix$_.svg" } @_ }

print <<"END";
# Damselfly's experiments

Made by `tests/bench/reproduce-damselfly`, which also says how; do not edit.

N. Jain, "Optimization of communication intensive applications on HPC networks"
(2016), sections 3.2.4 and 3.2.5 and the tables of chapter 8, evaluated with
`commplace compare` and `commplace traffic` on three machines:

- **full**: the thesis' own, 960 groups of 6 x 16 routers with one global link
  per pair of groups, 92,160 routers, 4 nodes a router and 24 ranks a node.
  Jobs of 8,847,360 ranks as in table 3.3: UMesh with 6 to 20 partners within 30
  ranks, 4-D stencil 80 x 48 x 48 x 48, many-to-many 180 x 128 x 384 along the
  second axis (at 66% and 33% of the cores: 119 and 59 instead of 180), Spread with
  6 to 20 partners.
- **consecutive**: the same with the wiring `consecutive` instead of `modulo`. The
  thesis does not give the wiring of this machine.
- **small**: 120 groups of 3 x 8 routers (a 32nd) with 2 nodes each, in the same
  proportions: one global link per pair of groups, 1.8 (there 2) times as many
  ports inside a group as out of it, 7 (7.5) ports a node, 2.67 times more
  uniform traffic on a column link than on a row link. Links then carry about as
  much as on the full machine. 138,240 ranks: 4-D stencil 10 x 48 x 6 x 48 (as
  there its first axis is 12 groups away, its third a quarter of one),
  many-to-many 22 x 128 x 48 (15 and 7; 98, 67 and 31% of the cores; as there
  partners are a 24th of a group apart, 128 of them 5.3 groups).

Message sizes are the thesis'; all links have the same bandwidth; random
placements use seed 1. Workloads are those of table 3.4 (shares of UMesh, 2-D
stencil, 4-D stencil, many-to-many, Spread); for the fifth, whose shares the
thesis does not give, 30, 20, 0, 20, 30%.

A claim is "yes" when the test in `tests/bench/reproduce-damselfly.pl` holds in
every case that it names. Where the thesis gives a percentage out of a figure,
only what is said in the table is tested. "-" is not run. The third column is
from the full machine where it was run there, else from the small one, and from
others where their verdicts differ.

Workloads and smaller many-to-many on the full machine under AD, AI and AH are in
[adaptivity.md](adaptivity.md), since flows take turns there: R23 to R37.

$n{yes} yes ($n{wiring} with one wiring of the full machine only), $n{no} no, $n{'not run'} not
run, each by the largest machine that it was run on.

## Single jobs (R1-R24) and workloads (R25-R37)

| | the thesis says | we get | full | consecutive | small |
|---|---|---|---|---|---|
$table
END
print "Global links of the 4-D stencil with RDG on the full machine by their bytes\n(Figure 3.19):\n\n$histogram\n" if $histogram;
print 'Box plots of all and of global links: full ' . (join(', ', grep { $_ } figures('', @main), figures('full-', @workloads)) || '-') . '; small ' . (figures('', @workloads) || '-') . ".\n\n";
print <<"END" if $bandwidths;
## Links of different bandwidths

Adapting evens out what links have for their bandwidth, so that the largest
number of bytes can rise where the larger links take over. A case to follow by
hand: one group of 2 x 2 routers; router 0 sends 10 GB to the opposite one over
two ways, another 10 GB over the first way's row link (5.25 GB/s), and 12 GB over
the second way's column link (15.75 GB/s). Halves make 15 GB or 2.86 s and 17 GB
or 1.08 s; each byte moved from the row link to the column link raises the
largest number of bytes and lowers the largest congestion (bytes / bandwidth). `etc/networks/edison.json` has the same
bandwidths; with all links alike (138,240 ranks on all nodes, 24 each) no maximum
rises.

| | row links: maximum, SD to AD | column links | global links | all links, bytes | largest congestion |
|---|---|---|---|---|---|
$bandwidths
END
print <<"END";
## Collectives (R38-R46)

Tables 8.3 to 8.5: 64 groups of 16 nodes of 16 cores, static-direct, link to group
g on node g mod 16. Links used / least / largest bytes on those, inside groups
(L1); between them (L2). A number agrees when it is what the thesis prints, rounded
or cut, in powers of 1000 or of 1024. R41 (two-tier broadcast), the two-tier
reduce-scatter and reduce (R47) are not built: the thesis does not say enough of
their steps.

| | | the thesis | we get | agree |
|---|---|---|---|---|
$exact
## Cost

Of one evaluation: the whole command with reading, placing and statistics; SD+SI
is both routings in one run. CPU seconds are of all threads together, system time
included. Thesis: cores x minutes (3.2.3). On $cpus; where the
seconds are far above the CPU seconds over the CPUs, other programs were running.

| full machine | routing | thesis | runs | seconds | CPU seconds | memory, GiB |
|---|---|---|---|---|---|---|
$costs
| small machine | routing | thesis | runs | seconds | CPU seconds | memory, GiB |
|---|---|---|---|---|---|---|
$small$curves
Stages of `tests/bench/reproduce-damselfly`, seconds of wall time; what one leaves
of its limit the next have:

| stage | limit | took | evaluations | |
|---|---|---|---|---|
$stages
END
