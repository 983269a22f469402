#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# The guides and man pages as a site that needs no network: make html.
#
#	perl doc/html/build.pl OUT SOURCE MANPAGE...
#
# SOURCE is the source tree; pages of Markdown go through cmark-gfm, those for man through
# mandoc. Names of man pages become links, and the first use on a page of a word that
# doc/glossary.md has leads there. search.html looks through all of them, by a script
# that is beside it.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);

my ($out, $source, @man) = @ARGV;
die "usage: build.pl OUT SOURCE MANPAGE...\n" unless @man;

sub slurp {
	my ($name) = @_;
	open my $in, '<:encoding(UTF-8)', $name or die "$name: $!\n";
	local $/;
	return <$in>;
}
sub spit {
	my ($name, $text) = @_;
	make_path(dirname($name));
	open my $to, '>:encoding(UTF-8)', $name or die "$name: $!\n";
	print $to $text;
	close $to or die "$name: $!\n";
}
sub run {
	my @command = @_;
	open my $in, '-|:encoding(UTF-8)', @command or die "$command[0]: $!\n";
	local $/;
	my $text = <$in>;
	close $in or die "@command failed\n";
	return $text;
}

# Where a page of the source is on the site.
my %page = ('doc/five-minutes.md' => 'index.html', 'README.md' => 'readme.html',
	'contrib/exporters/README.md' => 'exporters.html');
my @guides = map { substr $_, length "$source/" } glob("$source/doc/*.md"),
	glob("$source/doc/reproduction/*.md");
$page{$_} //= s{^doc/}{}r =~ s{md$}{html}r for @guides;
my %manual = map { basename($_) => 'man/' . basename($_) . '.html' } @man;

# As the links between the guides have them.
sub anchor {
	my ($text) = @_;
	$text =~ s/<[^>]*>//g;
	$text =~ s/&[a-z]+;//g;
	$text = lc $text;
	$text =~ s/[^\w\- ]//g;
	return $text =~ tr/ /-/r;
}

sub up {
	my ($file) = @_;
	return '../' x ($file =~ tr{/}{});
}

