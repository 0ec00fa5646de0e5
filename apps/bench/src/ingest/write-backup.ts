import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ByteWriter } from '@ledger-state/core'
import type { MainnetLikeLedger, MainnetLikeVersion } from './mainnet-like-ledger.ts'

/** Versions of a chunk, as backup tools choose them: ten MB or so at most. */
const CHUNK_VERSIONS = 5_000

/**
 * Writes a transaction backup of a ledger, compressed as the tools do. See docs/ledger-formats.md, "Transaction
 * backup".
 */
export function writeBackup(ledger: MainnetLikeLedger, root: string): void {
  const { versions, ledgerInfo } = ledger
  const last = versions.length - 1
  const name = 'transaction_0-.bench'
  mkdirSync(join(root, 'metadata'), { recursive: true })
  mkdirSync(join(root, name), { recursive: true })
  const chunks: object[] = []
  for (let from = 0; from <= last; from += CHUNK_VERSIONS) {
    const to = Math.min(last, from + CHUNK_VERSIONS - 1)
    const transactions = `${name}/${from}-.chunk`
    const proof = `${name}/${from}-${to}.proof`
    writeFileSync(join(root, transactions), gzipSync(frame(versions.slice(from, to + 1)), { level: 1 }))
    const { left, right } = ledger.rangeSiblings(from, to)
    writeFileSync(join(root, proof), Buffer.concat([encodeHashes(left), encodeHashes(right), ledgerInfo]))
    chunks.push({ first_version: from, last_version: to, transactions, proof })
  }
  const manifest = `${name}/transaction.manifest`
  writeFileSync(join(root, manifest), JSON.stringify({ first_version: 0, last_version: last, chunks }))
  const entry = { first_version: 0, last_version: last, manifest }
  writeFileSync(join(root, `metadata/transaction_0-${last}.meta`), `${JSON.stringify({ TransactionBackup: entry })}\n`)
}

function frame(versions: readonly MainnetLikeVersion[]): Buffer {
  return Buffer.concat(
    versions.flatMap(({ transaction, info, events, writeSet }) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(transaction.length + info.length + events.length + writeSet.length)
      return [length, transaction, info, events, writeSet]
    }),
  )
}

function encodeHashes(hashes: readonly Buffer[]): Uint8Array {
  const writer = new ByteWriter().uleb128(hashes.length)
  for (const hash of hashes) writer.bytes(hash)
  return writer.toBytes()
}
