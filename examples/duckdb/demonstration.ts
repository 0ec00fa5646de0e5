import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteWriter, parseAddress } from '@ledger-state/core'
import { feedHeaderLine, versionToFeedLine } from '@ledger-state/feed'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'

const COIN_STORE = parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>')
/** Days of the blocks, with the owners whose coins change, and the coins after the change. */
const BLOCKS: readonly (readonly [day: string, coins: Readonly<Record<string, bigint | null>>])[] = [
  ['2025-03-01', { '0xa': 1_000n }],
  ['2025-03-01', { '0xa': 700n, '0xb': 300n }],
  ['2025-03-02', { '0xb': 100n, '0xc': 200n }],
  ['2025-03-03', { '0xa': 1_000n, '0xb': null }],
]

/** Exports a made-up ledger with the program `ledger-state`. */
export async function demonstrationLake(): Promise<{ readonly folder: string; remove(): void }> {
  const work = mkdtempSync(join(tmpdir(), 'lake-'))
  const lines = BLOCKS.map(([day, coins], at) => {
    const block = { height: BigInt(at), epoch: 0n, timestampUsec: BigInt(Date.parse(day)) * 1_000n }
    const writes = Object.entries(coins).map(([owner, amount]) => {
      const key = resourceKey(parseAddress(owner), COIN_STORE)
      return [key, amount === null ? null : coinStore(owner, amount)] as const
    })
    return versionToFeedLine({ version: BigInt(at), block, writes })
  })
  const feed = join(work, 'feed.ndjson')
  writeFileSync(feed, `${[feedHeaderLine({ chainId: 4 }), ...lines].join('\n')}\n`)
  const store = ['--data-dir', join(work, 'store')]
  run('ingest', feed, ...store)
  run('export', join(work, 'lake'), '--format', 'parquet', ...store)
  return { folder: join(work, 'lake'), remove: () => rmSync(work, { recursive: true }) }
}

function run(...words: string[]): void {
  const program = join(import.meta.dirname, 'node_modules/.bin/ledger-state')
  const { status, stderr, error } = spawnSync(program, words, { encoding: 'utf8' })
  if (status !== 0) throw error ?? new Error(stderr)
}

/** BCS of `0x1::coin::CoinStore`: the coin, whether it is frozen, and two event handles. */
function coinStore(owner: string, balance: bigint): Uint8Array {
  const writer = new ByteWriter().u64(balance).bool(false)
  for (const creationNumber of [2n, 3n]) writer.u64(0n).u64(creationNumber).bytes(parseAddress(owner))
  return writer.toBytes()
}
