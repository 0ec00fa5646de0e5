import { describe, expect, it } from 'vitest'
import { ChunkCollector } from '../admission/chunk-collector.js'
import { freeBytes } from './free-bytes.js'

/** Node.js 20 cannot free the memory of a buffer. */
const canFree = 'detached' in ArrayBuffer.prototype

describe('the memory of a body', () => {
  it.runIf(canFree)('is freed at once where nobody shares it', () => {
    const own = Buffer.allocUnsafeSlow(100_000)
    freeBytes(own)
    expect(own).toHaveLength(0)
    const shared = Buffer.allocUnsafeSlow(100_000)
    freeBytes(shared.subarray(1))
    expect(shared).toHaveLength(100_000)
  })

  it.runIf(canFree)('is freed when the body outgrows it, and when the body is dropped; chunks are left alone', () => {
    const chunks = Array.from({ length: 9 }, (_, at) => Buffer.allocUnsafeSlow(50_000).fill(at))
    const collector = new ChunkCollector()
    const before = process.memoryUsage().arrayBuffers
    for (const chunk of chunks) collector.add(chunk)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(collector.heldBytes + 50_000)
    collector.clear()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000)
    expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 50_000))
    expect(collector.heldBytes).toBe(0)
  })

  it('is not freed once the body was handed over', () => {
    const collector = new ChunkCollector()
    for (let at = 0; at < 9; at++) collector.add(Buffer.allocUnsafeSlow(50_000).fill(at))
    const body = collector.take()
    collector.clear()
    for (let at = 0; at < 9; at++) expect(body[at * 50_000]).toBe(at)
    expect(body).toHaveLength(450_000)
  })
})
