import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LedgerHasher } from '@ledger-state/proof'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { framed } from '../../testing/backup-service.ts'
import { hashList } from '../../testing/synthetic-chain.ts'
import { proveGenesis } from '../proof/genesis-proof.js'
import { parseGenesis } from '../wire/genesis-transaction.js'
import { openSource } from './open-source.js'
import type { LedgerVersion, SourceOptions } from './source.js'

const KIT = 'conformance/transactions'
const BACKUPS = [
  [`${KIT}/gallery`, 1, 251],
  [`${KIT}/made`, 1, 68],
  [`${KIT}/testnet`, 1, 3],
  ['reproductions/testnet-0-to-3', 0, 3],
] as const

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'real-backups-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function readAll(location: string, options: SourceOptions) {
  const notices: string[] = []
  const source = await openSource(location, {
    thread: false,
    unsigned: true,
    onNotice: (text) => notices.push(text),
    ...options,
  })
  const versions: LedgerVersion[] = []
  try {
    for await (const version of source.versions()) versions.push(version)
  } finally {
    await source.close()
  }
  return { versions, notices, mark: source.mark, chainId: source.chainId }
}

/** Writes a backup whose only version is a genesis. */
function backupOfGenesis(blob: Buffer, root: string): void {
  const genesis = parseGenesis(blob)
  const { checkpoint } = proveGenesis(genesis, new LedgerHasher())
  const writeSet = blob.subarray(genesis.writeSetStart, genesis.eventsStart)
  const events = blob.subarray(genesis.eventsStart)
  const record = Buffer.concat([blob, checkpoint.transactionInfo, events, writeSet])
  const entry = { first_version: 0, last_version: 0 }
  const files = { transactions: 'one/0-.chunk', proof: 'one/0-0.proof' }
  mkdirSync(join(root, 'metadata'), { recursive: true })
  mkdirSync(join(root, 'one'))
  writeFileSync(
    join(root, 'metadata/transaction_0-0.meta'),
    `${JSON.stringify({ TransactionBackup: { ...entry, manifest: 'one/transaction.manifest' } })}\n`,
  )
  writeFileSync(join(root, 'one/transaction.manifest'), JSON.stringify({ ...entry, chunks: [{ ...entry, ...files }] }))
  writeFileSync(join(root, files.transactions), framed([record]))
  // No siblings on either side, then the ledger info.
  writeFileSync(join(root, files.proof), Buffer.concat([hashList([]), hashList([]), checkpoint.ledgerInfo]))
}

// These need the shared folder.
describe.runIf(hasSharedData)('a backup of real transactions', () => {
  it.each(BACKUPS)('%s is read from version %i to %i, proven or not', async (path, first, last) => {
    for (const verify of [true, false, true]) {
      const { versions, notices } = await readAll(sharedPath(path), { verify })
      expect(versions.map(({ version }) => Number(version))).toEqual(
        Array.from({ length: last - first + 1 }, (_, at) => first + at),
      )
      expect(notices.filter((notice) => notice.includes('decode'))).toEqual([])
    }
  })

  it.each(['mainnet', 'testnet', 'devnet'])('begins with the genesis of %s', async (network) => {
    const path = sharedPath(`data/genesis/${network}.genesis.blob`)
    const blob = readFileSync(path)
    backupOfGenesis(blob, folder)
    const expected = await readAll(path, {})
    for (const verify of [true, false, true]) {
      const read = await readAll(folder, { verify })
      expect(read.versions.map(({ writes }) => writes)).toEqual(expected.versions.map(({ writes }) => writes))
      expect(read.versions.map(({ readTransaction }) => readTransaction?.())).toEqual(
        expected.versions.map(({ readTransaction }) => readTransaction?.()),
      )
      expect(read.chainId).toBe(expected.chainId)
      if (verify) expect(read.mark).toEqual(expected.mark)
      expect(read.notices.filter((notice) => notice.includes('decode'))).toEqual([])
    }
  })
})
