import { setImmediate as turnOfLoop } from 'node:timers/promises'

// Tests run commands synchronously. Until the event loop has turned once, `fetch` takes a connection that the server
// closed during the command for an open one, and fails.

const fetchAtOnce = globalThis.fetch

const fetchAfterTurn: typeof fetch = async (...request) => {
  await turnOfLoop()
  return await fetchAtOnce(...request)
}

// The setup runs for each file, and files share the worker.
if (fetchAtOnce.name !== fetchAfterTurn.name) globalThis.fetch = fetchAfterTurn
