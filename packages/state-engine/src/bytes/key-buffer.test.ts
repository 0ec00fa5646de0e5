import { Buffer } from 'node:buffer'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { KeyBuffer } from './key-buffer.js'

it(`keys are ordered as their bytes are, whatever the buffers had before (TEST_SEED=${testSeed()})`, () => {
  const random = createRandom(testSeed())
  const [one, other] = [new KeyBuffer(), new KeyBuffer()]
  const drawKey = () =>
    Buffer.from(Array.from({ length: random.below(12) }, () => [0, 1, 127, 128, 255][random.below(5)]!))
  for (let round = 0; round < 5_000; round++) {
    const common = Buffer.alloc(random.below(100) === 0 ? random.below(600) : random.below(10), random.below(256))
    const [first, second] = [drawKey(), drawKey()].map((key) => Buffer.concat([common, key])) as [Buffer, Buffer]
    one.take(first, 0, first.length)
    const within = Buffer.concat([Buffer.from('ab'), second, Buffer.from('c')])
    other.take(within, 2, 2 + second.length)
    expect(Math.sign(one.compare(other))).toBe(Buffer.compare(first, second))
    expect(Buffer.from(other.view()).equals(second)).toBe(true)
    one.takeKey(other)
    expect(one.compare(other)).toBe(0)
    expect(Buffer.from(one.copy()).equals(second)).toBe(true)
  }
})
