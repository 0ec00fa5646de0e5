import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyBytes } from '@ledger-state/core/bytes'
import { STORE_FILE } from '@ledger-state/state-engine'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { describeFile, parseSnapshot } from '../snapshot-manifest.js'
import { VerifiedFile } from './verified-file.js'

const PIECE = 10

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verified-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a file that is fetched in pieces with hashes', () => {
  it('matches the source, whatever comes damaged, and wherever it is cut short', async () => {
    const steps = fc.array(
      fc.record({ bytes: fc.integer({ min: 1, max: 35 }), damaged: fc.boolean(), reopens: fc.boolean() }),
    )
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), steps, async (content, steps) => {
        const [source, target] = [join(folder, 'source'), join(folder, 'target')]
        writeFileSync(source, content)
        rmSync(target, { force: true })
        const file = await describeFile(source, PIECE)
        expect(file).toMatchObject({ name: 'source', bytes: content.length })
        expect(parseSnapshot({ id: 'x', pieceBytes: PIECE, files: [file] })).toBeDefined()
        let fetched = await VerifiedFile.open(target, file, PIECE)
        for (const { bytes, damaged, reopens } of [
          ...steps,
          { bytes: 60, damaged: false, reopens: true },
          { bytes: 60, damaged: false, reopens: true },
        ]) {
          const chunk = copyBytes(content, fetched.length, fetched.length + bytes)
          if (damaged && chunk.length > 0) chunk[chunk.length >> 1]! ^= 1
          await fetched.append(chunk).catch((error) => expect(error).toMatchObject({ code: 'source_failed' }))
          const verified = readFileSync(target).subarray(0, fetched.verified)
          expect(verified).toEqual(Buffer.from(content.subarray(0, fetched.verified)))
          if (!reopens) continue
          await fetched.close()
          fetched = await VerifiedFile.open(target, file, PIECE)
        }
        expect(fetched.isComplete).toBe(true)
        await fetched.close()
        expect(readFileSync(target)).toEqual(Buffer.from(content))
      }),
    )
  })

  it('starts over if it is longer than it should be, and leaves out bytes beyond its end', async () => {
    const [source, target] = [join(folder, 'source'), join(folder, 'target')]
    writeFileSync(source, 'abcdefghijklm')
    const file = await describeFile(source, PIECE)
    writeFileSync(target, 'x'.repeat(14))
    const fetched = await VerifiedFile.open(target, file, PIECE)
    expect(fetched.length).toBe(0)
    await fetched.append(Buffer.from('abcdefghijklmnop'))
    expect([fetched.isComplete, readFileSync(target, 'utf8')]).toEqual([true, 'abcdefghijklm'])
    await fetched.close()
  })
})

describe('the manifest of a snapshot', () => {
  const file = { name: STORE_FILE, bytes: 11, pieces: ['0'.repeat(64), 'a'.repeat(64)] }
  const manifest = { id: 'x-1', pieceBytes: PIECE, files: [file] }

  it('is read where it is one', () => {
    expect(parseSnapshot(JSON.parse(JSON.stringify(manifest)))).toEqual(manifest)
  })

  const files = (...changed: object[]) => changed.map((change) => ({ ...manifest, files: [{ ...file, ...change }] }))
  const wrong: unknown[] = [
    null,
    'text',
    { ...manifest, id: '../x' },
    { ...manifest, pieceBytes: 0 },
    { ...manifest, pieceBytes: 1.5 },
    { ...manifest, files: undefined },
    { ...manifest, files: [null] },
    { ...manifest, files: [file, file] },
    ...files(...['', '..', `../${STORE_FILE}`, '/etc/passwd', 'a/b', 'a\\b', '.hidden'].map((name) => ({ name }))),
    ...files(...[-1, 0, 10, 21, 1e300, '11'].map((bytes) => ({ bytes }))),
    ...files({ pieces: ['0'.repeat(64), 'A'.repeat(64)] }, { pieces: ['0'.repeat(64)] }),
  ]

  it.each(wrong.map((value) => [value]))('is refused where it is not: %j', (value) => {
    expect(parseSnapshot(value)).toBeUndefined()
  })

  it('keeps nothing after a sync that failed: the next one would succeed although the bytes are not on disk', async () => {
    const [source, target] = [join(folder, 'source'), join(folder, 'target')]
    writeFileSync(source, 'abcdefghijklm')
    const file = await describeFile(source, PIECE)
    const fetched = await VerifiedFile.open(target, file, PIECE)
    await fetched.append(Buffer.from('abcdefghijklm'))
    const handle = await open(source)
    const sync = vi
      .spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync')
      .mockRejectedValueOnce(new Error('EIO'))
    await expect(fetched.close()).rejects.toThrow('EIO')
    sync.mockRestore()
    await handle.close()
    const again = await VerifiedFile.open(target, file, PIECE)
    expect(again.length).toBe(0)
    await again.append(Buffer.from('abcdefghijklm'))
    await again.close()
    expect(readFileSync(target, 'utf8')).toBe('abcdefghijklm')
  })
})
