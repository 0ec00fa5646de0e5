import { KNOWN_NETWORKS } from '@ledger-state/feed'
import type { Command } from '../config/command.js'
import { switchOption } from '../config/option.js'
import { columns } from '../terminal/columns.js'

const jsonOption = switchOption('json', 'print JSON, in the format of a --network file')

export const networksCommand: Command = {
  name: 'networks',
  summary: 'Lists the networks that --network knows by name. It contacts no server.',
  details: `Describe another network in a JSON file with the same members: {"name", "chainId", "hashSalt", "waypoints", "backups", "nodes"}.`,
  arguments: [],
  options: [jsonOption],
  examples: ['ledger-state networks', 'ledger-state networks --json'],
  async run(input) {
    if (input.get(jsonOption)) {
      process.stdout.write(`${JSON.stringify(KNOWN_NETWORKS, null, 2)}\n`)
      return
    }
    const rows = KNOWN_NETWORKS.flatMap(({ name, chainId, hashSalt, waypoints, backups = [], nodes = [] }) => [
      [name, `chain ${chainId}, hashes with ${hashSalt}`] as const,
      ...waypoints.map((waypoint) => ['', waypoint] as const),
      ...backups.map((backup) => ['', `backup ${backup}`] as const),
      ...nodes.map((node) => ['', `node ${node}`] as const),
    ])
    process.stdout.write(`${columns(rows)}\n`)
  },
}
