import { ByteWriter } from '@ledger-state/core'
import { expect, it } from 'vitest'
import {
  type TransactionProof,
  transactionProofToJson,
  transactionProofToJsonPieces,
  transactionProofToPieces,
  writeTransactionProof,
} from './transaction-proof.js'

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 7) % 256)

it.each([
  [0, 1],
  [100, 70_000],
  [200_000, 32_768],
])('a proof with a transaction of %i bytes and events of %i is the same in pieces', (transaction, events) => {
  const infoProof = { version: 7n, transactionInfo: bytes(90), siblings: [bytes(32)], ledgerInfo: bytes(200) }
  const proof: TransactionProof = {
    transaction: bytes(transaction),
    events: bytes(events),
    infoProof,
    epochEndings: [bytes(50)],
  }
  const texts = [...transactionProofToJsonPieces(proof)]
  expect(texts.join('')).toBe(JSON.stringify(transactionProofToJson(proof)))
  for (const text of texts) expect(text.length).toBeLessThanOrEqual(65_536)
  const writer = new ByteWriter()
  writeTransactionProof(writer, proof)
  const pieces = new ByteWriter()
  for (const piece of transactionProofToPieces(proof)) pieces.bytes(piece)
  expect(pieces.toBytes()).toEqual(writer.toBytes())
})
