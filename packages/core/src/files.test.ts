import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { followLinks, makeFolderNow, moveDurably, moveDurablyNow, writeDurably } from './files.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

/** Makes the nth sync of a file or folder fail, as after an error of the disk. */
async function failSync(nth: number): Promise<void> {
  const handle = await open(folder, 'r')
  const prototype = Object.getPrototypeOf(handle) as typeof handle
  await handle.close()
  const { sync } = prototype
  let syncs = 0
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof handle) {
    if (++syncs === nth) throw Object.assign(new Error('EIO'), { code: 'EIO' })
    await sync.call(this)
  })
}

describe.each([
  ['moveDurably', moveDurably],
  ['moveDurablyNow', async (draft: string, path: string) => moveDurablyNow(draft, path)],
] as const)('%s', (_, move) => {
  it('moves a file over another, even between folders', async () => {
    const [draft, path] = [join(folder, 'draft'), join(folder, 'below', 'file')]
    mkdirSync(join(folder, 'below'))
    writeFileSync(path, 'old')
    writeFileSync(draft, 'new')
    await move(draft, path)
    expect(readFileSync(path, 'utf8')).toBe('new')
    expect(readdirSync(folder)).toEqual(['below'])
  })

  it('moves a folder with everything in it', async () => {
    const [draft, path] = [join(folder, 'draft'), join(folder, 'copy')]
    makeFolderNow(join(draft, 'a', 'b'))
    writeFileSync(join(draft, 'a', 'b', 'file'), 'content')
    await move(draft, path)
    expect(readFileSync(join(path, 'a', 'b', 'file'), 'utf8')).toBe('content')
    expect(existsSync(draft)).toBe(false)
  })

  it('fails if there is no draft, and keeps the file that has the name', async () => {
    const path = join(folder, 'file')
    writeFileSync(path, 'old')
    await expect(move(join(folder, 'draft'), path)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(readFileSync(path, 'utf8')).toBe('old')
  })
})

it('a failed sync leaves no draft that the next attempt would trust, and no file that is not on disk', async () => {
  const path = join(folder, 'file')
  for (const nth of [1, 2]) {
    await failSync(nth)
    await expect(writeDurably(path, 'text')).rejects.toMatchObject({ code: 'EIO' })
    vi.restoreAllMocks()
    expect(readdirSync(folder)).toEqual([])
  }
  await failSync(3)
  await writeDurably(path, 'text')
  expect(readFileSync(path, 'utf8')).toBe('text')
})

it('a folder that cannot be moved stays where it was, without the file whose sync failed', async () => {
  const [draft, path] = [join(folder, 'draft'), join(folder, 'store')]
  makeFolderNow(draft)
  for (const name of ['a', 'b']) writeFileSync(join(draft, name), name)
  // Another one is at its place.
  makeFolderNow(join(path, 'c'))
  for (const move of [moveDurably, async () => moveDurablyNow(draft, path)]) {
    await expect(move(draft, path)).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    expect(readdirSync(draft)).toEqual(['a', 'b'])
  }
  rmSync(path, { recursive: true })
  // The files and the folder are synced before the move, then the folder around them.
  for (const [nth, left] of [
    [3, ['a', 'b']],
    [4, ['a', 'b']],
    [2, ['a']],
  ] as const) {
    await failSync(nth)
    await expect(moveDurably(draft, path)).rejects.toMatchObject({ code: 'EIO' })
    vi.restoreAllMocks()
    expect([existsSync(path), readdirSync(draft)]).toEqual([false, left])
  }
  await moveDurably(draft, path)
  expect(readdirSync(path)).toEqual(['a'])
})

it('a file that is replaced has the old content or the new one, whichever sync fails', async () => {
  const path = join(folder, 'file')
  for (const [nth, content] of [
    [1, 'old'],
    [2, 'new'],
  ] as const) {
    await writeDurably(path, 'old')
    await failSync(nth)
    await expect(writeDurably(path, 'new')).rejects.toMatchObject({ code: 'EIO' })
    vi.restoreAllMocks()
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(readdirSync(folder)).toEqual(['file'])
  }
})

/** A disk that nobody can write to, and a file system without folders. */
it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'makeFolderNow ends and says why it makes no folder',
  () => {
    for (const path of ['/proc/a/b', '/sys/a/b', '/proc/self/status/a']) {
      expect(() => makeFolderNow(path)).toThrow(/ENOENT|EPERM|EACCES|EROFS|ENOTDIR/)
    }
  },
)

it('makeFolderNow does not take a file for a folder', () => {
  writeFileSync(join(folder, 'file'), '')
  const isError = expect.objectContaining({ code: 'ENOTDIR', syscall: 'mkdir', path: join(folder, 'file') })
  expect(() => makeFolderNow(join(folder, 'file', 'a'))).toThrow(isError)
  expect(() => makeFolderNow(join(folder, 'file'))).toThrow(isError)
})

it('makeFolderNow makes a folder and those above it, once and again', () => {
  const path = join(folder, 'a', 'b', 'c')
  for (let times = 0; times < 2; times++) makeFolderNow(path)
  expect(readdirSync(join(folder, 'a', 'b'))).toEqual(['c'])
})

describe('followLinks', () => {
  it('finds the place that links lead to, whether something is there or not', () => {
    mkdirSync(join(folder, 'below'))
    symlinkSync('below/second', join(folder, 'first'))
    symlinkSync('../absent', join(folder, 'below', 'second'))
    expect(followLinks(join(folder, 'first'))).toBe(join(folder, 'absent'))
    mkdirSync(join(folder, 'absent'))
    expect(followLinks(join(folder, 'first'))).toBe(join(folder, 'absent'))
  })

  it('leaves a path that is no link as it is given', () => {
    expect(['no/such/folder', 'src', 'src/', '/'].map((path) => followLinks(path))).toEqual([
      'no/such/folder',
      'src',
      'src',
      '/',
    ])
  })

  it('stops at an end that the caller names', () => {
    symlinkSync('second', join(folder, 'first'))
    symlinkSync('third', join(folder, 'second'))
    expect(followLinks(join(folder, 'first'), (place) => place.endsWith('second'))).toBe(join(folder, 'second'))
  })

  it('throws the error of the system for links that lead in a circle', () => {
    symlinkSync('second', join(folder, 'first'))
    symlinkSync('first', join(folder, 'second'))
    expect(() => followLinks(join(folder, 'first'))).toThrow('ELOOP')
  })
})
