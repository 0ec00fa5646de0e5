import type { Account, Block, Resource, TablePage, TypeUsesPage } from '../api/answers.ts'
import { ask, type Result } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import type { StateHead } from '../api/state-head.ts'
import { loadAssets, type NamedAsset } from './ledger-names.ts'
import { memberOf } from './member-of.ts'
import { holdersIn } from './type-uses.ts'
import { untilAnswered } from './until-answered.ts'

/** Places of interest on this ledger, as far as a few requests show them. */
export interface LedgerSights {
  /** Accounts; those that changed last come first. */
  readonly accounts: readonly SightedAccount[]
  /** Number of versions that count as recent. */
  readonly recent: bigint
  readonly tables: readonly SightedTable[]
  /** The newest blocks, the newest first. */
  readonly blocks: readonly Block[]
  readonly assets: readonly SightedAsset[]
}

export interface SightedAccount {
  readonly address: string
  /** Number of changes of the account's holdings within the recent versions; at most `MOST_CHANGES` are counted. */
  readonly changes: number
  /** Whether there are more changes than that. */
  readonly hasMore: boolean
  /** Number of transactions that the account has sent. */
  readonly sent: string
}

export interface SightedTable {
  readonly handle: string
  readonly holder: string
  /** Member of a resource that holds the table, such as `0x2::shop::Shop.prices`. */
  readonly member: string
}

export interface SightedAsset extends NamedAsset {
  /** Supply in the smallest unit; undefined if the ledger does not have it. */
  readonly supply: string | undefined
}

/** Most versions that count as recent. */
const RECENT_VERSIONS = 1_000n
const MOST_ACCOUNTS = 8
const MOST_HOLDERS = 4
const MOST_TABLES = 6
const MOST_BLOCKS = 4n
const MOST_CHANGES = 100

/**
 * Asks for accounts, tables, assets and blocks of the newest state, with at most 64 small requests, each bounded by the node.
 * On a large ledger these are only some, in the order of their addresses.
 * @throws only if it was aborted
 */
export async function loadSights(head: StateHead, signal: AbortSignal): Promise<LedgerSights> {
  const [accounts, { tables }, assets, blocks] = await Promise.all([
    loadAccounts(head, signal),
    untilAnswered(() => loadTables(undefined, signal), signal),
    loadSuppliedAssets(head, signal),
    loadBlocks(head, signal),
  ])
  return { accounts, recent: BigInt(head.version) - BigInt(recentFrom(head)), tables, blocks, assets }
}

/** The version before the recent ones. */
function recentFrom(head: StateHead): string {
  const recent = BigInt(head.version) - RECENT_VERSIONS
  return recent > BigInt(head.oldestVersion) ? String(recent) : head.oldestVersion
}

async function loadAccounts(head: StateHead, signal: AbortSignal): Promise<readonly SightedAccount[]> {
  const page = await askPatiently<TypeUsesPage>('/types/0x1::account::Account/uses?limit=24', signal)
  const addresses = 'value' in page ? holdersIn(page.value.uses) : []
  const from = String(BigInt(recentFrom(head)) + 1n)
  const accounts = await Promise.all(
    addresses.slice(0, MOST_ACCOUNTS).map(async (address) => {
      const path = `/accounts/${address}`
      const [account, changes] = await Promise.all([
        askPatiently<Account>(path, signal),
        askPatiently<readonly unknown[]>(`${path}/activities?from=${from}&limit=${MOST_CHANGES}`, signal),
      ])
      return {
        address,
        changes: 'value' in changes ? changes.value.length : 0,
        hasMore: 'value' in changes && changes.answer.cursor !== undefined,
        sent: 'value' in account ? account.value.sequence_number : '0',
      }
    }),
  )
  return accounts.toSorted((a, b) => b.changes - a.changes || Number(BigInt(b.sent) - BigInt(a.sent)))
}

async function loadBlocks(head: StateHead, signal: AbortSignal): Promise<readonly Block[]> {
  const [oldest, newest] = [BigInt(head.oldestHeight), BigInt(head.height)]
  const count = newest - oldest + 1n < MOST_BLOCKS ? newest - oldest + 1n : MOST_BLOCKS
  const asked = await Promise.all(
    Array.from({ length: Number(count) }, (_, at) => {
      return askPatiently<Block>(`/blocks/by_height/${newest - BigInt(at)}`, signal)
    }),
  )
  return asked.flatMap((one) => ('value' in one ? [one.value] : []))
}

