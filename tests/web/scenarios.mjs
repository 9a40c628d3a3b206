// What the dashboard promises, tried in a real browser. Each function is a test.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { axe, visit } from './lab.mjs';

const PAGES = ['/', '/sessions', '/calls', '/guard', '/files', '/health'];

/** A session with turns, a subagent, a failure, a stop and a compaction, which has ended; and one that goes on. */
const play = (place) => {
  const file = `${place.project}/src/parser.rs`;
  place.hook('first', 'SessionStart', { source: 'startup', model: 'a-model' });
  place.hook('first', 'UserPromptSubmit', { prompt: 'Mend the parser of numbers' });
  place.call('first', 'a1', 'Read', { file_path: file }, { content: 'fn parse() {}' });
  place.call('first', 'a2', 'Bash', { command: 'cargo test' }, { error: 'Exit code 101\ntest parses ... FAILED' });
  place.call('first', 'a3', 'Grep', { pattern: 'parse' }, { content: 'src/parser.rs' }, { agent_id: 'agent-1', agent_type: 'explorer' });
  place.call('first', 'a4', 'Bash', { command: 'git push --force origin main' });
  place.hook('first', 'Stop', { stop_hook_active: false });
  place.hook('first', 'PreCompact', { trigger: 'manual', custom_instructions: '' });
  place.hook('first', 'PostCompact', { trigger: 'manual', compact_summary: 'The parser was mended.' });
  place.hook('first', 'SessionStart', { source: 'compact' });
  place.hook('first', 'SessionEnd', { reason: 'other' });
  place.hook('second', 'SessionStart', { source: 'startup' });
  place.hook('second', 'UserPromptSubmit', { prompt: 'Write the release notes' });
  place.call('second', 'b1', 'Grep', { pattern: 'Unreleased' }, { content: 'CHANGELOG.md' });
};
const OWN_PAGES = [...PAGES, '/sessions/first', '/sessions/first/3', '/guard/first/9', '/sessions/second'];

const every_page_is_sound_in = (colorScheme) => async (place, browser) => {
  play(place);
  const page = await visit(browser, await place.dashboard(), { colorScheme, bypassCSP: false });
  for (const path of OWN_PAGES) {
    await page.setViewportSize({ width: 1280, height: 900 });
    const answer = await page.goto(page.origin + path);
    assert.equal(answer.status(), 200, path);
    for (const width of [380, 768, 2000]) {
      await page.setViewportSize({ width, height: 900 });
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wider <= 0, `${path} is ${wider} pixels too wide for ${width}`);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    // Chromium runs code from the debugger even if the page's own policy forbids scripts.
    await page.evaluate((await import('node:fs')).readFileSync(axe, 'utf8'));
    const found = await page.evaluate(() => window.axe.run());
    const serious = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
    assert.deepEqual(serious.map((one) => `${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`), [], `${path}, ${colorScheme}`);
  }
  assert.deepEqual(page.errors, []);
};

// The longest scenarios first, so that the others run meanwhile.
export const every_page_is_sound_in_light_on_every_screen = every_page_is_sound_in('light');

export const every_page_is_sound_in_dark_on_every_screen = every_page_is_sound_in('dark');

