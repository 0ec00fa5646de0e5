import { execFileSync } from 'node:child_process'
import { closeSync, constants, createWriteStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SyntheticChain } from '../../testing/synthetic-chain.ts'
import { feedHeaderLine, versionToFeedLine } from '../wire/feed-line-writer.js'
import { openSource } from './open-source.js'

const chain = new SyntheticChain({ blocks: 200 })
const FEED = Buffer.from(
  `${[feedHeaderLine({ chainId: 42 }), ...chain.expected.map((version) => versionToFeedLine(version))].join('\n')}\n`,
)
/** The first lines of the feed. */
const START = FEED.subarray(0, FEED.indexOf('\n', 6_000) + 1)
const GZIP = 0x1f

let folder: string
let fifo: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pipes-'))
  fifo = join(folder, 'feed')
  execFileSync('mkfifo', [fifo])
})
afterEach(() => rmSync(folder, { recursive: true }))

async function countVersions(): Promise<number> {
  const source = await openSource(fifo)
  try {
    let versions = 0
    for await (const _ of source.versions()) versions++
    return versions
  } finally {
    await source.close()
  }
}

/** Writes to the pipe, once it is read, in pieces. */
function feedPipe(bytes: Uint8Array, pieceBytes = 10_000): Promise<void> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
  return pipeline(Readable.from(pieces), createWriteStream(fifo))
}

describe('a named pipe', () => {
  it.each([
    ['plain', FEED, 10_000],
    ['in small pieces', START, 3],
    ['compressed', gzipSync(FEED), 10_000],
    ['with a byte order mark', Buffer.concat([Buffer.from('\ufeff'), START]), 1],
  ])('is read as a feed that is %s', async (_, bytes, pieceBytes) => {
    const text = bytes[0] === GZIP ? FEED : bytes
    const written = feedPipe(bytes, pieceBytes)
    expect(await countVersions()).toBe(text.toString().trimEnd().split('\n').length - 1)
    await written
  })

  it('is read as a genesis', async () => {
    const written = feedPipe(chain.genesisBlob)
    expect(await countVersions()).toBe(1)
    await written
  })

  it.each([
    ['nothing', '', 'is empty: expected a genesis blob or a ledger feed'],
    ['a text', 'not a feed\n', 'neither a genesis blob nor a ledger feed'],
  ])('with %s is no source', async (_, text, why) => {
    const written = feedPipe(Buffer.from(text)).catch(() => {})
    await expect(openSource(fifo)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(why),
    })
    await written
  })

  it('that nobody writes to is waited for until the signal stops it', async () => {
    const stop = new AbortController()
    const opening = openSource(fifo, { signal: stop.signal })
    setImmediate(() => stop.abort())
    await expect(opening).rejects.toMatchObject({ code: 'source_failed' })
  })

  it('that falls silent is waited for until the signal stops it', async () => {
    const stop = new AbortController()
    const reader = openSource(fifo, { signal: stop.signal })
    const fd = openSync(fifo, constants.O_RDWR)
    writeSync(fd, FEED.subarray(0, 20_000))
    const source = await reader
    const read = async () => {
      for await (const { version } of source.versions()) if (version === 3n) stop.abort()
    }
    await expect(read()).rejects.toMatchObject({ code: 'source_failed' })
    await source.close()
    closeSync(fd)
  })
})

it('a device is no source', async () => {
  for (const path of ['/dev/null', '/dev/zero']) {
    await expect(openSource(path)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: `${path} is a socket or device; a feed can only be read from a file or a pipe`,
    })
  }
})
