import { Buffer } from 'node:buffer'
import { readSync, writeSync } from 'node:fs'

const COPIED_AT_ONCE = 2 ** 20

/** Copies an open file up to its present end to another one, which is empty. */
export function* copyInSteps(from: number, to: number): Generator<void> {
  const buffer = Buffer.allocUnsafe(COPIED_AT_ONCE)
  for (let at = 0; ; ) {
    const count = readSync(from, buffer, 0, buffer.length, at)
    if (count === 0) return
    for (let done = 0; done < count; ) done += writeSync(to, buffer, done, count - done, at + done)
    at += count
    yield
  }
}
