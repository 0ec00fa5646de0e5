import { addressToLongHex, addressToShortHex, parseAddress } from '@ledger-state/core'
import { type ApiRequest, requestPath } from './client.ts'

/** A request as a command for a shell. */
export function toCurl(origin: string, request: ApiRequest): string {
  const url = quoted(origin + requestPath(request))
  const { body } = request
  return body === undefined ? `curl ${url}` : `curl ${url} -H 'content-type: application/json' -d ${quoted(body)}`
}

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

/** The ts-sdk call that sends a request; undefined if there is none. The SDK reads at versions, and no histories. */
export function toSdkLine(request: ApiRequest): string | undefined {
  const { path, at, body, view } = partsOf(request)
  if (at !== undefined && !/^\d+$/.test(at)) return undefined
  const options = at === undefined ? '' : `, options: { ledgerVersion: ${at}n }`
  const call = (name: string, members: string, more = options) => `await aptos.${name}({ ${members}${more} })`
  const [kind, subject = '', part, name, more] = path
  const text = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (kind === undefined) return 'await aptos.getLedgerInfo()'
  if (view) {
    const payload = { function: view.function, typeArguments: view.type_arguments, functionArguments: view.arguments }
    return call('viewJson', `payload: ${JSON.stringify(payload)}`)
  }
  if (more !== undefined) return undefined
  if (kind === 'tables' && part === 'item' && name === undefined && body)
    return call('getTableItem', `handle: ${text(toStandardAddress(subject))}, data: ${JSON.stringify(body)}`)
  if (kind === 'blocks' && part !== undefined)
    return subject === 'by_height'
      ? call('getBlockByHeight', `blockHeight: ${part}`, '')
      : call('getBlockByVersion', `ledgerVersion: ${part}`, '')
  if (kind !== 'accounts') return undefined
  const account = `accountAddress: ${text(toStandardAddress(subject))}`
  if (part === undefined) return call('getAccountInfo', account, '')
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
  const state = at === undefined ? '' : /^\d+$/.test(at) ? ` --version ${at}` : ` --at ${at}`
  const line = (text: string) => `ledger-state ${text}${state} --data-dir DIR`
  const [kind, subject = '', part, name, more] = path
  const limit = query.has('limit') ? ` --limit ${query.get('limit')}` : ''
  if (kind === 'tables' && part === 'item' && more === undefined && body) {
    const types = `--key-type ${quoted(body.key_type)} --value-type ${quoted(body.value_type)}`
    const key = `${types} --key ${quoted(JSON.stringify(body.key))}`
    return line(`${name === 'history' ? 'history' : 'get'} table-item ${quoted(subject)} ${key}${limit}`)
  }
  if (kind === undefined) return 'ledger-state info --data-dir DIR'
  if (view) {
    const types = view.type_arguments.map((type) => ` --type-arg ${quoted(type)}`)
    const values = view.arguments.map(
      (value) => ` ${quoted(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    return line(`view ${quoted(view.function)}${values.join('')}${types.join('')}`)
  }
  if (kind !== 'accounts') return undefined
  if (part === undefined) return line(`get account ${quoted(subject)}`)
  if (name === undefined) return undefined
  if (['balance', 'resource'].includes(part) && more === 'history')
    return line(`history ${part} ${quoted(subject)} ${quoted(name)}${limit}`)
  if (more !== undefined || !['balance', 'resource', 'module'].includes(part)) return undefined
  return line(`get ${part} ${quoted(subject)} ${quoted(name)}`)
}

function partsOf({ path, at, body }: ApiRequest): Parts {
  const [before, query] = path.split('?', 2) as [string, string?]
  const isView = before === '/view'
  return {
    path: before.split('/').slice(1).map(decodeURIComponent),
    query: new URLSearchParams(query),
    at,
    body: body === undefined || isView ? undefined : orUndefined(() => JSON.parse(body) as ItemBody),
    view: body !== undefined && isView ? orUndefined(() => JSON.parse(body) as ViewBody) : undefined,
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

/** Quotes a text as one word of a shell. */
function quoted(text: string): string {
  return /^[\w:./@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
