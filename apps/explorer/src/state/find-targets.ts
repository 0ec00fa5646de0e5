import type { ModuleAnswer, Resource, WholeTransaction } from '../api/answers.ts'
import { assetFactsPath, isCoin, resourceToAssetFacts } from '../api/asset.ts'
import { type ApiRequest, ask, askText, type Result } from '../api/client.ts'
import type { StateHead } from '../api/state-head.ts'
import { groupDigits } from './amount.ts'
import { type NamedFunction, toNamedModule } from './ledger-modules.ts'
import type { NamesExtent } from './ledger-names.ts'
import { rememberedNames } from './remembered-names.ts'
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
  /** Searched items that do not exist, and places that were not searched, in words for people. */
  readonly missing: readonly string[]
}

/** Result of a search for one meaning. */
interface FoundAs extends Found {
  /** Places that were not searched, in words for people. */
  readonly limits?: readonly string[]
}

const NOTHING: Found = { targets: [], missing: [] }
/** Most targets of one name. A longer text finds the others. */
const MOST_NAMED = 8
/** The hash of a transaction; the address of an account may look the same. */
const HASH = /^0x[0-9a-f]{64}$/i
/** Least digits of a part of an address that is looked for. */
const SHORTEST_PART = 4

/**
 * Looks up the possible meanings of a text. It takes at most eight small requests for an address, those of
 * `loadLedgerNames` once for words, and fewer for others.
 * @throws only if it was aborted
 */
export async function findTargets(text: string, context: SearchContext, signal: AbortSignal): Promise<Found> {
  const candidates = textToCandidates(text)
  const all = await Promise.all(candidates.map((candidate) => find(candidate, context, signal)))
  const targets = all.flatMap(({ targets }) => targets)
  // A text may name several things. If it names one, nobody misses the address that it would be, too.
  const missed = all.filter((_, at) => targets.length === 0 || !isByChance(candidates[at]!))
  const limits = new Set(all.flatMap(({ limits = [] }) => limits))
  return { targets, missing: [...missed.flatMap(({ missing }) => missing), ...limits] }
}

function isByChance(candidate: Candidate): boolean {
  return (candidate.kind === 'address' && candidate.isBare === true) || candidate.kind === 'word'
}

async function find(candidate: Candidate, context: SearchContext, signal: AbortSignal): Promise<FoundAs> {
  switch (candidate.kind) {
    case 'address':
      return await findAddress(candidate, context, signal)
    case 'version':
      return findVersion(candidate.version, context)
    case 'height':
      return findHeight(candidate.height, context)
    case 'time':
      return findTime(candidate.time, context)
    case 'module': {
      const { address, module } = candidate
      const path = `/accounts/${address}/module/${module}`
      const result = await askText({ path, at: context.at }, signal)
      if ('failure' in result)
        return missing(whyUnknown([result]) ?? `There is no module ${address}::${module} in this state.`)
      return found({ label: `module ${address}::${module}`, view: { name: 'module', address, module } })
    }
    case 'type':
      return await findType(candidate, context, signal)
    case 'word':
      return await findWord(candidate.word, context, signal)
  }
}

async function findAddress(
  { address, isBare }: Candidate & { kind: 'address' },
  context: SearchContext,
  signal: AbortSignal,
): Promise<FoundAs> {
  const { at } = context
  const account = `/accounts/${address}`
  const results: Result<unknown>[] = []
  const has = async (request: ApiRequest, isEmpty: (text: string) => boolean): Promise<boolean> => {
    const result = await askText({ ...request, at }, signal)
    results.push(result)
    return 'value' in result && !isEmpty(result.value)
  }
  const isEmptyList = (text: string) => text === '[]'
  const [facts, isObject, hasResources, hasModules, hasBalance, isTable, transaction] = await Promise.all([
    ask<Resource>({ path: assetFactsPath(address), at }, signal),
    has({ path: `${account}/resource/0x1::object::ObjectCore` }, () => false),
    has({ path: `${account}/resources?limit=1` }, isEmptyList),
    has({ path: `${account}/modules?limit=1` }, isEmptyList),
    has({ path: `${account}/balance/0xa` }, (text) => text === '0'),
    has({ path: `/tables/${address}/items?limit=1` }, (text) => text.includes('"items":[]')),
    HASH.test(address) ? ask<WholeTransaction>({ path: `/transactions/by_hash/${address}` }, signal) : undefined,
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
  if (transaction && 'value' in transaction) {
    const { version } = transaction.value
    const label = `transaction ${address}, version ${groupDigits(version)}`
    targets.push({ label, view: { name: 'block', by: 'version', number: version } })
  }
  if (targets.length > 0) return { targets, missing: [] }
  const why = whyUnknown([facts, ...results, ...(transaction ? [transaction] : [])])
  if (why !== undefined) return missing(why)
  const failure = transaction && 'failure' in transaction ? transaction.failure : undefined
  const advice = failure?.isSwitchedOff
    ? ` A transaction cannot be found by its hash. The node says: ${failure.message}.`
    : ''
  const none = missing(`This state has no account, object, asset or table ${address}.${advice}`)
  // A word has its own search, which finds parts of addresses, too.
  return isBare ? none : await findPart(address, context, none, signal)
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
    ask<ModuleAnswer>({ path: `/accounts/${address}/module/${module}`, at }, signal),
  ])
  const targets: Target[] = []
  if ('value' in declaring) {
    const called = toNamedModule(address, declaring.value)?.functions.find(({ name }) => type.endsWith(`::${name}`))
    if (called) targets.push(functionTarget(address, module, called))
  }
  if ('value' in declaring) {
    const label = `module ${address}::${module}, which declares it`
    targets.push({ label, view: { name: 'module', address, module } })
  }
  if ('value' in resource) {
    targets.push({ label: `the resource ${type} of ${address}`, view: { name: 'resource', address, type } })
  }
  if (targets.length > 0) return { targets, missing: [] }
  return missing(whyUnknown([declaring, resource]) ?? `This state has no module ${address}::${module}.`)
}

