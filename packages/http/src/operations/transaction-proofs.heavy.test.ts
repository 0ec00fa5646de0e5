import type { RequestListener } from 'node:http'
import { ByteReader } from '@ledger-state/core'
import { engineToAsync } from '@ledger-state/engine'
import { delayState } from '@ledger-state/engine/testing/delayed-state'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import {
  checkEventProof,
  checkTransactionProof,
  type EventProofJson,
  jsonToEventProof,
  jsonToTransactionProof,
  LedgerHasher,
  readTransactionProof,
  type TransactionProofJson,
} from '@ledger-state/proof'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createSignedTransactions, type SignedTransactions } from '../../testing/signed-transactions.js'
import { createRequestListener } from '../server/create-request-listener.js'

const hasher = new LedgerHasher()
const EVENTS = '/v1/events/vector%3Cu64%3E'

interface Proven<P> {
  readonly value: { readonly version: string; readonly hash: string }
  readonly proof: P
}

function listenersOf({ engine, proofs }: SignedTransactions): readonly RequestListener[] {
  const state = delayState(engineToAsync(engine), { random: createRandom(testSeed()), pageSize: 2_000 })
  return [createLedger(engine), createAsyncLedger(state)].map((ledger) =>
    createRequestListener({ ledger, proofs, maxEventLoopDelayMs: Number.POSITIVE_INFINITY }),
  )
}

async function ask(listener: RequestListener, url: string, accept = 'application/json') {
  const { statusCode, body, rawPayload } = await inject(listener, { url, headers: { accept } })
  return { status: statusCode, body, bytes: new Uint8Array(rawPayload) }
}

const byVersion = (version: bigint | number, query = '') => `/v1/transactions/by_version/${version}?proof=true${query}`

