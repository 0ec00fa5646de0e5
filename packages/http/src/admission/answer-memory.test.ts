import { expect, it } from 'vitest'
import { AnswerMemory } from './answer-memory.js'
import { ChunkPool } from './chunk-pool.js'
import { DEFAULT_LIMITS } from './limits.js'
import { LoadShedder } from './load-shedder.js'

it('a body that waits for its client is kept, and the memory of all others is freed at once', () => {
  const memory = new AnswerMemory({ load: new LoadShedder(DEFAULT_LIMITS), chunks: new ChunkPool() })
  const bodies = ['first', 'second', 'third'].map((text) => memory.openBody().text(text))
  const bytes = bodies.map((body) => body.chunks[0]!)
  memory.freeOthers(bodies[1])
  expect(bytes.map(({ buffer }) => buffer.byteLength > 0)).toEqual([false, true, false])
  expect(Buffer.from(bytes[1]!).toString()).toBe('second')
  memory.free()
  expect(bytes[1]!.buffer.byteLength).toBe(0)
})
