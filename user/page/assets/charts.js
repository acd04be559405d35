// SPDX-License-Identifier: BSD-2-Clause
// Steps, use of threads and devices, memory over time, and the longest operators and kernels.
"use strict";

const phaseColors = {
	Dataloader: "c-dataloader", Forward: "c-forward", Backward: "c-backward",
	Optimization: "c-optimization", Others: "c-others", Other: "c-others",
	"(phase not recorded)": "c-others",
};
const MARGIN = {left: 68, right: 8, top: 16, bottom: 22};

// ---- axes ----

function plotArea(width, height) {
	return {x: MARGIN.left, y: MARGIN.top, w: Math.max(width - MARGIN.left - MARGIN.right, 10),
		h: height - MARGIN.top - MARGIN.bottom};
}

function drawValueAxis(ctx, area, max, text, base) {
	ctx.strokeStyle = color("line");
	ctx.fillStyle = color("soft");
	ctx.lineWidth = 1;
	ctx.textAlign = "right";
	for (const value of ticks(max, 4, base)) {
		const y = Math.round(area.y + area.h * (1 - value / max)) + .5;
		if (y < area.y - 1)
			continue;
		ctx.beginPath();
		ctx.moveTo(area.x, y);
		ctx.lineTo(area.x + area.w, y);
		ctx.stroke();
		ctx.fillText(text(value), area.x - 5, y);
	}
	ctx.textAlign = "left";
}

function drawTimeAxis(ctx, area, length) {
	const unit = timeUnit(length);
	ctx.fillStyle = color("soft");
	ctx.textAlign = "center";
	for (const value of ticks(length, Math.max(area.w / 110, 2))) {
		const x = area.x + area.w * value / length;
		const text = tickText(value, unit);
		ctx.fillText(text, clamp(x, area.x + 10, area.x + area.w - 22), area.y + area.h + 12);
	}
	ctx.textAlign = "left";
}

// Mouse, touch and arrow keys move a cursor over `count` places. Calls show(index).
function cursorOver(box, count, show) {
	const {canvas} = box;
	let at = -1;
	function set(index) {
		at = clamp(index, 0, count - 1);
		box.cursor = at;
		box.repaint();
		show(at);
	}
	canvas.addEventListener("pointermove", (event) => {
		const area = plotArea(box.width, box.height);
		set(Math.floor((event.offsetX - area.x) / area.w * count));
	});
	canvas.addEventListener("keydown", (event) => {
		const far = Math.max(Math.round(count / 20), 1);
		const to = {ArrowRight: at + 1, ArrowLeft: at - 1, PageUp: at + far, PageDown: at - far,
			Home: 0, End: count - 1}[event.key];
		if (to === undefined)
			return;
		event.preventDefault();
		set(to);
	});
}

function drawCursor(ctx, area, box, count) {
	if (box.cursor === undefined)
		return;
	const x = area.x + (box.cursor + .5) * area.w / count;
	ctx.strokeStyle = color("text");
	ctx.lineWidth = 1;
	ctx.beginPath();
	ctx.moveTo(x, area.y);
	ctx.lineTo(x, area.y + area.h);
	ctx.stroke();
}

// ---- steps ----

// Bars are [first index, steps, mean ns, longest ns, slow ones, mean ns of each phase ...].
const BAR = {index: 0, cnt: 1, mean: 2, max: 3, slow: 4, phases: 5};

function drawMedian(ctx, area, y) {
	ctx.strokeStyle = color("text");
	ctx.setLineDash([5, 4]);
	ctx.beginPath();
	ctx.moveTo(area.x, y);
	ctx.lineTo(area.x + area.w, y);
	ctx.stroke();
	ctx.setLineDash([]);
}

function drawSlowMark(ctx, x, y) {
	ctx.fillStyle = color("slow");
	ctx.beginPath();
	ctx.moveTo(x, y);
	ctx.lineTo(x - 4, y - 7);
	ctx.lineTo(x + 4, y - 7);
	ctx.fill();
}

