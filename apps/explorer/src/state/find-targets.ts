import type { Resource } from '../api/answers.ts'
import { assetFactsPath, resourceToAssetFacts } from '../api/asset.ts'
import { type ApiRequest, ask, askText } from '../api/client.ts'
import type { StateHead } from '../api/state-head.ts'
import { groupDigits } from './amount.ts'
import { loadLedgerNames } from './ledger-names.ts'
import { type Candidate, type Target, textToCandidates } from './target.ts'

/** Known facts of the ledger, before a search asks the node. */
export interface SearchContext {
  /** The state that the page shows; undefined for the latest. */
  readonly at: string | undefined
  readonly head: StateHead | undefined
  /** Time in microseconds; undefined if the oldest block has none. */
  readonly oldestTimestampUsec: string | undefined
}

/** Result of a search. */
export interface Found {
  readonly targets: readonly Target[]
  /** Searched items that do not exist, in words for people. */
  readonly missing: readonly string[]
}

const NOTHING: Found = { targets: [], missing: [] }
/** Most targets of one name. A longer text finds the others. */
const MOST_NAMED = 8

/**
 * Looks up the possible meanings of a text. It takes at most seven small requests for an address, 22 for a word, and
 * fewer for others.
 * @throws only if it was aborted
 */
export async function findTargets(text: string, context: SearchContext, signal: AbortSignal): Promise<Found> {
  const candidates = textToCandidates(text)
  const all = await Promise.all(candidates.map((candidate) => find(candidate, context, signal)))
  return { targets: all.flatMap(({ targets }) => targets), missing: all.flatMap(({ missing }) => missing) }
}

async function find(candidate: Candidate, context: SearchContext, signal: AbortSignal): Promise<Found> {
  switch (candidate.kind) {
    case 'address':
      return await findAddress(candidate.address, context, signal)
    case 'version':
      return findVersion(candidate.version, context)
    case 'height':
      return findHeight(candidate.height, context)
    case 'time':
      return findTime(candidate.time, context)
    case 'module': {
      const { address, module } = candidate
      const path = `/accounts/${address}/module/${module}`
      const isThere = 'value' in (await askText({ path, at: context.at }, signal))
      if (!isThere) return missing(`There is no module ${address}::${module} in this state.`)
      return found({ label: `module ${address}::${module}`, view: { name: 'module', address, module } })
    }
    case 'type':
      return await findType(candidate, context, signal)
    case 'word':
      return await findWord(candidate.word, context, signal)
  }
}

async function findAddress(address: string, { at }: SearchContext, signal: AbortSignal): Promise<Found> {
  const account = `/accounts/${address}`
  const has = async (request: ApiRequest, isEmpty: (text: string) => boolean): Promise<boolean> => {
    const result = await askText({ ...request, at }, signal)
    return 'value' in result && !isEmpty(result.value)
  }
  const isEmptyList = (text: string) => text === '[]'
  const [facts, isObject, hasResources, hasModules, hasBalance, isTable] = await Promise.all([
    ask<Resource>({ path: assetFactsPath(address), at }, signal),
    has({ path: `${account}/resource/0x1::object::ObjectCore` }, () => false),
    has({ path: `${account}/resources?limit=1` }, isEmptyList),
    has({ path: `${account}/modules?limit=1` }, isEmptyList),
    has({ path: `${account}/balance/0xa` }, (text) => text === '0'),
    has({ path: `/tables/${address}/items?limit=1` }, (text) => text.includes('"items":[]')),
  ])
  const targets: Target[] = []
  if ('value' in facts) {
    const { name, symbol } = resourceToAssetFacts(facts.value)
    targets.push({
      label: `asset ${name} (${symbol}) ${address}`,
      view: { name: 'asset', asset: address },
    })
  } else if (isObject) {
    targets.push({ label: `object ${address}`, view: { name: 'account', address, tab: 'resources' } })
  }
  if (hasResources || hasModules || hasBalance) {
    const tab = !hasModules || hasBalance ? 'balances' : 'modules'
    targets.push({ label: `account ${address}`, view: { name: 'account', address, tab } })
  }
  if (isTable) targets.push({ label: `table ${address}`, view: { name: 'table', handle: address, types: {} } })
  if (targets.length > 0) return { targets, missing: [] }
  return missing(`This state has no account, object, asset or table ${address}.`)
}

