// Serves one browser to all scenarios, and prints its address. It ends when its standard input is closed, so it
// does not outlive the tests.
import { serve } from './lab.mjs';

const server = await serve();
console.log(server.wsEndpoint());
process.stdin.resume().on('end', async () => {
  await server.close();
  process.exit();
});
