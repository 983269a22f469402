#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The site of guides and man pages: every link leads somewhere, names of man pages and
# words of the glossary are links, and the search knows all pages.
. "${0%/*}/../tools/tap.bash"
: "${COMMPLACE_SOURCE:?}" "${COMMPLACE_BUILD:?}"
for program in cmark-gfm mandoc perl; do
	command -v "$program" >/dev/null || skip_all "missing: $program"
done
work=$(mktemp -d)
on_exit 'rm -rf "$work"'
site=$work/html
runs "make html" make -s -C "$COMMPLACE_BUILD" html htmldir_built="$site"
[ -s "$site/index.html" ] || done_testing
# Of each link that stays on the site and leads nowhere a line, then how many there are.
links() {
	perl - "$1" <<-'END'
		use strict; use warnings; use File::Basename;
		chdir shift; my (%id, %text);
		for my $f (split /\n/, `find . -name '*.html' | sed 's,^./,,'`) {
			local $/; open my $in, '<', $f; $text{$f} = <$in>;
			$id{$f}{$1} = 1 while $text{$f} =~ /id="([^"]*)"/g;
		}
		my $n = 0;
		for my $f (sort keys %text) {
			while ($text{$f} =~ /(?:href|src)="([^"]*)"/g) {
				my $to = $1;
				next if $to =~ /^[a-z]+:/;
				my ($path, $hash) = $to =~ /^([^#]*)(?:#(.*))?$/;
				my $file = $path eq '' ? $f : dirname($f) . "/$path";
				1 while $file =~ s,(^|/)\./,$1, || $file =~ s,[^/.][^/]*/\.\./,,;
				$n++;
				print "$f: $to\n" unless -e $file;
				print "$f: no #$hash in $file\n"
					if defined $hash && $file =~ /html$/ && !$id{$file}{$hash};
			}
		}
		print "$n\n";
	END
}
found=$(links "$site")
is "$(sed '$d' <<<"$found")" "" "no link leads nowhere"
[ "$(tail -n 1 <<<"$found")" -gt 1000 ]
ok $? "of $(tail -n 1 <<<"$found")"
echo '<a href="nowhere.html">' >"$site/broken.html"
is "$(links "$site" | sed '$d')" "broken.html: nowhere.html" "one would be seen"
rm "$site/broken.html"
pages=$(cd "$site" && find . -name '*.html' ! -name contents.html ! -name search.html | wc -l)
is "$pages" "$(($(cd "$COMMPLACE_SOURCE" && ls README.md contrib/exporters/README.md doc/*.md \
	doc/reproduction/*.md | wc -l) + $(cd "$COMMPLACE_BUILD" &&
	ls doc/man1/*.1 doc/man5/*.5 | wc -l) + $(cd "$COMMPLACE_SOURCE" &&
	ls doc/man1/*.1 doc/man5/*.5 doc/man8/*.8 | wc -l)))" "all guides and man pages are there"
is "$(grep -c '^\["' "$site/pages.js")" "$pages" "and the search knows them"
like "$(cat "$site/users-guide.html")" 'class="word" href="glossary.html#word-' \
	"words of the glossary lead there"
like "$(cat "$site/man/commplace.1.html")" 'href="../man/commplace-map.1.html"' \
	"man pages lead to each other"
unlike "$(cat "$site"/*.html "$site"/*.js "$site"/*.css)" '(src|href|import|url\()[^ ]*https?://[^ ]*\.(js|css)' \
	"nothing is asked of a network"
done_testing
