import type { Resource, TypeUse } from '../api/answers.ts'
import { type AssetFacts, isCoin, issuerOf, KNOWN_ASSETS, resourceToAssetFacts } from '../api/asset.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import { cursorToAddressPart } from './address-part.ts'
import { loadModules, type NamedModule } from './ledger-modules.ts'
import { memberOf } from './member-of.ts'
import { holdersIn, readResources, type Searched, searchUses } from './type-uses.ts'

/** An asset of the ledger, with the name and symbol that its issuer wrote. */
export interface NamedAsset {
  /** Coin type, or address of a fungible asset. */
  readonly asset: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  /** The account or object that holds its facts. */
  readonly issuer: string
}

/** A collection or a token, with the name that its maker wrote. */
export interface NamedObject {
  readonly kind: 'collection' | 'token'
  readonly address: string
  readonly name: string
}

/** Names that people may search for. */
export interface LedgerNames {
  readonly assets: readonly NamedAsset[]
  readonly objects: readonly NamedObject[]
  readonly modules: readonly NamedModule[]
  /** Addresses of accounts. */
  readonly accounts: readonly string[]
  /** Resources of the framework and of the publishers. */
  readonly resources: readonly { readonly address: string; readonly type: string }[]
  readonly extent: NamesExtent
}

/** How far the search for the names went. */
export interface NamesExtent {
  /** The part of all addresses that was searched, from 0 to 1. */
  readonly part: number
  /** Kinds of names, in the plural, that have more within this part than were loaded. */
  readonly cut: readonly string[]
  /** Whether the node did not answer some of the requests. */
  readonly hasFailed: boolean
}

export interface Place {
  readonly at: string | undefined
  readonly chainId: string | undefined
}

/** Length at which names are cut: issuers write them. */
const LONGEST_NAME = 60
/** Id of the chain with `KNOWN_ASSETS`. */
const MAINNET = '1'
const FRAMEWORK = '0x1'
const COIN_INFO = '0x1::coin::CoinInfo'
const METADATA = '0x1::fungible_asset::Metadata'
const PACKAGES = '0x1::code::PackageRegistry'
const COLLECTION = '0x4::collection::Collection'
const TOKEN = '0x4::token::Token'
const COIN_OF_INFO = /^0x1::coin::CoinInfo<(.+)>$/
/** Pages of the listing of each type. A page looks at 1,000 state keys. */
const MOST_PAGES = 10
/** Most names of a kind, in the order of their addresses. */
const MOST_ASSETS = 1_000
const MOST_OBJECTS = 2_000
const MOST_PUBLISHERS = 100
const MOST_RESOURCES = 200
/** Accounts whose modules are loaded at the same time. */
const WIDTH = 8

/**
 * Loads names of assets, collections and tokens from searches for their facts, addresses of accounts in the same way,
 * and modules and types of resources at the publishers that these searches find. Each request is bounded by the node,
 * and their number by the limits above; the extent names the parts beyond them.
 * @throws only if it was aborted
 */
export async function loadLedgerNames(place: Place, signal: AbortSignal): Promise<LedgerNames> {
  const search = (type: string) => searchUses(type, place, MOST_PAGES, signal)
  const types = [COIN_INFO, METADATA, COLLECTION, TOKEN, '0x1::account::Account', PACKAGES, '0x1::string::String']
  const searches = await Promise.all(types.map(search))
  const [coins, fungible, collections, tokens, accounts, packages, strings] = searches as Searches
  const [assets, objects] = await Promise.all([
    nameAssets(assetsIn(coins, fungible, place), MOST_ASSETS, place, signal),
    nameObjects(collections, tokens, place, signal),
  ])
  const declaring = [packages, strings, fungible].flatMap(({ items }) => items.flatMap(publisherIn))
  const issuers = assets.items.flatMap(({ asset, issuer }) => (isCoin(asset) ? issuer : []))
  const publishers = [...new Set([FRAMEWORK, ...issuers, ...declaring])]
  const loaded = await inTurns(publishers.slice(0, MOST_PUBLISHERS), async (address) => {
    const [types, modules] = await Promise.all([loadTypes(address, place, signal), loadModules(address, place, signal)])
    return { types, modules }
  })
  const cut = [
    ...(assets.isCut ? ['assets'] : []),
    ...(objects.isCut ? ['tokens'] : []),
    ...(publishers.length > MOST_PUBLISHERS || loaded.some(({ modules }) => modules.isCut) ? ['modules'] : []),
    ...(loaded.some(({ types }) => types.isCut) ? ['resource types'] : []),
  ]
  return {
    assets: assets.items,
    objects: objects.items,
    accounts: holdersIn(accounts.items),
    resources: loaded.flatMap(({ types }) => types.items),
    modules: loaded.flatMap(({ modules }) => modules.items),
    extent: {
      part: Math.min(...searches.map(partOf)),
      cut,
      hasFailed: [searches, assets, objects, loaded.flatMap(({ types, modules }) => [types, modules])]
        .flat()
        .some(({ failure }) => failure !== undefined),
    },
  }
}