describe.each([1, 2, testSeed()])('proofs of transactions and events (seed %i)', (seed) => {
  it('lead from every covered version to a ledger info', async () => {
    const made = await createSignedTransactions({ seed })
    const newest = made.signed.at(-1)!
    const [near, far] = listenersOf(made)
    for (let version = 0n; version <= made.chain.latestVersion; version++) {
      // The other store is asked about some versions only, because each question takes many rounds.
      const listeners = version % 7n === BigInt(seed) % 7n ? [near!, far!] : [near!]
      for (const listener of listeners) {
        const { status, body } = await ask(listener, byVersion(version))
        if (version > newest) {
          const expected = { error_code: 'version_pruned', nearest_proof_version: String(newest) }
          expect([status, JSON.parse(body)]).toEqual([410, expect.objectContaining(expected)])
          continue
        }
        expect([status, body]).toEqual([200, expect.any(String)])
        const { value, proof: json } = JSON.parse(body) as Proven<TransactionProofJson>
        const proof = jsonToTransactionProof(json)
        checkTransactionProof(hasher, proof)
        expect(proof.infoProof.version).toBe(version)
        expect(Buffer.from(proof.transaction)).toEqual(Buffer.from(made.chain.records[Number(version)]!.transaction))
        const plain = await ask(listener, byVersion(version).replace('true', 'false'))
        expect(value).toEqual(JSON.parse(plain.body))
      }
    }
  })

  it('are given by hash and in BCS, with the epoch changes since a waypoint', async () => {
    const made = await createSignedTransactions({ seed })
    for (const listener of listenersOf(made)) {
      const version = made.signed.at(-1)! - 1n
      const query = `&proof_from=${made.waypoint}`
      const { body } = await ask(listener, byVersion(version, query))
      const { value, proof } = JSON.parse(body) as Proven<TransactionProofJson>
      expect(proof.epoch_endings.length).toBeGreaterThan(1)
      const byHash = await ask(listener, `/v1/transactions/by_hash/${value.hash}?proof=true${query}`)
      expect(byHash.body).toBe(body)
      const { bytes } = await ask(listener, byVersion(version, query), 'application/x-bcs')
      const reader = new ByteReader(bytes)
      const plain = await ask(listener, `/v1/transactions/by_version/${version}`, 'application/x-bcs')
      expect(Buffer.from(reader.readByteString())).toEqual(Buffer.from(plain.bytes))
      expect(readTransactionProof(reader).epochEndings.length).toBe(proof.epoch_endings.length)
      reader.expectEnd()
    }
  })

  it('are given of the events of a type and of a stream', async () => {
    const made = await createSignedTransactions({ seed })
    for (const listener of listenersOf(made)) {
      for (const path of [`${EVENTS}?order=asc&`, '/v1/accounts/0x0/events/0?start=5&']) {
        const { status, body } = await ask(listener, `${path}proof=true&limit=100`)
        expect([status, body]).toEqual([200, expect.any(String)])
        const items = JSON.parse(body) as Proven<EventProofJson>[]
        expect(items.length).toBe(10)
        for (const { value, proof } of items) {
          checkEventProof(hasher, jsonToEventProof(proof))
          expect(value.version).toBe(proof.version)
        }
        const plain = await ask(listener, `${path}limit=10`)
        expect(items.map(({ value }) => value)).toEqual(JSON.parse(plain.body))
      }
    }
  })

  it('are refused after the last signature, in a list, and with neither true nor false', async () => {
    const made = await createSignedTransactions({ seed })
    for (const listener of listenersOf(made)) {
      for (const [path, status, code] of [
        [`${EVENTS}?proof=true`, 410, 'version_pruned'],
        [byVersion(made.chain.latestVersion), 410, 'version_pruned'],
        [byVersion(2, `&ledger_version=3`), 400, 'invalid_input'],
        [byVersion(10_000), 404, 'transaction_not_found'],
        ['/v1/transactions?proof=true', 400, 'invalid_input'],
        ['/v1/accounts/0x1/transactions?proof=true', 400, 'invalid_input'],
        [`${EVENTS}?proof=maybe`, 400, 'web_framework_error'],
        [byVersion(1, '&proof_from=7'), 400, 'web_framework_error'],
      ] as const) {
        const { status: got, body } = await ask(listener, path)
        const { error_code } = JSON.parse(body) as { readonly error_code: string }
        expect({ path, status: got, error_code }).toEqual({ path, status, error_code: code })
      }
    }
  })

  it('are refused by a store without signatures', async () => {
    const made = await createSignedTransactions({ seed, isSigned: false })
    for (const listener of listenersOf(made)) {
      for (const path of [byVersion(0), byVersion(3), `${EVENTS}?proof=true`]) {
        const { status, body } = await ask(listener, path)
        expect([path, status, JSON.parse(body)]).toEqual([
          path,
          400,
          expect.objectContaining({ error_code: 'invalid_input' }),
        ])
      }
    }
  })

  it('are refused if the store lacks the transactions of the path', async () => {
    const random = createRandom(seed)
    const wholeFrom = 3 + random.below(20)
    const made = await createSignedTransactions({ seed, wholeFrom })
    const newest = made.signed.at(-1)!
    for (const listener of listenersOf(made)) {
      for (let version = BigInt(wholeFrom); version < wholeFrom + 4; version++) {
        const { status, body } = await ask(listener, byVersion(version))
        // An odd version is a part of a larger subtree with the version before it.
        const isFirst = version === BigInt(wholeFrom) && version % 2n === 1n
        expect([version, status]).toEqual([version, isFirst ? 410 : 200])
        if (isFirst) expect(JSON.parse(body)).toMatchObject({ error_code: 'version_pruned' })
        else checkTransactionProof(hasher, jsonToTransactionProof((JSON.parse(body) as Proven<unknown>).proof))
      }
    }
    await made.engine.prune(made.chain.latestVersion - newest + 12n)
    const { oldestVersion } = made.engine.ledger!
    for (const listener of listenersOf(made)) {
      for (let version = oldestVersion; version <= newest; version++) {
        const { status, body } = await ask(listener, byVersion(version))
        expect([version, status === 200 || (version === oldestVersion && status === 410)]).toEqual([version, true])
        if (status === 200) {
          checkTransactionProof(hasher, jsonToTransactionProof((JSON.parse(body) as Proven<unknown>).proof))
        }
      }
    }
  })
})
