import { ByteReader } from '@ledger-state/core'
import { signedLedgerInfo } from '@ledger-state/feed/testing/synthetic-epochs'
import { createRequestListener } from '@ledger-state/http'
import { createSignedTransactions } from '@ledger-state/http/testing/signed-transactions'
import { createLedger } from '@ledger-state/ledger'
import { type EventProofJson, readLedgerInfo, type TransactionProofJson } from '@ledger-state/proof'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { verifyEventAnswer, verifyTransactionAnswer } from './verify-transaction-answer.js'

interface Proven<P> {
  readonly value: Readonly<Record<string, unknown>>
  readonly proof: P
}

describe('transactions and events with proofs', () => {
  let waypoint: string
  let ask: (path: string, accept?: string) => Promise<{ readonly body: string; readonly bytes: Uint8Array }>
  let transaction: Proven<TransactionProofJson>
  let other: Proven<TransactionProofJson>
  let event: Proven<EventProofJson>
  let otherEvent: Proven<EventProofJson>
  let endings: readonly Uint8Array[]
  const readEndings = async () => endings

  beforeAll(async () => {
    const made = await createSignedTransactions({ seed: 3 })
    waypoint = made.waypoint
    endings = made.chain.endings().map(signedLedgerInfo)
    const listener = createRequestListener({
      ledger: createLedger(made.engine),
      proofs: made.proofs,
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    ask = async (path, accept = 'application/json') => {
      const { body, rawPayload, statusCode } = await inject(listener, { url: `/v1${path}`, headers: { accept } })
      expect([statusCode, body]).toEqual([200, expect.any(String)])
      return { body, bytes: new Uint8Array(rawPayload) }
    }
    const path = (version: number) =>
      `/transactions/by_version/${version}?proof=true&proof_from=${encodeURIComponent(waypoint)}`
    transaction = JSON.parse((await ask(path(21))).body)
    other = JSON.parse((await ask(path(22))).body)
    const events = JSON.parse((await ask('/events/vector%3Cu64%3E?order=asc&proof=true')).body)
    event = events[2]
    otherEvent = events[0]
  })

  it('are accepted in both formats', async () => {
    const found = await verifyTransactionAnswer(transaction, { waypoint, version: 21n })
    expect(found.signers.count).toEqual({ signed: 4, total: 4 })
    const { bytes } = await ask(`/transactions/by_version/21?proof=true&proof_from=${waypoint}`, 'application/x-bcs')
    const inBytes = await verifyTransactionAnswer(bytes, { waypoint, hash: found.hash })
    expect(inBytes.version).toBe(found.version)
    for (const name of ['transaction', 'info', 'hash'] as const) expect([...inBytes[name]]).toEqual([...found[name]])
    expect(inBytes.writeSet?.length).toBeGreaterThan(0)
    const trust = { waypoint, readEndings }
    const { type, guid } = event.value as { type: string; guid: { creation_number: string; account_address: string } }
    for (const question of [
      { kind: 'type', type },
      { kind: 'stream', address: guid.account_address, creationNumber: BigInt(guid.creation_number) },
    ] as const) {
      const one = await verifyEventAnswer(event, { ...trust, question })
      expect(one.index).toBe(event.proof.event_index)
    }
  })

  it('are refused as another transaction or event than the requested one', async () => {
    const verify = (options: object) => verifyTransactionAnswer(transaction, { waypoint, ...options })
    await expect(verify({ version: 22n })).rejects.toMatchObject({ code: 'wrong_version' })
    await expect(verify({ hash: new Uint8Array(32) })).rejects.toMatchObject({ code: 'wrong_transaction' })
    for (const question of [
      { kind: 'type', type: 'vector<u8>' },
      { kind: 'stream', address: '0x77', creationNumber: 0n },
    ] as const) {
      const verified = verifyEventAnswer(event, { waypoint, readEndings, question })
      await expect(verified).rejects.toMatchObject({ code: 'wrong_event' })
    }
  })

  it('are refused with any forged part', async () => {
    const { proof, value } = transaction
    const cut = proof.accumulator_siblings.slice(1)
    const unsigned = readLedgerInfo(new ByteReader(hexOf(proof.ledger_info)))
    const forgeries: Record<string, Partial<TransactionProofJson>> = {
      'another leaf': { transaction_info: other.proof.transaction_info },
      'another version': { version: '22' },
      'another transaction': { transaction: other.proof.transaction },
      'other events': { events: '0x00' === proof.events ? event.proof.event : '0x00' },
      'a cut path': { accumulator_siblings: cut },
      'a longer path': { accumulator_siblings: [...proof.accumulator_siblings, proof.accumulator_siblings[0]!] },
      'another path': { accumulator_siblings: other.proof.accumulator_siblings },
      'another root': { ledger_info: flipped(proof.ledger_info, 1 + 8 + 8 + 32) },
      'a right path to a root that nobody signed': { ledger_info: flipped(proof.ledger_info, -1) },
      'no epoch changes': { epoch_endings: [] },
    }
    expect(unsigned.signature).toBeDefined()
    for (const [name, forged] of Object.entries(forgeries)) {
      const verified = verifyTransactionAnswer({ value, proof: { ...proof, ...forged } }, { waypoint })
      await expect(verified, name).rejects.toMatchObject({ name: 'LedgerStateError' })
    }
    for (const name of ['version', 'hash', 'success', 'gas_used', 'event_root_hash', 'accumulator_root_hash']) {
      const forged = { ...value, [name]: (other.value[name] === value[name] ? null : other.value[name]) ?? null }
      await expect(verifyTransactionAnswer({ value: forged, proof }, { waypoint }), name).rejects.toMatchObject({
        code: 'answer_differs',
      })
    }
  })

  it('and so are events', async () => {
    const { proof, value } = event
    const trust = { waypoint, readEndings, question: { kind: 'type', type: 'vector<u64>' } } as const
    const forgeries: Record<string, Partial<EventProofJson>> = {
      'another event': { event: otherEvent.proof.event },
      'another place': { event_index: proof.event_index + 1 },
      'a place outside of its path': { event_index: proof.event_index + 2 ** proof.event_siblings.length },
      'a cut path': { event_siblings: proof.event_siblings.slice(1) },
      'another leaf': { transaction_info: other.proof.transaction_info },
      'another version': { version: String(BigInt(proof.version) + 1n) },
      'a right path to a root that nobody signed': { ledger_info: flipped(proof.ledger_info, -1) },
    }
    for (const [name, forged] of Object.entries(forgeries)) {
      const verified = verifyEventAnswer({ value, proof: { ...proof, ...forged } }, trust)
      await expect(verified, name).rejects.toMatchObject({ name: 'LedgerStateError' })
    }
    for (const forged of [{ version: '1000' }, { sequence_number: '77' }, { type: 'u8' }, { guid: {} }]) {
      const verified = verifyEventAnswer({ value: { ...value, ...forged }, proof }, trust)
      await expect(verified).rejects.toMatchObject({ code: 'answer_differs' })
    }
  })
})

function hexOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
}

/** Hex with one byte changed; a place below zero counts from the end. */
function flipped(text: string, at: number): string {
  const bytes = hexOf(text)
  bytes[at < 0 ? bytes.length + at : at]! ^= 1
  return `0x${Buffer.from(bytes).toString('hex')}`
}
