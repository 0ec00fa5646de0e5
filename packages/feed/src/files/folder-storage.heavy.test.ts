import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ManifestMembers, readBackupMetadata, readManifest, resolveBackupFile } from './backup-directory.js'
import type { ByteRange, StoredObject } from './backup-storage.js'
import { openContent, readContent } from './compressed-file.js'
import { FolderStorage } from './folder-storage.js'

const MANIFEST = JSON.stringify({ version: 7 })

let root: string
let storage: FolderStorage

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'folder-storage-'))
  storage = new FolderStorage(root)
  mkdirSync(join(root, 'metadata/older'), { recursive: true })
  mkdirSync(join(root, 'state'))
  writeFileSync(join(root, 'metadata/a.meta'), gzipSync(line(7)))
  writeFileSync(join(root, 'metadata/b.meta.zst'), zstdCompressSync(line(8)))
  writeFileSync(join(root, 'metadata/notes.txt'), 'not metadata')
  writeFileSync(join(root, 'metadata/older/c.meta'), line(9))
  writeFileSync(join(root, 'state/plain'), MANIFEST)
  writeFileSync(join(root, 'state/packed'), gzipSync(MANIFEST))
  writeFileSync(join(root, 'state/suffixed.zst'), zstdCompressSync(MANIFEST))
  writeFileSync(join(root, 'state/digits'), '0123456789')
})

afterAll(() => rmSync(root, { recursive: true }))

function line(version: number): string {
  return `${JSON.stringify({ StateSnapshotBackup: { version, manifest: `state_${version}/state.manifest` } })}\n`
}

async function list(folder: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = []
  for await (const object of storage.list(folder)) objects.push(object)
  return objects.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function read(name: string, range?: ByteRange): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of storage.open(name, range)) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

