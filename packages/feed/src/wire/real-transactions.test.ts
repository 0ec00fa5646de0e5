import { readFileSync } from 'node:fs'
import { ByteReader } from '@ledger-state/core'
import { LedgerHasher } from '@ledger-state/proof'
import { readTransaction } from '@ledger-state/proof/transactions'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { describe, expect, it } from 'vitest'
import { readRecords } from '../files/record-file.js'
import { readTransactionRecord } from '../proof/transaction-record.js'

const KIT = 'conformance/transactions'
const BACKUPS = [
  [`${KIT}/gallery/transaction_1-.made/1-.chunk.gz`, 'APTOS::'],
  [`${KIT}/made/transaction_1-.made/1-.chunk.gz`, 'APTOS::'],
  [`${KIT}/testnet/transaction_1-.made/1-.chunk.gz`, 'APTOS::'],
  ['reproductions/testnet-0-to-3/transaction_0-.made/0-.chunk.gz', 'APTOS::'],
  ['data/backup/transaction_1-.90bf/1-.chunk.gz', 'DIEM::'],
] as const
const GENESES = ['mainnet', 'testnet', 'devnet']

// These need the shared folder.
describe.runIf(hasSharedData)('the decoder of transactions', () => {
  it.each(BACKUPS)('decodes each transaction of %s to its last byte', async (path, salt) => {
    const hasher = new LedgerHasher(salt)
    const undecoded: string[] = []
    for await (const records of readRecords(sharedPath(path))) {
      for (const [at, record] of records.entries()) {
        const read = readTransactionRecord(new ByteReader(record), hasher, false)
        if (read.undecoded !== undefined) undecoded.push(`${at}: ${read.undecoded}`)
      }
    }
    expect(undecoded).toEqual([])
  })

  it.each(GENESES)('decodes the genesis of %s to its last byte', (network) => {
    const reader = new ByteReader(readFileSync(sharedPath(`data/genesis/${network}.genesis.blob`)))
    const genesis = readTransaction(reader)
    reader.expectEnd()
    expect(genesis).toMatchObject({ kind: 'genesis', payload: { kind: 'direct' } })
  })
})
