#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The page of `gyre web` in a browser without a screen: browser.py CHROMIUM PAGE SERVER PATIENCE [SHOTS]. Says each check that fails, and ends
# with 1 then. SERVER: the process with the kernels, which is killed. SHOTS: a folder for pictures of the page, for the documentation.
import base64, json, os, select, signal, subprocess, sys, tempfile, time

chromium, page, server, patience = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
shots = sys.argv[5] if len(sys.argv) > 5 else ''
failures = 0


class Browser:
    """Speaks the protocol of the browser's developer tools over pipes: its descriptors 3 and 4, messages that end with a NUL."""

    def __init__(self, folder):
        ours, self.out = os.pipe()
        self.into, theirs = os.pipe()

        def connect():
            high = os.dup(ours), os.dup(theirs)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.program = subprocess.Popen(
            [chromium, '--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-pipe',
             '--no-first-run', '--disable-background-networking', '--user-data-dir=' + folder],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours)
        os.close(theirs)
        self.buffer, self.number, self.session, self.requests = b'', 0, None, []

    def message(self, until):
        while b'\0' not in self.buffer:
            if not select.select([self.into], [], [], max(0.01, until - time.monotonic()))[0]:
                raise TimeoutError('the browser says nothing')
            part = os.read(self.into, 1 << 16)
            if not part:
                raise EOFError('the browser ended')
            self.buffer += part
        text, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            request['sessionId'] = self.session
        os.write(self.out, json.dumps(request).encode() + b'\0')
        until = time.monotonic() + 60 * patience
        while True:
            answer = self.message(until)
            if answer.get('method') == 'Network.requestWillBeSent':
                self.requests.append(answer['params']['request']['url'])
            if answer.get('id') == self.number:
                assert 'error' not in answer, answer
                return answer['result']

    def open(self, url):
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        self.call('Network.enable')
        self.call('Page.enable')
        self.call('Page.navigate', url=url)

    def value(self, expression):
        return self.call('Runtime.evaluate', expression=expression, returnByValue=True)['result'].get('value')

    def size(self, width, height):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def key(self, key, code, text=''):
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text)

    def shoot(self, name):
        if shots:
            with open(os.path.join(shots, name + '.png'), 'wb') as file:
                file.write(base64.b64decode(self.call('Page.captureScreenshot', format='png')['data']))


def check(what, holds):
    global failures
    if not holds:
        failures += 1
        print('FAILED:', what)


def becomes(browser, what, expression, seconds):
    """The expression becomes true within so many seconds of a usual machine. Returns after how many."""
    began = time.monotonic()
    while not browser.value(expression):
        if time.monotonic() - began > seconds * patience:
            check(what + ': ' + str(browser.value('document.body.innerText'))[:600], False)
            break
        time.sleep(0.05)
    return time.monotonic() - began


# Texts of a drawing that lie on each other or beyond its edge.
MISPLACED = """[...document.querySelectorAll('svg')].flatMap((svg) => {
    const edge = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter((text) => text.textContent).map((text) => [text.textContent, text.getBoundingClientRect()]);
    return texts.filter(([, a], i) => a.left < edge.left || a.bottom > edge.bottom + 3 || texts.some(([, b], j) => i !== j &&
        a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)).map(([text]) => text);
}).join('; ')"""

with tempfile.TemporaryDirectory() as folder:
    browser = Browser(folder)
    try:
        browser.open(page)
        browser.size(1000, 900)
        becomes(browser, 'the kernels are shown', "document.querySelectorAll('article.kernel').length >= 3", 30)
        becomes(browser, 'the links have their times', "document.querySelector('svg .small') && document.body.innerHTML.includes('99 % within')", 30)
        points = browser.value("document.querySelector('polyline').getAttribute('points')")
        becomes(browser, 'the curves move', "document.querySelector('polyline').getAttribute('points') !== " + json.dumps(points), 10)
        time.sleep(4 if shots else 0)
        misplaced = browser.value(MISPLACED)
        check(f'texts lie beside each other: {misplaced}', misplaced == '')
        browser.shoot('page')
        browser.size(400, 800)
        check('the page fits 400 pixels', browser.value('document.documentElement.scrollWidth') <= 400)
        browser.shoot('page_narrow')
        browser.size(1000, 900)
        browser.key('Tab', 9)
        check('the keyboard comes to the button first', browser.value('document.activeElement.id') == 'halt')
        browser.key('Enter', 13, '\r')
        check('the keyboard halts the page', browser.value("document.getElementById('halt').textContent") == 'Go on')
        browser.key('Enter', 13, '\r')
        os.kill(server, signal.SIGKILL)
        took = becomes(browser, 'a killed process is shown', "document.body.innerText.includes('was killed')", 2)
        print(f'a killed process was shown after {took:.1f} s')
        check('no request leaves the machine', browser.requests and
              all(url.startswith((page, 'data:')) for url in browser.requests))
        check('the page has no error', browser.value("document.querySelector('#summary').className") == 'bad')
    finally:
        browser.program.kill()
        browser.program.wait()
sys.exit(1 if failures else 0)
