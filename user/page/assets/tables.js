// SPDX-License-Identifier: BSD-2-Clause
// Tables: can be sorted by a column's title, filtered by words, and copied as CSV.
"use strict";

const ROWS_SHOWN = 30;

function tableOf(key) {
	return data.tables.find((t) => t.key === key);
}

function isNumber(column) {
	return column.type !== "text";
}

function cellValue(cell) {
	return cell !== null && typeof cell === "object" ? null : cell;
}

// A time shorter than the unit keeps three significant digits, down to a nanosecond.
function timeCell(ns, scale) {
	const value = ns / scale, zeros = value > 0 && value < 1 ? Math.floor(-Math.log10(value)) : -1;
	const digits = Math.max(scale === 1e9 ? 4 : 3, zeros < 0 ? 0 : zeros + 3);
	return value.toFixed(Math.min(digits, Math.round(Math.log10(scale))));
}

// All times of a column, or of a group of columns, have one unit.
function columnFormat(table, index) {
	const column = table.columns[index];
	let max = 0;
	table.columns.forEach((other, i) => {
		if (other.type === "time" && (i === index || column.group && other.group === column.group))
			for (const row of table.rows)
				max = Math.max(max, cellValue(row[i + 2]) || 0);
	});
	const [unit, scale] = timeUnit(max);
	const texts = {
		time: (v) => scale === 1 ? String(v) : timeCell(v, scale),
		percent: (v) => v.toFixed(2),
		decimal: (v) => v.toFixed(2),
		float: (v) => String(Number(v.toPrecision(6))),
		count: (v) => v.toLocaleString("en"),
		bytes: bytesText,
		text: String,
	};
	return {unit: column.type === "time" ? unit : "", text: texts[column.type]};
}

function columnTitle(column, unit) {
	const title = column.group ? `${column.group} ${column.title}` : column.title;
	return unit ? `${title} (${unit})` : title;
}

// ---- rows: a row's details are its children, and stay with it ----

function rowTree(table) {
	const top = [], path = [];
	table.rows.forEach((row, order) => {
		const node = {row, order, section: row[1], children: []};
		path.length = Math.min(row[0], path.length);
		const parent = path[path.length - 1];
		if (parent && parent.section === node.section)
			parent.children.push(node);
		else
			top.push(node);
		path.push(node);
	});
	return top;
}

function compareCells(a, b) {
	if (a === null || b === null)
		return (a === null) - (b === null);
	return typeof a === "string" ? a.localeCompare(b) : a - b;
}

// Unknown values come last in both directions.
function sortTree(nodes, column, down) {
	const sorted = nodes.map((n) => ({...n, children: sortTree(n.children, column, down)}));
	sorted.sort((p, q) => {
		if (p.section !== q.section)
			return p.section - q.section;
		const a = cellValue(p.row[column + 2]), b = cellValue(q.row[column + 2]);
		const order = compareCells(a, b);
		return (a === null || b === null || !down ? order : -order) || p.order - q.order;
	});
	return sorted;
}

function matches(row, words) {
	return words.every((word) => row.some((cell, i) => i > 1 &&
		typeof cell === "string" && cell.toLowerCase().includes(word)));
}

// Keeps matching rows with all their details, and rows with matching details.
function filterTree(nodes, words) {
	if (!words.length)
		return nodes;
	return nodes.map((n) => matches(n.row, words) ? n :
		{...n, children: filterTree(n.children, words), head: true})
		.filter((n) => !n.head || n.children.length);
}

function flatRows(nodes) {
	return nodes.flatMap((n) => [n.row, ...flatRows(n.children)]);
}

// ---- CSV: as `proftrace report --format csv` prints it ----

function csvField(value) {
	const text = value === null || value === undefined ? "" : String(value);
	return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function csvOf(table, rows) {
	const sections = table.sections.length > 0;
	const lines = [[...table.columns.map((c) => c.key), "depth", ...(sections ? ["section"] : [])]];
	for (const row of rows)
		lines.push([...row.slice(2).map(cellValue), row[0],
			...(sections ? [table.sections[row[1]]] : [])]);
	return lines.map((line) => line.map(csvField).join(",") + "\r\n").join("");
}

// Pages from a disk have no clipboard in some browsers.
async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const area = el("textarea", {class: "offscreen"});
		area.value = text;
		document.body.append(area);
		area.select();
		const done = document.execCommand("copy");
		area.remove();
		return done;
	}
}

// ---- one table ----

class TableView {
	constructor(table) {
		this.table = table;
		this.tree = rowTree(table);
		this.formats = table.columns.map((_, i) => columnFormat(table, i));
		this.words = [];
		this.sorted = {column: -1, down: true};
		this.all = false;
	}

