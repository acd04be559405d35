// SPDX-License-Identifier: BSD-2-Clause
// The page from top to bottom.
"use strict";

function showFindings() {
	const table = tableOf("findings");
	if (!table)
		return;
	const parent = section("findings", table.title, null, "Findings");
	if (table.rows.length)
		parent.append(el("ol", {class: "findings"}, ...table.rows.map((row) => {
			const list = el("dl", {class: "facts"});
			table.columns.forEach((column, i) => {
				const value = cellValue(row[i + 2]);
				if (i === 0 || value === null || value === "")
					return;
				list.append(el("dt", null, column.title), prose("dd",
					column.type === "time" ? timeText(value) :
					column.type === "percent" ? value.toFixed(2) + " %" : String(value)));
			});
			return el("li", null, prose("h3", String(row[2])), list);
		})));
	const list = notes(table);
	if (list)
		parent.append(list);
}

function showList(key, brief) {
	const table = tableOf(key);
	if (!table)
		return;
	const parent = section(key, table.title, null, brief);
	parent.append(factList(table));
	const list = notes(table);
	if (list)
		parent.append(list);
}

function showPage() {
	const heading = document.getElementById("title");
	heading.textContent = data.title;
	document.title = `${data.title} \u2013 proftrace`;
	if (data.loss)
		document.getElementById("content").append(el("p", {class: "warning", role: "note"},
			`This recording is ${data.loss}: counts and times are too low.`));
	showFindings();
	showList("summary");
	showSteps();
	showUsage();
	showMemory();
	showTops();
	showFlame();
	showTimeline();
	showTables();
	showList("cost", "Loss");
	document.getElementById("footer").textContent =
		`Made by proftrace ${data.version} of ${countText(data.events, "event")}. ` +
		"This file is complete: it loads nothing.";
	theme.start();
}

showPage();
