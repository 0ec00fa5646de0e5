import { addressToLongHex, addressToShortHex, parseAddress } from '@ledger-state/core'
import { type ApiRequest, requestPath } from './client.ts'
import { parseExactly } from './exact-json.ts'

/** A request as a command for a shell. */
export function toCurl(origin: string, request: ApiRequest): string {
  const url = quoted(origin + requestPath(request))
  const { body } = request
  return body === undefined ? `curl ${url}` : `curl ${url} -H 'content-type: application/json' -d ${quoted(body)}`
}

const WHOLE = /^\d+$/

interface ItemBody {
  readonly key_type: string
  readonly value_type: string
  readonly key: unknown
}

interface ViewBody {
  readonly function: string
  readonly type_arguments: readonly string[]
  readonly arguments: readonly unknown[]
}

interface Parts {
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly at: string | undefined
  readonly body: ItemBody | undefined
  readonly view: ViewBody | undefined
}

/** First lines of a program that uses the ts-sdk. To the SDK, a node of any network is a custom one. */
export function sdkPreamble(origin: string): readonly string[] {
  return [
    `import { Aptos, AptosConfig, Network } from '@aptos-labs/ts-sdk'`,
    `const aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode: '${origin}/v1' }))`,
  ]
}

/**
 * The address in the form of AIP-40, which SDKs demand: `0x0` to `0xf`, and all others with 64 digits. A text that is
 * not an address stays as it is: it comes from the address of the page, and the node reports the fault.
 */
export function toStandardAddress(text: string): string {
  const address = orUndefined(() => parseAddress(text))
  if (!address) return text
  const short = addressToShortHex(address)
  return short.length === 3 ? short : addressToLongHex(address)
}

/**
 * The ts-sdk call that sends a request; undefined if there is none. The SDK reads at versions, but accounts and balances
 * only at the latest, and no histories.
 */
export function toSdkLine(request: ApiRequest): string | undefined {
  const { path, at, body, view } = partsOf(request)
  if (at !== undefined && !WHOLE.test(at)) return undefined
  const options = at === undefined ? '' : `, options: { ledgerVersion: ${at}n }`
  const call = (name: string, members: string, more = options) => `await aptos.${name}({ ${members}${more} })`
  const [kind, subject = '', part, name, more] = path
  if (kind === undefined) return 'await aptos.getLedgerInfo()'
  if (view) {
    const payload = { function: view.function, typeArguments: view.type_arguments, functionArguments: view.arguments }
    return call('viewJson', `payload: ${JSON.stringify(payload)}`)
  }
  if (more !== undefined) return undefined
  if (kind === 'tables' && part === 'item' && name === undefined && body)
    return call('getTableItem', `handle: ${text(toStandardAddress(subject))}, data: ${JSON.stringify(body)}`)
  if (kind === 'blocks' && part !== undefined && WHOLE.test(part))
    return subject === 'by_height'
      ? call('getBlockByHeight', `blockHeight: ${part}`, '')
      : call('getBlockByVersion', `ledgerVersion: ${part}`, '')
  if (kind !== 'accounts') return undefined
  const account = `accountAddress: ${text(toStandardAddress(subject))}`
  if (part === undefined) return at === undefined ? call('getAccountInfo', account, '') : undefined
  if (part === 'resources') return call('getAccountResources', account)
  if (part === 'modules') return call('getAccountModules', account)
  if (name === undefined) return undefined
  if (part === 'resource') return call('getAccountResource', `${account}, resourceType: ${text(name)}`)
  if (part === 'module') return call('getAccountModule', `${account}, moduleName: ${text(name)}`)
  if (part !== 'balance' || at !== undefined) return undefined
  const asset = name.includes('::') ? name : toStandardAddress(name)
  return call('getBalance', `${account}, asset: ${text(asset)}`, '')
}

/** The command that reads the same from the folder of a store; undefined if there is none. */
export function toCommandLine(request: ApiRequest): string | undefined {
  const { path, at, body, query, view } = partsOf(request)
  const state: Options = at === undefined ? [] : WHOLE.test(at) ? [['version', at]] : [['at', at]]
  const line = (command: string, words: readonly string[], options: Options = []) =>
    commandLine(command, words, [...options, ...state, ['data-dir', 'DIR']])
  const [kind, subject = '', part, name, more] = path
  const limit = query.get('limit')
  const limited: Options = limit === null ? [] : [['limit', limit]]
  if (kind === 'tables' && part === 'item' && more === undefined && body) {
    const { key_type: keyType, value_type: valueType, key } = body
    const item: Options = [
      ['key-type', keyType],
      ['value-type', valueType],
      ['key', JSON.stringify(key)],
    ]
    return line(`${name === 'history' ? 'history' : 'get'} table-item`, [subject], [...item, ...limited])
  }
  if (kind === undefined) return 'ledger-state info --data-dir DIR'
  if (view) {
    return line(
      'view',
      [view.function, ...view.arguments.map(toViewWord)],
      view.type_arguments.map((type) => ['type-arg', type]),
    )
  }
  if (kind !== 'accounts') return undefined
  if (part === undefined) return line('get account', [subject])
  if (name === undefined) return undefined
  if (['balance', 'resource'].includes(part) && more === 'history')
    return line(`history ${part}`, [subject, name], limited)
  if (more !== undefined || !['balance', 'resource', 'module'].includes(part)) return undefined
  return line(`get ${part}`, [subject, name])
}

/** An argument of a view as a word of the command, which reads a word as JSON if it is JSON, and as a text otherwise. */
function toViewWord(value: unknown): string {
  return typeof value === 'string' && orUndefined(() => JSON.parse(value)) === undefined ? value : JSON.stringify(value)
}

type Options = readonly (readonly [name: string, value: string])[]

/** A command with its words and options. A word that begins like an option has to follow all of them. */
function commandLine(command: string, words: readonly string[], options: Options): string {
  const wordTexts = words.map(quoted)
  const optionTexts = options.map(([name, value]) => `--${name} ${quoted(value)}`)
  const isLast = words.some((word) => word.startsWith('-'))
  return [
    'ledger-state',
    command,
    ...(isLast ? [...optionTexts, '--', ...wordTexts] : [...wordTexts, ...optionTexts]),
  ].join(' ')
}

function partsOf({ path, at, body }: ApiRequest): Parts {
  const [before, query] = path.split('?', 2) as [string, string?]
  const isView = before === '/view'
  return {
    path: before.split('/').slice(1).map(decodeURIComponent),
    query: new URLSearchParams(query),
    at,
    body: body === undefined || isView ? undefined : orUndefined(() => parseExactly(body) as ItemBody),
    view: body !== undefined && isView ? orUndefined(() => parseExactly(body) as ViewBody) : undefined,
  }
}

/** The result of a parser; undefined if it refuses its text. */
function orUndefined<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

/** A text as a literal of JavaScript, on one line. */
function text(value: string): string {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Quotes a text as one word of a shell. */
function quoted(text: string): string {
  return /^[\w:./@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