export const a_session_of_twenty_thousand_calls_scrolls = async (place, browser) => {
  place.hook('seed', 'SessionStart', { source: 'startup' });
  place.hook('seed', 'UserPromptSubmit', { prompt: 'Do very much' });
  place.call('seed', 's1', 'Bash', { command: 'echo number-0' }, { stdout: 'ok' });
  place.hook('seed', 'SessionEnd', { reason: 'other' });
  const lines = place.run(['session', 'export', 'seed']).trim().split('\n').map((line) => JSON.parse(line));
  const [head, ...seed] = lines;
  const began = head.session.state.started_ms;
  const records = [seed[0], seed[1]];
  for (let number = 0; number < 20_000; number += 1) {
    for (const record of seed.slice(2, 4)) {
      const payload = JSON.parse(record.record.payload);
      payload.tool_use_id = `call-${number}`;
      payload.tool_input.command = `echo number-${number}`;
      records.push({ record: { ...record.record, tool_use_id: `call-${number}`, at_ms: began + number * 1000, payload: JSON.stringify(payload) } });
    }
  }
  records.push(...seed.slice(4));
  head.session.snapshot.session_id = 'huge';
  head.records = records.length;
  const text = [head, ...records].map((line) => JSON.stringify(line).replaceAll('\\"seed\\"', '\\"huge\\"')).join('\n') + '\n';
  place.run(['session', 'import', '-'], text);
  const page = await visit(browser, await place.dashboard());
  page.setDefaultTimeout(120_000);
  const answer = await page.goto(page.origin + '/sessions/huge');
  const size = (await answer.body()).length;
  assert.ok(size < 600_000, `${size} bytes`);
  await page.getByText('echo number-0', { exact: true }).waitFor();
  for (const number of [300, 700]) {
    const row = page.getByText(`echo number-${number}`, { exact: true });
    for (let step = 0; step < 60 && !(await row.count()); step += 1) {
      await page.mouse.wheel(0, 4000);
      await page.waitForTimeout(100);
    }
    assert.equal(await row.count(), 1, `call ${number} is reached by scrolling`);
  }
  await page.goto(page.origin + '/sessions/huge?page=101');
  await page.getByText('echo number-19999', { exact: true }).waitFor();
  assert.deepEqual(page.errors, []);
};

export const pages_follow_what_hooks_record = async (place, browser) => {
  place.hook('live', 'SessionStart', { source: 'startup' });
  place.hook('live', 'UserPromptSubmit', { prompt: 'Count to three' });
  const page = await visit(browser, await place.dashboard());
  await page.locator('.status.live').waitFor();
  await page.getByText('Count to three').waitFor();
  place.call('live', 'c1', 'Bash', { command: 'echo one-of-three' }, { stdout: 'one' });
  await page.getByText('echo one-of-three').waitFor({ timeout: 15_000 });
  await page.goto(page.origin + '/sessions/live');
  await page.locator('.status.live').waitFor();
  await page.evaluate(() => { window.sameDocument = true; });
  place.call('live', 'c2', 'Bash', { command: 'echo two-of-three' }, { stdout: 'two' });
  await page.locator('#story').getByText('echo two-of-three').waitFor({ timeout: 15_000 });
  assert.ok(await page.evaluate(() => window.sameDocument), 'the page was not loaded anew');
  assert.deepEqual(page.errors, []);
};

export const search_answers_while_typing_and_the_address_follows = async (place, browser) => {
  play(place);
  const page = await visit(browser, await place.dashboard());
  await page.goto(page.origin + '/calls');
  assert.equal(await page.locator('.entries .entry').count(), 5);
  await page.keyboard.press('/');
  await page.keyboard.type('push --force');
  // The beginning of the words already finds the same call.
  await page.waitForURL(/text=push\+--force/);
  // By time, not by drawn frames: a tab behind others may get none.
  await page.waitForFunction(() => document.querySelectorAll('.entries .entry').length === 1, undefined, { polling: 100 });
  assert.match(await page.locator('.same pre').innerText(), /^context-graph audit log --text 'push --force' --tool '\*'$/);
  await page.reload();
  assert.equal(await page.locator('.entries .entry').count(), 1);
  assert.equal(await page.locator('#search').inputValue(), 'push --force');
  await page.locator('#search').fill('nowhere to be found');
  await page.getByText('No matching calls').waitFor();
  assert.deepEqual(page.errors, []);
  await page.getByText('More', { exact: true }).click();
  await page.locator('input[name=since]').fill('some day');
  await page.locator('#results').getByText('some day').waitFor();
  await page.locator('input[name=since]').fill('2d');
  await page.getByText('No matching calls').waitFor();
};

