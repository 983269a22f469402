/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

/*
 * tests/golden/html.t compares the hashes with the texts: SHA-256, base64. In
 * dark mode figures are inverted, so that they keep their shades.
 */
#define STYLE_HASH "8N/kwEQl2BEi4zW/erOfBxM55cEPxInu4Zgi9+VUOrE="
static const char style[] =
        ":root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--dim:#5b6470;"
        "--line:#d9dee4;--card:#f4f6f8;--mark:#0b63ce}\n"
        "@media (prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e9ec;"
        "--dim:#9aa4af;--line:#343b43;--card:#1d2226;--mark:#6cb0ff}\n"
        "figure svg{filter:invert(1) hue-rotate(180deg)}}\n"
        "*{box-sizing:border-box}\n"
        "body{margin:0 auto;max-width:76rem;padding:1.2rem;background:var(--bg)"
        ";color:var(--fg);font:15px/1.5 system-ui,-apple-system,'Segoe UI',"
        "Roboto,'DejaVu Sans',sans-serif}\n"
        "h1{font-size:1.6rem;line-height:1.25;margin:.2rem 0;"
        "overflow-wrap:anywhere}\n"
        "h2{font-size:1.15rem;margin:2.2rem 0 .5rem;border-bottom:1px solid "
        "var(--line);padding-bottom:.25rem}\n"
        "p{margin:.3rem 0 .8rem;color:var(--dim);max-width:60rem;"
        "overflow-wrap:anywhere}\n"
        "ul{margin:.3rem 0;padding-left:1.2rem}\n"
        ".cards{display:grid;grid-template-columns:repeat(auto-fit,"
        "minmax(10rem,1fr));gap:.7rem;margin:1rem 0;padding:0}\n"
        ".cards div{background:var(--card);border:1px solid var(--line);"
        "border-radius:.5rem;padding:.55rem .8rem}\n"
        ".cards dt{color:var(--dim);font-size:.82rem}\n"
        ".cards dd{margin:0;font-size:1.15rem;font-weight:600;"
        "overflow-wrap:anywhere}\n"
        ".scroll{overflow-x:auto;margin:.4rem 0}\n"
        "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
        "th,td{padding:.28rem .75rem;border-bottom:1px solid var(--line);"
        "text-align:left;vertical-align:top}\n"
        "th{cursor:pointer;white-space:nowrap;background:var(--card);"
        "font-size:.85rem}\n"
        "th:focus-visible{outline:2px solid var(--mark)}\n"
        "th[aria-sort=ascending]::after{content:' \\2191'}\n"
        "th[aria-sort=descending]::after{content:' \\2193'}\n"
        ".r{text-align:right;white-space:nowrap}\n"
        "td{white-space:nowrap}\n"
        "td:last-child:not(.r){white-space:normal;overflow-wrap:anywhere;"
        "min-width:14rem}\n"
        "tr.taken td{font-weight:600;background:var(--card)}\n"
        "figure{margin:.6rem 0;overflow-x:auto}\n"
        "figure svg{max-width:100%;height:auto;border-radius:.4rem}\n"
        "figure.wide svg{min-width:44rem}\n"
        "pre{background:var(--card);border:1px solid var(--line);"
        "border-radius:.5rem;padding:.7rem;white-space:pre-wrap;"
        "overflow-wrap:anywhere;font-size:.88rem}\n"
        "summary{cursor:pointer;color:var(--mark);margin:.4rem 0}\n"
        "a{color:var(--mark)}\n"
        "nav{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:.6rem 0}\n"
        "h2:focus{outline:none}\n"
        "h2:focus-visible,summary:focus-visible,a:focus-visible"
        "{outline:2px solid var(--mark);outline-offset:2px}\n"
        "details.job{border:1px solid var(--line);border-radius:.5rem;"
        "margin:.4rem 0;padding:0 .8rem}\n"
        "details.job:target{border-color:var(--mark)}\n"
        "footer{margin-top:2.5rem;color:var(--dim);font-size:.82rem}\n"
        "@media (max-width:40rem){body{padding:.7rem;font-size:14px}\n"
        "figure svg{min-width:34rem}\n"
        "th,td{padding:.25rem .45rem}\n"
        "td:first-child:not(.r){white-space:normal}\n"
        "td:last-child:not(.r){min-width:26rem}}\n"
        "@media print{:root{--bg:#fff;--fg:#000;--dim:#444;--line:#bbb;"
        "--card:#fff}\n"
        "body{max-width:none;padding:0;font-size:10pt}\n"
        "figure svg,figure.wide svg{filter:none;min-width:0}\n"
        "nav{display:none}\n"
        ".scroll,figure{overflow:visible}\n"
        "a{color:inherit;text-decoration:none}\n"
        "figure,tr,.cards div{break-inside:avoid}\n"
        "h2{break-after:avoid}\n"
        "th{cursor:auto}}\n";

