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

type Fields = Record<string, GraphQLFieldConfig<unknown, unknown>>

/** Creates the schema of the tables: the types of Hasura, with the parts that are answered. */
export function createSchema(tables: readonly AnyTable[]): GraphQLSchema {
  const types = new SchemaTypes()
  const fields: Fields = {}
  for (const table of tables) {
    const args = {
      where: { type: types.filterOf(table) },
      order_by: { type: new GraphQLList(new GraphQLNonNull(types.orderOf(table))) },
      offset: { type: GraphQLInt },
      limit: { type: GraphQLInt },
    }
    const rows: GraphQLOutputType = new GraphQLList(types.objectOf(table))
    fields[table.name] = { type: rows, args }
    if (table.hasAggregate) {
      fields[`${table.name}_aggregate`] = { type: types.objectOf(aggregateShape(table) as Shape<unknown>), args }
    }
  }
  return new GraphQLSchema({ query: new GraphQLObjectType({ name: QUERY_TYPE, fields }) })
}

/** The types of a schema. Each is made once, because shapes have relations to each other. */
class SchemaTypes {
  readonly #scalars = createScalars()
  readonly #comparisons = new Map<ScalarName, GraphQLInputObjectType>()
  readonly #objects = new Map<string, GraphQLObjectType>()
  readonly #filters = new Map<string, GraphQLInputObjectType>()
  readonly #direction = new GraphQLEnumType({
    name: 'order_by',
    values: Object.fromEntries(DIRECTIONS.map((name) => [name, {}])),
  })

  objectOf(shape: Shape<unknown>): GraphQLObjectType {
    const known = this.#objects.get(shape.name)
    if (known) return known
    const fields: Fields = {}
    for (const [name, { type }] of Object.entries(shape.columns)) fields[name] = { type: this.#scalars[type] }
    for (const [name, relation] of Object.entries(shape.relations ?? {}))
      fields[name] = { type: this.objectOf(relation.shape) }
    const created = new GraphQLObjectType({ name: shape.name, fields })
    this.#objects.set(shape.name, created)
    return created
  }

  filterOf(shape: Shape<unknown>): GraphQLInputObjectType {
    const known = this.#filters.get(shape.name)
    if (known) return known
    const created: GraphQLInputObjectType = new GraphQLInputObjectType({
      name: `${shape.name}_bool_exp`,
      fields: () => this.#conditionsOn(shape, created),
    })
    this.#filters.set(shape.name, created)
    return created
  }

  /** @param filter the filter that has these conditions */
  #conditionsOn(shape: Shape<unknown>, filter: GraphQLInputObjectType) {
    const fields: Record<string, { type: GraphQLInputType }> = {
      _and: { type: new GraphQLList(new GraphQLNonNull(filter)) },
      _or: { type: new GraphQLList(new GraphQLNonNull(filter)) },
      _not: { type: filter },
    }
    for (const [name, { type }] of Object.entries(shape.columns)) {
      if (type !== 'jsonb') fields[name] = { type: this.#comparisonOf(type) }
    }
    for (const [name, relation] of Object.entries(shape.relations ?? {})) {
      fields[name] = { type: this.filterOf(relation.shape) }
    }
    return fields
  }

  #comparisonOf(type: ScalarName): GraphQLInputObjectType {
    const known = this.#comparisons.get(type)
    if (known) return known
    const scalar = this.#scalars[type]
    const typeOf = (operator: string): GraphQLInputType => {
      if (operator === '_is_null') return GraphQLBoolean
      return operator === '_in' || operator === '_nin' ? new GraphQLList(new GraphQLNonNull(scalar)) : scalar
    }
    const fields = Object.fromEntries(OPERATORS.map((operator) => [operator, { type: typeOf(operator) }]))
    const created = new GraphQLInputObjectType({ name: `${type}_comparison_exp`, fields })
    this.#comparisons.set(type, created)
    return created
  }

  orderOf({ name: of, columns }: AnyTable): GraphQLInputObjectType {
    const sorted = Object.entries(columns).filter(([, { type }]) => type !== 'jsonb')
    const fields = Object.fromEntries(sorted.map(([name]) => [name, { type: this.#direction }]))
    return new GraphQLInputObjectType({ name: `${of}_order_by`, fields })
  }
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
