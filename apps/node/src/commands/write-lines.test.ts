import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeLinesTo } from './write-lines.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lines-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it.each(['first', 'second'])(
  'two exports to one file leave the whole second one, if the %s ends first',
  async (ends) => {
    const path = join(folder, 'out')
    const { signal } = new AbortController()
    const begin = (line: string) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      async function* lines() {
        yield `${line} begins`
        begin()
        await promise
        yield `${line} ends`
      }
      return { end: resolve, begun, written: writeLinesTo(path, lines(), signal) }
    }
    const first = begin('first')
    await first.begun
    const second = begin('second')
    await second.begun
    const lost = expect(first.written).rejects.toMatchObject({
      code: 'export_failed',
      message: expect.stringMatching(/another export has begun/),
    })
    if (ends === 'first') {
      first.end()
      await lost
      expect(existsSync(path)).toBe(false)
    }
    second.end()
    await second.written
    first.end()
    await lost
    expect(readFileSync(path, 'utf8')).toBe('second begins\nsecond ends\n')
    expect(readdirSync(folder)).toEqual(['out'])
  },
)
