import { getEventListeners } from 'node:events'
import { LedgerStateError, type VersionWrites } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import type { LedgerSource } from '@ledger-state/feed'
import { beforeEach, describe, expect, it } from 'vitest'
import { listedBlocks, listedSource } from '../../testing/listed-source.ts'
import { type FollowOptions, followSource } from './follow-source.js'

type Engine = ReturnType<typeof createMemoryEngine>
type Opening = () => LedgerSource

const RECORDS = listedBlocks([3, 4, 5, 6, 7])
const LAST = RECORDS.at(-1)!.version

let engine: Engine
let notices: string[]
/** Number of opened sources that are not closed. */
let open: number
beforeEach(() => {
  engine = createMemoryEngine()
  notices = []
  open = 0
})

/** Follows sources that these openings give, one after the other; the last one without end. */
async function follow(openings: readonly Opening[], options: FollowOptions = {}) {
  const left = [...openings]
  const reopen = async () => {
    const source = (left.length > 1 ? left.shift()! : left[0]!)()
    open++
    return {
      ...source,
      get position() {
        return source.position
      },
      get mark() {
        return source.mark
      },
      close: async () => void open--,
    }
  }
  const onNotice = (message: string) => notices.push(message)
  return await followSource(engine, await reopen(), reopen, { firstPauseMs: 1, onNotice, ...options })
}

const good: Opening = () => listedSource(RECORDS)
/** A source that gives the versions up to one, and then fails. */
const failing =
  (code: string, upTo = -1n, answers?: number): Opening =>
  () =>
    listedSource(RECORDS, {
      onVersion(version) {
        if (version > upTo) throw new LedgerStateError(code, `failed with ${code}`, { answers })
      },
    })
const ofOtherChain: Opening = () => listedSource(RECORDS, { chainId: 9 })
const cannotOpen: Opening = () => {
  throw new LedgerStateError('source_failed', 'HTML of a proxy')
}

/** A list of the versions, with a change to one of them. */
function changed(version: bigint, change: Partial<VersionWrites>): Opening {
  return () => listedSource(RECORDS.map((record) => (record.version === version ? { ...record, ...change } : record)))
}

const block = (height: bigint, timestampUsec = height) => ({ height, epoch: 0n, timestampUsec })
const key = Uint8Array.of(1)

/** Every way in which an answer of a source ends an ingest. RECORDS have blocks at 0, 3, 7, 12 and 18. */
const ENDS: [name: string, code: string, opening: Opening][] = [
  ['another chain', 'chain_id_mismatch', ofOtherChain],
  ['another chain later on', 'chain_id_mismatch', failing('chain_id_mismatch', 7n)],
  ['a fork', 'ledger_fork', failing('ledger_fork', 7n)],
  ['other writes at the newest version held', 'ledger_fork', changed(6n, { writes: [[key, key]] })],
  ['versions that the source no longer has', 'version_gap', failing('version_gap', 7n)],
  ['a version that is left out', 'version_gap', () => listedSource(RECORDS.filter(({ version }) => version !== 9n))],
  ['a block that is not higher', 'block_order', changed(12n, { block: block(2n) })],
  ['a block that is earlier than the one before', 'block_order', changed(12n, { block: block(3n, 1n) })],
  ['a key that is too long', 'key_too_long', changed(12n, { writes: [[new Uint8Array(70_000), key]] })],
  ['a value that is too long', 'value_too_long', changed(12n, { writes: [[key, new Uint8Array(17_000_000)]] })],
  [
    'a key that is written twice',
    'duplicate_key',
    changed(12n, {
      writes: [
        [key, key],
        [key, key],
      ],
    }),
  ],
  ['a source that fails', 'source_failed', failing('source_failed', 7n)],
  ['a source that cannot be opened', 'source_failed', cannotOpen],
  ['a hash that does not fit', 'verification_failed', failing('verification_failed', 7n)],
  ['bytes that cannot be read', 'invalid_bcs', failing('invalid_bcs', 7n)],
  ['a line that cannot be read', 'invalid_feed', failing('invalid_feed', 7n)],
]

