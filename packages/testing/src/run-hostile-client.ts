// The program of `hostile-process.ts`. Argument: a `HostileTask` as JSON.
import { getPriority, setPriority } from 'node:os'
import {
  type HostileClient,
  startBusyClient,
  startHostileClient,
  startHostileCrowd,
  startHostileMixture,
} from './hostile-clients.ts'
import type { HostileReport, HostileTask } from './hostile-process.ts'

/** Priority of the hostile client: lower than the priority of the node and of the measured client. */
const NICENESS = 10

const { attack, host, port, seed } = JSON.parse(process.argv[2]!) as HostileTask
if (getPriority() < NICENESS) setPriority(NICENESS)
const options = { address: () => ({ host, port }), seed }
const client = start()
process.on('disconnect', () => process.exit())
process.once('message', async () => {
  await client.stop()
  const { sent, ends } = client.tally
  process.send!({ sent, ends: Object.fromEntries(ends) } satisfies HostileReport)
})
process.send!('started')

function start(): HostileClient {
  switch (attack) {
    case 'crowd':
      return startHostileCrowd(options)
    case 'mixture':
      return startHostileMixture(options)
    case 'busy':
      return startBusyClient()
    default:
      return startHostileClient(attack, options)
  }
}