export const a_late_refresh_does_not_undo_a_search = async (place, browser) => {
  play(place);
  const page = await visit(browser, await place.dashboard());
  let release, caught;
  const released = new Promise((resolve) => { release = resolve; });
  const held = new Promise((resolve) => { caught = resolve; });
  await page.goto(page.origin + '/calls');
  // The page refreshes itself when it has connected, and after a new call. The first of these answers is held back until
  // a search has been answered.
  await page.route(page.origin + '/calls', async (route) => {
    const answer = await route.fetch();
    caught();
    await released;
    await route.fulfill({ response: answer });
  });
  place.call('second', 'b2', 'Grep', { pattern: 'later' }, { content: 'CHANGELOG.md' });
  await held;
  await page.locator('#search').fill('push --force');
  await page.waitForURL(/text=push/);
  assert.equal(await page.locator('.entries .entry').count(), 1);
  const late = page.waitForResponse(page.origin + '/calls');
  release();
  await (await late).finished();
  await page.waitForTimeout(500);
  assert.equal(await page.locator('.entries .entry').count(), 1);
  assert.deepEqual(page.errors, []);
};

export const everything_can_be_done_with_the_keyboard = async (place, browser) => {
  play(place);
  const page = await visit(browser, await place.dashboard());
  for (const [key, path] of [['s', '/sessions'], ['c', '/calls'], ['g', '/guard'], ['f', '/files'], ['h', '/health'], ['n', '/']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.waitForURL(page.origin + path);
  }
  await page.keyboard.press('?');
  assert.ok(await page.locator('#help').isVisible());
  await page.keyboard.press('Escape');
  assert.ok(!(await page.locator('#help').isVisible()));
  await page.goto(page.origin + '/sessions');
  for (const key of ['j', 'j', 'k', 'j', 'Enter']) await page.keyboard.press(key);
  await page.waitForURL(/\/sessions\/first$/);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
  assert.deepEqual(page.errors, []);
};

export const pages_read_without_javascript = async (place, browser) => {
  play(place);
  const page = await visit(browser, await place.dashboard(), { javaScriptEnabled: false });
  for (const path of OWN_PAGES) {
    const answer = await page.goto(page.origin + path);
    assert.equal(answer.status(), 200, path);
    assert.ok((await page.locator('main').innerText()).length > 30, path);
  }
  await page.goto(page.origin + '/calls');
  await page.locator('#search').fill('push --force');
  await page.getByRole('button', { name: 'Search' }).click();
  assert.equal(await page.locator('.entries .entry').count(), 1);
};

export const what_agents_say_stays_text = async (place, browser) => {
  const nasty = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'><svg onload=alert(3)> javascript:alert(4) \u001b[31mred\u001b]0;title\u0007 \u202egnp.exe\u2066 \u200b';
  const long = 'x'.repeat(10 << 20);
  const id = 'hostile"><script>alert(5)<';
  place.hook(id, 'SessionStart', { source: 'startup', model: nasty });
  place.hook(id, 'UserPromptSubmit', { prompt: nasty });
  place.call(id, `id-${nasty}`, `mcp__${nasty}`, { file_path: `${place.project}/${nasty}.rs`, command: nasty, [nasty]: [nasty] }, { content: nasty }, { agent_id: nasty, agent_type: nasty });
  place.call(id, 'id-2', 'Bash', { command: `rm -rf / ${nasty}` });
  place.call(id, 'id-3', 'Bash', { command: 'javascript:alert(6)' }, { error: nasty });
  place.call(id, 'id-4', 'Read', { file_path: 'x'.repeat(20_000) }, { content: long });
  place.hook(id, 'UserPromptSubmit', { prompt: long });
  place.hook(id, 'Notification', { message: nasty, notification_type: 'idle_prompt' });
  place.hook(id, 'Stop', { stop_hook_active: false, last_assistant_message: nasty });
  const page = await visit(browser, await place.dashboard());
  const own = `/sessions/${encodeURIComponent(id)}`;
  const entries = Array.from({ length: 12 }, (_, at) => `${own}/${at + 1}`);
  for (const path of [...PAGES, own, `${own}/spark.svg`, ...entries, `/guard/${encodeURIComponent(id)}/5`, `/calls?text=${encodeURIComponent(nasty)}`, `/calls?tool=${encodeURIComponent(nasty)}`]) {
    const answer = await page.goto(page.origin + path);
    const text = await answer.text();
    if (!path.endsWith('svg') && answer.status() === 200) {
      assert.equal(await page.locator('main script, main img:not(.spark), main svg [onload], main [onerror]').count(), 0, path);
      const links = await page.locator('a').evaluateAll((all) => all.map((one) => one.href.baseVal ?? one.href));
      assert.ok(links.every((to) => String(to).startsWith('http://127.0.0.1:') || String(to).startsWith('/')), `${path}: ${links}`);
    }
    assert.ok(!/[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069\u200b]/.test(text.replaceAll('\r', '')), `${path} has a character that hides or drives something`);
    assert.ok(text.length < 600_000, `${path} has ${text.length} characters`);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wider <= 0, `${path} is ${wider} pixels too wide`);
  }
  const seen = page.errors.filter((error) => !/status of 40[04]/.test(error));
  assert.deepEqual(seen, [], 'nothing ran, nothing was loaded');
};

