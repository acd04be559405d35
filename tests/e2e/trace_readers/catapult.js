// SPDX-License-Identifier: BSD-2-Clause
// Imports one trace with the importer of chrome://tracing (trace_viewer_full.html, argument 1) in
// plain node, and compares what it shows with what the file says.
'use strict';
const fs = require('fs');
const vm = require('vm');
const zlib = require('zlib');

const [, , viewer, path] = process.argv;
let failed = false;

function say(what, ok, detail) {
	failed ||= !ok;
	console.log(`catapult   ${what.padEnd(28)} ${ok ? 'ok' : 'FAIL'}  ${detail}`);
}

// The page is one script of many modules; those of the user interface need a browser and are not
// missed by the importer.
function load(html) {
	const script = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map((m) => m[1]).join('\n');
	const parts = script.split(/(?='use strict';)/);
	const context = vm.createContext({isVinn: true}); // headless, as in d8
	context.global = context;
	for (const part of parts.slice(parts.findIndex((p) => p.includes('this.tr=(function()')))) {
		try {
			vm.runInContext(part, context);
		} catch (e) {
			if (!/Polymer|document|HTML|localStorage|tr\.ui|self is not|undefined/.test(`${e}`))
				throw e;
		}
	}
	return context.tr;
}

function read(file) {
	const bytes = fs.readFileSync(file);
	return (file.endsWith('.gz') ? zlib.gunzipSync(bytes) : bytes).toString('utf8');
}

const text = read(path);
const events = JSON.parse(text).traceEvents;
const tr = load(fs.readFileSync(viewer, 'utf8'));
const model = new tr.Model();
const options = new tr.importer.ImportOptions();
options.showImportWarnings = true;
new tr.importer.Import(model, options).importTraces([text]);

say('import', model.importWarnings.length === 0,
	model.importWarnings.length ? model.importWarnings.map((w) => w.message).slice(0, 3).join('; ')
				    : 'no warning');

const slices = events.filter((e) => e.ph === 'X').length;
const instants = events.filter((e) => e.ph === 'i' && e.s === 't').length;
let shown = 0;
let overlaps = 0;
for (const thread of model.getAllThreads()) {
	shown += thread.sliceGroup.length;
	for (const slice of thread.sliceGroup.slices)
		// in milliseconds; the importer rounds to microseconds when it decides what nests
		for (const sub of slice.subSlices)
			overlaps += sub.start < slice.start - 1e-3 || sub.end > slice.end + 1e-3;
}
say('slices', shown === slices + instants || shown === slices,
	`${shown} of ${slices} (and ${instants} instants)`);
say('nesting', overlaps === 0, `${overlaps} children reach out of their parents`);

const flows = events.filter((e) => e.ph === 's').length;
const bound = model.flowEvents.filter((f) => f.startSlice && f.endSlice);
say('flows', bound.length === flows, `${bound.length} of ${flows} bound to slices at both ends`);

// An arrow to device work must begin in the call that launched it, not in the call before. If calls
// have no length, that cannot be decided.
function isIn(slice, id) {
	return slice && (slice.args.correlation === id || isIn(slice.parentSlice, id));
}
const lengthless = new Set(events.filter((e) => e.dur === 0 && e.args.correlation !== undefined)
				     .map((e) => e.args.correlation));
const arrows = bound.filter((f) => f.title === 'ac2g' && !lengthless.has(f.endSlice.args.correlation));
const right = arrows.filter((f) => isIn(f.startSlice, f.endSlice.args.correlation)).length;
say('launches', right === arrows.length, `${right} of ${arrows.length} begin at their call`);
process.exit(failed ? 1 : 0);