describe('following', () => {
  /** The store begins with versions 0 to 6. */
  const begin = async () => {
    await follow([() => listedSource(RECORDS.slice(0, 7))])
    expect(engine.ledger!.latestVersion).toBe(6n)
  }

  it.each(ENDS)('survives %s that comes once, or twice', async (_, code, opening) => {
    for (const times of [1, 2]) {
      engine = createMemoryEngine()
      notices = []
      await begin()
      const first = opening === cannotOpen ? [failing('source_failed')] : []
      const strays = Array<Opening>(times).fill(opening)
      const counters = await follow([...first, ...strays.slice(first.length), good])
      expect(engine.ledger!.latestVersion).toBe(LAST)
      expect(counters).toMatchObject({ versions: Number(LAST) - 6, latestVersion: LAST })
      expect(notices.length, code).toBeLessThanOrEqual(2)
      expect(notices.length).toBeGreaterThan(0)
    }
    expect(open).toBe(0)
  })

  it.each(ENDS)('accepts %s that comes three times in a row', async (_, code, opening) => {
    await begin()
    const openings = opening === cannotOpen ? [failing('source_failed'), opening] : [opening]
    await expect(follow(openings)).rejects.toMatchObject({ code, fields: { answers: 3 } })
    expect(open).toBe(0)
    expect(notices.filter((notice) => /asking again in/.test(notice)).length).toBeGreaterThanOrEqual(2)
  })

  it('begins a new row if something was committed between the failures', async () => {
    await begin()
    const openings = [7n, 8n, 9n, 10n, 11n, 12n].flatMap((upTo) => [failing('ledger_fork', upTo), ofOtherChain])
    await follow([...openings, good])
    expect(engine.ledger!.latestVersion).toBe(LAST)
  })

  it('accepts at once an error that a source has already seen three times', async () => {
    await begin()
    await expect(follow([failing('ledger_fork', -1n, 3), good])).rejects.toMatchObject({ code: 'ledger_fork' })
    expect(notices).toEqual([])
  })

  it.each(['store_full', 'store_failed', 'store_locked', 'store_corrupt', 'unavailable', 'invalid_argument'])(
    'ends at once with %s, which is not an answer of the source',
    async (code) => {
      await expect(follow([failing(code), good])).rejects.toMatchObject({ code })
      expect([notices, open]).toEqual([[], 0])
    },
  )

  it('ends at once with an error of this program', async () => {
    const broken: Opening = () =>
      listedSource(RECORDS, {
        onVersion() {
          throw new TypeError('not a function')
        },
      })
    await expect(follow([broken, good])).rejects.toThrow(TypeError)
    expect([notices, open]).toEqual([[], 0])
  })

  it('takes a contradiction about the chain for a failure of the source while the store is empty', async () => {
    const contradicting = failing('chain_id_mismatch', -1n, 3)
    await follow([contradicting, good])
    expect(engine.ledger!.latestVersion).toBe(LAST)
    engine = createMemoryEngine()
    await expect(follow([contradicting])).rejects.toMatchObject({ code: 'source_failed' })
    await expect(follow([contradicting], { chainId: 4 })).rejects.toMatchObject({ code: 'chain_id_mismatch' })
  })

  it('ends without an error when it is stopped, even while it pauses or the source is opened', async () => {
    const stop = new AbortController()
    const stopping: Opening = () => {
      stop.abort()
      throw new LedgerStateError('source_failed', 'the opening was stopped')
    }
    await follow([failing('source_failed'), stopping], { signal: stop.signal })
    const paused = new AbortController()
    const following = follow([failing('source_failed')], {
      signal: paused.signal,
      firstPauseMs: 1e9,
      onNotice: () => setImmediate(() => paused.abort()),
    })
    await following
    expect(open).toBe(0)
  })
})

it('a signal that outlives many ingests holds none of them', async () => {
  const { signal } = new AbortController()
  for (let turn = 0; turn < 3; turn++) await follow([failing('ledger_fork', 6n), cannotOpen, good], { signal })
  expect(engine.ledger!.latestVersion).toBe(LAST)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
