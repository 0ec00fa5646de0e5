import { GraphqlFault } from './graphql-fault.js'
import { MOST_CONDITIONS } from './limits.js'
import type { RowValues } from './row-values.js'
import type { Column, Condition, Operator, Shape, Value } from './table.js'

// Filters as an indexer has them: `{owner_address: {_eq: "0x1"}, amount: {_gt: 0}}`. A comparison with an absent value is
// unknown, as in SQL, and so is its opposite; a row matches only if the whole filter is true.

/** A filter, as the coercion of the schema has it. */
export type Where = Readonly<Record<string, unknown>>

/** Reads a filter. @throws `GraphqlFault` */
export function toCondition(shape: Shape<unknown>, where: Where, path: string): Condition {
  let left = MOST_CONDITIONS
  const spend = (count: number): void => {
    left -= count
    if (left < 0) throw new GraphqlFault(`a filter has at most ${MOST_CONDITIONS} conditions`, path)
  }

  function all(of: Shape<unknown>, members: Where): Condition {
    return { kind: 'all', of: Object.entries(members).flatMap(([name, value]) => membersOf(of, name, value)) }
  }

  function membersOf(of: Shape<unknown>, name: string, value: unknown): Condition[] {
    spend(1)
    if (value === null || value === undefined) throw new GraphqlFault(`unexpected null value for "${name}"`, path)
    if (name === '_and' || name === '_or') {
      const parts = (value as readonly Where[]).map((part) => {
        spend(1)
        return all(of, part)
      })
      return [{ kind: name === '_and' ? 'all' : 'any', of: parts }]
    }
    if (name === '_not') return [{ kind: 'not', of: all(of, value as Where) }]
    const relation = of.relations?.[name]
    if (relation) return [{ kind: 'related', name, relation, of: all(relation.shape, value as Where) }]
    const column = of.columns[name]!
    return Object.entries(value).map(([operator, operand]) => compare(name, column, operator as Operator, operand))
  }

  function compare(name: string, column: Column<unknown>, operator: Operator, operand: unknown): Condition {
    const operands = Array.isArray(operand) ? operand : [operand]
    spend(operands.length)
    const values = operands.map((value: unknown): Value => {
      if (value === null || value === undefined) throw new GraphqlFault(`unexpected null value for "${name}"`, path)
      if (typeof value === 'number') return BigInt(value)
      return typeof value === 'string' && column.normalize ? column.normalize(value) : (value as Value)
    })
    return { kind: 'compare', name, column, operator, values: new Set(values) }
  }

  return all(shape, where)
}

/** Whether a row matches a condition; undefined if that is unknown. */
export function matches(condition: Condition, row: unknown, values: RowValues): boolean | undefined {
  switch (condition.kind) {
    case 'all':
      return combined(condition.of, false, row, values)
    case 'any':
      return combined(condition.of, true, row, values)
    case 'not': {
      const matched = matches(condition.of, row, values)
      return matched === undefined ? undefined : !matched
    }
    case 'related': {
      const related = values.read(condition.relation, row)
      return related !== undefined && matches(condition.of, related, values) === true
    }
    case 'compare':
      return isMet(condition.operator, values.read(condition.column, row), condition.values)
  }
}

/** `any` ends at the first that is true, `all` at the first that is false. */
function combined(of: readonly Condition[], ends: boolean, row: unknown, values: RowValues): boolean | undefined {
  let isUnknown = false
  for (const one of of) {
    const matched = matches(one, row, values)
    if (matched === ends) return ends
    isUnknown ||= matched === undefined
  }
  return isUnknown ? undefined : !ends
}

function isMet(operator: Operator, value: Value, values: ReadonlySet<Value>): boolean | undefined {
  const [first] = values
  if (operator === '_is_null') return (value === null) === first
  if (value === null) return undefined
  switch (operator) {
    case '_eq':
    case '_in':
      return values.has(value)
    case '_neq':
    case '_nin':
      return !values.has(value)
    case '_gt':
      return value > first!
    case '_gte':
      return value >= first!
    case '_lt':
      return value < first!
    case '_lte':
      return value <= first!
  }
}

/**
 * The values that a condition allows for a column, or for a column of a relation, each once; undefined if it allows any.
 * Rows with other values do not match.
 */
export function allowedTexts(condition: Condition, ...path: readonly string[]): readonly string[] | undefined {
  const [name, ...rest] = path
  if (condition.kind === 'all') {
    for (const one of condition.of) {
      const found = allowedTexts(one, ...path)
      if (found) return found
    }
    return undefined
  }
  if (condition.kind === 'any') {
    const found = new Set<string>()
    for (const one of condition.of) {
      const texts = allowedTexts(one, ...path)
      if (!texts) return undefined
      for (const text of texts) found.add(text)
    }
    return [...found]
  }
  if (condition.kind === 'related' && condition.name === name) return allowedTexts(condition.of, ...rest)
  if (condition.kind !== 'compare' || condition.name !== name || rest.length > 0) return undefined
  return condition.operator === '_eq' || condition.operator === '_in' ? [...condition.values].map(String) : undefined
}