function drawSteps(ctx, width, height, box) {
	const {steps} = data, area = plotArea(width, height), count = steps.bars.length;
	const max = Math.max(...steps.bars.map((b) => b[BAR.max])) * 1.08;
	const colors = steps.phases.map((name) => color(phaseColors[name]));
	const slot = area.w / count, apart = slot > 4;
	const scale = area.h / max, base = area.y + area.h;

	drawValueAxis(ctx, area, max, timeTick);
	steps.bars.forEach((bar, i) => {
		// Touching bars end at whole pixels. Otherwise the background shows between them.
		const x = apart ? area.x + i * slot + (slot - Math.min(slot - 2, 60)) / 2 :
			Math.floor(area.x + i * slot);
		const wide = apart ? Math.min(slot - 2, 60) :
			Math.max(Math.floor(area.x + (i + 1) * slot) - x, 1);
		let y = base;
		colors.forEach((fill, p) => {
			const high = bar[BAR.phases + p] * scale;
			ctx.fillStyle = fill;
			ctx.fillRect(x, y - high, wide, high);
			y -= high;
		});
		if (bar[BAR.cnt] > 1) {
			ctx.fillStyle = color("soft");
			ctx.fillRect(x, base - bar[BAR.max] * scale, wide, 1);
		}
		if (bar[BAR.slow])
			drawSlowMark(ctx, x + wide / 2, base - bar[BAR.max] * scale - 2);
	});
	drawMedian(ctx, area, base - steps.median_ns * scale);
	ctx.fillStyle = color("soft");
	ctx.textAlign = "center";
	const every = Math.max(Math.ceil(count / (area.w / 60)), 1);
	for (let i = 0; i < count; i += every)
		ctx.fillText(String(steps.bars[i][BAR.index]), area.x + (i + .5) * slot, base + 12);
	ctx.textAlign = "left";
	drawCursor(ctx, area, box, count);
}

function barText(bar) {
	const {steps} = data;
	const name = bar[BAR.cnt] > 1 ?
		`Steps ${bar[BAR.index]} to ${bar[BAR.index] + bar[BAR.cnt] - 1}: mean ${timeText(bar[BAR.mean])}, longest ${timeText(bar[BAR.max])}` :
		`Step ${bar[BAR.index]}: ${timeText(bar[BAR.mean])}`;
	const parts = steps.phases.map((phase, i) => [phase, bar[BAR.phases + i]])
		.filter(([, ns]) => ns).map(([phase, ns]) => `${phase} ${timeText(ns)}`);
	const slow = bar[BAR.slow] ? bar[BAR.cnt] > 1 ? ` (${bar[BAR.slow]} slow)` : " (slow)" : "";
	return `${name}${slow} \u2013 ${parts.join(", ")}`;
}

function showSteps() {
	const {steps} = data, parent = section("steps", "Steps");
	if (!steps.cnt) {
		parent.append(el("p", null, "No step was recorded."));
		return;
	}
	const slow = steps.bars.reduce((sum, bar) => sum + bar[BAR.slow], 0);
	const summary = `${countText(steps.cnt, "step")}, median ${timeText(steps.median_ns)} (dashed line); ` +
		(slow ? `${slow} took more than ${steps.slow} times the median (triangles).` :
			`none took more than ${steps.slow} times the median.`);
	const text = readout("Point at a bar, or use the arrow keys, for its figures.");
	parent.append(el("p", null, summary));
	if (steps.group > 1)
		parent.append(el("p", {class: "soft"}, `Each bar stands for ${steps.group} steps: their mean by phase, and the longest as a line.`));
	const box = drawing(parent, 240, {role: "img",
		"aria-label": `Time of each step by phase. ${summary} The table of steps has the figures.`},
	(ctx, width, height) => drawSteps(ctx, width, height, box));
	cursorOver(box, steps.bars.length, (i) => { text.textContent = barText(steps.bars[i]); });
	parent.append(legend([...steps.phases.map((name) => [name, phaseColors[name]]),
		["slow", "slow", "triangle"]]), text);
}

