import type { Command } from '../config/command.js'
import { nodeOptions, settings } from '../config/settings.js'
import { readSliceSettings } from '../config/slice-settings.js'
import { beginReplica } from '../ingest/begin-replica.js'
import { expectNoBegunSlice } from '../ingest/begin-sliced-replica.js'
import { nodeSettings, rereadSettings } from '../processes/node-settings.js'
import { servingLine } from '../processes/serving-line.js'
import { runNode } from '../processes/supervisor.js'
import { expectNoBegunCopy } from '../stores/begun-copy.js'
import { storeOptions, storePlace } from '../stores/store-place.js'
import { listenForStop } from '../terminal/stop-signal.js'

export const serveCommand: Command = {
  name: 'serve',
  goesOn: true,
  summary: 'Serves a store over HTTP, even while another process ingests into it. An empty store answers 503.',
  details: `A folder without a store is refused, unless a node is followed or --create is given.
On SIGTERM the node finishes its requests and exits. On SIGHUP it reads the configuration again: the window and the node to follow take
effect at once, and the log names the changed settings that take effect at the next restart.`,
  arguments: [],
  options: [...storeOptions, settings.create, ...nodeOptions],
  examples: [
    'ledger-state serve --data-dir data/mainnet',
    'ledger-state serve --data-dir data/mainnet --follow https://node.example/v1 --retain 10000000 --readers 4',
    'ledger-state serve --store postgres://user@db.example/ledger --readers 4',
    'ledger-state serve --data-dir data/replica --replica-of http://node-a:8090',
    'ledger-state serve --data-dir data/slice --replica-of http://node-a:8090 --only-account 0xcafe',
  ],
  ifNoStore: 'ingest something into it first, follow a node with --follow URL, or give --create to begin empty',
  async run(input) {
    const place = storePlace(input, 'serve')
    const node = nodeSettings(input, place)
    const stop = listenForStop()
    const replicaOf = input.get(settings.replicaOf)
    const slice = readSliceSettings(input)
    if (!slice && (replicaOf ?? input.get(settings.follow)) !== undefined) expectNoBegunSlice(place)
    if (node.writer) expectNoBegunCopy(place)
    if (replicaOf !== undefined) await beginReplica(replicaOf, place, slice, stop)
    await runNode(node, stop.signal, {
      onListening: (address, ledger) => process.stdout.write(`${servingLine(address, ledger)}\n`),
      reread: () => rereadSettings(input, (from) => nodeSettings(from, place)),
    })
  },
}
