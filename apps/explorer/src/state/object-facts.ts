import type { Resource } from '../api/answers.ts'
import { resourceToAssetFacts } from '../api/asset.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import { formatAmount } from './amount.ts'
import { limitOf } from './limit-of.ts'
import { memberOf } from './member-of.ts'

/** One fact about an object, as a line. */
export interface ObjectFact {
  readonly name: string
  /** Text by the maker of the object, or an amount. */
  readonly text?: string
  readonly address?: string
}

/** Facts about an object from the resources at its address. */
export interface ObjectFacts {
  readonly kind: 'fungible asset' | 'collection' | 'token' | 'object'
  /** Name that its maker gave it; undefined if it has none. */
  readonly title: string | undefined
  readonly facts: readonly ObjectFact[]
}

type Data = Readonly<Record<string, unknown>>

/** Length at which texts are cut. They are written by issuers, and shown as text. */
const LONGEST_TEXT = 300

/** Facts about an address, which are undefined if it is not an object, or a failure to read them that may pass. */
export type LoadedFacts = { readonly facts: ObjectFacts | undefined } | { readonly failure: Failure }

/**
 * Asks for the resources that make an address an asset, a collection or a token, with ten small requests.
 * @throws only if it was aborted
 */
export async function loadObjectFacts(
  address: string,
  at: string | undefined,
  signal: AbortSignal,
): Promise<LoadedFacts> {
  let failure: Failure | undefined
  const read = async (type: string): Promise<Data | undefined> => {
    const path = `/accounts/${encodeURIComponent(address)}/resource/${encodeURIComponent(type)}`
    const result = await ask<Resource>({ path, at }, signal)
    if ('value' in result) return result.value.data as Data
    if (result.failure.retryAfterMs !== undefined) failure ??= result.failure
    return undefined
  }
  const facts = await readFacts(read)
  return failure ? { failure } : { facts }
}

async function readFacts(read: (type: string) => Promise<Data | undefined>): Promise<ObjectFacts | undefined> {
  const [core, metadata, collection, token, identifiers] = await Promise.all(
    [
      '0x1::object::ObjectCore',
      '0x1::fungible_asset::Metadata',
      '0x4::collection::Collection',
      '0x4::token::Token',
      '0x4::token::TokenIdentifiers',
    ].map(read),
  )
  const ofCore: ObjectFact[] = core
    ? [
        { name: 'owner', address: textOf(core.owner) },
        { name: 'transfers by its owner', text: core.allow_ungated_transfer === true ? 'allowed' : 'not allowed' },
      ]
    : []
  if (metadata) {
    const { name, symbol, decimals } = resourceToAssetFacts({ data: metadata })
    const [concurrent, plain] = await Promise.all(
      ['0x1::fungible_asset::ConcurrentSupply', '0x1::fungible_asset::Supply'].map(read),
    )
    const counted = memberOf(concurrent, ['current', 'value']) ?? memberOf(plain, ['current'])
    const facts = [
      { name: 'symbol', text: symbol },
      { name: 'decimals', text: String(decimals) },
      ...given('supply', counted && formatAmount(counted, decimals)),
      ...given('icon', metadata.icon_uri),
      ...given('project', metadata.project_uri),
      ...ofCore,
    ]
    return { kind: 'fungible asset', title: name || undefined, facts }
  }
  if (collection) {
    const [fixed, unlimited, concurrent] = await Promise.all(
      ['FixedSupply', 'UnlimitedSupply', 'ConcurrentSupply'].map((name) => read(`0x4::collection::${name}`)),
    )
    const counted =
      memberOf(concurrent, ['current_supply', 'value']) ?? memberOf(fixed ?? unlimited, ['current_supply'])
    const most = memberOf(fixed, ['max_supply']) ?? memberOf(concurrent, ['current_supply', 'max_value'])
    const facts = [
      { name: 'creator', address: textOf(collection.creator) },
      ...given('tokens', counted),
      ...given('at most', limitOf(most)),
      ...given('description', collection.description),
      ...given('URI', collection.uri),
      ...ofCore,
    ]
    return { kind: 'collection', title: textOf(collection.name) || undefined, facts }
  }
  if (token) {
    const title = memberOf(identifiers, ['name', 'value']) ?? textOf(token.name)
    const facts = [
      { name: 'collection', address: memberOf(token, ['collection', 'inner']) ?? '' },
      ...given('description', token.description),
      ...given('URI', token.uri),
      ...ofCore,
    ]
    return { kind: 'token', title: title || undefined, facts }
  }
  return core && { kind: 'object', title: undefined, facts: ofCore }
}

function given(name: string, value: unknown): readonly ObjectFact[] {
  const text = textOf(value)
  return text === '' ? [] : [{ name, text }]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, LONGEST_TEXT) : ''
}
