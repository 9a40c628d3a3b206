// run.mjs NAME: plays one scenario, in the browser at the address BROWSER.
import { Place, connect } from './lab.mjs';
import * as scenarios from './scenarios.mjs';

const scenario = scenarios[process.argv[2]];
if (!scenario) throw new Error(`no scenario ${process.argv[2]}; there are ${Object.keys(scenarios).join(', ')}`);
const place = new Place();
const browser = await connect(process.env.BROWSER);
try {
  await scenario(place, browser);
} catch (error) {
  console.error(error.stack || error);
  process.exitCode = 1;
} finally {
  await browser.close();
  place.close();
}
