#!/usr/bin/env node
// Runs the native program of this platform. Hooks do not use this file: `context-graph init` names the native program
// in the settings, so that no tool call waits for Node.
"use strict";
const { spawnSync } = require("node:child_process");
const os = require("node:os");

const name = `@context-graph/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/context-graph`);
} catch {
  const known = Object.keys(require("../package.json").optionalDependencies);
  const why = known.includes(name)
    ? `${name} is not installed. npm leaves it out with --omit=optional or --no-optional: install again without them.`
    : `there is no program for ${process.platform} on ${process.arch}. There is one for: ${known.join(", ")}.`;
  console.error(`context-graph: ${why}`);
  process.exit(1);
}
// Ctrl-C reaches the program by itself; this process waits for it to end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`context-graph: cannot run ${program}: ${error.message}`);
  process.exit(1);
}
process.exit(signal ? 128 + os.constants.signals[signal] : status);