/* A cell's worth is its leading number, times its unit; else its text. */
#define SCRIPT_HASH "rFJqga60OCiKh57k4N2yqbpekmlTvO2tlQaEoniYuh8="
static const char script[] =
        "'use strict';\n"
        "const unit={kB:1e3,MB:1e6,GB:1e9,TB:1e12,PB:1e15,EB:1e18};\n"
        "function worth(cell){\n"
        "const t=cell.textContent.replace(/^[<>]=? /,'');\n"
        "const m=/^[-+]?[0-9.]+(e[-+]?[0-9]+)?/.exec(t);\n"
        "if(!m)return t;\n"
        "return parseFloat(m[0])*(unit[t.slice(m[0].length).trim()"
        ".slice(0,2)]||1);}\n"
        "function less(a,b){\n"
        "if(typeof a===typeof b)return a<b?-1:a>b?1:0;\n"
        "return typeof a==='number'?-1:1;}\n"
        "function sort(head){\n"
        "const table=head.closest('table'),body=table.tBodies[0];\n"
        "const down=head.getAttribute('aria-sort')==='ascending';\n"
        "const i=head.cellIndex,rows=[...body.rows];\n"
        "for(const h of table.tHead.rows[0].cells)"
        "h.removeAttribute('aria-sort');\n"
        "head.setAttribute('aria-sort',down?'descending':'ascending');\n"
        "rows.sort((a,b)=>(down?-1:1)*less(worth(a.cells[i]),"
        "worth(b.cells[i])));\n"
        "body.append(...rows);}\n"
        "for(const head of document.querySelectorAll('th')){\n"
        "head.tabIndex=0;\n"
        "head.addEventListener('click',()=>sort(head));\n"
        "head.addEventListener('keydown',e=>{"
        "if(e.key==='Enter')sort(head);});}\n"
        "const parts=[...document.querySelectorAll('h2')];\n"
        "const list=document.createElement('nav');\n"
        "list.setAttribute('aria-label','Sections');\n"
        "for(const h of parts){\n"
        "const a=document.createElement('a');\n"
        "a.href='#'+h.id;a.textContent=h.textContent;list.append(a);\n"
        "h.tabIndex=-1;}\n"
        "document.querySelector('h1+p').after(list);\n"
        "function go(step){\n"
        "let i=parts.indexOf(document.activeElement);\n"
        "if(i<0)i=parts.filter(h=>h.getBoundingClientRect().top<1)"
        ".length-(step>0?1:0);\n"
        "const h=parts[i+step];\n"
        "if(h){h.focus();h.scrollIntoView();}}\n"
        "document.addEventListener('keydown',e=>{\n"
        "if(e.ctrlKey||e.altKey||e.metaKey)return;\n"
        "if(e.key==='n')go(1);\n"
        "if(e.key==='p')go(-1);});\n"
        "function unfold(){\n"
        "const d=document.getElementById(location.hash.slice(1));\n"
        "if(!d||d.tagName!=='DETAILS')return;\n"
        "d.open=true;d.firstElementChild.focus();d.scrollIntoView();}\n"
        "window.addEventListener('hashchange',unfold);\n"
        "unfold();\n";

/* Plain text: no character has a meaning to the page. */
static void escape(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			putc(*text, out);
		}
	}
}

static void put_text(FILE *out, const char *text)
{
	char *copy = strdup(text);

	/* Where memory is out, nothing is written rather than unchecked
	 * text. */
	if (copy)
		escape(out, cpl_printable(copy));
	free(copy);
}

static void put_element(FILE *out, const char *name, const char *text)
{
	fprintf(out, "<%s>", name);
	put_text(out, text);
	fprintf(out, "</%s>\n", name);
}

void html_begin(FILE *out, const char *title, const char *subtitle, int every)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\""
	      "default-src 'none'; style-src 'sha256-" STYLE_HASH "'; "
	      "script-src 'sha256-" SCRIPT_HASH "'; base-uri 'none'; "
	      "form-action 'none'\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\">\n",
	      out);
	if (every)
		fprintf(out, "<meta http-equiv=\"refresh\" content=\"%d\">\n",
		        every);
	put_element(out, "title", title);
	fprintf(out, "<style>%s</style>\n</head>\n<body>\n", style);
	put_element(out, "h1", title);
	put_element(out, "p", subtitle);
}

