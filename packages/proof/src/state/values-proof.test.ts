import { ByteWriter } from '@ledger-state/core'
import { expect, it } from 'vitest'
import {
  type ValuesProof,
  valuesProofToJson,
  valuesProofToJsonPieces,
  valuesProofToPieces,
  writeValuesProof,
} from './values-proof.js'

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 7) % 256)

it.each([[[]], [[undefined]], [[3, undefined, 70_000]], [[0, 200_000, 1]]])(
  'a proof of values of the lengths %o is the same in pieces',
  (lengths: readonly (number | undefined)[]) => {
    const proof: ValuesProof = {
      values: lengths.map((length, at) => ({
        stateKey: bytes(at + 1),
        stateValue: length === undefined ? undefined : bytes(length),
      })),
      path: { nodes: bytes(5), hashes: [bytes(32)], leaves: [{ keyHash: bytes(32), valueHash: bytes(32) }] },
      checkpoint: { version: 7n, transactionInfo: bytes(90), siblings: [bytes(32)], ledgerInfo: bytes(200) },
      epochEndings: [bytes(50)],
    }
    const texts = [...valuesProofToJsonPieces(proof)]
    expect(texts.join('')).toBe(JSON.stringify(valuesProofToJson(proof)))
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(65_536)
    const whole = new ByteWriter()
    writeValuesProof(whole, proof)
    const pieces = new ByteWriter()
    for (const piece of valuesProofToPieces(proof)) pieces.bytes(piece)
    expect(pieces.toBytes()).toEqual(whole.toBytes())
  },
)
