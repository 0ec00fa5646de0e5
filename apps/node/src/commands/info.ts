import { noLedger } from '@ledger-state/core'
import { type LmdbEngineReader, openStateEngineReader, type StoreBase } from '@ledger-state/state-engine'
import type { Command } from '../config/command.js'
import { switchOption } from '../config/option.js'
import { settings } from '../config/settings.js'
import { emptyStore } from '../errors.js'
import { formatBytes, formatCount } from '../terminal/amounts.js'
import { table } from '../terminal/table.js'

const jsonOption = switchOption('json', 'print JSON; u64 values are strings')

export const infoCommand: Command = {
  name: 'info',
  summary: 'Says what a store holds.',
  arguments: [],
  options: [settings.dataDir, jsonOption],
  required: [settings.dataDir],
  examples: ['ledger-state info --data-dir data/mainnet --json'],
  async run(input) {
    const engine = openStateEngineReader({ path: input.required(settings.dataDir), verifyReads: true })
    try {
      const { ledger, base, stats } = engine
      if (!ledger) throw emptyStore(input.required(settings.dataDir))
      const { latestBlock, oldestBlock } = ledger
      if (input.get(jsonOption)) {
        process.stdout.write(`${JSON.stringify(storeFacts(engine))}\n`)
        return
      }
      const rows = [
        ['chain id', String(ledger.chainId)],
        ['versions', `${ledger.oldestVersion} to ${ledger.latestVersion}`],
        ['base', describeBase(base!)],
        ['block heights', `${oldestBlock.height} to ${latestBlock.height}`],
        ['epoch', String(latestBlock.epoch)],
        ['ledger time', `${formatTime(latestBlock.timestampUsec)} (oldest ${formatTime(oldestBlock.timestampUsec)})`],
        ['keys', formatCount(stats.keys)],
        ['history entries', formatCount(stats.historyEntries)],
        ['data file', formatBytes(stats.fileBytes)],
      ]
      process.stdout.write(`${table(rows)}\n`)
    } finally {
      await engine.close()
    }
  },
}

/** As JSON has them: u64 values are strings. @throws `no_ledger` where the store is empty */
export function storeFacts(engine: LmdbEngineReader) {
  const { ledger, base, stats } = engine
  if (!ledger) throw noLedger()
  const { latestBlock, oldestBlock } = ledger
  return {
    chain_id: jsonChainId(ledger.chainId),
    ledger_version: String(ledger.latestVersion),
    oldest_ledger_version: String(ledger.oldestVersion),
    block_height: String(latestBlock.height),
    oldest_block_height: String(oldestBlock.height),
    epoch: String(latestBlock.epoch),
    ledger_timestamp_usec: String(latestBlock.timestampUsec),
    oldest_ledger_timestamp_usec: String(oldestBlock.timestampUsec),
    base: base!.version === 0n ? 'genesis' : base!.complete ? 'state' : 'assumed_empty',
    base_version: String(base!.version),
    keys: stats.keys,
    history_entries: stats.historyEntries,
    blocks: stats.blocks,
    file_bytes: stats.fileBytes,
  }
}

function describeBase({ version, complete }: StoreBase): string {
  if (version === 0n) return 'genesis'
  if (complete) return `the state at version ${version}`
  return `assumed empty before version ${version}: older writes are not known to be absent`
}

/** A number, as every network's is, unless JSON would lose digits of it. */
function jsonChainId(chainId: bigint): number | string {
  return chainId <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(chainId) : String(chainId)
}

function formatTime(timestampUsec: bigint): string {
  const milliseconds = Number(timestampUsec / 1000n)
  const date = new Date(milliseconds)
  return Number.isNaN(date.getTime()) ? `${timestampUsec} µs` : date.toISOString()
}
