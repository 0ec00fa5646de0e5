import type { Resource, ResourcesBatch, TypeUsesPage } from '../api/answers.ts'
import { assetFactsPath, isCoin, KNOWN_ASSETS, resourceToAssetFacts } from '../api/asset.ts'
import { ask } from '../api/client.ts'
import { loadModules, type NamedModule } from './ledger-modules.ts'
import { memberOf } from './member-of.ts'

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
const COIN_INFO = /^0x1::coin::CoinInfo<(.+)>$/
/**
 * Most assets that are loaded, in the order of their addresses. A ledger may have thousands; these are enough to begin
 * with.
 */
const MOST_ASSETS = 12
const MOST_PUBLISHERS = 8
const MOST_RESOURCES = 200
const MOST_OBJECTS = 100
const MOST_ACCOUNTS = 100

/**
 * Loads names of assets, collections and tokens from the first page of each search for their facts, addresses of
 * accounts in the same way, and modules and types of resources at the publishers that these searches find. On a large
 * ledger these are only some. It takes at most 40 requests, each bounded by the node.
 * @throws only if it was aborted
 */
export async function loadLedgerNames(place: Place, signal: AbortSignal): Promise<LedgerNames> {
  const [assets, objects, accounts, declaring] = await Promise.all([
    loadAssets(place, signal),
    loadObjects(place, signal),
    loadHolders('0x1::account::Account', MOST_ACCOUNTS, place, signal),
    loadPublishers(place, signal),
  ])
  const issuers = assets.flatMap(({ asset, issuer }) => (isCoin(asset) ? issuer : []))
  const publishers = [...new Set([FRAMEWORK, ...issuers, ...declaring])].slice(0, MOST_PUBLISHERS)
  const [resources, modules] = await Promise.all([
    Promise.all(publishers.map((address) => loadTypes(address, place, signal))),
    Promise.all(publishers.map((address) => loadModules(address, place, signal))),
  ])
  return { assets, objects, accounts, resources: resources.flat(), modules: modules.flat() }
}

/** Addresses with a resource of a type, from the first page of a search. */
async function loadHolders(type: string, limit: number, { at }: Place, signal: AbortSignal) {
  const result = await ask<TypeUsesPage>({ path: `/types/${type}/uses?limit=${limit}`, at }, signal)
  if (!('value' in result)) return []
  return result.value.uses.flatMap((use) => ('resource' in use && use.resource !== undefined ? use.address : []))
}

/** Addresses with modules that use types which most modules use. */
async function loadPublishers({ at }: Place, signal: AbortSignal): Promise<readonly string[]> {
  const types = ['0x1::string::String', '0x1::fungible_asset::Metadata', '0x1::code::PackageRegistry']
  const pages = await Promise.all(
    types.map((type) => ask<TypeUsesPage>({ path: `/types/${type}/uses?limit=50`, at }, signal)),
  )
  const uses = pages.flatMap((page) => ('value' in page ? page.value.uses : []))
  return uses.flatMap((use) => {
    const isPublisher = 'module' in use && use.module !== undefined
    return isPublisher || ('resource' in use && use.resource === '0x1::code::PackageRegistry') ? use.address : []
  })
}

/** Collections and tokens with their names, which one request reads. */
async function loadObjects(place: Place, signal: AbortSignal): Promise<readonly NamedObject[]> {
  const [collections, tokens] = await Promise.all(
    ['0x4::collection::Collection', '0x4::token::Token'].map((type) => loadHolders(type, MOST_OBJECTS, place, signal)),
  )
  const read = [
    ...collections!.map((address) => ({ address, kind: 'collection' as const, type: '0x4::collection::Collection' })),
    ...tokens!.flatMap((address) =>
      ['0x4::token::Token', '0x4::token::TokenIdentifiers'].map((type) => ({ address, kind: 'token' as const, type })),
    ),
  ]
  if (read.length === 0) return []
  const requests = read.map(({ address, type }) => ({ address, resource_type: type }))
  const request = { path: '/resources:batch', at: place.at, body: JSON.stringify({ requests }) }
  const answer = await ask<ResourcesBatch>(request, signal)
  if (!('value' in answer)) return []
  return read.flatMap(({ address, kind }, at): readonly NamedObject[] => {
    const data = answer.value[at]?.value?.data
    const name = memberOf(data, ['name', 'value']) ?? memberOf(data, ['name'])
    return name ? [{ kind, address, name: name.slice(0, LONGEST_NAME) }] : []
  })
}

/**
 * Assets that are found without a search of the whole ledger.
 * @throws only if it was aborted
 */
export async function loadAssets({ at, chainId }: Place, signal: AbortSignal): Promise<readonly NamedAsset[]> {
  const holders = async (type: string) => {
    const result = await ask<TypeUsesPage>({ path: `/types/${type}/uses?limit=50`, at }, signal)
    return 'value' in result ? result.value.uses : []
  }
  const [coins, fungible] = await Promise.all([
    holders('0x1::coin::CoinInfo'),
    holders('0x1::fungible_asset::Metadata'),
  ])
  const found = [
    ...(chainId === MAINNET ? KNOWN_ASSETS.map(({ asset }) => asset) : []),
    ...coins.flatMap((use) => ('resource' in use ? (COIN_INFO.exec(use.resource ?? '')?.[1] ?? []) : [])),
    ...fungible.flatMap((use) => ('resource' in use && use.resource !== undefined ? use.address : [])),
  ]
  const named = await Promise.all(
    [...new Set(found)].slice(0, MOST_ASSETS).map(async (asset): Promise<NamedAsset | undefined> => {
      const facts = await ask<Resource>({ path: assetFactsPath(asset), at }, signal)
      if (!('value' in facts)) return undefined
      return { asset, issuer: asset.split('::')[0]!, ...resourceToAssetFacts(facts.value) }
    }),
  )
  return named.filter((one) => one !== undefined)
}

async function loadTypes(address: string, { at }: Place, signal: AbortSignal) {
  const result = await ask<readonly Resource[]>(
    { path: `/accounts/${address}/resources?limit=${MOST_RESOURCES}`, at },
    signal,
  )
  return 'value' in result ? result.value.map(({ type }) => ({ address, type })) : []
}