export const pages_of_other_sites_get_nothing = async (place, browser) => {
  play(place);
  const address = await place.dashboard();
  const page = await visit(browser, address);
  const target = page.origin;
  const evil = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('<!DOCTYPE html><title>evil</title><body></body>'));
  await new Promise((ready) => evil.listen(0, '127.0.0.1', ready));
  const port = evil.address().port;
  try {
    // For the browser, another host name is another site, but it has the same cookies.
    await page.goto(`http://localhost:${port}/`);
    const got = await page.evaluate(async (to) => {
      const tried = {};
      const ask = async (name, options) => { try { const answer = await fetch(to + '/sessions', options); tried[name] = answer.type === 'opaque' ? 'opaque' : await answer.text(); } catch (error) { tried[name] = 'refused'; } };
      await ask('plain', {});
      await ask('with credentials', { credentials: 'include' });
      await ask('without cors', { mode: 'no-cors', credentials: 'include' });
      await ask('post', { method: 'POST', credentials: 'include', body: 'x' });
      tried.image = await new Promise((done) => { const image = new Image(); image.onload = () => done('loaded'); image.onerror = () => done('refused'); image.src = to + '/assets/icon.svg'; });
      tried.script = await new Promise((done) => { const script = document.createElement('script'); script.onload = () => done('loaded'); script.onerror = () => done('refused'); script.src = to + '/assets/app.js'; document.body.append(script); });
      return tried;
    }, target);
    for (const [name, answer] of Object.entries(got)) assert.ok(answer === 'refused', `${name}: ${answer}`);
    const framed = await page.evaluate((to) => new Promise((done) => { const frame = document.createElement('iframe'); frame.onload = () => done('loaded'); frame.src = to + '/sessions'; document.body.append(frame); setTimeout(() => done('nothing'), 3000); }), target);
    assert.ok(!(await Promise.all(page.frames().map((one) => one.content().catch(() => '')))).some((text) => text.includes('Mend the parser')), framed);
    // DNS rebinding: a foreign name that resolves to this machine.
    const rebound = await browser.newContext();
    const request = await rebound.request.get(target + '/sessions', { headers: { Host: `evil.example:${new URL(target).port}` } });
    assert.equal(request.status(), 403);
    // Without the cookie.
    assert.equal((await rebound.request.get(target + '/sessions')).status(), 401);
    const cookie = (await page.context().cookies(target))[0];
    assert.ok(cookie.httpOnly && cookie.sameSite === 'Strict', JSON.stringify(cookie));
  } finally {
    evil.close();
  }
};

export const a_report_is_read_from_a_file = async (place, browser) => {
  play(place);
  const file = `${place.folder}/report.html`;
  place.run(['audit', 'report', 'first', '--html', file]);
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 800 } })).newPage();
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`file://${file}`);
  assert.match(await page.locator('main').innerText(), /Mend the parser of numbers/);
  assert.equal(await page.locator('svg.timeline').count(), 1);
  assert.equal(asked.length, 1, `${asked}`);
};
