// SPDX-License-Identifier: BSD-2-Clause
// The timeline of a step: threads and streams in rows, with zoom and pan.
"use strict";

const LANE = 17, ROW_HEAD = 18, ROW_GAP = 6, AXIS = 20;
const SPAN = {row: 0, depth: 1, begin: 2, length: 3, name: 4, kind: 5, cnt: 6};
const kindColors = {
	ProfileStep: "c-others", Dataloader: "c-dataloader", Forward: "c-forward",
	Backward: "c-backward", Optimization: "c-optimization", Operator: "c-operator",
	OperatorInner: "c-operator", PythonOp: "c-operator", UserDefined: "c-user",
	Communication: "c-communication", Runtime: "c-runtime", Kernel: "c-kernel",
	Memcpy: "c-memory", Memset: "c-memory", Sync: "c-runtime",
};

function kindColor(kind) {
	return kindColors[data.kinds[kind]] || "c-others";
}

class Timeline {
	build(parent) {
		this.tools = el("div", {class: "tools", role: "group", "aria-label": "Step"});
		this.buttons = data.timelines.map((line, i) => el("button",
			{type: "button", onclick: () => this.choose(i)}, this.title(line)));
		const zoom = el("div", {class: "tools", role: "group", "aria-label": "Zoom"},
			...[["+", "Zoom in", () => this.zoomBy(.5)], ["\u2212", "Zoom out", () => this.zoomBy(2)],
				["Whole step", null, () => this.reset()]].map(([text, label, act]) =>
				el("button", {type: "button", "aria-label": label, onclick: act}, text)));
		this.tools.append(...this.buttons);
		this.text = readout("");
		this.note = el("p", {class: "soft"});
		this.scroll = el("div", {class: "scroll-y"});
		parent.append(this.tools, zoom, this.scroll);
		this.box = drawing(this.scroll, 100, {role: "application",
			"aria-label": "Timeline. Plus and minus zoom, arrow keys move, n and p go from span to span, Enter zooms to it, 0 shows the whole step."},
		(ctx, width) => this.draw(ctx, width));
		parent.append(this.text, legend([["operator", "c-operator"], ["user's range", "c-user"],
			["runtime call", "c-runtime"], ["kernel", "c-kernel"], ["copy or set", "c-memory"],
			["communication", "c-communication"], ["forward", "c-forward"], ["backward", "c-backward"],
			["data loader", "c-dataloader"], ["optimizer", "c-optimization"]]), this.note,
		keys(["+ \u2212", "zoom"], ["\u2190 \u2192", "move"], ["0", "whole step"],
			["n p", "next, previous span"], ["Enter", "zoom to it"]),
		el("p", {class: "soft"}, "Mouse: drag to move; the wheel zooms with Ctrl, or once the timeline was clicked. Touch: drag, pinch."));
		this.listen();
		this.choose(0);
	}

	title(line) {
		return line.step < 0 ? "What was recorded" :
			`Step ${line.step} (${line.why}), ${timeText(line.step_ns)}`;
	}

	choose(index) {
		const line = this.line = data.timelines[index];
		this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
		this.selected = null;
		const depths = line.rows.map(() => 0);
		for (const span of line.spans)
			depths[span[SPAN.row]] = Math.max(depths[span[SPAN.row]], span[SPAN.depth] + 1);
		let y = AXIS;
		this.rows = line.rows.map((row, i) => {
			const top = y;
			y += ROW_HEAD + Math.max(depths[i], 1) * LANE + ROW_GAP;
			return {...row, top, bottom: y};
		});
		this.box.height = y;
		this.note.textContent = this.noteText(line);
		this.text.textContent = `${this.title(line)}: ${countText(line.spans.length, "span")} drawn.`;
		this.reset();
	}

	noteText(line) {
		const parts = ["Times as measured, with the cost of the probes."];
		if (line.merged)
			parts.push(`${line.merged.toLocaleString("en")} spans shorter than ${timeText(line.small_ns)} stand together as hatched ones.`);
		if (line.left_out)
			parts.push(`${countText(line.left_out, "span")} are left out; an export has them all.`);
		return parts.join(" ");
	}

	// ---- the view: [from, to) in ns of the timeline ----

	reset() {
		this.from = 0;
		this.to = this.line.length_ns || 1;
		this.box.repaint();
	}

	look(from, to) {
		const whole = this.line.length_ns || 1;
		const length = clamp(to - from, Math.min(100, whole), whole);
		this.from = clamp(from, 0, whole - length);
		this.to = this.from + length;
		this.box.repaint();
	}

