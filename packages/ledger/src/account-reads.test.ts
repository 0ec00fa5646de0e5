import { atOnce, bytesToHex, isLedgerStateError, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine, type StateReader, type StateView } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { writeModule } from '@ledger-state/move-module'
import { overriding } from '@ledger-state/testing/overriding'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import {
  accountKeyPrefix,
  decodeStateKey,
  moduleKey,
  parseStructTag,
  resourceKey,
  type StateKey,
  typeTagToText,
} from '@ledger-state/type-tag'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { engineOf } from '../testing/engine-of.ts'
import {
  blockByHeight,
  blockByVersion,
  type Ledger,
  type Listing,
  type ListOptions,
  listAccountModules,
  listResources,
  readAccount,
  readAccountModule,
  readResource,
} from './index.js'
import { createLedger } from './state/create-ledger.js'

/** Reads all items of a listing in pages of `limit` keys. */
function readInPages<T>(limit: number, list: (options: ListOptions) => Listing<T>): { items: T[]; pages: number } {
  const items: T[] = []
  let start: Uint8Array | undefined
  let pages = 0
  do {
    const page: Listing<T> = list({ start, limit })
    items.push(...page)
    start = page.cursor
    pages++
  } while (start !== undefined)
  return { items, pages }
}

/** Result of a read, or the code of the error with which it refuses. */
function outcome<T>(read: () => T): T | string {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error)) return error.code
    throw error
  }
}

const RUNS = { numRuns: isSlowRun ? 100 : 15 }

const SOURCES = {
  'the account fixture': { file: 'conformance/account-fixture.ndjson.gz', window: 301n },
  'the genesis of mainnet': { file: 'data/genesis/mainnet.genesis.blob', window: 1n },
  'the genesis of devnet': { file: 'data/genesis/devnet.genesis.blob', window: 1n },
} as const

describe.skipIf(!hasSharedData).each(Object.entries(SOURCES))('account reads of %s', (_, { file, window }) => {
  const engine = createMemoryEngine()
  let ledger: Ledger
  let addresses: string[]

  beforeAll(async () => {
    const source = await openSource(sharedPath(file))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    await engine.prune(window)
    ledger = createLedger(engine)
    const owners = new Set(['0xbeef'])
    for (const { key } of engine.at().scan(new Uint8Array(0))) {
      const decoded = decodeStateKey(key)
      if ('address' in decoded) owners.add(bytesToHex(decoded.address))
    }
    addresses = [...owners]
  })

  /** An address, and a version of the window. */
  const place = () =>
    fc.record({
      address: fc.constantFrom(...addresses).map((text) => parseAddress(text)),
      version: fc.bigInt(ledger.info!.oldestVersion, ledger.info!.latestVersion),
    })

  const keysOf = (view: StateView, address: Uint8Array): StateKey[] =>
    Array.from(view.scan(accountKeyPrefix(address)), ({ key }) => decodeStateKey(key))

  it('list the modules and resources, including those in groups, that a scan of all keys finds', () => {
    fc.assert(
      fc.property(place(), ({ address, version }) => {
        const view = engine.at(version)
        const state = ledger.at(version)
        const keys = keysOf(view, address)
        const names = Array.from(listAccountModules(state, address), ({ name }) => name)
        expect(names).toEqual(keys.flatMap((key) => (key.kind === 'module' ? [key.name] : [])))

        const listed = Array.from(listResources(state, address), ({ tag }) => typeTagToText(tag))
        expect(new Set(listed).size).toBe(listed.length)
        const plain = keys.flatMap((key) => (key.kind === 'resource' ? [typeTagToText(key.tag)] : []))
        expect(listed.filter((text) => plain.includes(text))).toEqual(plain)
        const groups = keys.flatMap((key) => (key.kind === 'resourceGroup' ? [typeTagToText(key.tag)] : []))
        expect(listed.filter((text) => groups.includes(text))).toEqual([])
      }),
      RUNS,
    )
  })

  it('list the same in pages of any size', () => {
    fc.assert(
      fc.property(place(), fc.integer({ min: 1, max: 12 }), ({ address, version }, limit) => {
        const state = ledger.at(version)
        const keys = keysOf(engine.at(version), address)
        const modules = keys.filter(({ kind }) => kind === 'module').length
        const pagesOf = (count: number) => Math.max(1, Math.ceil(count / limit))

        const resourcePages = readInPages(limit, (options) => listResources(state, address, options))
        const shape = ({ tag, bytes }: (typeof resourcePages.items)[number]) => [typeTagToText(tag), bytesToHex(bytes)]
        expect(resourcePages.items.map(shape)).toEqual(Array.from(listResources(state, address), shape))
        expect(resourcePages.pages).toBe(pagesOf(keys.length - modules))

        const modulePages = readInPages(limit, (options) => listAccountModules(state, address, options))
        expect(modulePages.items).toEqual([...listAccountModules(state, address)])
        expect(modulePages.pages).toBe(pagesOf(modules))
      }),
      RUNS,
    )
  })

  it('list the same values as single reads', () => {
    fc.assert(
      fc.property(place(), ({ address, version }) => {
        const state = ledger.at(version)
        for (const listed of listResources(state, address)) {
          const single = readResource(state, address, listed.tag)
          expect(bytesToHex(single.bytes)).toBe(bytesToHex(listed.bytes))
          expect(outcome(() => single.toJson())).toEqual(outcome(() => listed.toJson()))
          expect(outcome(() => new TextDecoder().decode(atOnce(single.toJsonUtf8InSteps())))).toEqual(
            outcome(() => listed.toJson()),
          )
        }
        for (const module of listAccountModules(state, address))
          expect(readAccountModule(state, address, module.name)).toEqual(module)
      }),
      RUNS,
    )
  })

  it('tell the fields of an account as its resource does', () => {
    const ACCOUNT = parseStructTag('0x1::account::Account')
    fc.assert(
      fc.property(place(), ({ address, version }) => {
        const state = ledger.at(version)
        const resource = outcome(() => readResource(state, address, ACCOUNT))
        const account = outcome(() => readAccount(state, address))
        if (typeof account === 'string') {
          expect([account, resource]).toEqual(['account_not_found', 'resource_not_found'])
          return
        }
        if (typeof resource === 'string') {
          expect(account.readFields()).toEqual({ sequenceNumber: 0n, authenticationKey: address })
          return
        }
        expect(account.bytes).toEqual(resource.bytes)
        const fields = account.readFields()
        expect(JSON.parse(resource.toJson())).toMatchObject({
          authentication_key: bytesToHex(fields.authenticationKey),
          sequence_number: String(fields.sequenceNumber),
        })
      }),
      RUNS,
    )
  })

  it('tell the same block of a height and of each of its versions', () => {
    const { oldestBlock, latestBlock, oldestVersion, latestVersion } = ledger.info!
    const state = ledger.at()
    let next = oldestVersion
    for (let height = oldestBlock.height; height <= latestBlock.height; height++) {
      const block = blockByHeight(state, height)
      expect([block.height, block.firstVersion]).toEqual([height, next])
      expect(blockByVersion(state, block.firstVersion)).toEqual(block)
      expect(blockByVersion(state, block.lastVersion)).toEqual(block)
      next = block.lastVersion + 1n
    }
    expect(next).toBe(latestVersion + 1n)
    expect(outcome(() => blockByHeight(state, latestBlock.height + 1n))).toBe('block_not_found')
    expect(outcome(() => blockByVersion(state, latestVersion + 1n))).toBe('version_not_found')
    if (oldestVersion === 0n) return
    expect(outcome(() => blockByHeight(state, oldestBlock.height - 1n))).toBe('block_pruned')
    expect(outcome(() => blockByVersion(state, oldestVersion - 1n))).toBe('version_pruned')
  })
})