const UNANSWERED = 'The node did not answer the whole search, so something may be missing.'

/** Why results do not say that something does not exist: the node did not answer, or it does not have the state. */
function whyUnknown(results: readonly Result<unknown>[]): string | undefined {
  const failures = results.flatMap((one) => ('failure' in one ? one.failure : []))
  if (failures.some(({ retryAfterMs }) => retryAfterMs !== undefined)) return UNANSWERED
  const hiding = failures.find(({ kind, isSwitchedOff }) => {
    return kind === 'pruned' || kind === 'future' || (kind === 'failed' && !isSwitchedOff)
  })
  return hiding && `The node does not say it: ${hiding.message}.`
}

/** Accounts whose address has a part. A short part is in most addresses. */
async function findPart(part: string, context: SearchContext, none: Found, signal: AbortSignal): Promise<FoundAs> {
  const digits = part.toLowerCase().replace(/^0x/, '')
  if (digits.length < SHORTEST_PART) return none
  const { accounts, extent } = await rememberedNames({ at: context.at, chainId: context.head?.chainId }, signal)
  const { targets, limits } = firstOf({ accounts: accountsWith(accounts, digits) }, extent)
  return { ...(targets.length > 0 ? { targets, missing: [] } : none), limits }
}

/** The first targets of each kind, and a note of the omitted ones. */
function firstOf(
  kinds: Readonly<Record<string, readonly Target[]>>,
  { part, cut, hasFailed }: NamesExtent,
): { readonly targets: readonly Target[]; readonly limits: readonly string[] } {
  const hidden = Object.entries(kinds).filter(([, all]) => all.length > MOST_NAMED)
  const limits = hidden.map(([kind, all]) => {
    return `${groupDigits(String(all.length))} ${kind} match; the first ${MOST_NAMED} are shown, and a longer text finds the others.`
  })
  if (hasFailed) limits.push(UNANSWERED)
  else if (part < 1) {
    limits.push(
      `The search looked at ${toPercent(part)} of all addresses, starting at 0x0; more names may be at the others.`,
    )
  }
  if (cut.length > 0) limits.push(`This ledger has more ${cut.join(' and ')} than the search looks at.`)
  return { targets: Object.values(kinds).flatMap((all) => all.slice(0, MOST_NAMED)), limits }
}

function toPercent(part: number): string {
  return part < 0.01 ? 'less than 1 %' : `${Math.floor(part * 100)} %`
}

function accountsWith(accounts: readonly string[], digits: string): readonly Target[] {
  return accounts
    .filter((address) => address.includes(digits))
    .map((address) => ({ label: `account ${address}`, view: { name: 'account', address, tab: 'balances' } }))
}

/** Everything that has a word in its name: assets, modules, functions, collections, tokens and resources. */
async function findWord(word: string, { at, head }: SearchContext, signal: AbortSignal): Promise<FoundAs> {
  const names = await rememberedNames({ at, chainId: head?.chainId }, signal)
  const lower = word.toLowerCase()
  const has = (text: string) => text.toLowerCase().includes(lower)
  const ofAssets = names.assets
    .filter(({ asset, name, symbol }) => has(symbol) || has(name) || (isCoin(asset) && has(asset)))
    .map(({ asset, name, symbol }): Target => {
      return { label: `asset ${name} (${symbol}) ${asset}`, view: { name: 'asset', asset } }
    })
  const ofModules = names.modules
    .filter(({ name }) => has(name))
    .map(({ address, name }): Target => {
      return { label: `module ${address}::${name}`, view: { name: 'module', address, module: name } }
    })
  const ofFunctions = names.modules.flatMap((module) =>
    module.functions
      .filter(({ name }) => has(name) || (word.includes('::') && has(`${module.address}::${module.name}::${name}`)))
      .map((one) => functionTarget(module.address, module.name, one)),
  )
  const ofObjects = names.objects
    .filter(({ name }) => has(name))
    .map(({ kind, address, name }): Target => {
      return { label: `${kind} ${name} ${address}`, view: { name: 'account', address, tab: 'resources' } }
    })
  const ofTypes = names.resources
    .filter(({ type }) => has(type))
    .map(({ type, address }): Target => {
      return { label: `the resource ${type} of ${address}`, view: { name: 'resource', address, type } }
    })
  const digits = /^[0-9a-f]+$/.test(lower) && lower.length >= SHORTEST_PART ? lower : undefined
  const ofAccounts = digits === undefined ? [] : accountsWith(names.accounts, digits)
  const kinds = {
    assets: ofAssets,
    modules: ofModules,
    functions: ofFunctions,
    'collections and tokens': ofObjects,
    'resource types': ofTypes,
    accounts: ofAccounts,
  }
  const { targets, limits } = firstOf(kinds, names.extent)
  if (targets.length > 0) return { targets, missing: [], limits }
  const none = missing(
    `No asset, module, function, token or resource type that this page knows of is called “${word}”. An address finds the rest.`,
  )
  return { ...none, limits }
}

function functionTarget(address: string, module: string, { name, isView }: NamedFunction): Target {
  const full = `${address}::${module}::${name}`
  if (isView) return { label: `view ${full}`, view: { name: 'view', function: full } }
  return { label: `function ${full}`, view: { name: 'module', address, module } }
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
