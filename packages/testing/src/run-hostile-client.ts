// The program of `hostile-process.ts`. Argument: a `HostileTask` as JSON.
import { setPriority } from 'node:os'
import { startHostileClient, startHostileCrowd } from './hostile-clients.ts'
import type { HostileReport, HostileTask } from './hostile-process.ts'

/** Lower priority than the node and the client that are measured. */
const NICENESS = 10

const { attack, host, port, seed } = JSON.parse(process.argv[2]!) as HostileTask
setPriority(NICENESS)
const options = { address: () => ({ host, port }), seed }
const client = attack === 'crowd' ? startHostileCrowd(options) : startHostileClient(attack, options)
process.on('disconnect', () => process.exit())
process.once('message', async () => {
  await client.stop()
  const { sent, ends } = client.tally
  process.send!({ sent, ends: Object.fromEntries(ends) } satisfies HostileReport)
})
process.send!('started')
