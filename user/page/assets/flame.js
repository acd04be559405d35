// SPDX-License-Identifier: BSD-2-Clause
// The flame graph: phase, operator, inner calls, kernels. Callers are above.
"use strict";

const FLAME_ROW = 20;

class FlameGraph {
	constructor() {
		this.root = {name: "all", cpu: data.flame.cpu_ns, self: 0, device: data.flame.device_ns,
			calls: 0, depth: 0, children: [], parent: null};
		const nodes = [this.root];
		for (const [parent, name, cpu, self, device, calls] of data.flame.nodes) {
			const node = {name: data.names[name], cpu, self, device, calls,
				depth: nodes[parent].depth + 1, children: [], parent: nodes[parent]};
			nodes[parent].children.push(node);
			nodes.push(node);
		}
		this.nodes = nodes;
		this.measure = data.flame.cpu_ns ? "cpu" : "device";
		this.zoom = this.focus = this.root;
		this.words = "";
	}

	build(parent) {
		this.buttons = {};
		const search = el("input", {type: "search", placeholder: "Mark names with ...",
			"aria-label": "Mark frames of the flame graph whose name has this",
			oninput: () => { this.words = search.value.toLowerCase(); this.tell(); this.box.repaint(); }});
		const tools = el("div", {class: "tools"});
		for (const [measure, title] of [["cpu", "CPU time"], ["device", "Device time"]])
			if (this.root[measure])
				tools.append(this.buttons[measure] = el("button", {type: "button",
					onclick: () => this.choose(measure)}, title));
		tools.append(search, el("button", {type: "button", onclick: () => this.go(this.root, true)},
			"Show all"));
		this.text = readout("");
		parent.append(tools);
		this.box = drawing(el("div"), 100, {role: "application",
			"aria-label": "Flame graph. Arrow keys move between frames, Enter zooms in, Escape out."},
		(ctx, width) => this.draw(ctx, width));
		parent.append(this.box.canvas, this.text, keys(["\u2190 \u2191 \u2192 \u2193", "move"],
			["Enter", "zoom in"], ["Esc", "zoom out"]));
		this.listen();
		this.choose(this.measure);
	}

	choose(measure) {
		this.measure = measure;
		for (const [name, button] of Object.entries(this.buttons))
			button.setAttribute("aria-pressed", String(name === measure));
		if (!this.zoom[measure])
			this.zoom = this.root;
		if (!this.focus[measure])
			this.focus = this.zoom;
		this.layout();
		this.tell();
	}

	// A frame's width is its time. Siblings are sorted by size.
	layout() {
		const {measure} = this, rows = [];
		const path = [];
		for (let n = this.zoom.parent; n; n = n.parent)
			path.unshift(n);
		path.forEach((n, i) => rows.push({node: n, x: 0, w: 1, depth: i, above: true}));
		const whole = this.zoom[measure] || 1;
		const place = (node, x, depth) => {
			rows.push({node, x, w: node[measure] / whole, depth});
			node.children.filter((c) => c[measure])
				.sort((a, b) => b[measure] - a[measure])
				.forEach((c) => {
					place(c, x, depth + 1);
					x += c[measure] / whole;
				});
		};
		place(this.zoom, 0, path.length);
		this.rows = rows;
		this.depth = Math.max(...rows.map((r) => r.depth)) + 1;
		this.box.height = this.depth * FLAME_ROW + 2;
		this.box.repaint();
	}

	frameColor(row) {
		const phase = phaseColors[row.node.name];
		if (row.node === this.root)
			return color("c-others");
		if (phase && row.node.depth === 1)
			return color(phase);
		return color(row.node.device && !row.node.cpu ? "c-kernel" : "c-operator");
	}

	matches(node) {
		return this.words && node.name.toLowerCase().includes(this.words);
	}

