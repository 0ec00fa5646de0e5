import { Buffer } from 'node:buffer'
import type { VersionWrites } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { expect, it } from 'vitest'
import { type FeedPiece, liveLines } from './live-lines.js'
import { RecentLines } from './recent-lines.js'

function versions(first: bigint, count: number, text: string): VersionWrites[] {
  return Array.from({ length: count }, (_, at) => {
    const version = first + BigInt(at)
    const block = { height: version, epoch: 0n, timestampUsec: version }
    return { version, block, writes: [[Buffer.from('k'), Buffer.from(text)]] }
  })
}

/** Reads the pieces up to the next head, or to the end of the feed. */
async function untilHead(lines: AsyncGenerator<FeedPiece>) {
  let text = ''
  for (;;) {
    const { value, done } = await lines.next()
    if (done) return { text, isOver: true }
    text += value.text
    if (value.isEnd) return { text, isOver: false }
  }
}

it('a live feed ends after a truncation, and the next one has the versions that took the places of those cut off', async () => {
  const engine = createMemoryEngine()
  await engine.commit(versions(0n, 10, 'old'), { chainId: 1 })
  const recent = new RecentLines(engine)
  const stop = new AbortController()
  const open = (from: bigint) => liveLines(engine, recent, from, stop.signal)
  const lines = open(1n)
  expect((await untilHead(lines)).text).toContain('"head":{"version":"9"')
  await engine.truncateTo(4n)
  await engine.commit(versions(5n, 10, 'new'), { chainId: 1 })
  expect(await untilHead(lines)).toEqual({ text: '', isOver: true })
  const hex = (text: string) => Buffer.from(text).toString('hex')
  const next = open(5n)
  const { text } = await untilHead(next)
  expect(text).toContain('"head":{"version":"14"')
  expect(text).toContain(hex('new'))
  expect(text).not.toContain(hex('old'))
  stop.abort()
  await next.return(undefined)
})
