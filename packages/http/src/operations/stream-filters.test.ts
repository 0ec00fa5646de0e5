import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commitSource } from '../../testing/commit-source.js'
import { openEventStream } from '../../testing/event-stream.ts'
import { type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { createEngineChanges } from '../changes/engine-changes.js'

interface Change {
  readonly type: string
  readonly address?: string
  readonly handle?: string
  readonly resource?: string
  readonly data?: { readonly type?: string } | null
}
interface HeldChange {
  readonly owner_address: string
  readonly before: string
  readonly after: string
  readonly change: string
}
interface Entry {
  readonly version: string
  readonly timestamp: string
  readonly changes: readonly (Change & HeldChange)[]
  readonly events: readonly object[]
}
interface Transaction {
  readonly version: string
  readonly timestamp: string
  readonly changes: readonly Change[]
}

const COIN = '0x1::aptos_coin::AptosCoin'

// These need the shared folder.
describe.runIf(hasSharedData)(`the filters of a stream (TEST_SEED=${testSeed()})`, () => {
  let engine: StateWriter
  let running: RunningServer
  let transactions: readonly Transaction[]
  const random = createRandom(testSeed())

  const address = () => `http://127.0.0.1:${running.port}/v1`
  const read = async (path: string) => {
    const answer = await fetch(`${address()}/${path}`)
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path}: ${text}`)
    return JSON.parse(text)
  }

  beforeAll(async () => {
    engine = createMemoryEngine()
    for (const source of ['data/genesis/devnet.genesis.blob', 'conformance/transactions/gallery']) {
      await commitSource(engine, source)
    }
    running = await startServerOver(engine, { changes: createEngineChanges(engine) })
    const read1 = async (from: number) => read(`transactions?start=${from}&limit=100`)
    const all: Transaction[] = []
    for (let from = 1; BigInt(from) <= engine.ledger!.latestVersion; from += 100) all.push(...(await read1(from)))
    transactions = all
  })
  afterAll(() => stopServer(running))

  /** All entries up to the latest version. The stream sends its id as soon as it has caught up. */
  async function entriesOf(query: string): Promise<Entry[]> {
    const last = engine.ledger!.latestVersion
    const stream = await openEventStream(`${address()}/stream?from=1&${query}`)
    const entries: Entry[] = []
    for (let isAtEnd = false; !isAtEnd; ) {
      const event = await stream.next()
      if (!event) throw new Error('the stream has ended')
      if (event.data !== '') entries.push(JSON.parse(event.data) as Entry)
      isAtEnd = event.id === `${last}.0`
    }
    stream.close()
    return entries
  }

  /** A change as the stream has it: an item is not decoded unless the types of its table are given. */
  const strip = ({ state_key_hash: _, ...rest }: Change & { readonly state_key_hash?: string }): Change =>
    rest.handle === undefined ? rest : { ...rest, data: null }
  const sorted = (changes: readonly object[]) => changes.map((one) => JSON.stringify(one)).toSorted()

  const isDeletion = ({ type }: Change) => type.startsWith('delete')

  /** The ledger of the kit begins without a state, so a deletion of something that it never had is no write. */
  function expectChanges(entries: readonly Entry[], isSelected: (change: Change) => boolean): void {
    const found = new Map(entries.map(({ version, changes }) => [version, changes]))
    for (const { version, changes } of transactions) {
      const selected = changes.filter(isSelected).map(strip)
      const sent = found.get(version) ?? []
      found.delete(version)
      const [writes, sentWrites] = [selected, sent].map((list) => sorted(list.filter((one) => !isDeletion(one))))
      expect(sentWrites, version).toEqual(writes)
      expect(sorted(selected), version).toEqual(expect.arrayContaining(sorted(sent)))
    }
    expect([...found.keys()]).toEqual([])
  }

  function someOf<T>(values: Iterable<T>, count: number): T[] {
    const left = [...new Set(values)]
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random.below(left.length), 1)[0]!)
  }
  const allChanges = () => transactions.flatMap(({ changes }) => changes)

  it('without one it has the changes of each transaction', async () => {
    const entries = await entriesOf('')
    expectChanges(entries, () => true)
    expect(entries.flatMap(({ changes }) => changes.filter(isDeletion)).length).toBeGreaterThan(0)
    const times = new Map(transactions.map(({ version, timestamp }) => [version, timestamp]))
    for (const { version, timestamp } of entries) if (times.get(version)) expect(timestamp).toBe(times.get(version))
  })

  it('`account` has the changes at an address, `table` the changes of its items', async () => {
    for (const account of someOf(
      allChanges().flatMap((one) => one.address ?? []),
      4,
    )) {
      expectChanges(await entriesOf(`account=${account}`), (change) => change.address === account)
    }
    for (const table of someOf(
      allChanges().flatMap((one) => one.handle ?? []),
      4,
    )) {
      expectChanges(await entriesOf(`table=${table}`), (change) => change.handle === table)
    }
  })

  it('`resource_type` has the changes of a type, even in groups, where unchanged members are left out', async () => {
    const typeOf = (change: Change) =>
      change.resource ?? (change.type === 'write_resource' ? change.data?.type : undefined)
    for (const type of someOf(
      // This test compares values, which a type that is only deleted does not have.
      allChanges().flatMap((one) => (isDeletion(one) ? [] : (typeOf(one) ?? []))),
      8,
    )) {
      const last = new Map<string, string>()
      /** Changes as texts, without those that repeat the value before. */
      const textsOf = (version: string, changes: readonly Change[]): string[] =>
        changes.flatMap((one) => {
          if (typeOf(one) !== type || isDeletion(one)) return []
          const text = JSON.stringify(one.data)
          if (last.get(one.address!) === text) return []
          last.set(one.address!, text)
          return [`${version} ${one.address} ${text}`]
        })
      const listed = transactions.flatMap(({ version, changes }) => textsOf(version, changes))
      last.clear()
      const entries = await entriesOf(`resource_type=${encodeURIComponent(type)}`)
      const found = entries.flatMap(({ version, changes }) => textsOf(version, changes))
      // The genesis may have written the first value at an address.
      expect(listed, type).toEqual(expect.arrayContaining(found))
      const addresses = new Set(listed.map((one) => one.split(' ')[1]))
      expect(listed.length - found.length, type).toBeLessThanOrEqual(addresses.size)
      expect(found.length, type).toBeGreaterThan(0)
    }
  })

  it('`event_type` has the events of a type', async () => {
    for (const type of [
      '0x3::token::DepositEvent',
      '0x1::transaction_fee::FeeStatement',
      '0x1::block::NewBlockEvent',
    ]) {
      const entries = await entriesOf(`event_type=${type}`)
      const found = entries.flatMap(({ events }) => events)
      const listed = (await read(`events/${type}?order=asc&limit=1000`)) as { readonly version: string }[]
      expect(found, type).toEqual(listed.filter(({ version }) => version !== '0'))
      expect(found.length, type).toBeGreaterThan(0)
    }
  })

  it('`asset_type` has the balances of holders before and after', async () => {
    const entries = await entriesOf(`asset_type=${encodeURIComponent(COIN)}`)
    expect(entries.length).toBeGreaterThan(10)
    const held = new Map<string, bigint>()
    for (const { version, changes } of entries) {
      for (const one of changes) {
        expect(BigInt(one.after) - BigInt(one.before), version).toBe(BigInt(one.change))
        const had = held.get(one.owner_address)
        if (had !== undefined) expect(BigInt(one.before), version).toBe(had)
        held.set(one.owner_address, BigInt(one.after))
      }
    }
    const storeOf = `resource/${encodeURIComponent(`0x1::coin::CoinStore<${COIN}>`)}`
    for (const [owner, amount] of someOf(held, 20)) {
      const store = await read(`accounts/${owner}/${storeOf}`).catch(() => ({ data: { coin: { value: '0' } } }))
      expect(store.data.coin.value, owner).toBe(String(amount))
    }
  })
})