	zoomBy(factor, center) {
		const at = center === undefined ? (this.from + this.to) / 2 : center;
		this.look(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	moveBy(share) {
		const length = this.to - this.from;
		this.look(this.from + share * length, this.to + share * length);
	}

	timeAt(x) {
		return this.from + x / (this.box.width || 1) * (this.to - this.from);
	}

	// ---- drawing ----

	draw(ctx, width) {
		ctx.clearRect(0, 0, width, this.box.height);
		this.drawAxis(ctx, width);
		this.drawn = [];
		const scale = width / (this.to - this.from);
		for (const span of this.line.spans) {
			const x = (span[SPAN.begin] - this.from) * scale, w = span[SPAN.length] * scale;
			if (x <= width && x + w >= 0)
				this.drawSpan(ctx, span, x, w, width);
		}
		for (const row of this.rows) {
			ctx.fillStyle = color("text");
			fitText(ctx, row.name, 6, row.top + ROW_HEAD / 2, width - 12);
		}
	}

	drawAxis(ctx, width) {
		const length = this.to - this.from, unit = timeUnit(length);
		const list = ticks(length, Math.max(width / 120, 2)), step = list[1] || length;
		ctx.strokeStyle = color("line");
		ctx.lineWidth = 1;
		for (let t = Math.ceil(this.from / step) * step; t < this.to; t += step) {
			const x = Math.round((t - this.from) / length * width) + .5;
			ctx.fillStyle = color("soft");
			ctx.fillText(tickText(t, unit), Math.min(x + 3, width - 50), AXIS / 2);
			ctx.beginPath();
			ctx.moveTo(x, 0);
			ctx.lineTo(x, this.box.height);
			ctx.stroke();
		}
		// Marks the step's end if the device continues after it.
		if (this.line.step_ns && this.line.length_ns > this.line.step_ns) {
			const x = Math.round((this.line.step_ns - this.from) / length * width) + .5;
			ctx.strokeStyle = color("text");
			ctx.setLineDash([4, 3]);
			ctx.beginPath();
			ctx.moveTo(x, 0);
			ctx.lineTo(x, this.box.height);
			ctx.stroke();
			ctx.setLineDash([]);
		}
		for (const row of this.rows) {
			ctx.fillStyle = color("stripe");
			ctx.fillRect(0, row.top, width, ROW_HEAD - 2);
		}
	}

	drawSpan(ctx, span, x, w, width) {
		const y = this.rows[span[SPAN.row]].top + ROW_HEAD + span[SPAN.depth] * LANE;
		const left = Math.max(x, 0), wide = Math.max(Math.min(x + w, width) - left, 1);
		this.drawn.push({span, x: left, y, w: wide});
		ctx.fillStyle = color(kindColor(span[SPAN.kind]));
		if (span[SPAN.cnt] > 1) {
			ctx.globalAlpha = .5;
			ctx.fillRect(left, y, wide, LANE - 2);
			ctx.globalAlpha = 1;
			for (let at = left; at < left + wide; at += 5)
				ctx.fillRect(at, y, Math.min(2, left + wide - at), LANE - 2);
		} else {
			ctx.fillRect(left, y, wide > 3 ? wide - 1 : wide, LANE - 2);
		}
		if (wide > 30) {
			ctx.fillStyle = color("span-text");
			fitText(ctx, this.name(span), left + 3, y + LANE / 2 - 1, wide - 6);
		}
		if (span === this.selected) {
			ctx.strokeStyle = color("text");
			ctx.lineWidth = 2;
			ctx.strokeRect(left + 1, y, Math.max(wide - 2, 2), LANE - 2);
		}
	}

	name(span) {
		return span[SPAN.cnt] > 1 ? `${span[SPAN.cnt]} small spans` : data.names[span[SPAN.name]];
	}

	// ---- spans ----

	tell(span) {
		const what = data.kinds[span[SPAN.kind]], row = this.rows[span[SPAN.row]];
		this.text.textContent = `${this.name(span)} \u2013 ${span[SPAN.cnt] > 1 ? "" : what + ", "}` +
			`${timeText(span[SPAN.length])}, from ${timeText(span[SPAN.begin])} on, ${row.name}`;
	}

	select(span) {
		this.selected = span;
		this.tell(span);
		const middle = span[SPAN.begin] + span[SPAN.length] / 2, length = this.to - this.from;
		if (middle < this.from || middle > this.to)
			this.look(middle - length / 2, middle + length / 2);
		this.showLane(span);
		this.box.repaint();
	}

	showLane(span) {
		const y = this.rows[span[SPAN.row]].top + ROW_HEAD + span[SPAN.depth] * LANE;
		const {scroll} = this;
		if (y < scroll.scrollTop || y + LANE > scroll.scrollTop + scroll.clientHeight)
			scroll.scrollTop = y - scroll.clientHeight / 2;
	}

	// The next span by time, in any row and depth.
	next(direction) {
		const order = this.line.order = this.line.order ||
			this.line.spans.slice().sort((a, b) => a[SPAN.begin] - b[SPAN.begin] ||
				a[SPAN.row] - b[SPAN.row] || a[SPAN.depth] - b[SPAN.depth]);
		const at = this.selected ? order.indexOf(this.selected) + direction :
			order.findIndex((s) => s[SPAN.begin] >= this.from);
		if (order[at])
			this.select(order[at]);
	}

	at(event) {
		return (this.drawn || []).findLast((d) => event.offsetY >= d.y && event.offsetY < d.y + LANE &&
			event.offsetX >= d.x - 1 && event.offsetX < d.x + d.w + 1);
	}

	// ---- mouse, touch, keys ----

	listen() {
		const {canvas} = this.box, pointers = new Map();
		let moved = 0, clicked = false;
		canvas.addEventListener("blur", () => { clicked = false; });
		canvas.addEventListener("wheel", (event) => {
			if (!event.ctrlKey && !event.metaKey && !clicked)
				return;
			event.preventDefault();
			if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
				this.moveBy(event.deltaX / (this.box.width || 1));
			else
				this.zoomBy(1.0015 ** event.deltaY, this.timeAt(event.offsetX));
		}, {passive: false});
		canvas.addEventListener("pointerdown", (event) => {
			canvas.setPointerCapture(event.pointerId);
			pointers.set(event.pointerId, event.offsetX);
			moved = 0;
		});
		canvas.addEventListener("pointermove", (event) => {
			if (!pointers.has(event.pointerId)) {
				const hit = this.at(event);
				if (hit && !this.selected)
					this.tell(hit.span);
				return;
			}
			const before = [...pointers.values()];
			moved += Math.abs(event.offsetX - pointers.get(event.pointerId));
			pointers.set(event.pointerId, event.offsetX);
			this.drag(before, [...pointers.values()]);
		});
		const end = (event) => {
			const hit = event.type === "pointerup" && moved < 4 && pointers.size === 1 && this.at(event);
			pointers.delete(event.pointerId);
			if (event.type !== "pointerup" || moved >= 4)
				return;
			clicked = true;
			if (hit)
				this.select(hit.span);
			else
				this.selected = null;
			this.box.repaint();
		};
		canvas.addEventListener("pointerup", end);
		canvas.addEventListener("pointercancel", end);
		canvas.addEventListener("dblclick", () => this.zoomToSelected());
		canvas.addEventListener("keydown", (event) => this.key(event));
	}

	// Keeps the point under each finger.
	drag(before, now) {
		const width = this.box.width || 1, length = this.to - this.from;
		if (before.length === 1) {
			this.look(this.from + (before[0] - now[0]) / width * length,
				this.to + (before[0] - now[0]) / width * length);
		} else if (before.length === 2) {
			const a = this.timeAt(before[0]), b = this.timeAt(before[1]);
			const apart = now[1] - now[0];
			if (Math.abs(apart) < 8)
				return;
			const perPixel = (b - a) / apart;
			if (perPixel > 0)
				this.look(a - now[0] * perPixel, a + (width - now[0]) * perPixel);
		}
	}

	zoomToSelected() {
		if (!this.selected)
			return;
		const length = Math.max(this.selected[SPAN.length], 50);
		const begin = this.selected[SPAN.begin];
		this.look(begin - length * .1, begin + length * 1.1);
	}

	key(event) {
		const acts = {
			"+": () => this.zoomBy(.6), "=": () => this.zoomBy(.6), "-": () => this.zoomBy(1 / .6),
			"0": () => this.reset(), Home: () => this.reset(),
			ArrowLeft: () => this.moveBy(-.15), ArrowRight: () => this.moveBy(.15),
			n: () => this.next(1), p: () => this.next(-1), Enter: () => this.zoomToSelected(),
			Escape: () => { this.selected = null; this.box.repaint(); },
		};
		if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		acts[event.key]();
	}
}

function showTimeline() {
	const parent = section("timeline", "Timeline");
	if (!data.timelines.some((line) => line.spans.length)) {
		parent.append(el("p", null, "No span was recorded."));
		return;
	}
	new Timeline().build(parent);
}