describe('a page of a listing', () => {
  const HOME = parseAddress('0xcafe')
  const marker = (at: number): Write => [resourceKey(HOME, parseStructTag(`0x1::m::Marker${at}`)), Uint8Array.of(0)]

  it('reads only the entries that it shows, wherever it starts, even between kinds that alternate', async () => {
    // Modules and resources, alternating, with paths of the same lengths.
    const modules = Array.from({ length: 500 }, (_, at): Write => {
      return [moduleKey(HOME, `module_with_a_name_as_long_as_a_type${at}`), Uint8Array.of(0)]
    })
    const resources = Array.from({ length: 500 }, (_, at) => marker(at))
    const engine = await engineOf([...modules, ...resources])
    let reads = 0
    const counting = overriding<StateReader>(engine, {
      at(version) {
        const view = engine.at(version)
        return overriding<StateView>(view, {
          *scan(...args) {
            for (const entry of view.scan(...args)) {
              reads++
              yield entry
            }
          },
        })
      },
    })
    const state = createLedger(counting).at()
    const cost = (list: () => Listing<unknown>) => {
      reads = 0
      const page = list()
      expect([...page]).toHaveLength(10)
      return reads
    }
    // Modules come first among the paths of each length; there are three lengths.
    const first = cost(() => listResources(state, HOME, { limit: 10 }))
    expect(first).toBeLessThanOrEqual(10 + 1 + 3)
    const last = marker(400)[0]
    expect(cost(() => listResources(state, HOME, { start: last, limit: 10 }))).toBeLessThanOrEqual(10 + 1)
    expect(cost(() => listAccountModules(state, HOME, { limit: 10 }))).toBeLessThanOrEqual(10 + 1 + 3)
  })

  it('is empty for a cursor of another account, and begins after a key that is gone', async () => {
    const state = createLedger(await engineOf([marker(1), marker(3)])).at()
    const names = (start: Uint8Array) => Array.from(listResources(state, HOME, { start }), ({ tag }) => tag.name)
    expect(names(marker(2)[0])).toEqual(['Marker3'])
    expect(names(resourceKey(parseAddress('0x1'), parseStructTag('0x1::m::Marker1')))).toEqual([])
    expect(names(resourceKey(parseAddress('0xffff'), parseStructTag('0x1::m::Marker1')))).toEqual([])
  })

  it('is pruned if the pruner passes the version between two items, never torn', async () => {
    const writes = [marker(1), marker(2)]
    const engine = await engineOf(writes, writes, writes)
    const page = listResources(createLedger(engine).at(0n), HOME)
    const items = page[Symbol.iterator]()
    expect(items.next().done).toBe(false)
    await engine.prune(1n)
    expect(() => items.next()).toThrow(expect.objectContaining({ code: 'version_pruned' }))
  })
})

describe('a module of an account', () => {
  it('has its ABI, and none if its bytes are not a module', async () => {
    const HOME = parseAddress('0xcafe')
    const module = writeModule({ version: 7, address: HOME, name: 'good', structs: [] })
    const writes: Write[] = [
      [moduleKey(HOME, 'good'), module],
      [moduleKey(HOME, 'cut_short'), module.subarray(0, module.length - 1)],
      [moduleKey(HOME, 'junk'), Uint8Array.of(0xa1, 0x1c, 0xeb, 0x0b)],
    ]
    const state = createLedger(await engineOf(writes)).at()
    expect(Array.from(listAccountModules(state, HOME), (one) => [one.name, one.readAbi()?.name])).toEqual([
      ['good', 'good'],
      ['junk', undefined],
      ['cut_short', undefined],
    ])
    expect(outcome(() => readAccountModule(state, HOME, 'none'))).toBe('account_module_not_found')
  })
})