function findVersion(version: string, { head }: SearchContext): Found {
  const state = { label: `the state at version ${groupDigits(version)}`, at: version }
  const block = {
    label: `the block of version ${groupDigits(version)}`,
    view: { name: 'block', by: 'version', number: version },
  } as const
  if (!head) return found(state, block)
  const near = nearest(version, head.oldestVersion, head.version)
  if (near === version) return found(state, block)
  return {
    targets: [{ label: `the state at version ${groupDigits(near)}, the nearest that is kept`, at: near }],
    missing: [`Version ${groupDigits(version)} is not kept: ${range(head.oldestVersion, head.version)} are.`],
  }
}

function findHeight(height: string, { head }: SearchContext): Found {
  const block = (number: string, more = ''): Target => ({
    label: `block ${groupDigits(number)}${more}`,
    view: { name: 'block', by: 'height', number },
  })
  if (!head) return found(block(height))
  const near = nearest(height, head.oldestHeight, head.height)
  if (near === height) return found(block(height))
  return {
    targets: [block(near, ', the nearest that is kept')],
    missing: [`Block ${groupDigits(height)} is not kept: ${range(head.oldestHeight, head.height)} are.`],
  }
}

function findTime(time: string, { head, oldestTimestampUsec }: SearchContext): Found {
  const usec = String(BigInt(Date.parse(time)) * 1_000n)
  const isTooOld = oldestTimestampUsec !== undefined && BigInt(usec) < BigInt(oldestTimestampUsec)
  if (!head || (!isTooOld && BigInt(usec) <= BigInt(head.timestampUsec))) {
    return found({ label: `the state at ${time}`, at: time })
  }
  const near = isTooOld ? head.oldestVersion : head.version
  const nearTime = usecToTime(isTooOld ? oldestTimestampUsec : head.timestampUsec)
  return {
    targets: [
      { label: `the state at version ${groupDigits(near)}, of ${nearTime}, the nearest that is kept`, at: near },
    ],
    missing: [`Nothing is kept of ${time}: ${isTooOld ? 'the oldest' : 'the newest'} block is of ${nearTime}.`],
  }
}

async function findType(
  { address, module, type }: Candidate & { kind: 'type' },
  { at }: SearchContext,
  signal: AbortSignal,
): Promise<Found> {
  const [resource, declaring] = await Promise.all([
    askText({ path: `/accounts/${address}/resource/${encodeURIComponent(type)}`, at }, signal),
    askText({ path: `/accounts/${address}/module/${module}`, at }, signal),
  ])
  const targets: Target[] = []
  if ('value' in declaring) {
    const label = `module ${address}::${module}, which declares it`
    targets.push({ label, view: { name: 'module', address, module } })
  }
  if ('value' in resource) {
    targets.push({ label: `the resource ${type} of ${address}`, view: { name: 'resource', address, type } })
  }
  return targets.length > 0 ? { targets, missing: [] } : missing(`This state has no module ${address}::${module}.`)
}

async function findWord(word: string, { at, head }: SearchContext, signal: AbortSignal): Promise<Found> {
  const { assets, resources } = await loadLedgerNames({ at, chainId: head?.chainId }, signal)
  const lower = word.toLowerCase()
  const has = (text: string) => text.toLowerCase().includes(lower)
  const ofAssets = assets
    .filter(({ asset, name, symbol }) => has(symbol) || has(name) || (asset.includes('::') && has(asset)))
    .map(({ asset, name, symbol }): Target => {
      return {
        label: `asset ${name} (${symbol}) ${asset}`,
        view: { name: 'asset', asset },
      }
    })
  const ofTypes = resources
    .filter(({ type }) => has(type))
    .map(({ type, address }): Target => {
      return { label: `the resource ${type} of ${address}`, view: { name: 'resource', address, type } }
    })
  const targets = [...ofAssets.slice(0, MOST_NAMED), ...ofTypes.slice(0, MOST_NAMED)]
  if (targets.length > 0) return { targets, missing: [] }
  return missing(
    `No asset and no resource type that this page knows of is called “${word}”. An address finds the rest.`,
  )
}

function found(...targets: readonly Target[]): Found {
  return { targets, missing: [] }
}

function missing(text: string): Found {
  return { ...NOTHING, missing: [text] }
}

/** `value`, or the nearest end of the range; all are decimal. */
function nearest(value: string, least: string, most: string): string {
  return BigInt(value) < BigInt(least) ? least : BigInt(value) > BigInt(most) ? most : value
}

function range(least: string, most: string): string {
  return `${groupDigits(least)} to ${groupDigits(most)}`
}

function usecToTime(usec: string): string {
  return new Date(Number(BigInt(usec) / 1_000n)).toISOString().replace('.000Z', 'Z')
}