void html_end(FILE *out, const char *what)
{
	fprintf(out,
	        "<footer>commplace. %s A click or Enter on the head of a column "
	        "sorts by it; the keys n and p go to the next and the previous "
	        "section.</footer>\n<script>%s</script>\n</body>\n</html>\n",
	        what, script);
}

void html_section(FILE *out, const char *heading, const char *text)
{
	fputs("<h2 id=\"", out);
	for (const char *c = heading; *c; c++)
		putc(isalnum((unsigned char)*c) ? tolower((unsigned char)*c)
		                                : '-',
		     out);
	fputs("\">", out);
	put_text(out, heading);
	fputs("</h2>\n", out);
	if (text)
		put_element(out, "p", text);
}

void html_cards(FILE *out)
{
	fputs("<dl class=\"cards\">\n", out);
}

void html_card(FILE *out, const char *name, const char *format, ...)
{
	char text[CPL_ERROR_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fputs("<div>", out);
	put_element(out, "dt", name);
	put_element(out, "dd", text);
	fputs("</div>\n", out);
}

void html_cards_end(FILE *out)
{
	fputs("</dl>\n", out);
}

/* "17 (50 %), 19 (50 %)" with links to the jobs. */
static void put_jobs(FILE *out, const char *cell)
{
	while (*cell) {
		size_t digits = strspn(cell, "0123456789");
		const char *next = strstr(cell, ", ");
		int rest = next ? (int)(next + 2 - cell) : (int)strlen(cell);

		if (digits)
			fprintf(out, "<a href=\"#job-%.*s\">%.*s</a>",
			        (int)digits, cell, (int)digits, cell);
		for (int i = (int)digits; i < rest; i++)
			escape(out, (char[]){cell[i], '\0'});
		cell += rest;
	}
}

/* jobs: the column with ids of jobs, -1: none. */
static void put_row(FILE *out, const struct cmd_cells *t, int row, int jobs)
{
	const char *name = row ? "td" : "th";

	/* Tables mark what was taken by "*" in their first column. */
	fputs(row && !strcmp(t->cell[row * t->columns], "*")
	              ? "<tr class=\"taken\">"
	              : "<tr>",
	      out);
	for (int i = 0; i < t->columns; i++) {
		fprintf(out, "<%s%s>", name,
		        t->align[i] == 'r' ? " class=\"r\"" : "");
		(row && i == jobs ? put_jobs : escape)(
		        out, t->cell[row * t->columns + i]);
		fprintf(out, "</%s>", name);
	}
	fputs("</tr>\n", out);
}

int html_jobs_table(FILE *out, struct cmd_table *table, int column,
                    struct cpl_error *err)
{
	struct cmd_cells t;

	if (!cmd_table_cells(table, &t)) {
		cmd_table_free(table);
		return cpl_fail_memory(err);
	}
	fputs("<div class=\"scroll\"><table>\n<thead>", out);
	for (int row = 0; row < t.rows; row++) {
		put_row(out, &t, row, column);
		if (!row)
			fputs("</thead>\n<tbody>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	cmd_table_free(table);
	return 0;
}

int html_table(FILE *out, struct cmd_table *table, struct cpl_error *err)
{
	return html_jobs_table(out, table, -1, err);
}

void html_job(FILE *out, int64_t id, const char *text)
{
	fprintf(out, "<details class=\"job\" id=\"job-%" PRId64 "\">", id);
	put_element(out, "summary", text);
}

void html_job_end(FILE *out)
{
	fputs("</details>\n", out);
}

int html_folded(FILE *out, const char *text, struct cmd_table *table,
                struct cpl_error *err)
{
	int rc;

	fputs("<details>", out);
	put_element(out, "summary", text);
	rc = html_table(out, table, err);
	fputs("</details>\n", out);
	return rc;
}

void html_item(FILE *out, const char *line)
{
	fputs("<ul>\n", out);
	put_element(out, "li", line);
	fputs("</ul>\n", out);
}

void html_next(FILE *out, int n, char (*line)[CPL_ERROR_MAX])
{
	if (!n)
		return;
	html_section(out, "What to do next", NULL);
	fputs("<ul>\n", out);
	for (int i = 0; i < n; i++)
		put_element(out, "li", line[i]);
	fputs("</ul>\n", out);
}

void html_command(FILE *out, const char *text)
{
	put_element(out, "pre", text);
}

void html_figure(FILE *out, bool wide)
{
	fputs(wide ? "<figure class=\"wide\">\n" : "<figure>\n", out);
}

void html_figure_end(FILE *out)
{
	fputs("</figure>\n", out);
}