	build(parent) {
		const {table} = this;
		this.body = el("tbody");
		this.heads = table.columns.map((column, i) => el("th",
			{scope: "col", class: isNumber(column) ? "number" : undefined, "aria-sort": "none"},
			el("button", {type: "button", onclick: () => this.sort(i)},
				columnTitle(column, this.formats[i].unit))));
		this.count = el("span", {class: "soft", "aria-live": "polite"});
		this.more = el("button", {type: "button", onclick: () => this.showAll()});
		const filter = el("input", {type: "search", placeholder: "Filter",
			"aria-label": `Filter ${table.title}`,
			oninput: () => this.filter(filter.value)});
		const copy = el("button", {type: "button", onclick: async () => {
			const done = await copyText(csvOf(table, this.visible()));
			copy.textContent = done ? "Copied" : "Cannot copy here";
			setTimeout(() => { copy.textContent = "Copy as CSV"; }, 1500);
		}}, "Copy as CSV");
		parent.append(
			el("div", {class: "tools"}, filter, copy, this.count),
			el("div", {class: "table-box", tabindex: 0, role: "region",
				"aria-label": table.title},
			el("table", null,
				el("caption", {class: "offscreen"}, table.title),
				el("thead", null, el("tr", null, ...this.heads)), this.body)),
			this.more);
		this.render();
	}

	sort(column) {
		const first = isNumber(this.table.columns[column]);
		this.sorted = {column,
			down: this.sorted.column === column ? !this.sorted.down : first};
		this.heads.forEach((head, i) => head.setAttribute("aria-sort",
			i !== column ? "none" : this.sorted.down ? "descending" : "ascending"));
		this.tree = sortTree(this.tree, column, this.sorted.down);
		this.render();
	}

	filter(text) {
		this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
		this.render();
	}

	showAll() {
		this.all = true;
		this.render();
	}

	visible() {
		return flatRows(filterTree(this.tree, this.words));
	}

	render() {
		const {table} = this, found = this.visible(), rows = [];
		const shown = this.all ? found : found.slice(0, ROWS_SHOWN);
		let section = -1;
		for (const row of shown) {
			if (row[1] !== section && row[1] >= 0)
				rows.push(this.sectionRow(row[1]));
			section = row[1];
			rows.push(this.row(row));
		}
		this.body.replaceChildren(...rows);
		this.count.textContent = (shown.length < found.length ? `${shown.length} of ` : "") +
			countText(found.length, "row") +
			(this.words.length ? `, of ${table.rows.length} in all` : "") +
			(table.left_out ? `; ${table.left_out.toLocaleString("en")} more are not in this page` : "");
		this.more.hidden = shown.length === found.length;
		this.more.textContent = `Show all ${found.length.toLocaleString("en")} rows`;
	}

	sectionRow(index) {
		return el("tr", {class: "section"}, el("th",
			{scope: "rowgroup", colspan: this.table.columns.length}, this.table.sections[index]));
	}

	row(row) {
		const slow = this.table.key === "steps" && row.includes("slow");
		return el("tr", {class: slow ? "slow" : undefined}, ...this.table.columns.map((column, i) => {
			const head = i === 0;
			const css = [isNumber(column) ? "number" : "", head && row[0] ? "d" + Math.min(row[0], 3) : ""]
				.filter(Boolean).join(" ");
			return this.cell(head ? el("th", {scope: "row", class: css || undefined}) :
				el("td", {class: css || undefined}), row[i + 2], this.formats[i]);
		}));
	}

	cell(node, cell, format) {
		const value = cellValue(cell);
		if (value === null) {
			node.textContent = "-";
			if (cell && cell.why)
				node.title = cell.why;
		} else {
			node.textContent = format.text(value);
		}
		return node;
	}
}

function notes(table) {
	return table.notes.length ?
		el("ul", {class: "notes"}, ...table.notes.map((n) => prose("li", n))) : null;
}

// Cells of a list as "title: value".
function factList(table) {
	const list = el("dl", {class: "facts"}), row = table.rows[0] || [];
	table.columns.forEach((column, i) => {
		const cell = row[i + 2], value = cellValue(cell === undefined ? null : cell);
		const text = value === null ? "-" + (cell && cell.why ? ` (${cell.why})` : "") :
			column.type === "time" ? timeText(value) :
			column.type === "bytes" ? bytesText(value) :
			column.type === "percent" ? value.toFixed(2) + " %" : String(value);
		if (text !== "")
			list.append(el("dt", null, column.title), el("dd", null, text));
	});
	return list;
}

// A closed table is built only when it is opened.
function showTables() {
	const shown = data.tables.filter((t) => t.shape === "table" && t.rows.length);
	const parent = section("tables", "Tables");
	shown.forEach((table, i) => {
		const node = el("details", {class: "table", id: "table-" + table.key},
			el("summary", null, table.title, " ",
				el("span", {class: "soft"}, countText(table.rows.length, "row"))));
		let built = false;
		const build = () => {
			if (built || !node.open)
				return;
			built = true;
			new TableView(table).build(node);
			const list = notes(table);
			if (list)
				node.append(list);
		};
		node.addEventListener("toggle", build);
		if (table.key === "overview" || table.key === "operator" || i === 0)
			node.open = true;
		parent.append(node);
		build();
	});
	const empty = data.tables.filter((t) => t.shape === "table" && !t.rows.length);
	if (empty.length)
		parent.append(el("p", {class: "soft"}, "Without content here: " +
			empty.map((t) => t.title).join(", ") + "."));
}
