import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ModuleSpool } from './module-spool.js'

const folder = mkdtempSync(join(tmpdir(), 'module-spool-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the copy of modules', () => {
  it('gives back the same bytes, from a file that no folder lists', () => {
    const spool = new ModuleSpool(join(folder, 'made'))
    for (let key = 0; key < 300; key++) spool.put(Uint8Array.of(key >> 8, key), new Uint8Array(key).fill(key))
    expect(readdirSync(join(folder, 'made'))).toEqual([])
    for (let key = 0; key < 300; key++) {
      expect(spool.has(Uint8Array.of(key >> 8, key))).toBe(true)
      expect([...spool.get(Uint8Array.of(key >> 8, key))!]).toEqual(Array(key).fill(key & 255))
    }
    expect(spool.has(Uint8Array.of(9))).toBe(false)
    expect(spool.get(Uint8Array.of(9))).toBeUndefined()
    spool.close()
  })

  it('leaves room on the disk', () => {
    const spool = new ModuleSpool(folder, 2 ** 60)
    const put = () => spool.put(Uint8Array.of(1), Uint8Array.of(2))
    expect(put).toThrow(/^the disk of .*module-spool-.* has \d+ MiB free, .* must leave 1099511627776 MiB free/)
    expect(put).toThrow(expect.objectContaining({ code: 'spill_failed' }))
    expect(spool.has(Uint8Array.of(1))).toBe(false)
    spool.close()
  })

  it('names the folder that it cannot use', () => {
    writeFileSync(join(folder, 'file'), '')
    const spool = new ModuleSpool(join(folder, 'file', 'below'))
    expect(() => spool.put(Uint8Array.of(1), Uint8Array.of(2))).toThrow(
      `cannot write a copy of the state's modules to ${join(folder, 'file', 'below')}: ENOTDIR`,
    )
    spool.close()
  })
})
