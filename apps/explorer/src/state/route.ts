/** The part of the ledger that the page shows. The address of the page has all of it. */
export type View =
  | { readonly name: 'home' }
  | { readonly name: 'account'; readonly address: string; readonly tab: AccountTab }
  | { readonly name: 'balance'; readonly address: string; readonly asset: string; readonly curve: CurveView }
  | { readonly name: 'asset'; readonly asset: string }
  | { readonly name: 'resource'; readonly address: string; readonly type: string }
  | { readonly name: 'module'; readonly address: string; readonly module: string }
  | { readonly name: 'view'; readonly function: string; readonly call?: ViewCall | undefined }
  | { readonly name: 'watch' }
  | { readonly name: 'table'; readonly handle: string; readonly types: TableTypes; readonly key?: string | undefined }
  | { readonly name: 'api'; readonly operation?: string | undefined }
  | { readonly name: 'block'; readonly by: 'height' | 'version'; readonly number: string }
  | { readonly name: 'unknown'; readonly path: string }

export const ACCOUNT_TABS = [
  'balances',
  'activities',
  'transactions',
  'objects',
  'resources',
  'modules',
  'changes',
] as const
export type AccountTab = (typeof ACCOUNT_TABS)[number]

/** Arguments of a call of a view function. */
export interface ViewCall {
  readonly typeArguments: readonly string[]
  /** Arguments as a JSON array. */
  readonly arguments: string
}

/** The visible range of a curve, which is all of it if no range is named, and the chosen point. */
export interface CurveView {
  readonly by?: 'version' | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly point?: string | undefined
}

/** Source of the types of a table: the account that holds it, or the visitor. */
export interface TableTypes {
  readonly holder?: string | undefined
  readonly keyType?: string | undefined
  readonly valueType?: string | undefined
}

export interface Route {
  readonly view: View
  /** State as a version in decimal or a time as RFC 3339; undefined for the latest. */
  readonly at: string | undefined
}

export function parseRoute(path: string, query: string): Route {
  const parameters = new URLSearchParams(query)
  const at = parameters.get('at') ?? undefined
  return { view: parseView(path, parameters), at }
}

function parseView(path: string, parameters: URLSearchParams): View {
  const parts = path.split('/').slice(1).map(decodePart)
  const [name, first, second, ...more] = parts
  const unknown: View = { name: 'unknown', path }
  if (more.length > 0 || parts.includes(undefined)) return unknown
  if (name === '' && first === undefined) return { name: 'home' }
  if (name === 'account' && first) {
    const tab = ACCOUNT_TABS.find((one) => one === (second ?? 'balances'))
    return tab ? { name, address: first, tab } : unknown
  }
  if (name === 'balance' && first && second)
    return { name, address: first, asset: second, curve: parseCurve(parameters) }
  if (name === 'asset' && first && second === undefined) return { name, asset: first }
  if (name === 'api' && second === undefined) return { name, operation: first || undefined }
  if (name === 'resource' && first && second) return { name, address: first, type: second }
  if (name === 'module' && first && second) return { name, address: first, module: second }
  if (name === 'view' && first && second === undefined) return { name, function: first, call: parseCall(parameters) }
  if (name === 'watch' && first === undefined) return { name }
  if (name === 'block' && first && second === undefined) return { name, by: 'height', number: first }
  if (name === 'version' && first && second === undefined) return { name: 'block', by: 'version', number: first }
  if (name !== 'table' || !first || second !== undefined) return unknown
  const types = {
    holder: parameters.get('holder') ?? undefined,
    keyType: parameters.get('key_type') ?? undefined,
    valueType: parameters.get('value_type') ?? undefined,
  }
  return { name, handle: first, types, key: parameters.get('key') ?? undefined }
}

/** The call in the address. Without arguments, the function is shown and not called. */
function parseCall(parameters: URLSearchParams): ViewCall | undefined {
  const given = parameters.get('arguments')
  return given === null ? undefined : { typeArguments: parameters.getAll('type'), arguments: given }
}

function parseCurve(parameters: URLSearchParams): CurveView {
  const version = (name: string) => /^\d+$/.exec(parameters.get(name) ?? '')?.[0]
  const by = parameters.get('by') === 'version' ? 'version' : undefined
  return { by, from: version('from'), to: version('to'), point: version('point') }
}

function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

export function routeToHref({ view, at }: Route): string {
  const parameters = new URLSearchParams()
  if (view.name === 'table') {
    const { holder, keyType, valueType } = view.types
    if (holder) parameters.set('holder', holder)
    if (keyType) parameters.set('key_type', keyType)
    if (valueType) parameters.set('value_type', valueType)
    if (view.key !== undefined) parameters.set('key', view.key)
  }
  if (view.name === 'view' && view.call) {
    for (const type of view.call.typeArguments) parameters.append('type', type)
    parameters.set('arguments', view.call.arguments)
  }
  if (view.name === 'balance')
    for (const [name, value] of Object.entries(view.curve)) if (value !== undefined) parameters.set(name, value)
  if (at !== undefined) parameters.set('at', at)
  const query = parameters.toString()
  return viewToPath(view) + (query && `?${query}`)
}

function viewToPath(view: View): string {
  const path = (...parts: readonly string[]) =>
    `/${parts.map((part) => encodeURIComponent(part).replaceAll('%3A', ':')).join('/')}`
  switch (view.name) {
    case 'home':
      return '/'
    case 'account':
      return view.tab === 'balances' ? path('account', view.address) : path('account', view.address, view.tab)
    case 'balance':
      return path('balance', view.address, view.asset)
    case 'asset':
      return path('asset', view.asset)
    case 'resource':
      return path('resource', view.address, view.type)
    case 'module':
      return path('module', view.address, view.module)
    case 'view':
      return path('view', view.function)
    case 'watch':
      return '/watch'
    case 'table':
      return path('table', view.handle)
    case 'block':
      return path(view.by === 'height' ? 'block' : 'version', view.number)
    case 'api':
      return view.operation === undefined ? '/api' : path('api', view.operation)
    case 'unknown':
      return view.path
  }
}
