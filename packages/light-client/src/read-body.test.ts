import { bytesToHex } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { MOST_ANSWER_BYTES, readBody } from './read-body.js'
import { readEndingsFrom } from './read-endings.js'
import { readProofFrom } from './read-proof.js'

/** An answer that never ends, and the number of its bytes that were taken. */
function endless(status: number) {
  const taken = { bytes: 0, isCancelled: false }
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      taken.bytes += 1 << 20
      controller.enqueue(new Uint8Array(1 << 20))
    },
    cancel() {
      taken.isCancelled = true
    },
  })
  return { taken, fetch: (async () => new Response(body, { status })) as typeof globalThis.fetch }
}

it.each([200, 500])('an answer without end is cut and refused, with status %i', async (status) => {
  for (const read of [
    (fetch: typeof globalThis.fetch) => readEndingsFrom('http://node/v1', fetch)('0:00'),
    (fetch: typeof globalThis.fetch) => readProofFrom('http://node/v1', fetch)(new Uint8Array(1), 1n),
  ]) {
    const { taken, fetch } = endless(status)
    await expect(read(fetch)).rejects.toMatchObject({ code: 'invalid_answer' })
    expect(taken.bytes).toBeLessThan(MOST_ANSWER_BYTES + (4 << 20))
    expect(taken.isCancelled).toBe(true)
  }
})

it('an answer is read whole up to the limit', async () => {
  const longest = new Uint8Array(MOST_ANSWER_BYTES).fill(7)
  expect((await readBody(new Response(longest))).length).toBe(MOST_ANSWER_BYTES)
  await expect(readBody(new Response(new Uint8Array(MOST_ANSWER_BYTES + 1)))).rejects.toMatchObject({
    code: 'invalid_answer',
  })
  expect(bytesToHex(await readBody(new Response(Uint8Array.of(1, 2, 3))))).toBe('0x010203')
  expect((await readBody(new Response(null))).length).toBe(0)
})
