// SPDX-License-Identifier: GPL-2.0-or-later
// Pages that have all the words, those that have them most often first.
const asked = new URLSearchParams(location.search).get("q") || "";
const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
document.querySelector("input").value = asked;
const count = (text, word) => text.split(word).length - 1;
const found = words.length ? pages.map(([file, title, text]) => {
	const lower = text.toLowerCase();
	const each = words.map(w => count(lower, w) + 20 * count(title.toLowerCase(), w));
	return { file, title, text, at: lower.indexOf(words[0]),
		score: Math.min(...each) ? each.reduce((a, b) => a + b) : 0 };
}).filter(p => p.score).sort((a, b) => b.score - a.score) : [];
const list = document.getElementById("found");
for (const p of found) {
	const item = document.createElement("li"), link = document.createElement("a");
	link.href = p.file;
	link.textContent = p.title;
	const around = p.text.slice(Math.max(0, p.at - 80), p.at + 160);
	item.append(link, document.createElement("br"), "… " + around + " …");
	list.append(item);
}
if (words.length && !found.length)
	list.replaceWith("No page has all of these words.");
