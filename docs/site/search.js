/* SPDX-License-Identifier: Apache-2.0 */
/* The search: each word must occur in a section; those whose title or heading has the words come first. */
'use strict';

const SHOWN_MOST = 30;
const EXCERPT = 90; /* characters on each side of a word that was found */

function splitWords(text) {
    return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/* 0: a word is missing. Else more for words in the heading, as whole words, and in the page's title. */
function score(section, words) {
    const [, title, heading, text] = section.map((part) => part.toLowerCase());
    let sum = 0;
    for (const word of words) {
        const inHeading = heading.includes(word), inTitle = title.includes(word);
        if (!inHeading && !inTitle && !text.includes(word)) return 0;
        const whole = heading.split(/[^\w]+/).includes(word);
        sum += 1 + (whole ? 12 : inHeading ? 6 : 0) + (inTitle ? 3 : 0);
        sum += Math.min(text.split(word).length - 1, 5) / 5;
    }
    return sum;
}

function find(sections, text) {
    const words = splitWords(text);
    if (!words.length) return [];
    return sections.map((section) => ({section, score: score(section, words)}))
        .filter((one) => one.score > 0)
        .sort((a, b) => b.score - a.score)
        .map((one) => one.section);
}

function excerpt(text, words) {
    const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)).slice(0, 1));
    const begin = Math.max(0, at - EXCERPT);
    return (begin ? '... ' : '') + text.slice(begin, at + EXCERPT) + (at + EXCERPT < text.length ? ' ...' : '');
}

/* ---- on the page ---- */

function addMarked(element, text, words) {
    const lower = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
        const hits = words.map((word) => [lower.indexOf(word, at), word]).filter(([where]) => where >= 0);
        if (!hits.length) break;
        const [where, word] = hits.sort((a, b) => a[0] - b[0])[0];
        element.append(text.slice(at, where));
        const mark = document.createElement('mark');
        mark.textContent = text.slice(where, where + word.length);
        element.append(mark);
        at = where + word.length;
    }
    element.append(text.slice(at));
}

function showResult(section, words) {
    const [address, title, heading, text] = section;
    const link = document.createElement('a'), name = document.createElement('strong'), lines = document.createElement('span');
    link.href = document.body.dataset.root + address;
    name.textContent = heading === title ? title : title + ': ' + heading;
    addMarked(lines, excerpt(text, words), words);
    link.append(name, lines);
    return link;
}

function show(text) {
    const box = document.getElementById('found'), words = splitWords(text);
    const found = find(sections, text);
    box.hidden = !words.length;
    document.querySelector('article').hidden = words.length > 0;
    box.replaceChildren();
    if (!words.length) return;
    const count = document.createElement('p');
    count.textContent = found.length ? found.length + ' sections' : 'no section has all of these words';
    box.append(count, ...found.slice(0, SHOWN_MOST).map((section) => showResult(section, words)));
}

function begin() {
    const input = document.getElementById('words');
    if (matchMedia('(max-width: 50rem)').matches) /* the menu would fill a small screen */
        document.querySelector('nav details').open = false;
    input.addEventListener('input', () => show(input.value));
    document.addEventListener('keydown', (event) => {
        if (event.key === '/' && document.activeElement !== input) {
            event.preventDefault();
            input.focus();
        } else if (event.key === 'Escape') {
            input.value = '';
            show('');
        } else if (event.key === 'Enter' && document.activeElement === input) {
            const first = document.querySelector('#found a');
            if (first) location.href = first.href;
        }
    });
    document.getElementById('found').addEventListener('click', () => {
        input.value = '';
        show('');
    });
}

if (typeof document === 'undefined') module.exports = {find};
else begin();