type Uses = Searched<TypeUse>
type Searches = [Uses, Uses, Uses, Uses, Uses, Uses, Uses]

function partOf({ cursor, failure }: Uses): number {
  return cursor === undefined && !failure ? 1 : cursorToAddressPart(cursor)
}

/** The address of a use, if modules are published there. */
function publisherIn(use: TypeUse): readonly string[] {
  const isPublisher = 'module' in use && use.module !== undefined
  return isPublisher || ('resource' in use && use.resource === PACKAGES) ? [use.address] : []
}

/** Results of work on each item, a few at a time. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  for (let first = 0; first < items.length; first += WIDTH) {
    results.push(...(await Promise.all(items.slice(first, first + WIDTH).map(work))))
  }
  return results
}

interface Named<T> {
  readonly items: readonly T[]
  /** Whether there are more than were loaded. */
  readonly isCut: boolean
  /** Why some are not known. */
  readonly failure: Failure | undefined
}

/** Collections and tokens with their names. */
async function nameObjects(
  collections: Uses,
  tokens: Uses,
  place: Place,
  signal: AbortSignal,
): Promise<Named<NamedObject>> {
  const found = [
    ...holdersIn(collections.items).map((address) => ({ address, kind: 'collection' as const, types: [COLLECTION] })),
    ...holdersIn(tokens.items).map((address) => {
      return { address, kind: 'token' as const, types: [TOKEN, '0x4::token::TokenIdentifiers'] }
    }),
  ]
  const read = found
    .slice(0, MOST_OBJECTS)
    .flatMap(({ address, kind, types }) => types.map((type) => ({ address, kind, type })))
  const { data, failure } = await readResources(read, place, signal)
  const items = read.flatMap(({ address, kind }, at): readonly NamedObject[] => {
    const name = memberOf(data[at], ['name', 'value']) ?? memberOf(data[at], ['name'])
    return name ? [{ kind, address, name: name.slice(0, LONGEST_NAME) }] : []
  })
  return { items, isCut: found.length > MOST_OBJECTS, failure }
}

/** Most assets of `loadAssets`: enough for a list that a visitor begins with. */
const FIRST_ASSETS = 12

/** Assets that a few requests found. */
export interface FoundAssets {
  readonly assets: readonly NamedAsset[]
  /** Why some are not known: a failure that may pass, if there is one. */
  readonly failure: Failure | undefined
}

/**
 * The first assets, in the order of their addresses, that are found without a search of the whole ledger.
 * @throws only if it was aborted
 */
export async function loadAssets(place: Place, signal: AbortSignal): Promise<FoundAssets> {
  const [coins, fungible] = await Promise.all([COIN_INFO, METADATA].map((type) => searchUses(type, place, 1, signal)))
  const named = await nameAssets(assetsIn(coins!, fungible!, place), FIRST_ASSETS, place, signal)
  const failures = [coins!, fungible!, named].flatMap(({ failure }) => failure ?? [])
  return {
    assets: named.items,
    failure: failures.find(({ retryAfterMs }) => retryAfterMs !== undefined) ?? failures[0],
  }
}

function assetsIn(coins: Uses, fungible: Uses, { chainId }: Place): readonly string[] {
  const found = [
    ...(chainId === MAINNET ? KNOWN_ASSETS.map(({ asset }) => asset) : []),
    ...coins.items.flatMap((use) => ('resource' in use ? (COIN_OF_INFO.exec(use.resource ?? '')?.[1] ?? []) : [])),
    ...holdersIn(fungible.items),
  ]
  return [...new Set(found)]
}

async function nameAssets(
  assets: readonly string[],
  most: number,
  place: Place,
  signal: AbortSignal,
): Promise<Named<NamedAsset>> {
  const first = assets.slice(0, most)
  const places = first.map((asset) => {
    return { address: issuerOf(asset), type: isCoin(asset) ? `${COIN_INFO}<${asset}>` : METADATA }
  })
  const { data, failure } = await readResources(places, place, signal)
  const items = first.flatMap((asset, at): readonly NamedAsset[] => {
    const facts = data[at]
    if (facts === undefined) return []
    return [{ asset, issuer: issuerOf(asset), ...resourceToAssetFacts({ data: facts as Partial<AssetFacts> }) }]
  })
  return { items, isCut: assets.length > most, failure }
}

async function loadTypes(
  address: string,
  { at }: Place,
  signal: AbortSignal,
): Promise<Named<LedgerNames['resources'][number]>> {
  const result = await ask<readonly Resource[]>(
    { path: `/accounts/${address}/resources?limit=${MOST_RESOURCES}`, at },
    signal,
  )
  if ('failure' in result) {
    // An account with modules may have no resources.
    const failure = result.failure.retryAfterMs === undefined ? undefined : result.failure
    return { items: [], isCut: false, failure }
  }
  const items = result.value.map(({ type }) => ({ address, type }))
  return { items, isCut: result.answer.cursor !== undefined, failure: undefined }
}