/** Asks about the newest state, again while the node is lost or busy. */
function askPatiently<T>(path: string, signal: AbortSignal): Promise<Result<T>> {
  return untilAnswered(() => ask<T>({ path }, signal), signal)
}

/** Tables that a few requests found: some of those whose holders are where their types are declared. */
export interface FoundTables {
  readonly tables: readonly SightedTable[]
  /** Why some tables are not known: a failure that may pass, if there is one. */
  readonly failure: Failure | undefined
}

/** Tables with items, those of the framework last. @throws only if it was aborted */
export async function loadTables(at: string | undefined, signal: AbortSignal): Promise<FoundTables> {
  let failure: Failure | undefined
  const askHere = async <T>(path: string): Promise<Result<T>> => {
    const result = await ask<T>({ path, at }, signal)
    const isFailed = 'failure' in result && result.failure.kind !== 'absent'
    if (isFailed && failure?.retryAfterMs === undefined) failure = result.failure
    return result
  }
  const pages = await Promise.all(
    ['0x1::table::Table', '0x1::smart_table::SmartTable'].map((type) => {
      return askHere<TypeUsesPage>(`/types/${type}/uses?limit=24`)
    }),
  )
  const uses = pages.flatMap((page) => ('value' in page ? page.value.uses : []))
  const places = uses.flatMap((use) => {
    if ('resource' in use && use.resource !== undefined) return [{ address: use.address, type: use.resource }]
    if (!('declarations' in use) || use.declarations === undefined) return []
    return use.declarations.map((name) => ({ address: use.address, type: `${use.address}::${use.module}::${name}` }))
  })
  // The framework's tables exist on every ledger. Other tables interest a visitor more, so they come first.
  const ordered = places.toSorted((a, b) => Number(a.address === '0x1') - Number(b.address === '0x1'))
  const found = await Promise.all(
    ordered.slice(0, MOST_HOLDERS).map(async ({ address, type }) => {
      const result = await askHere<Resource>(`/accounts/${address}/resource/${encodeURIComponent(type)}`)
      if (!('value' in result)) return []
      return handlesIn(result.value.data).map(({ handle, path: member }) => {
        return { handle, holder: address, member: [type, ...member].join('.') }
      })
    }),
  )
  const tables = found.flat().slice(0, MOST_TABLES)
  const isFilled = await Promise.all(
    tables.map(async ({ handle }) => {
      const items = await askHere<TablePage>(`/tables/${handle}/items?limit=1`)
      return 'value' in items && items.value.items.length > 0
    }),
  )
  return {
    tables: tables.filter((_, index) => isFilled[index]),
    failure,
  }
}

/** The tables among the members of a resource: objects with a handle. Exported for its test. */
export function handlesIn(
  value: unknown,
  path: readonly string[] = [],
): readonly { readonly handle: string; readonly path: readonly string[] }[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const { handle } = value as { readonly handle?: unknown }
  if (typeof handle === 'string' && /^0x[0-9a-f]{1,64}$/.test(handle)) return [{ handle, path }]
  return Object.entries(value).flatMap(([name, member]) => handlesIn(member, [...path, name]))
}

async function loadSuppliedAssets(head: StateHead, signal: AbortSignal): Promise<readonly SightedAsset[]> {
  const place = { at: undefined, chainId: head.chainId }
  const { assets } = await untilAnswered(() => loadAssets(place, signal), signal)
  return await Promise.all(assets.map(async (asset) => ({ ...asset, supply: await loadSupply(asset, signal) })))
}

/** The supply in the resources of an asset. A coin may count it in a table item, which is not looked up. */
async function loadSupply({ asset, issuer }: NamedAsset, signal: AbortSignal): Promise<string | undefined> {
  const read = async (type: string): Promise<unknown> => {
    const path = `/accounts/${issuer}/resource/${encodeURIComponent(type)}`
    const result = await askPatiently<Resource>(path, signal)
    return 'value' in result ? result.value.data : undefined
  }
  if (asset.includes('::')) return memberOf(await read(`0x1::coin::CoinInfo<${asset}>`), COIN_SUPPLY)
  const [concurrent, plain] = await Promise.all([
    read('0x1::fungible_asset::ConcurrentSupply'),
    read('0x1::fungible_asset::Supply'),
  ])
  return memberOf(concurrent, ['current', 'value']) ?? memberOf(plain, ['current'])
}

const COIN_SUPPLY = ['supply', 'vec', '0', 'integer', 'vec', '0', 'value']
