// Follows epochs from a waypoint that is older than the epochs that one answer has.
import { manyEpochs, nativeBls } from '@ledger-state/feed/testing/many-epochs'
import { createRequestListener } from '@ledger-state/http'
import { createProvenLedger, type ProvenLedger } from '@ledger-state/http/testing/proven-ledger'
import { createLedger } from '@ledger-state/ledger'
import type { Bls } from '@ledger-state/proof'
import { inject } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReachedEpoch, ReadEndings } from './check-signatures.js'
import { readEndingsFrom } from './read-endings.js'
import { verifyRead } from './verify-read.js'

const EPOCHS = 1_010
/** Number of validators: with it an answer has about 450 epoch changes. */
const VALIDATORS = 24

const epochs = manyEpochs(EPOCHS, VALIDATORS)
const checkpoint = BigInt(2 * EPOCHS + 1)
const question = { kind: 'account', address: '0xcafe' } as const

let bls: Bls
let proven: ProvenLedger
let listener: ReturnType<typeof createRequestListener>
beforeAll(async () => {
  bls = await nativeBls()
  proven = await createProvenLedger({
    endings: epochs.endings,
    validators: epochs.validators,
    signers: epochs.validators,
    checkpoint,
  })
  const maxEventLoopDelayMs = Number.POSITIVE_INFINITY
  listener = createRequestListener({ ledger: createLedger(proven.engine), proofs: proven.proofs, maxEventLoopDelayMs })
})
afterAll(() => proven.close())

const fetchHere = (async (url: string, { headers }: { readonly headers: Record<string, string> }) => {
  const { rawPayload, statusCode } = await inject(listener, { url: url.slice('http://node'.length), headers })
  return new Response(Uint8Array.from(rawPayload), { status: statusCode })
}) as unknown as typeof globalThis.fetch

const readHere = readEndingsFrom('http://node/v1', fetchHere)

async function answerFrom(waypoint: string | undefined): Promise<string> {
  const from = waypoint === undefined ? '' : `&proof_from=${waypoint}`
  const url = `/v1/accounts/0xcafe?ledger_version=${checkpoint}&proof=true${from}`
  return (await inject(listener, { url })).payload
}

/** Counts the reads, and fails in the one after `limit`. */
function counted(limit = Number.POSITIVE_INFINITY, read: ReadEndings = readHere) {
  const from: string[] = []
  const readEndings: ReadEndings = async (waypoint) => {
    if (from.length === limit) throw new Error('the line is cut')
    from.push(waypoint)
    return await read(waypoint)
  }
  return { from, readEndings }
}

const SIGNED = { signers: { epoch: BigInt(EPOCHS), count: { signed: VALIDATORS, total: VALIDATORS } } }
const waypoint = epochs.waypointOf(0)

describe('a waypoint that is more than a thousand epochs old', () => {
  it('is followed in several reads, and not in one', async () => {
    const answer = await answerFrom(waypoint)
    await expect(verifyRead(answer, { question, waypoint, bls })).rejects.toMatchObject({
      code: 'untrusted',
      message: expect.stringContaining(`epoch ${EPOCHS}`),
    })
    const reads = counted()
    const reached: ReachedEpoch[] = []
    const { readEndings } = reads
    const read = await verifyRead(answer, {
      question,
      waypoint,
      bls,
      readEndings,
      onReached: (one) => reached.push(one),
    })
    expect(read).toMatchObject(SIGNED)
    expect(reads.from.length).toBeGreaterThan(1)
    // Each read begins at the end of the one before, and the last one reached the epoch that signed.
    expect(reached.slice(0, -1).map((one) => one.waypoint)).toEqual(reads.from)
    expect(reached.map((one) => epochs.waypointOf(Number(one.epoch) - 1))).toEqual(reached.map((one) => one.waypoint))
    expect(reached.at(-1)).toEqual({
      epoch: BigInt(EPOCHS),
      waypoint: read.signers.waypoint,
      lastEpoch: BigInt(EPOCHS),
    })
    expect(read.signers.waypoint).toBe(epochs.waypointOf(EPOCHS - 1))
  })

  it('is followed without epoch changes in the answer, too', async () => {
    const reads = counted()
    const { readEndings } = reads
    expect(await verifyRead(await answerFrom(undefined), { question, waypoint, bls, readEndings })).toMatchObject(
      SIGNED,
    )
    expect(reads.from[0]).toBe(waypoint)
  })

  it('continues after a failed read, and keeps the epochs that it had reached', async () => {
    const reached: ReachedEpoch[] = []
    const cut = counted(1)
    const answer = await answerFrom(undefined)
    const onReached = (one: ReachedEpoch) => reached.push(one)
    await expect(
      verifyRead(answer, { question, waypoint, bls, onReached, readEndings: cut.readEndings }),
    ).rejects.toThrow('the line is cut')
    const kept = reached.at(-1)!
    expect(kept).toMatchObject({ lastEpoch: BigInt(EPOCHS), waypoint: epochs.waypointOf(Number(kept.epoch) - 1) })
    expect(kept.epoch).toBeGreaterThan(300n)
    const rest = counted()
    const again = { question, waypoint: kept.waypoint, bls, readEndings: rest.readEndings }
    expect(await verifyRead(answer, again)).toMatchObject(SIGNED)
    expect(rest.from[0]).toBe(kept.waypoint)
  })

  it.each<readonly [string, ReadEndings, string]>([
    ['has no more of them', async () => [], 'untrusted'],
    ['answers the same ones again', async () => epochs.endings.slice(0, 300), 'untrusted'],
    ['leaves one out', async (from) => (await readHere(from)).filter((_, at) => at !== 7), 'untrusted'],
    ['turns them round', async (from) => (await readHere(from)).toReversed(), 'untrusted'],
    [
      'changes a signature',
      async (from) => (await readHere(from)).map((bytes, at) => (at === 9 ? bytes.with(-1, bytes.at(-1)! ^ 1) : bytes)),
      'untrusted',
    ],
    ['sends something else', async () => [Uint8Array.of(1, 2, 3)], 'invalid_bcs'],
  ])('is not followed where the node %s', async (_, lie, code) => {
    // Only the last 40 epochs: another test checks the others.
    const from = epochs.waypointOf(EPOCHS - 40)
    const { readEndings } = counted(10, lie)
    const work = verifyRead(await answerFrom(undefined), { question, waypoint: from, bls, readEndings })
    await expect(work).rejects.toMatchObject({ code })
  })

  it("quotes the node's answer if that has no epoch changes", async () => {
    const answer = await answerFrom(undefined)
    const unknown = `${2 * EPOCHS - 21}:${'0'.repeat(64)}`
    await expect(readHere(unknown)).rejects.toMatchObject({
      code: 'invalid_answer',
      message: expect.stringContaining(
        'the node gave no answer: status 400, failed to parse parameter `from`: this store has no epoch change at',
      ),
    })
    const text = readEndingsFrom('http://node/v1', async () => new Response(Uint8Array.of(2, 1)))
    await expect(verifyRead(answer, { question, waypoint, bls, readEndings: text })).rejects.toMatchObject({
      code: 'invalid_answer',
      message: expect.stringContaining('not a list of epoch changes'),
    })
  })
})
