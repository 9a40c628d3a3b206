// An isolated place for the dashboard: its own project and home, real hooks, a real browser.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const need = (name) => process.env[name] || (() => { throw new Error(`${name} is not set`); })();
const require = createRequire(join(need('WEB_MODULES'), 'package.json'));
const { chromium } = require('playwright-core');
export const axe = require.resolve('axe-core/axe.min.js');

export class Place {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'context-graph-web-'));
    this.project = join(this.folder, process.env.PROJECT_NAME || 'project');
    this.home = join(this.folder, 'home');
    this.open = [];
    mkdirSync(join(this.project, '.git'), { recursive: true });
    mkdirSync(join(this.project, '.context-graph'), { mode: 0o700 });
    mkdirSync(this.home);
    // As if an upkeep had just been done. Otherwise one would start by itself and outlive the folder.
    writeFileSync(join(this.project, '.context-graph', 'maintained'), '\n');
  }

  env(project = this.project) {
    return { PATH: process.env.PATH, HOME: this.home, CLAUDE_PROJECT_DIR: project, CONTEXT_GRAPH_TEST_ALONE: '1', CONTEXT_GRAPH_TEST_PATIENCE: '1', ...(process.env.TZ ? { TZ: process.env.TZ } : {}) };
  }

  run(args, input = '', project = this.project) {
    const ran = spawnSync(need('CONTEXT_GRAPH_BIN'), args, { input, env: this.env(project), cwd: project, maxBuffer: 1 << 28 });
    if (ran.status !== 0) throw new Error(`${args.join(' ')}: ${ran.status} ${ran.stderr}`);
    return ran.stdout.toString();
  }

  /** Sends an event to a new hook process. */
  hook(session, name, own = {}, project = this.project) {
    const event = { hook_event_name: name, session_id: session, transcript_path: '', cwd: project, permission_mode: 'default', ...own };
    return this.run(['hooks', 'event', '--stdin'], JSON.stringify(event), project);
  }

  /** A call: the request and, if given, its result. */
  call(session, id, tool, input, result, own = {}) {
    const call = { tool_name: tool, tool_input: input, tool_use_id: id, ...own };
    this.hook(session, 'PreToolUse', call);
    if (result?.error) this.hook(session, 'PostToolUseFailure', { ...call, error: result.error, is_interrupt: false });
    else if (result) this.hook(session, 'PostToolUse', { ...call, tool_response: result });
  }

  /** Starts the dashboard and returns its address with the token. */
  dashboard(...more) {
    const started = spawn(need('CONTEXT_GRAPH_BIN'), ['dashboard', '--no-open', ...more], { env: this.env(), cwd: this.project });
    this.open.push(started);
    return new Promise((resolve, reject) => {
      let told = '';
      started.stdout.on('data', (text) => { told += text; if (told.includes('\n')) resolve(told.split('\n')[0]); });
      started.on('exit', (code) => reject(new Error(`the dashboard ended: ${code}`)));
    });
  }

  close() {
    this.open.forEach((one) => { one.removeAllListeners('exit'); one.kill(); });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const settings = () => ({
  executablePath: need('CHROMIUM'),
  headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

/** Real Chromium with an empty profile. */
export const launch = () => chromium.launch(settings());

/** The same as a server that several processes connect to. */
export const serve = () => chromium.launchServer(settings());

/** Connects to a Chromium that another process serves. Tabs of different connections share nothing. */
export const connect = (address) => chromium.connect(address);

/** A tab that is signed in. Exceptions, console errors and dialogs are collected in `errors`. */
export const visit = async (browser, address, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.errors = [];
  page.on('pageerror', (error) => page.errors.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error') page.errors.push(message.text()); });
  page.on('dialog', (dialog) => { page.errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(address);
  await page.waitForURL((url) => !url.search);
  page.origin = new URL(address).origin;
  return page;
};