// ---- series over time ----

function drawStack(ctx, area, series, max) {
	const count = series[0].values.length, below = new Array(count).fill(0);
	const slot = area.w / count;
	for (const one of series) {
		ctx.fillStyle = color(one.color);
		one.values.forEach((value, i) => {
			// Whole pixels, so that the background does not show between neighbours.
			const x = Math.round(area.x + i * slot), end = Math.round(area.x + (i + 1) * slot);
			const y = area.y + area.h * (1 - (below[i] + value) / max);
			ctx.fillRect(x, y, end - x, area.h * value / max);
			below[i] += value;
		});
	}
}

// Each bin is a flat piece, because its value holds for all of it.
function drawLine(ctx, area, series, max, min) {
	const slot = area.w / series.values.length;
	ctx.strokeStyle = color(series.color);
	ctx.lineWidth = 1.6;
	ctx.beginPath();
	let open = false;
	series.values.forEach((value, i) => {
		if (value === null)
			return;
		const x = area.x + i * slot;
		const y = area.y + area.h * (1 - (value - min) / (max - min));
		if (open)
			ctx.lineTo(x, y);
		else
			ctx.moveTo(x, y);
		ctx.lineTo(x + slot, y);
		open = true;
	});
	ctx.stroke();
}

// series: {name, color, values, stacked}. text(value) formats values for axis and readout.
function showOverTime(parent, label, series, max, text, base) {
	const {usage} = data, count = series[0].values.length;
	const stacked = series.filter((s) => s.stacked), lines = series.filter((s) => !s.stacked);
	const length = count * usage.width_ns;
	const min = Math.min(0, ...lines.flatMap((s) => s.values.filter((v) => v !== null)));
	const out = readout("Point at the chart, or use the arrow keys, for its figures.");
	const box = drawing(parent, 190, {role: "img", "aria-label": label}, (ctx, width, height) => {
		const area = plotArea(width, height);
		if (stacked.length)
			drawStack(ctx, area, stacked, max);
		drawValueAxis(ctx, area, max, text, base);
		drawTimeAxis(ctx, area, length);
		lines.forEach((one) => drawLine(ctx, area, one, max, min));
		drawCursor(ctx, area, box, count);
	});
	cursorOver(box, count, (i) => {
		out.textContent = `At ${timeText(i * usage.width_ns)}: ` + series
			.filter((s) => s.values[i] !== null && (!s.stacked || s.values[i] > 0))
			.map((s) => `${s.name} ${text(s.values[i])}`).join(", ");
	});
	parent.append(legend(series.map((s) => [s.name, s.color, s.stacked ? null : "line"])), out);
}

function usageOf(what) {
	return data.usage.series.filter((s) => s.what === what);
}

// Width of a bin. The last bin may reach beyond the end.
function shares(series) {
	const {usage} = data, count = series.values.length;
	return series.values.map((ns, i) => {
		const width = i === count - 1 ? usage.length_ns - i * usage.width_ns : usage.width_ns;
		return clamp(100 * ns / width, 0, 100);
	});
}

function phaseShares() {
	const order = data.steps.phases.slice(0, -1), others = data.steps.phases[order.length];
	const all = usageOf("phase"), step = all.find((s) => s.name === "ProfileStep" || s.id === 0);
	const series = order.map((name) => all.find((s) => s.name === name)).filter(Boolean)
		.map((s) => ({name: s.name, color: phaseColors[s.name], stacked: true, values: shares(s)}));
	if (step) {
		const rest = shares(step).map((v, i) => Math.max(v -
			series.reduce((sum, s) => sum + s.values[i], 0), 0));
		series.push({name: others, color: "c-others", stacked: true, values: rest});
	}
	return series;
}