# A link of the source, from the page it stands on.
sub leads {
	my ($from, $to) = @_;
	return $to if $to =~ m{^(?:[a-z]+:|#|/)};
	my ($path, $hash) = $to =~ m{^([^#]*)(#.*)?$};
	my @at = split m{/}, dirname($from);
	@at = () if dirname($from) eq '.';
	$_ eq '..' ? pop @at : push @at, $_ for split m{/}, $path;
	my $file = join '/', @at;
	my $there = $page{$file};
	if (!$there) {
		die "$from: no $file\n" unless -f "$source/$file";
		$there = $file =~ s{^doc/}{}r;
		make_path(dirname("$out/$there"));
		copy("$source/$file", "$out/$there") or die "$file: $!\n";
	}
	return up($page{$from}) . $there . ($hash // '');
}

# The parts of a page that are running text, given to a function.
sub in_text {
	my ($html, $change) = @_;
	my ($inside, $result) = ('', '');
	for my $token (split /(<[^>]*>)/, $html) {
		if ($token =~ m{^<(/?)(a|code|pre|h[1-6]|th|title)\b}) {
			$inside = $1 ? '' : $2 unless $inside && $inside ne $2;
		} elsif ($token !~ /^</ && !$inside) {
			$token = $change->($token);
		}
		$result .= $token;
	}
	return $result;
}

sub link_manuals {
	my ($html, $up) = @_;
	$html =~ s{((?:<[bi]>)?)([a-z][\w.-]*)((?:</[bi]>)?)\(([158])\)}{
		my $name = "$2.$4";
		$manual{$name} ? "<a href=\"$up$manual{$name}\">$1$2$3($4)</a>" : "$1$2$3($4)"
	}ge;
	return $html;
}

my %word; # of the glossary: its anchor
sub link_words {
	my ($html, $up) = @_;
	my %seen;
	my $words = join '|', map { quotemeta } sort { length $b <=> length $a } keys %word;
	return in_text($html, sub {
		my ($text) = @_;
		$text =~ s{\b($words)(s?)\b}{
			$seen{lc $1}++ ? "$1$2"
				: "<a class=\"word\" href=\"${up}glossary.html#$word{lc $1}\">$1$2</a>"
		}gie;
		return $text;
	});
}

my @found; # of the search
sub finish {
	my ($file, $title, $body, $group) = @_;
	my $up = up($file);
	my $plain = $body =~ s/<[^>]*>/ /gr =~ s/&quot;/"/gr =~ s/&lt;/</gr =~ s/&gt;/>/gr
		=~ s/&(?:#39|rsquo|lsquo);/'/gr =~ s/&amp;/&/gr =~ s/\s+/ /gr;
	push @found, [$file, $title, $plain, $group];
	spit("$out/$file", <<END);
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title><link rel="stylesheet" href="${up}style.css"></head>
<body><header><a href="${up}index.html">commplace</a>
<a href="${up}readme.html">about</a>
<a href="${up}users-guide.html">users</a> <a href="${up}admin-guide.html">admins</a>
<a href="${up}contents.html">contents</a>
<form action="${up}search.html"><input name="q" type="search" aria-label="search"
placeholder="search"></form></header>
<main>
$body
</main></body></html>
END
}

# Words first: the glossary's tables have them in their first column.
my $glossary = slurp("$source/doc/glossary.md");
for my $row ($glossary =~ /^\| ([^|]+) \| [A-Z]/gm) {
	for my $word (split /, /, $row) {
		next unless $word =~ /^[a-z][a-z -]{3,}$/;
		$word{$word} = 'word-' . $word =~ tr/ /-/r;
	}
}

for my $file (sort keys %page) {
	my $html = run('cmark-gfm', '--unsafe', '-e', 'table', '-e', 'autolink', "$source/$file");
	my ($title) = $html =~ m{<h1>(.*?)</h1>}s;
	my $up = up($page{$file});
	$html =~ s{<h([1-6])>(.*?)</h\1>}{"<h$1 id=\"" . anchor($2) . "\">$2</h$1>"}gse;
	$html =~ s{(href|src)="([^"]*)"}{"$1=\"" . leads($file, $2) . '"'}ge;
	if ($file eq 'doc/glossary.md') {
		$html =~ s{<td>([a-z][^<]*)</td>}{
			my $cell = $1;
			my ($first) = grep { $word{$_} } split /, /, $cell;
			my $more = join '', map { "<span id=\"$word{$_}\"></span>" }
				grep { $word{$_} } split /, /, $cell;
			$first ? "<td>$more$cell</td>" : "<td>$cell</td>"
		}ge;
	} else {
		$html = link_words($html, $up);
	}
	$html =~ s{<code>((?:doc/)?[\w-]+\.md)</code>}{
		my $to = $page{$1} || $page{"doc/$1"};
		$to ? "<a href=\"$up$to\"><code>$1</code></a>" : "<code>$1</code>"
	}ge;
	finish($page{$file}, $title, in_text($html, sub { link_manuals($_[0], $up) }),
		$file =~ /reproduction/ ? 'Reproduction' : 'Guides');
}
for my $file (@man) {
	my $name = basename($file);
	my $html = run('mandoc', '-T', 'html', '-O', 'fragment', $file);
	my ($title) = $name =~ s/\.(\d)$/($1)/r;
	# Its lines end by themselves in there.
	$html =~ s{(<pre>.*?</pre>)}{$1 =~ s,<br/>\n?,,gr}gse;
	finish("man/$name.html", $title, link_manuals($html, '../'), 'Manual pages');
}

my $list = '<h1>Contents</h1>';
for my $group ('Guides', 'Manual pages', 'Reproduction') {
	$list .= "<h2>$group</h2><ul>";
	$list .= "<li><a href=\"$_->[0]\">$_->[1]</a></li>"
		for grep { $_->[3] eq $group } @found;
	$list .= '</ul>';
}
finish('contents.html', 'Contents', $list, '');
finish('search.html', 'Search', '<h1>Search</h1><ol id="found"></ol>'
	. '<noscript>The search needs JavaScript.</noscript>'
	. '<script src="pages.js"></script><script src="search.js"></script>', '');
my $text = 'const pages = [';
for my $p (grep { $_->[3] } @found) {
	my @quoted = map { '"' . s/([\\"])/\\$1/gr =~ s/[\x00-\x1f]/ /gr =~ s{</}{<\\/}gr . '"' } @$p[0 .. 2];
	$text .= "\n[" . join(', ', @quoted) . '],';
}
spit("$out/pages.js", "$text\n];\n");
copy("$source/doc/html/$_", "$out/$_") or die "$_: $!\n" for 'style.css', 'search.js';