describe('a backup in a folder', () => {
  it('lists the objects directly in a folder, with their lengths as stored', async () => {
    expect(await list('state')).toEqual([
      { name: 'state/digits', bytes: 10 },
      { name: 'state/packed', bytes: gzipSync(MANIFEST).length },
      { name: 'state/plain', bytes: MANIFEST.length },
      { name: 'state/suffixed.zst', bytes: zstdCompressSync(MANIFEST).length },
    ])
    expect((await list('metadata')).map(({ name }) => name)).toEqual([
      'metadata/a.meta',
      'metadata/b.meta.zst',
      'metadata/notes.txt',
    ])
    expect(await list('')).toEqual([])
  })

  it('lists nothing if there is no such folder, or if it is a file', async () => {
    expect(await list('absent')).toEqual([])
    expect(await list('state/plain')).toEqual([])
  })

  it('finds an object by its exact name; a folder is none', async () => {
    expect(await storage.find('state/digits')).toEqual({ name: 'state/digits', bytes: 10 })
    for (const name of ['state/suffixed', 'state', 'state/plain/below'])
      expect(await storage.find(name)).toBeUndefined()
  })

  it('opens an object whole or a range of it', async () => {
    expect(await read('state/digits')).toBe('0123456789')
    expect(await read('state/digits', { from: 4 })).toBe('456789')
    expect(await read('state/digits', { from: 4, to: 6 })).toBe('45')
    expect(await read('state/digits', { from: 10 })).toBe('')
  })

  it('throws from the stream if the object is gone', async () => {
    await expect(read('state/absent')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('a backup in a folder with other things than files', () => {
  let odd: string
  let oddStorage: FolderStorage
  beforeEach(() => {
    odd = mkdtempSync(join(tmpdir(), 'odd-'))
    oddStorage = new FolderStorage(odd)
    mkdirSync(join(odd, 'metadata'))
    writeFileSync(join(odd, 'metadata/good.meta'), line(7))
  })
  afterEach(() => rmSync(odd, { recursive: true }))

  async function versionsOf(): Promise<bigint[]> {
    return (await readBackupMetadata(oddStorage)).snapshots.map(({ version }) => version)
  }

  it('takes only regular files and links to them', async () => {
    execFileSync('mkfifo', [join(odd, 'metadata/pipe.meta'), join(odd, 'metadata/state.manifest')])
    symlinkSync('pipe.meta', join(odd, 'metadata/link-to-pipe.meta'))
    symlinkSync('/dev/zero', join(odd, 'metadata/device.meta'))
    symlinkSync('nowhere', join(odd, 'metadata/broken.meta'))
    symlinkSync('loop.meta', join(odd, 'metadata/loop.meta'))
    symlinkSync('../good', join(odd, 'metadata/folder.meta'))
    mkdirSync(join(odd, 'good'))
    writeFileSync(join(odd, 'good/other'), line(9))
    symlinkSync('../good/other', join(odd, 'metadata/linked.meta'))
    const socket = createServer().listen(join(odd, 'metadata/socket.meta'))
    await once(socket, 'listening')
    try {
      for (let times = 0; times < 2; times++) expect(await versionsOf()).toEqual([7n, 9n])
      for (const name of ['pipe', 'link-to-pipe', 'device', 'broken', 'loop', 'folder', 'socket']) {
        expect(await oddStorage.find(`metadata/${name}.meta`)).toBeUndefined()
      }
      await expect(readManifest(oddStorage, 'metadata/state.manifest')).rejects.toThrow(/the backup is missing/)
      for (const name of ['pipe.meta', 'device.meta', 'socket.meta']) {
        await expect(openContent(join(odd, 'metadata', name))).rejects.toMatchObject({ code: 'invalid_argument' })
      }
    } finally {
      socket.close()
    }
  })

  it.each([
    '._good.meta',
    '.good.meta',
    '.#good.meta',
    '#good.meta#',
    'good.meta~',
    '~$good.meta',
    '.good.meta.swp',
    'good.meta.part',
    'good.meta.crdownload',
    'good.meta.bak',
    '.good.meta.gz.Xy12ab',
    'good (1).meta',
    'good copy.meta',
    '.DS_Store',
    'Thumbs.db',
    'desktop.ini',
    '_.meta',
  ])('takes no notice of %s, which another program left', async (name) => {
    const junk = Buffer.from([0, 5, 22, 7, 0, 2, 0, 0, 77, 97, 99, 32, 79, 83, 32, 88])
    writeFileSync(join(odd, 'metadata', name), junk)
    expect(await versionsOf()).toEqual([7n])
    writeFileSync(join(odd, name), junk)
    renameSync(join(odd, 'metadata/good.meta'), join(odd, 'good.meta'))
    expect(await versionsOf()).toEqual([7n])
  })

  const MANY = 20_000_000
  const bombs: [string, Buffer, RegExp][] = [
    ['brackets', Buffer.alloc(MANY, '['), /holds more than|levels of arrays/],
    ['short brackets', Buffer.alloc(MANY / 2, '['), /more than 16 levels of arrays and objects/],
    ['nested objects', Buffer.alloc(MANY / 2, '{"a":'), /more than 16 levels/],
    [
      'values',
      Buffer.concat([Buffer.from('{"a":['), Buffer.alloc(MANY / 2, '0,'), Buffer.from('0]}')]),
      /more than \d+ values/,
    ],
    ['spaces', Buffer.alloc(MANY * 4, ' '), /holds more than|is not JSON/],
  ]
  it.each(bombs)('refuses metadata and manifests of many %s', async (_, bytes, message) => {
    writeFileSync(join(odd, 'metadata/bomb.meta.gz'), gzipSync(bytes))
    const thrown = { code: 'invalid_backup', message: expect.stringMatching(message) }
    await expect(readBackupMetadata(oddStorage)).rejects.toMatchObject(thrown)
    await expect(readManifest(oddStorage, 'metadata/bomb.meta')).rejects.toMatchObject(thrown)
  })

  it('refuses metadata of too many lines', async () => {
    for (const name of ['a', 'b'])
      writeFileSync(join(odd, `metadata/${name}.meta.gz`), gzipSync(Buffer.alloc(499_999, '\n')))
    await expect(readBackupMetadata(oddStorage)).rejects.toMatchObject({
      code: 'invalid_backup',
      message: `${join(odd, 'metadata/b.meta.gz')} brings the metadata to more than 500000 lines`,
    })
    rmSync(join(odd, 'metadata/b.meta.gz'))
    expect(await versionsOf()).toEqual([7n])
  })

  it('takes little memory for many files that unpack to much', async () => {
    const spaces = gzipSync(Buffer.alloc(16_000_000, ' '))
    for (let at = 0; at < 24; at++) writeFileSync(join(odd, `metadata/spaces${at}.meta.gz`), spaces)
    const before = process.memoryUsage().rss
    let most = 0
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
    try {
      expect(await versionsOf()).toEqual([7n])
    } finally {
      clearInterval(timer)
    }
    expect(most - before).toBeLessThan(300_000_000)
  })
})

describe('a file of the storage of a backup', () => {
  it('is unpacked by its first bytes, whether or not its name has a suffix', async () => {
    for (const name of ['plain', 'packed', 'suffixed']) {
      expect((await readManifest(storage, `state/${name}`)).version('version')).toBe(7n)
    }
    expect(await resolveBackupFile(storage, 'state/suffixed')).toBe(join(root, 'state/suffixed.zst'))
  })

  it('is found by metadata in the order of its names', async () => {
    expect((await readBackupMetadata(storage)).snapshots.map(({ version }) => version)).toEqual([7n, 8n])
  })

  it('is refused outside the backup, and if it is missing', async () => {
    for (const handle of ['/etc/hosts', '../secret', 'state/../../secret']) {
      expect(() => new ManifestMembers({ proof: handle }, 'a manifest').fileName('proof')).toThrow(
        `a manifest names ${JSON.stringify(handle)}, which is outside the backup`,
      )
    }
    await expect(readManifest(storage, 'state/absent')).rejects.toMatchObject({
      code: 'invalid_backup',
      message: `the backup is missing ${join(root, 'state/absent')} (also looked for ${join(root, 'state/absent.gz')} and ${join(root, 'state/absent.zst')})`,
    })
  })

  it('is bounded both as it is stored and unpacked', async () => {
    const zeros = gzipSync(Buffer.alloc(100_000))
    const most = zeros.length
    const contentOf = (bytes: Buffer, bound: number) => readContent(piecesOf(bytes), 'the object', bound)
    expect((await contentOf(zeros, 100_000)).length).toBe(100_000)
    expect((await contentOf(Buffer.alloc(most), most)).length).toBe(most)
    for (const [bytes, bound] of [
      [zeros, 99_999],
      [Buffer.alloc(most + 1), most],
    ] as const) {
      await expect(contentOf(bytes, bound)).rejects.toMatchObject({
        code: 'invalid_backup',
        message: `the object holds more than ${bound} bytes`,
      })
    }
  })

  it('is refused if it is cut short', async () => {
    const cut = gzipSync(MANIFEST).subarray(0, -4)
    await expect(readContent(piecesOf(cut), 'the object', 1000)).rejects.toMatchObject({
      code: 'invalid_backup',
      message: 'the object cannot be read to the end: unexpected end of file',
    })
  })
})

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}
