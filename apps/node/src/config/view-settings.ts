import { parseAddress } from '@ledger-state/core'
import type { ViewFilter, ViewServiceOptions } from '@ledger-state/http'
import { usageError } from '../errors.js'

const NAME = /^[^:]+(::[\w$]+){0,2}$/
const BUDGET_NAMES = ['instructions', 'bytes', 'reads', 'readBytes', 'modules', 'moduleBytes'] as const
type BudgetName = (typeof BUDGET_NAMES)[number]
/** Pattern of amounts from 1 to just below 10^13. */
const AMOUNT = /^[1-9]\d{0,12}$/

/**
 * Reads a filter such as `allow:0x1,0x5::pool` or `block:0x7::m::f`.
 * @throws `usage`, `invalid_address`
 */
export function parseViewFilter(text: string): ViewFilter {
  const at = text.indexOf(':')
  const kind = text.slice(0, at)
  if (kind !== 'allow' && kind !== 'block') {
    throw usageError('expected a view filter: allow:NAME[,NAME…] or block:NAME[,NAME…]')
  }
  const names = text.slice(at + 1).split(',')
  for (const name of names) {
    if (!NAME.test(name))
      throw usageError('expected names such as 0x1, 0x1::coin or 0x1::coin::balance in the view filter')
    parseAddress(name.split('::')[0]!)
  }
  return { kind, names }
}

/**
 * Reads a budget such as `instructions=10000000,reads=5000`; amounts that are not named keep their defaults.
 * @throws `usage`
 */
export function parseViewBudget(text: string): NonNullable<ViewServiceOptions['viewBudget']> {
  const budget: Partial<Record<BudgetName, number>> = {}
  for (const part of text.split(',')) {
    const [name, amount] = part.split('=')
    const known = BUDGET_NAMES.find((one) => one === name)
    if (known === undefined || !AMOUNT.test(amount ?? '')) {
      throw usageError(`expected a view budget NAME=NUMBER[,…]; the names are ${BUDGET_NAMES.join(', ')}`)
    }
    budget[known] = Number(amount)
  }
  return budget
}