const THREADS_SHOWN = 4;

function showUsage() {
	const devices = usageOf("device");
	const sum = (s) => s.values.reduce((a, b) => a + b, 0);
	const threads = usageOf("thread").sort((a, b) => sum(b) - sum(a));
	const phases = phaseShares(), percent = (v) => Math.round(v) + " %";
	const parent = section("usage", "Over time");
	if (phases.length) {
		parent.append(el("h3", null, "Phases of the thread that counts steps"));
		showOverTime(parent, "Share of each phase over time.", phases, 100, percent);
	}
	const busy = [
		...devices.map((s, i) => ({name: s.name + " busy", color: "c-line-" + i % 6, values: shares(s)})),
		...threads.slice(0, THREADS_SHOWN).map((s, i) => ({
			name: s.name + " in operators and calls",
			color: "c-line-" + (devices.length + i) % 6, values: shares(s)})),
	];
	if (busy.length) {
		parent.append(el("h3", null, devices.length ? "Devices and threads" : "Threads"));
		showOverTime(parent, "Busy share of devices and threads over time.", busy, 100, percent);
	}
	if (threads.length > THREADS_SHOWN)
		parent.append(el("p", {class: "soft"},
			`${countText(threads.length - THREADS_SHOWN, "thread")} that did less are not drawn.`));
	if (!phases.length && !busy.length)
		parent.append(el("p", null, "Nothing was recorded that could be drawn over time."));
	else
		parent.append(el("p", {class: "soft"}, "Times as measured, one value per " +
			`${timeText(data.usage.width_ns)}; a device is busy while a kernel, copy or set of this process runs.`));
}

function showMemory() {
	const memory = usageOf("memory");
	if (!memory.length)
		return;
	const parent = section("memory", "Memory");
	const relative = memory.some((s) => s.relative);
	const series = memory.map((s, i) => ({
		name: s.name + (s.relative ? " (since the window's begin)" : ""),
		color: "c-line-" + i % 6, values: s.values}));
	const max = Math.max(1, ...series.flatMap((s) => s.values)) * 1.05;
	showOverTime(parent, "Memory that is held over time.", series, max, (v) => bytesText(Math.round(v)), 2);
	parent.append(el("p", {class: "soft"}, "The greatest level in each " +
		timeText(data.usage.width_ns) + (relative ? "; of a curve since the window's begin it is not known what was held before, so it begins at 0" : "") + "."));
}

// ---- the longest ----

const BARS_SHOWN = 12;

function showTop(parent, key, column, title, brief) {
	const table = tableOf(key);
	const at = table ? table.columns.findIndex((c) => c.key === column) : -1;
	if (at < 0)
		return;
	const sums = new Map();
	for (const row of table.rows)
		if (!row[0] && cellValue(row[at + 2]))
			sums.set(row[2], (sums.get(row[2]) || 0) + row[at + 2]);
	const rows = [...sums].sort((a, b) => b[1] - a[1]).slice(0, BARS_SHOWN);
	if (!rows.length)
		return;
	const node = section("top-" + key, title, parent, brief);
	node.append(el("ol", {class: "bars " + key + "s"}, ...rows.map(([name, ns]) => {
		const bar = el("span");
		bar.style.width = 100 * ns / rows[0][1] + "%";
		return el("li", null,
			el("div", {class: "label"}, longName(name), el("span", null, timeText(ns))),
			el("div", {class: "track", "aria-hidden": "true"}, bar));
	})));
}

function showTops() {
	const parent = el("div", {class: "columns"});
	document.getElementById("content").append(parent);
	showTop(parent, "operator", "cpu_total_ns", "Top operators, CPU time", "Operators");
	showTop(parent, "kernel", "gpu_total_ns", "Top kernels, device time", "Kernels");
	if (!parent.children.length)
		parent.remove();
}
