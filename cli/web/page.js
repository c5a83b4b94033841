// SPDX-License-Identifier: Apache-2.0
// The page of `gyre web`: draws each document that /events sends. What processes wrote is only ever put in as text.
'use strict';

const HISTORY = 120; // looks that the curves have
const histories = new Map(); // of each kernel and queue, by pid and record
const opened = new Set(); // details that the reader opened
let halted = false;
let seen = 0; // when the last document came

// ---- elements ----

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
    return element;
}

function make(name, attributes, ...children) { return fill(document.createElement(name), attributes, children); }
function draw(name, attributes, ...children) { return fill(document.createElementNS(SVG, name), attributes, children); }

function span(text, kind) { return make('span', kind ? { class: kind } : {}, text); }

// ---- words ----

function count(value) {
    if (value === null || value === undefined) return '–';
    for (const [unit, name] of [[1e9, ' G'], [1e6, ' M'], [1e4, ' k']])
        if (value >= unit) return (value / (unit === 1e4 ? 1e3 : unit)).toPrecision(3) + name;
    return value >= 100 || Number.isInteger(value) ? Math.round(value).toString() : value.toPrecision(2);
}

function seconds(value) {
    for (const [unit, name] of [[86400 * 2, 'd'], [7200, 'h'], [120, 'min']])
        if (value >= unit) return Math.round(value / { d: 86400, h: 3600, min: 60 }[name]) + ' ' + name;
    for (const [unit, name] of [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs']])
        if (value >= unit) return (value / unit).toPrecision(3) + ' ' + name;
    return Math.round(value * 1e9) + ' ns';
}

function percent(share) { return (100 * share).toFixed(0) + ' %'; }
function clock(at) { return new Date(at * 1000).toLocaleTimeString(); }
function plural(number, word) { return number + ' ' + word + (number === 1 ? '' : word.endsWith('s') ? 'es' : 's'); }

const LIVES = { lives: 'good', stopped: 'bad', late: 'bad', dead: 'bad' };
const TOLD = {
    lives: 'lives', stopped: 'is stopped (SIGSTOP or a debugger)', late: 'has not looked at itself for long: it hangs, or its machine is busy',
    dead: 'was killed; this is what it said last', kept: 'kept this of itself',
};
const HEALTH = { idle: 'idle', busy: 'works', stalled: 'hangs: a handler does not return', dead: 'nobody works for it' };

// ---- what was before ----

function history(process, object) {
    const key = process.pid + '/' + process.started + '/' + object.record;
    if (!histories.has(key)) histories.set(key, { rates: [], trips: [], used: 0 });
    return histories.get(key);
}

// Adds a look, and forgets objects that are gone.
function remember(state) {
    const now = Date.now();
    for (const process of state.processes)
        for (const kernel of process.kernels) {
            const past = history(process, kernel);
            past.used = now;
            past.rates.push(kernel.now.handled || 0);
            if (past.rates.length > HISTORY) past.rates.shift();
            for (const queue of kernel.queues) {
                const trips = history(process, queue);
                trips.used = now;
                trips.trips.push(new Map(queue.times && queue.times.round_trip ? queue.times.round_trip.buckets : []));
                if (trips.trips.length > 30) trips.trips.shift();
            }
        }
    for (const [key, past] of histories) if (past.used !== now) histories.delete(key);
}

// Puts the rates and the sentences of a document to the objects that they are about.
function join(state) {
    const rates = new Map(state.rows.map((row) => [row.pid + '/' + row.record, row]));
    const words = new Map(state.why.map((why) => [why.pid + '/' + why.record, why]));
    for (const process of state.processes)
        for (const kernel of process.kernels) {
            kernel.now = (rates.get(process.pid + '/' + kernel.record) || { per_second: {} }).per_second;
            kernel.why = words.get(process.pid + '/' + kernel.record) || { wrong: 0, text: '' };
            for (const queue of kernel.queues) {
                queue.row = rates.get(process.pid + '/' + queue.record) || { per_second: {} };
                queue.now = queue.row.per_second;
            }
        }
}

// ---- pictures ----

function curve(values) {
    const width = 260, height = 44, most = Math.max(1, ...values);
    const points = values.map((value, i) => {
        const x = width - (values.length - 1 - i) * width / (HISTORY - 1);
        return x.toFixed(1) + ',' + (height - 2 - value / most * (height - 14)).toFixed(1);
    });
    return draw('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'messages a second, the last looks' },
        draw('line', { class: 'axis', x1: 0, x2: width, y1: height - 1, y2: height - 1 }),
        draw('polyline', { class: 'curve', points: points.join(' ') }),
        draw('text', { x: 2, y: 10 }, 'most ' + count(most)));
}

// How busy each block is: a column for each.
function shares(busy) {
    const width = 260, height = 30, step = width / busy.shares.length;
    const words = `blocks: least ${percent(busy.least)}, most ${percent(busy.most)} busy`;
    return make('div', {}, span(words, 'faint'), draw('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': words },
        draw('line', { class: 'axis', x1: 0, x2: width, y1: height - 1, y2: height - 1 }),
        busy.shares.map((share, i) => draw('rect', { class: 'column', x: (i * step).toFixed(1), y: (height - 1 - share * (height - 1)).toFixed(1),
            width: Math.max(0.8, step - 1).toFixed(1), height: (share * (height - 1)).toFixed(1) }))));
}

// How long the messages of the last looks took: a column for each octave of time.
function columns(trips) {
    const first = trips[0], last = trips[trips.length - 1];
    const octaves = new Map();
    for (const [edge, number] of last) {
        const grown = number - (first.get(edge) || 0);
        const octave = Math.ceil(Math.log2(edge * 1e9) - 1e-9);
        if (grown > 0) octaves.set(octave, (octaves.get(octave) || 0) + grown);
    }
    if (octaves.size === 0) return null;
    const low = Math.min(...octaves.keys()), high = Math.max(...octaves.keys());
    const most = Math.max(...octaves.values()), step = 60, height = 70;
    const svg = draw('svg', { width: (high - low + 1) * step, height: height + 14, role: 'img', 'aria-label': 'round trips of the last looks' });
    for (let octave = low; octave <= high; octave++) {
        const number = octaves.get(octave) || 0, size = number / most * (height - 14);
        svg.append(draw('rect', { class: 'column', x: (octave - low) * step + 2, y: height - size, width: step - 4, height: size }),
            draw('text', { x: (octave - low + 0.5) * step, y: height - size - 3 }, number ? count(number) : ''),
            draw('text', { x: (octave - low + 0.5) * step, y: height + 11 }, '<' + seconds(2 ** octave / 1e9)));
    }
    return make('div', { class: 'graph' }, svg);
}

// How long 99 of 100 messages took, if they were timed.
function within(times, part) { return times && times[part] && times[part].count ? '99 % within ' + seconds(times[part].p99) : ''; }

// Where three lines around (x, y), or below that, lie on nothing else. They join the areas that are taken.
function free(areas, x, y) {
    const own = { x: x - 64, y: y - 18, wide: 128, tall: 50 };
    const meets = (other) => own.x < other.x + other.wide && other.x < own.x + own.wide && own.y < other.y + other.tall && other.y < own.y + own.tall;
    while (areas.some(meets)) own.y += 6;
    areas.push(own);
    return own.y + 18;
}

// The kernels of a pipeline in columns by how far they are from where messages come in, and the links between them.
function graph(process, pipeline) {
    const names = [...new Set(pipeline.links.flatMap((link) => [link.from, link.to]))];
    const depth = new Map(names.map((name) => [name, 0]));
    for (let round = 0; round < names.length; round++)
        for (const link of pipeline.links)
            if (link.from !== link.to) depth.set(link.to, Math.max(depth.get(link.to), Math.min(depth.get(link.from) + 1, names.length)));
    const places = new Map(), rows = new Map(), wide = 150, tall = 84;
    for (const name of names) {
        const column = depth.get(name), row = rows.get(column) || 0;
        rows.set(column, row + 1);
        places.set(name, { x: column * (wide + 130) + 4, y: row * tall + 10, wide, tall: 44 });
    }
    const areas = [...places.values()];
    const svg = draw('svg', { role: 'img', 'aria-label': 'kernels of pipeline ' + pipeline.name + ' and their links' });
    for (const link of pipeline.links) {
        const from = places.get(link.from), to = places.get(link.to);
        const x1 = from.x + wide, y1 = from.y + 22, x2 = to.x, y2 = to.y + 22, full = link.waiting > link.capacity / 2;
        const low = x2 > x1 ? 0 : 90; // a link that leads back passes below the kernels
        const x = (x1 + x2) / 2, y = free(areas, x, (y1 + y2) / 2 + 0.75 * low);
        svg.append(draw('path', { class: full ? 'full' : '', d: `M${x1},${y1} C${x1 + 60},${y1 + low} ${x2 - 60},${y2 + low} ${x2},${y2}` }),
            draw('text', { class: 'small', x, y: y - 6 }, `${link.port}: ${count(link.sent)}`),
            draw('text', { class: 'small', x, y: y + 12 }, `${count(link.waiting)} wait` + (link.missed ? `, ${count(link.missed)} missed` : '')),
            draw('text', { class: 'small', x, y: y + 28 }, within(link.times, 'waited')));
    }
    for (const name of names) {
        const at = places.get(name), kernel = process.kernels.find((one) => one.name === name);
        svg.append(draw('rect', { class: kernel && kernel.why.wrong ? 'wrong' : '', x: at.x, y: at.y, width: wide, height: 44, rx: 6 }),
            draw('text', { x: at.x + wide / 2, y: at.y + 19 }, name),
            draw('text', { class: 'small', x: at.x + wide / 2, y: at.y + 35 }, kernel ? count(kernel.now.handled) + ' a second' : ''));
    }
    fill(svg, { width: (Math.max(...depth.values()) + 1) * (wide + 130) - 120, height: Math.max(...areas.map((area) => area.y + area.tall)) + 4 }, []);
    return make('section', {}, make('h3', {}, 'Pipeline ' + pipeline.name), span(within(pipeline.times, 'round_trip'), 'faint'), make('div', { class: 'graph' }, svg));
}

// ---- parts of the page ----

function figure(value, word, kind) { return make('div', {}, make('b', kind ? { class: kind } : {}, value), span(word, 'faint')); }

function queueView(process, queue) {
    const taken = queue.unanswered + queue.unreceived, capacity = Math.max(1, queue.capacity);
    const share = (part) => make('i', {});
    const parts = [queue.unanswered, queue.unreceived].map((part) => {
        const bar = share(part);
        bar.style.width = Math.min(100, 100 * part / capacity) + '%';
        return bar;
    });
    const notes = [];
    if (queue.full_seconds > 0) notes.push(span('full for ' + seconds(queue.full_seconds), 'bad'));
    if (queue.oldest_seconds > 1) notes.push(span('the oldest message waits for ' + seconds(queue.oldest_seconds), 'warn'));
    if (queue.refused) notes.push(span(plural(queue.refused, 'send') + ' refused', 'warn'));
    if (queue.dropped + queue.dead_letters) notes.push(span(plural(queue.dropped + queue.dead_letters, 'message') + ' lost', 'bad'));
    if (queue.row.p99_seconds) notes.push(span(`round trip: half within ${seconds(queue.row.p50_seconds)}, 99 % within ${seconds(queue.row.p99_seconds)}`));
    return make('div', { class: 'queue' },
        make('div', { class: 'line' }, make('h3', {}, 'Queue ' + queue.name), queue.client ? span('of ' + queue.client, 'faint') : null,
            span(`${count(queue.now.sent)} in, ${count(queue.now.received)} out a second`),
            span(`${count(taken)} of ${count(queue.capacity)} places taken: ${count(queue.unanswered)} unanswered, ${count(queue.unreceived)} not received`, 'faint'),
            notes),
        make('div', { class: 'fill', 'aria-hidden': 'true' }, parts),
        queue.times ? columns(history(process, queue).trips) : null);
}

function kernelView(process, kernel) {
    const lives = process.state === 'lives', well = lives && kernel.state === 'active' && ['idle', 'busy'].includes(kernel.health);
    const [, ...said] = kernel.why.text.split('\n');
    return make('article', { class: 'kernel' + (kernel.why.wrong ? ' wrong' : '') },
        make('div', { class: 'line' }, make('h3', {}, kernel.name),
            span(lives ? (kernel.state === 'active' ? HEALTH[kernel.health] || kernel.health : kernel.state) : TOLD[process.state], well ? 'good' : 'bad'),
            span(`${kernel.types} on ${kernel.backend}, ${kernel.device}`, 'faint')),
        make('p', { class: 'said' }, said.map((line) => line.trim()).join('\n').trim()),
        make('div', { class: 'figures' },
            figure(count(kernel.now.handled), 'messages a second'), figure(count(kernel.queued), 'wait'),
            figure(count(kernel.handled), 'handled'), figure(count(kernel.failed), 'failed', kernel.failed ? 'warn' : ''),
            figure(count(kernel.blocks), kernel.blocks === 1 ? 'block' : 'blocks'),
            kernel.restarts ? figure(count(kernel.restarts), 'workers died', 'warn') : null,
            kernel.stalls ? figure(count(kernel.stalls), 'hangs', 'warn') : null,
            kernel.busy ? figure(percent(kernel.busy.mean), 'busy') : null,
            kernel.times && kernel.times.handled.count ? figure(seconds(kernel.times.handled.p99), 'for 99 % of handlers at most') : null),
        curve(history(process, kernel).rates),
        kernel.busy && kernel.blocks > 1 ? shares(kernel.busy) : null,
        kernel.queues.map((queue) => queueView(process, queue)));
}

// A part that the reader may open, and that stays open when the page is drawn anew.
function folded(key, title, body) {
    const details = make('details', opened.has(key) ? { open: '' } : {}, make('summary', {}, title), body);
    details.addEventListener('toggle', () => { if (details.open) opened.add(key); else opened.delete(key); });
    return details;
}

function table(heads, rows) {
    return make('table', {}, make('tr', {}, heads.map((head) => make('th', { scope: 'col' }, head))),
        rows.map((row) => make('tr', {}, row.map((cell, i) => make('td', i === 0 ? { class: 'when' } : {}, cell)))));
}

function processView(process) {
    const troubles = process.troubles, events = process.events;
    return make('section', {},
        make('div', { class: 'line' }, make('h2', {}, process.program), span('process ' + process.pid, 'faint'),
            span(TOLD[process.state] || process.state, LIVES[process.state]), span('seen ' + seconds(process.age_seconds) + ' ago', 'faint'),
            span('Gyre ' + process.release, 'faint')),
        troubles.length ? folded(process.pid + '/troubles', plural(troubles.length, 'trouble') + ' in its log',
            table(['last', 'times', 'what'], troubles.map((one) => [clock(one.last), count(one.count), one.text]))) : null,
        (process.pipelines || []).map((pipeline) => pipeline.links.length ? graph(process, pipeline) : null),
        process.kernels.map((kernel) => kernelView(process, kernel)),
        events.length ? folded(process.pid + '/events', 'what happened',
            table(['when', 'what'], events.slice().reverse().map((one) => [clock(one.at), one.text]))) : null);
}

function summary(state) {
    const living = state.processes.filter((process) => process.state === 'lives');
    const kernels = living.flatMap((process) => process.kernels);
    const wrong = state.processes.flatMap((process) => process.kernels).filter((kernel) => kernel.why.wrong);
    if (state.processes.length === 0) return ['No process with kernels can be seen.', ''];
    const words = `${plural(living.length, 'process')} with ${plural(kernels.length, 'kernel')} ${living.length === 1 ? 'lives' : 'live'}; `;
    if (wrong.length) return [words + 'look at ' + wrong.map((kernel) => kernel.name).join(', ') + '.', 'bad'];
    return [words + 'nothing is wrong.', 'good'];
}

function show(state) {
    join(state);
    remember(state);
    if (halted) return;
    const [words, kind] = summary(state), line = document.getElementById('summary');
    if (line.textContent !== words) line.textContent = words;
    line.className = kind;
    const focused = document.activeElement, inside = focused && focused.tagName === 'SUMMARY' ? focused.textContent : null;
    const order = state.processes.slice().sort((one, other) => (one.state === 'dead') - (other.state === 'dead'));
    document.getElementById('processes').replaceChildren(...order.map(processView));
    if (inside) for (const one of document.querySelectorAll('summary')) if (one.textContent === inside) one.focus();
}

// ---- the connection ----

function follow() {
    const events = new EventSource('events');
    events.onmessage = (message) => {
        seen = Date.now();
        show(JSON.parse(message.data));
    };
    setInterval(() => {
        const age = (Date.now() - seen) / 1000, line = document.getElementById('link');
        line.textContent = halted ? 'halted' : age < 5 ? 'live' : seen ? 'gyre web has said nothing for ' + seconds(age) : 'connecting …';
        line.className = age < 5 ? 'good' : 'bad';
    }, 1000);
}

document.getElementById('halt').addEventListener('click', (event) => {
    halted = !halted;
    event.target.textContent = halted ? 'Go on' : 'Halt';
});
follow();
