// A program that answers one request, to be bundled.
import type { AddressInfo } from 'node:net'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { createHttpServer } from '../src/server/create-http-server.ts'
import { createComputeThread } from '../src/views/compute-thread.ts'

const server = createHttpServer({ ledger: createLedger(createMemoryEngine()) })
server.listen(0, '127.0.0.1', async () => {
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  const thread = createComputeThread()
  const refused = await thread.run({ name: 'none', inputs: [] }).catch((error: unknown) => error instanceof RangeError)
  await thread.close()
  console.log(answer.status, refused)
  server.close()
  server.closeAllConnections()
})