	draw(ctx, width) {
		this.drawn = [];
		ctx.clearRect(0, 0, width, this.box.height);
		for (const row of this.rows) {
			const x = row.x * width, w = row.w * width, y = row.depth * FLAME_ROW;
			if (w < .6)
				continue;
			this.drawn.push({row, x, y, w});
			ctx.globalAlpha = row.above ? .55 : this.words && !this.matches(row.node) ? .35 : 1;
			ctx.fillStyle = this.frameColor(row);
			ctx.fillRect(x, y, w > 4 ? w - 1 : w, FLAME_ROW - 1);
			if (this.matches(row.node)) {
				ctx.fillStyle = color("slow");
				ctx.fillRect(x, y + FLAME_ROW - 4, Math.max(w - 1, 1), 3);
			}
			ctx.fillStyle = color("span-text");
			fitText(ctx, row.node.name, x + 4, y + FLAME_ROW / 2, w - 8);
			ctx.globalAlpha = 1;
			if (row.node === this.focus) {
				ctx.strokeStyle = color("text");
				ctx.lineWidth = 2;
				ctx.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), FLAME_ROW - 3);
			}
		}
	}

	at(event) {
		return (this.drawn || []).find((d) => event.offsetX >= d.x && event.offsetX < d.x + d.w &&
			event.offsetY >= d.y && event.offsetY < d.y + FLAME_ROW);
	}

	go(node, zoom) {
		this.focus = node;
		if (zoom)
			this.zoom = node;
		if (zoom)
			this.layout();
		else
			this.box.repaint();
		this.tell();
	}

	tell() {
		const {focus, root, measure} = this;
		let text = `${focus.name}: ${timeText(focus[measure])}, ${percentText(focus[measure], root[measure])} of all`;
		if (measure === "cpu" && focus.self)
			text += `, ${timeText(focus.self)} of its own`;
		if (measure === "cpu" && focus.device)
			text += `, ${timeText(focus.device)} on devices`;
		if (focus.calls)
			text += `, ${countText(focus.calls, "call")}`;
		if (this.words) {
			const found = this.nodes.filter((n) => this.matches(n));
			text += `; ${countText(found.length, "frame")} marked`;
		}
		this.text.textContent = text;
	}

	// The key moves to the caller, the longest child, or a neighbour in the same row.
	neighbour(key) {
		const {focus, measure} = this;
		if (key === "ArrowUp")
			return focus === this.zoom ? null : focus.parent;
		if (key === "ArrowDown")
			return focus.children.filter((c) => c[measure])
				.sort((a, b) => b[measure] - a[measure])[0];
		const row = (this.drawn || []).filter((d) => !d.row.above)
			.filter((d) => d.row.node.depth === focus.depth).sort((a, b) => a.x - b.x);
		const at = row.findIndex((d) => d.row.node === focus);
		const next = row[at + (key === "ArrowRight" ? 1 : -1)];
		return next && next.row.node;
	}

	listen() {
		const {canvas} = this.box;
		canvas.addEventListener("click", (event) => {
			const hit = this.at(event);
			if (hit)
				this.go(hit.row.node, true);
		});
		canvas.addEventListener("pointermove", (event) => {
			const hit = this.at(event);
			if (hit && hit.row.node !== this.focus)
				this.go(hit.row.node, false);
		});
		canvas.addEventListener("keydown", (event) => {
			if (event.key.startsWith("Arrow")) {
				const next = this.neighbour(event.key);
				if (next)
					this.go(next, false);
			} else if (event.key === "Enter") {
				this.go(this.focus, true);
			} else if (event.key === "Escape") {
				this.go(this.zoom.parent || this.root, true);
			} else {
				return;
			}
			event.preventDefault();
		});
	}
}

function showFlame() {
	const parent = section("flame", "Flame graph");
	if (!data.flame.nodes.length) {
		parent.append(el("p", null, "No time was recorded in any operator."));
		return;
	}
	parent.append(el("p", {class: "soft"}, "All steps and threads together: phase, operator, " +
		"what it called, and below the call what it ran on a device. Width is time, added up over " +
		"the threads; a backward call that waits for another thread's nodes is without the wait."));
	new FlameGraph().build(parent);
	if (data.flame.left_out)
		parent.append(el("p", {class: "soft"},
			`${countText(data.flame.left_out, "stack")} with the shortest times are not drawn.`));
	if (data.unprobed)
		parent.append(el("p", {class: "soft"}, `${data.unprobed}; the Operator table estimates them (~).`));
	if (data.flame.cut)
		parent.append(el("p", {class: "soft"}, `${countText(data.flame.cut, "span")} counted for ` +
			"their caller, as there were too many different stacks."));
}
