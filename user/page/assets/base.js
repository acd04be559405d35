// SPDX-License-Identifier: BSD-2-Clause
// Functions that the parts share. Names come from the profiled program, so they are set as text,
// never as HTML.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);

// el("p", {class: "soft"}, "text", child...): on* are listeners, the rest attributes.
function el(tag, attributes, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith("on"))
			node.addEventListener(name.slice(2), value);
		else if (value !== undefined && value !== null && value !== false)
			node.setAttribute(name, value === true ? "" : value);
	}
	node.append(...children.filter((c) => c !== null && c !== undefined));
	return node;
}

// ---- numbers ----

const timeUnits = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

function timeUnit(ns) {
	return timeUnits.find((u) => Math.abs(ns) >= u[1]) || timeUnits[3];
}

// Four digits, but at least the integer part.
function digits(value) {
	const size = Math.abs(value);
	return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

function timeText(ns) {
	const [name, unit] = timeUnit(ns);
	return (unit === 1 ? String(Math.round(ns)) : digits(ns / unit)) + " " + name;
}

// Text for a round number, in the unit of the whole axis.
function tickText(ns, unit) {
	return ns ? +(ns / unit[1]).toFixed(3) + " " + unit[0] : "0";
}

function timeTick(ns) {
	return tickText(ns, timeUnit(ns));
}

function bytesText(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let value = bytes, unit = 0;
	while (Math.abs(value) >= 1024 && unit < units.length - 1) {
		value /= 1024;
		unit++;
	}
	return (unit ? value.toFixed(value < 100 ? 2 : 0) : String(value)) + " " + units[unit];
}

function percentText(part, whole) {
	return whole ? (100 * part / whole).toFixed(1) + " %" : "-";
}

function countText(count, one, many) {
	return `${count.toLocaleString("en")} ${count === 1 ? one : many || one + "s"}`;
}

function clamp(value, low, high) {
	return Math.min(Math.max(value, low), high);
}

// ---- theme ----

const painters = [];

function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

const theme = {
	system: window.matchMedia("(prefers-color-scheme: dark)"),
	chosen: null,

	apply() {
		const dark = this.chosen ? this.chosen === "dark" : this.system.matches;
		document.documentElement.dataset.theme = dark ? "dark" : "light";
		document.getElementById("theme").textContent = dark ? "Light" : "Dark";
		painters.forEach((paint) => paint());
	},

	start() {
		this.system.addEventListener("change", () => this.apply());
		document.getElementById("theme").addEventListener("click", () => {
			this.chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
			this.apply();
		});
		this.apply();
	},
};

// ---- drawing ----

// A canvas as wide as its parent. draw(ctx, width, height) is called when the size or theme
// changes, and by the returned repaint().
function drawing(parent, height, attributes, draw) {
	const canvas = el("canvas", {tabindex: 0, ...attributes});
	const box = {canvas, width: 0, height, pending: false};

	function paint() {
		const ratio = window.devicePixelRatio || 1;
		const width = Math.floor(canvas.getBoundingClientRect().width);
		box.pending = false;
		if (!width)
			return;
		box.width = width;
		canvas.style.height = box.height + "px";
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(box.height * ratio);
		const ctx = canvas.getContext("2d");
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.font = "12px " + getComputedStyle(document.body).fontFamily;
		ctx.textBaseline = "middle";
		draw(ctx, width, box.height);
	}
	box.repaint = () => {
		if (!box.pending)
			requestAnimationFrame(paint);
		box.pending = true;
	};
	canvas.style.height = height + "px";
	parent.append(canvas);
	painters.push(box.repaint);
	new ResizeObserver(box.repaint).observe(canvas);
	return box;
}

// A name that is cut in its middle, because its end tells it from others.
function longName(name) {
	const end = name.length - Math.min(16, name.length >> 1);
	return el("span", {class: "long", title: name},
		el("span", null, name.slice(0, end)), el("span", null, name.slice(end)));
}

// Text in backticks is shown as code.
function prose(tag, text) {
	return el(tag, null, ...text.split("`").map((part, i, all) =>
		i % 2 && i + 1 < all.length ? el("code", null, part) : i % 2 ? "`" + part : part));
}

// Draws text from x on in `room`, and cuts it with an ellipsis.
function fitText(ctx, text, x, y, room) {
	if (room < 14)
		return;
	if (ctx.measureText(text).width > room) {
		let low = 0, high = text.length;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (ctx.measureText(text.slice(0, middle) + "\u2026").width <= room)
				low = middle;
			else
				high = middle - 1;
		}
		if (low < 2)
			return;
		text = text.slice(0, low) + "\u2026";
	}
	ctx.fillText(text, x, y);
}

// About `count` numbers from 0 to max, round in the base (10, or 2 for bytes).
function ticks(max, count, base) {
	if (!(max > 0))
		return [0];
	const raw = max / count;
	const power = base === 2 ? 2 ** Math.floor(Math.log2(raw)) : 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
	const list = [];
	for (let v = 0; v <= max * 1.0001; v += step)
		list.push(v);
	return list;
}

// Items are [text, color, shape]. shape is "line", "triangle", or a box by default.
function legend(items) {
	return el("ul", {class: "legend"}, ...items.map(([text, name, shape]) => {
		const swatch = el("span", {class: "swatch" + (shape ? " " + shape : ""), "aria-hidden": "true"});
		swatch.style.background = `var(--${name})`;
		return el("li", null, swatch, el("span", null, text));
	}));
}

// ---- the page's frame ----

function section(id, title, parent, brief) {
	const heading = el("h2", {id: id + "-title"}, title);
	const node = el("section", {class: "card", id, "aria-labelledby": id + "-title"}, heading);
	(parent || document.getElementById("content")).append(node);
	document.getElementById("nav").append(el("li", null, el("a", {href: "#" + id}, brief || title)));
	return node;
}

function readout(text) {
	return el("p", {class: "readout soft", "aria-live": "polite"}, text);
}

function keys(...pairs) {
	const node = el("p", {class: "soft"}, "Keys: ");
	pairs.forEach(([key, text], i) => node.append(i ? ", " : "", el("kbd", null, key), " " + text));
	return node;
}
