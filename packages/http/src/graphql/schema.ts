import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  Kind,
} from 'graphql'
import { textToTime, timeText } from './columns.js'
import { DIRECTIONS } from './row-order.js'
import { type AnyTable, OPERATORS, type ScalarName, type Shape } from './table.js'

/** Longest text of a number in a filter: the digits of 2^256. */
const MOST_DIGITS = 78

/** Name of the type of the query, as Hasura has it. */
export const QUERY_TYPE = 'query_root'

/** Shape of the answer of a field that counts rows. */
export function aggregateShape(table: AnyTable): Shape<bigint> {
  const fields: Shape<bigint> = {
    name: `${table.name}_aggregate_fields`,
    columns: { count: { type: 'Int', read: (count) => count } },
  }
  return {
    name: `${table.name}_aggregate`,
    columns: {},
    relations: { aggregate: { shape: fields as Shape<unknown>, read: (count) => count } },
  }
}

/** Creates the schema of the tables: the types of Hasura, with the parts that are answered. */
export function createSchema(tables: readonly AnyTable[]): GraphQLSchema {
  const scalars = createScalars()
  const comparisons = new Map<ScalarName, GraphQLInputObjectType>()
  const shapes = new Map<string, GraphQLObjectType>()
  const filters = new Map<string, GraphQLInputObjectType>()
  const direction = new GraphQLEnumType({
    name: 'order_by',
    values: Object.fromEntries(DIRECTIONS.map((name) => [name, {}])),
  })

  function comparisonOf(type: ScalarName): GraphQLInputObjectType {
    const known = comparisons.get(type)
    if (known) return known
    const scalar = scalars[type]
    const typeOf = (operator: string): GraphQLInputType => {
      if (operator === '_is_null') return GraphQLBoolean
      return operator === '_in' || operator === '_nin' ? new GraphQLList(new GraphQLNonNull(scalar)) : scalar
    }
    const fields = Object.fromEntries(OPERATORS.map((operator) => [operator, { type: typeOf(operator) }]))
    const created = new GraphQLInputObjectType({ name: `${type}_comparison_exp`, fields })
    comparisons.set(type, created)
    return created
  }

  function objectOf(shape: Shape<unknown>): GraphQLObjectType {
    const known = shapes.get(shape.name)
    if (known) return known
    const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {}
    for (const [name, { type }] of Object.entries(shape.columns)) fields[name] = { type: scalars[type] }
    for (const [name, relation] of Object.entries(shape.relations ?? {}))
      fields[name] = { type: objectOf(relation.shape) }
    const created = new GraphQLObjectType({ name: shape.name, fields })
    shapes.set(shape.name, created)
    return created
  }

  function filterOf(shape: Shape<unknown>): GraphQLInputObjectType {
    const known = filters.get(shape.name)
    if (known) return known
    const created: GraphQLInputObjectType = new GraphQLInputObjectType({
      name: `${shape.name}_bool_exp`,
      fields: () => {
        const fields: Record<string, { type: GraphQLInputType }> = {
          _and: { type: new GraphQLList(new GraphQLNonNull(created)) },
          _or: { type: new GraphQLList(new GraphQLNonNull(created)) },
          _not: { type: created },
        }
        for (const [name, { type }] of Object.entries(shape.columns)) {
          if (type !== 'jsonb') fields[name] = { type: comparisonOf(type) }
        }
        for (const [name, relation] of Object.entries(shape.relations ?? {})) {
          fields[name] = { type: filterOf(relation.shape) }
        }
        return fields
      },
    })
    filters.set(shape.name, created)
    return created
  }

  function orderOf({ name: of, columns }: AnyTable): GraphQLInputObjectType {
    const sorted = Object.entries(columns).filter(([, { type }]) => type !== 'jsonb')
    const fields = Object.fromEntries(sorted.map(([name]) => [name, { type: direction }]))
    return new GraphQLInputObjectType({ name: `${of}_order_by`, fields })
  }

  const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {}
  for (const table of tables) {
    const args = {
      where: { type: filterOf(table) },
      order_by: { type: new GraphQLList(new GraphQLNonNull(orderOf(table))) },
      offset: { type: GraphQLInt },
      limit: { type: GraphQLInt },
    }
    const rows: GraphQLOutputType = new GraphQLList(objectOf(table))
    fields[table.name] = { type: rows, args }
    if (table.hasAggregate) {
      fields[`${table.name}_aggregate`] = { type: objectOf(aggregateShape(table) as Shape<unknown>), args }
    }
  }
  return new GraphQLSchema({ query: new GraphQLObjectType({ name: QUERY_TYPE, fields }) })
}

function createScalars(): Readonly<Record<ScalarName, GraphQLScalarType>> {
  const opaque = (name: string) => new GraphQLScalarType({ name })
  return {
    String: GraphQLString,
    Boolean: GraphQLBoolean,
    Int: GraphQLInt,
    bigint: createNumber('bigint'),
    numeric: createNumber('numeric'),
    timestamp: createTimestamp(),
    jsonb: opaque('jsonb'),
  }
}

/** A scalar of times without a zone, in UTC; filters may also give one. */
function createTimestamp(): GraphQLScalarType {
  const parse = (value: unknown): string => {
    const time = typeof value === 'string' ? textToTime(value) : undefined
    if (time === undefined) throw new TypeError('timestamp expects a time such as "2025-01-01T00:00:00"')
    return timeText(time)
  }
  return new GraphQLScalarType({
    name: 'timestamp',
    coerceInputValue: parse,
    coerceInputLiteral: (node): string => parse(node.kind === Kind.STRING ? node.value : undefined),
  })
}

/** A scalar of whole numbers, which filters may also give as texts. */
function createNumber(name: string): GraphQLScalarType {
  const refuse = (): never => {
    throw new TypeError(`${name} expects a whole number`)
  }
  const parse = (text: string): bigint => (text.length <= MOST_DIGITS && /^-?\d+$/.test(text) ? BigInt(text) : refuse())
  return new GraphQLScalarType({
    name,
    coerceInputValue(value): bigint {
      if (typeof value === 'bigint') return value
      return typeof value === 'string' || Number.isSafeInteger(value) ? parse(String(value)) : refuse()
    },
    coerceInputLiteral: (node): bigint =>
      node.kind === Kind.INT || node.kind === Kind.STRING ? parse(node.value) : refuse(),
  })
}
