#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Parts of tests/bench/reproduce-metrics:
#
#   mappings DIMS BOX       writes map0 to map83: the host of each rank, one a line
#   row I PACKET            the figures of map I from features.csv, links.csv, out
#   report COMMPLACE SET... tables from SET.csv; held-out.svg
use strict;
use warnings;
use JSON::PP;
use List::Util qw(first max min product reduce shuffle sum0 uniq);

# Of a machine with DIMS (the last: ranks of a node; the first is the fastest of the
# nodes' numbers), for a program whose ranks are a BOX: 28 orders of the
# dimensions, 28 pairs of equal tiles, and 28 orders of blocks of nodes by chance.
sub mappings {
	my @dims = split /,/, shift;
	my @box = split /,/, shift;
	my $ranks = product @dims;
	my $nodes = $ranks / $dims[-1];
	my $i = 0;
	my $write = sub {
		my ($slot) = @_;
		open my $to, '>', 'map' . $i++ or die "map: $!\n";
		print $to map { "n$_\n" } @$slot;
		close $to or die "map: $!\n";
	};
	srand 1;
	# ABCDET and TABCDE are the first two.
	my @order = ([0 .. $#dims], [$#dims, 0 .. $#dims - 1]);
	push @order, [shuffle 0 .. $#dims] while @order < 28;
	for my $order (@order) {
		my @slot;
		for my $rank (0 .. $ranks - 1) {
			my @x;
			my $rest = $rank;
			for my $d (reverse @$order) {
				$x[$d] = $rest % $dims[$d];
				$rest = int $rest / $dims[$d];
			}
			push @slot, node(\@dims, \@x);
		}
		$write->(\@slot);
	}
	for (1 .. 28) {
		my $size = 2 ** (4 + int rand 7);
		my @machine = tiled(\@dims, $size);
		my @program = tiled(\@box, $size);
		my @at;
		for my $k (0 .. $ranks - 1) {
			my @x = coordinates($k, \@dims);
			$at[place(\@dims, \@machine, \@x)] = node(\@dims, \@x);
		}
		$write->([map { $at[place(\@box, \@program, [coordinates($_, \@box)])] }
			0 .. $ranks - 1]);
	}
	for my $k (0 .. 27) {
		my $block = 2 ** int rand 9;
		my @node = map { my $b = $_; map { $b * $block + $_ } 0 .. $block - 1 }
			shuffle 0 .. $nodes / $block - 1;
		$write->([map { $node[$k % 2 ? $_ % $nodes : int $_ / $dims[-1]] }
			0 .. $ranks - 1]);
	}
}

sub node {
	my ($dims, $x) = @_;
	my $node = 0;
	$node = $node * $dims->[$_] + $x->[$_] for reverse 0 .. $#$dims - 1;
	return $node;
}

sub coordinates {
	my ($i, $box) = @_;
	my @x;
	for my $d (reverse 0 .. $#$box) {
		$x[$d] = $i % $box->[$d];
		$i = int $i / $box->[$d];
	}
	return @x;
}

# A tile of that size, of lengths that are powers of two.
sub tiled {
	my ($box, $size) = @_;
	my @tile = (1) x @$box;
	while ($size > 1) {
		my $d = int rand @$box;
		next if $box->[$d] % (2 * $tile[$d]);
		$tile[$d] *= 2;
		$size /= 2;
	}
	return @tile;
}

# Number of the tile with coordinate x, times its size, and place in it.
sub place {
	my ($box, $tile, $x) = @_;
	my ($k, $o) = (0, 0);
	for my $d (0 .. $#$box) {
		$k = $k * ($box->[$d] / $tile->[$d]) + int $x->[$d] / $tile->[$d];
		$o = $o * $tile->[$d] + $x->[$d] % $tile->[$d];
	}
	return $k * product(@$tile) + $o;
}

my @five = qw(mean ao to max n_ao);
my @figure = ('hops_ao', 'hops_max', 'hops_sum_ao',
	(map { my $of = $_; map { "${of}_$_" } @five } qw(bytes stalls stallspp)), 'fifo');

# Table 4.2's five of the values of all links: the mean, that of those above it, that
# of the greatest twentieth, the greatest, and how many are above the mean.
sub five {
	my @v = sort { $b <=> $a } @_;
	my $mean = sum0(@v) / @v;
	my $n = grep { $_ > $mean } @v;
	my $top = max 1, int @v / 20;
	return ($mean, $n ? sum0(@v[0 .. $n - 1]) / $n : $mean,
		sum0(@v[0 .. $top - 1]) / $top, $v[0], $n);
}

sub row {
	my ($i, $packet) = @_;
	print join(',', 'seconds', @figure), "\n" unless $i;
	open my $in, '<', 'features.csv' or die "features.csv: $!\n";
	chomp(my @lines = <$in>);
	my @name = split /,/, $lines[0];
	my %placed;
	@placed{@name} = split /,/, $lines[1 + $i];
	open $in, '<', 'out' or die "out: $!\n";
	my ($seconds) = <$in> =~ /: (\S+) s, / or die "out: no time\n";
	open $in, '<', 'links.csv' or die "links.csv: $!\n";
	<$in>;
	my (@bytes, @stalled, @each);
	while (<$in>) {
		chomp;
		my ($class, $bytes, $stalled) = (split /,/)[0, 4, 6];
		next if $class =~ /jection/;
		push @bytes, $bytes;
		push @stalled, $stalled;
		push @each, $bytes ? $stalled / ($bytes / $packet) : 0;
	}
	print join(',', $seconds, @placed{qw(hops_ao hops_max hops_sum_ao)},
		five(@bytes), five(@stalled), five(@each),
		0 + $placed{first_max}), "\n";
}

# What his tables 4.5 and 4.6 have, and his six.
my @set = (['max dilation', 'hops_max'], ['sum dilation AO', 'hops_sum_ao'],
	['avg bytes', 'bytes_mean'], ['max bytes', 'bytes_max'],
	['avg bytes AO', 'bytes_ao'], ['avg bytes TO', 'bytes_to'],
	['avg stalls', 'stalls_mean'], ['avg stalls TO', 'stalls_to'],
	['max FIFO', 'fifo'], ['avg and max bytes', 'bytes_mean,bytes_max'],
	['H1', 'bytes_mean,bytes_max,fifo'],
	['H2', 'bytes_mean,bytes_max,hops_sum_ao,fifo'],
	['H3', 'bytes_mean,bytes_max,stalls_mean,fifo'],
	['H4', 'bytes_mean,bytes_max,stalls_to'],
	['H5', 'bytes_to,stalls_to,stallspp_ao,hops_sum_ao,fifo'],
	['H6', 'bytes_to,stalls_ao,stallspp_to,stallspp_ao,hops_sum_ao,fifo'],
	['his six', 'bytes_mean,bytes_ao,stalls_n_ao,stallspp_mean,stallspp_max,fifo'],
	['without queues', join ',', grep { !/stall|fifo/ } @figure],
	['all 19', join ',', @figure]);

my ($commplace, %learned);

sub learn {
	my ($name, $features, $method) = @_;
	return $learned{"@_"} //= learn_anew(@_);
}

sub learn_anew {
	my ($name, $features, $method) = @_;
	open my $in, '-|', $commplace, 'learn', "$name.csv", '--features', $features,
		'--method', $method // 'extra-trees', '--json' or die "learn: $!\n";
	local $/;
	return decode_json(<$in>);
}

sub table {
	my ($head, @rows) = @_;
	print "| ", join(' | ', @$_), " |\n",
		$_ == $head ? '|' . '---|' x @$head . "\n" : '' for $head, @rows;
	print "\n";
}

sub column {
	my ($name, $column) = @_;
	open my $in, '<', "$name.csv" or die "$name.csv: $!\n";
	my @name = split /,|\n/, <$in>;
	my $at = first { $name[$_] eq $column } 0 .. $#name;
	return map { chomp; (split /,/)[$at] } <$in>;
}

# Sums of importance over sets, of boosted trees of all figures.
sub importance {
	my %of;
	for my $name (@_) {
		$of{$_->{name}} += $_->{importance} / @_
			for @{learn($name, join(',', @figure), 'boosted')->{features}};
	}
	return \%of;
}

# The six that with what is chosen before order most pairs of all these sets.
sub choose {
	my @chosen;
	while (@chosen < 6) {
		my ($best, $most) = ('', 0);
		for my $figure (@figure) {
			next if grep { $_ eq $figure } @chosen;
			my $right = sum0 map { learn($_, join ',', @chosen, $figure)
				->{concordant} } @_;
			($best, $most) = ($figure, $right) if $right > $most;
		}
		push @chosen, $best;
	}
	return @chosen;
}

# Points of time and what H5 tells of a third of the rows from the other two, of each.
sub held_out {
	my ($name) = @_;
	my %set = map { @$_ } @set;
	open my $in, '<', "$name.csv" or die "$name.csv: $!\n";
	my ($head, @row) = <$in>;
	my @point;
	for my $k (0 .. 2) {
		for my $part (['seen.csv', grep { $_ % 3 != $k } 0 .. $#row],
			['unseen.csv', grep { $_ % 3 == $k } 0 .. $#row]) {
			my ($file, @of) = @$part;
			open my $out, '>', $file or die "$file: $!\n";
			print $out $head, @row[@of];
			close $out or die "$file: $!\n";
		}
		open my $learned, '-|', $commplace, 'learn', 'seen.csv', '--features',
			$set{H5}, '-o', 'model.json' or die "learn: $!\n";
		() = <$learned>;
		close $learned or die "learn failed\n";
		open my $told, '-|', $commplace, 'predict-time', '--model', 'model.json',
			'unseen.csv', '--json' or die "predict-time: $!\n";
		local $/;
		push @point, map { [@$_{qw(actual predicted)}] } @{decode_json(<$told>)->{rows}};
	}
	unlink 'seen.csv', 'unseen.csv', 'model.json';
	return @point;
}

# As his scatter plots of R62: a panel for each set, here with logarithmic scales.
sub draw_held_out {
	my @names = @_;
	my ($size, $each) = (200, 270);
	open my $svg, '>', 'held-out.svg' or die "held-out.svg: $!\n";
	printf $svg '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="290" ' .
		'font-family="sans-serif" font-size="10"><rect width="100%%" height="100%%" ' .
		"fill=\"#fff\"/>\n", $each * @names + 10;
	for my $i (0 .. $#names) {
		my @point = held_out($names[$i]);
		my @all = map { @$_ } @point;
		my ($low, $high) = (min(@all) / 1.1, 1.1 * max(@all));
		my ($left, $base) = (55 + $each * $i, 250);
		my $at = sub { $size * log($_[0] / $low) / log($high / $low) };
		printf $svg "<text x=\"%d\" y=\"18\" font-size=\"12\">%s, us: across, simulated; " .
			"up, told</text>\n<path d=\"M%d %dv-%dh%dv%dzl%d -%d\" fill=\"none\" " .
			"stroke=\"#999\"/>\n", $left - 35, $names[$i], $left, $base, $size, $size,
			$size, $size, $size;
		for my $k (0 .. 3) {
			my $v = $low * ($high / $low) ** ($k / 3);
			printf $svg "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">%.3g</text>" .
				"<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%.3g</text>\n",
				$left + $at->($v), $base + 14, 1e6 * $v, $left - 4,
				$base - $at->($v) + 3, 1e6 * $v;
		}
		printf $svg "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"#4477aa\"/>\n",
			$left + $at->($_->[0]), $base - $at->($_->[1]) for @point;
	}
	print $svg "</svg>\n";
	close $svg or die "held-out.svg: $!\n";
}

sub report {
	$commplace = shift;
	my @names = @_;
	print "Times, and how far they are apart where the most bytes of a link are within 2 %\n",
		"of each other:\n\n";
	table(['', 'fastest, us', 'slowest, us', 'ratio', 'ratio at the same most bytes'],
		map { my $name = $_;
			my @s = column($name, 'seconds');
			my @b = column($name, 'bytes_max');
			my $same = 1;
			for my $i (0 .. $#s) {
				for my $k (0 .. $#s) {
					$same = max $same, $s[$i] / $s[$k]
						if abs($b[$i] - $b[$k]) <= 0.02 * $b[$k];
				}
			}
			[$name, (map { sprintf '%.4g', 1e6 * $_ } min(@s), max(@s)),
				map { sprintf '%.2f', $_ } max(@s) / min(@s), $same] } @names);
	for my $part (['Pairs in the right order', 'concordant'], ['R2', 'r2']) {
		print "$part->[0], extremely randomised trees:\n\n";
		table(['', @names], map { my ($what, $figures) = @$_;
			[$what, map { sprintf '%.3f', learn($_, $figures)->{$part->[1]} }
				@names] } @set);
	}
	print "Boosted trees of all 19:\n\n";
	table(['', @names], ['pairs', map { sprintf '%.3f', learn($_, join(',', @figure),
		'boosted')->{concordant} } @names], ['R2', map { sprintf '%.3f', learn($_,
		join(',', @figure), 'boosted')->{r2} } @names]);
	draw_held_out(@names);
	my @apps = grep { /^(milc|pf3d)/ } @names;
	my @kernels = grep { !/^(milc|pf3d)/ } @names;
	return unless @apps && @kernels;
	my %of = (kernels => importance(@kernels), applications => importance(@apps));
	print "Importance, boosted trees of all 19, means over the sets:\n\n";
	table(['', 'kernels', 'applications'], map { my $f = $_;
		["`$f`", map { sprintf '%.3f', $of{$_}{$f} } qw(kernels applications)] }
		sort { $of{kernels}{$b} <=> $of{kernels}{$a} } @figure);
	my %set = map { @$_ } @set;
	my %six = (kernels => [choose(@kernels)], applications => [choose(@apps)]);
	print "The six chosen one by one, for kernels: ", join(', ', @{$six{kernels}}),
		"; for applications: ", join(', ', @{$six{applications}}), ".\n\n";
	table(['pairs in the right order, mean', 'his six', 'six for kernels',
		'six for applications', 'all 19'], map { my ($what, @in) = @$_;
		[$what, map { my $f = $_; sprintf '%.3f',
			sum0(map { learn($_, $f)->{concordant} } @in) / @in }
			$set{'his six'}, join(',', @{$six{kernels}}),
			join(',', @{$six{applications}}), $set{'all 19'}] }
		['kernels', @kernels], ['applications', @apps]);
}

my %do = (mappings => \&mappings, row => \&row, report => \&report);
my $do = $do{shift @ARGV // ''} or die "usage: reproduce-metrics.pl mappings|row|report\n";
$do->(@ARGV);
