// A hostile client in a process of its own, so that making its requests costs the steady client nothing. Arguments: the
// attack, the port of the node, a seed. Sends its parent what became of the requests when it is told to stop.
import { setPriority } from 'node:os'
import { type HostileAttack, startHostileClient } from '@ledger-state/testing/hostile-clients'

const [attack, port, seed] = process.argv.slice(2) as [HostileAttack, string, string]
/** The steady client and the node come first: this process is not what is measured. */
const NICENESS = 10

setPriority(NICENESS)
const target = { host: '127.0.0.1', port: Number(port) }
const client = startHostileClient(attack, { address: () => target, seed: Number(seed) })
process.on('disconnect', () => process.exit())
process.once('message', async () => {
  await client.stop()
  const { sent, ends } = client.tally
  process.send!({ sent, ends: Object.fromEntries(ends) })
  process.disconnect()
})
