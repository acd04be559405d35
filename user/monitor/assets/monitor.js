// SPDX-License-Identifier: BSD-2-Clause
'use strict';
// The page is complete without this script. It refreshes the figures every few seconds, and asks
// for windows.
const REFRESH_MS = 5000;
const said = document.getElementById('said');

function say(text) {
	said.textContent = text;
}

async function refresh() {
	const answer = await fetch(location.pathname, {headers: {Accept: 'text/html'}});
	const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
	const fresh = page.querySelector('main');
	if (!answer.ok || !fresh)
		throw new Error(`the monitor answers ${answer.status}`);
	// The focused button or link stays focused.
	const id = document.activeElement && document.activeElement.id;
	document.querySelector('main').replaceWith(document.adoptNode(fresh));
	if (id && document.getElementById(id))
		document.getElementById(id).focus();
}

async function refreshAgain() {
	if (!document.hidden) {
		try {
			await refresh();
			document.getElementById('age').textContent = '';
		} catch (error) {
			const since = document.getElementById('age');
			since.textContent = since.textContent ||
				`No answer of the monitor since ${new Date().toLocaleTimeString()}: the figures are of before.`;
		}
	}
	setTimeout(refreshAgain, REFRESH_MS);
}

async function record(button) {
	const token = document.getElementById('token').value;
	const steps = document.getElementById('steps').value;
	if (!token) {
		say('Type the token first: the first line of --token-file.');
		document.getElementById('token').focus();
		return;
	}
	button.disabled = true;
	try {
		const answer = await fetch(`/jobs/${button.dataset.pid}/record${steps ? `?steps=${encodeURIComponent(steps)}` : ''}`,
			{method: 'POST', headers: {Authorization: `Bearer ${token}`}});
		say(`Process ${button.dataset.pid}: ${(await answer.text()).trim()}`);
	} catch (error) {
		say(`Process ${button.dataset.pid}: not asked: ${error.message}`);
	}
	button.disabled = false;
}

document.addEventListener('click', (event) => {
	const button = event.target.closest('button[data-pid]');
	if (button)
		record(button);
});
const form = document.querySelector('form');
if (form)
	form.addEventListener('submit', (event) => event.preventDefault());
setTimeout(refreshAgain, REFRESH_MS);
