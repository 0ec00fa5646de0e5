import type { View } from './route.ts'

/** Something that a text may mean, and what to call it. */
export interface Target {
  readonly label: string
  /** Undefined for a time, which moves the time machine. */
  readonly view?: View
  readonly at?: string
}

const ADDRESS = /^0x[0-9a-fA-F]{1,64}$/
/** Without `0x` a short one would be a number. */
const BARE_ADDRESS = /^[0-9a-fA-F]{64}$/
const NUMBER = /^\d{1,20}$/
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/
const MODULE = /^(0x[0-9a-fA-F]{1,64})::([A-Za-z_]\w*)$/
const TYPE = /^(0x[0-9a-fA-F]{1,64})::[A-Za-z_]\w*::[A-Za-z_]\w*(<.*>)?$/

/** All that a text typed into the search field may mean, the likeliest first. */
export function textToTargets(text: string): readonly Target[] {
  const trimmed = BARE_ADDRESS.test(text.trim()) ? `0x${text.trim()}` : text.trim()
  if (ADDRESS.test(trimmed)) {
    return [
      { label: `account ${trimmed}`, view: { name: 'account', address: trimmed, tab: 'balances' } },
      { label: `table ${trimmed}`, view: { name: 'table', handle: trimmed, types: {} } },
    ]
  }
  if (NUMBER.test(trimmed)) {
    return [
      { label: `the state at version ${trimmed}`, at: trimmed },
      { label: `the block of version ${trimmed}`, view: { name: 'block', by: 'version', number: trimmed } },
      { label: `block ${trimmed}`, view: { name: 'block', by: 'height', number: trimmed } },
    ]
  }
  if (TIME.test(trimmed)) {
    const time = textToTime(trimmed)
    return time === undefined ? [] : [{ label: `the state at ${time}`, at: time }]
  }
  const module = MODULE.exec(trimmed)
  if (module) {
    const [, address, name] = module as unknown as [string, string, string]
    return [{ label: `module ${trimmed}`, view: { name: 'module', address, module: name } }]
  }
  const type = TYPE.exec(trimmed)
  if (!type) return []
  const address = type[1]!
  const declaring = trimmed.split('::')[1]!
  return [
    {
      label: `module ${address}::${declaring}, which declares it`,
      view: { name: 'module', address, module: declaring },
    },
    { label: `the resource ${trimmed} of ${address}`, view: { name: 'resource', address, type: trimmed } },
  ]
}

/** RFC 3339 in UTC; a date alone is its beginning. Undefined where there is no such time. */
export function textToTime(text: string): string | undefined {
  const withTime = text.includes('T') ? text : `${text}T00:00:00Z`
  const withZone = /(Z|[+-]\d{2}:\d{2})$/.test(withTime) ? withTime : `${withTime}Z`
  const milliseconds = Date.parse(withZone)
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds).toISOString()
}
