import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  specifiedRules,
  validate,
} from 'graphql'
import type { Where } from './conditions.js'
import { toCondition } from './conditions.js'
import { faultOfField, GraphqlFault } from './graphql-fault.js'
import {
  DEFAULT_ROWS,
  LONGEST_DOCUMENT,
  MOST_FIELDS,
  MOST_LEVELS,
  MOST_ROWS,
  MOST_ROWS_READ,
  MOST_TOKENS,
  MOST_VALUES,
} from './limits.js'
import { type SortKey, toSortKeys } from './row-order.js'
import { aggregateShape, QUERY_TYPE } from './schema.js'
import type { AnyTable, Column, Condition, Relation, Shape } from './table.js'

// A document is checked completely before any state is read: its size, the schema, and the work that it asks for.

/** Name of a rule that compares all pairs of fields; `mergedFields` does its work in linear time. */
const PAIRS_RULE = 'OverlappingFieldsCanBeMergedRule'
const RULES = specifiedRules.filter(({ name }) => name !== PAIRS_RULE)
const MOST_FAULTS = 5

/** A field of a row, with its key in the answer. */
export type Selected =
  | { readonly kind: 'type'; readonly key: string; readonly typeName: string }
  | { readonly kind: 'column'; readonly key: string; readonly column: Column<unknown> }
  | {
      readonly kind: 'relation'
      readonly key: string
      readonly relation: Relation<unknown>
      readonly selected: readonly Selected[]
    }

/** The rows of a table that a field of the query asks for. */
export interface AskedRows {
  readonly kind: 'rows' | 'count'
  readonly key: string
  /** Name of the field. */
  readonly name: string
  readonly table: AnyTable
  readonly condition: Condition
  readonly order: readonly SortKey[]
  readonly offset: number
  /** Undefined for a count of all rows. */
  readonly limit: number | undefined
  readonly selected: readonly Selected[]
}

export type AskedField = AskedRows | Extract<Selected, { kind: 'type' }>

/** A document, its variables and the name of its operation, as a request has them. */
export interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | undefined
}

/** The part of a schema by which fields are found. */
export interface DocumentReader {
  /** @throws `GraphqlFault` */
  read(request: GraphqlRequest): readonly AskedField[]
}

/** Creates the reader of documents over a schema of tables. */
export function createDocumentReader(schema: GraphQLSchema, tables: readonly AnyTable[]): DocumentReader {
  const byField = new Map<string, { readonly table: AnyTable; readonly kind: AskedRows['kind'] }>()
  for (const table of tables) {
    byField.set(table.name, { table, kind: 'rows' })
    if (table.hasAggregate) byField.set(`${table.name}_aggregate`, { table, kind: 'count' })
  }
  const queryFields = schema.getQueryType()!.getFields()

  return {
    read({ query, variables, operationName }) {
      const document = parseDocument(query)
      const operation = findOperation(document, operationName)
      expectAnswered(operation, (name) => byField.has(name))
      const faults = validate(schema, document, RULES, { maxErrors: MOST_FAULTS })
      if (faults.length > 0) throw faultOf(faults[0]!)
      const given = getVariableValues(schema, operation.variableDefinitions ?? [], variables, { maxErrors: 1 })
      if (!given.variableValues) throw faultOf(given.errors[0]!)
      const collector = new FieldCollector(document, given.variableValues)
      const fields = collector.fieldsOf([operation.selectionSet]).map(({ key, nodes }): AskedField => {
        const [node, ...others] = nodes
        const name = node!.name.value
        if (name === '__typename') return { kind: 'type', key, typeName: QUERY_TYPE }
        if (others.length > 0) throw faultOfField(key, 'it occurs twice; give one of them an alias')
        const field = byField.get(name)
        if (!field) throw notAnswered(name)
        const { table, kind } = field
        const args = argumentsOf(queryFields[name]!, node!, collector.variables)
        const shape = kind === 'rows' ? table : (aggregateShape(table) as Shape<unknown>)
        return {
          kind,
          key,
          name,
          table,
          ...args,
          ...readArguments(name, kind, table, args),
          selected: collector.select(shape, nodes),
        }
      })
      expectCheap(fields)
      return fields
    },
  }
}

type Variables = Parameters<typeof getArgumentValues>[2]
type Arguments = Readonly<Record<string, unknown>>

function argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode, variables: Variables): Arguments {
  return coerced(() => getArgumentValues(field, node, variables))
}

/** Coerces values of a document and its variables; their faults are faults of the document. */
function coerced<T>(coerce: () => T): T {
  try {
    return coerce()
  } catch (error) {
    if (error instanceof GraphQLError) throw faultOf(error)
    throw error
  }
}

function readArguments(
  name: string,
  kind: AskedRows['kind'],
  table: AnyTable,
  { where, order_by: orderBy, offset, limit }: Arguments,
): Pick<AskedRows, 'condition' | 'order' | 'offset' | 'limit'> {
  const byDefault = kind === 'rows' ? DEFAULT_ROWS : undefined
  const skipped = countOf(name, 'offset', offset) ?? 0
  const most = countOf(name, 'limit', limit)
  if (skipped > MOST_ROWS_READ)
    throw faultOfField(name, `an offset is at most ${MOST_ROWS_READ}; filter by a column instead`)
  return {
    condition: toCondition(table, (where ?? {}) as Where, `$.selectionSet.${name}.args.where`),
    order: toSortKeys(table, (orderBy ?? []) as Parameters<typeof toSortKeys>[1]),
    offset: skipped,
    limit: most === undefined ? byDefault : kind === 'rows' ? Math.min(most, MOST_ROWS) : most,
  }
}

function countOf(name: string, argument: string, value: unknown): number | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'number' && value >= 0) return value
  throw faultOfField(name, `\`${argument}\` must not be negative`)
}

/** Refuses a document whose answer may have too many values. */
function expectCheap(fields: readonly AskedField[]): void {
  let values = 0
  for (const field of fields) {
    if (field.kind === 'rows') values += field.limit! * (1 + countSelected(field.selected))
  }
  if (values > MOST_VALUES) {
    throw new GraphqlFault(
      `the answer may have ${values} values, and at most ${MOST_VALUES} are given; lower the limits`,
    )
  }
}

function countSelected(selected: readonly Selected[]): number {
  let count = 0
  for (const one of selected) count += one.kind === 'relation' ? 1 + countSelected(one.selected) : 1
  return count
}

function parseDocument(query: string): DocumentNode {
  if (query.length > LONGEST_DOCUMENT)
    throw new GraphqlFault(`a query has at most ${LONGEST_DOCUMENT} characters`, '$.query')
  expectFlat(query)
  try {
    return parse(query, { maxLexicalTokens: MOST_TOKENS, maxComments: MOST_TOKENS, noLocation: true })
  } catch (error) {
    if (error instanceof GraphQLError) throw new GraphqlFault(error.message, '$.query')
    throw error
  }
}

/** Parts of a document in which brackets do not count, and brackets. */
const BRACKETS = /"""(?:\\"""|[^"]|"(?!""))*(?:"""|$)|"(?:[^"\\\n]|\\.)*"?|#[^\n\r]*|[{[(]|[}\])]/gs

/** Refuses nested brackets before the parser, which calls itself for each level. */
function expectFlat(query: string): void {
  let level = 0
  for (const [found] of query.matchAll(BRACKETS)) {
    if ('{[('.includes(found)) level++
    else if ('}])'.includes(found)) level--
    if (level > MOST_LEVELS) throw new GraphqlFault(`a query has at most ${MOST_LEVELS} levels`, '$.query')
  }
}

function findOperation({ definitions }: DocumentNode, name: string | undefined): OperationDefinitionNode {
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION)
  const found = name === undefined ? operations : operations.filter((one) => one.name?.value === name)
  if (found.length === 0)
    throw new GraphqlFault(
      name === undefined
        ? 'the document has no query'
        : `no such operation found in the document: ${JSON.stringify(name)}`,
    )
  if (found.length > 1) throw new GraphqlFault('the document has several operations; `operationName` chooses one')
  const [operation] = found
  if (operation!.operation !== 'query')
    throw new GraphqlFault(`a ${operation!.operation} is not answered: this service only reads`)
  return operation!
}

/** Names a field that the service does not answer, before the faults that follow from it. */
function expectAnswered({ selectionSet }: OperationDefinitionNode, isKnown: (name: string) => boolean): void {
  for (const selection of selectionSet.selections) {
    if (selection.kind !== Kind.FIELD) continue
    const name = selection.name.value
    if (name !== '__typename' && !isKnown(name)) throw notAnswered(name)
  }
}

function notAnswered(name: string): GraphqlFault {
  const isIntrospection = name === '__schema' || name === '__type'
  return faultOfField(
    name,
    isIntrospection
      ? 'introspection is not answered; the documentation lists all fields'
      : 'it is not answered here: this service knows the state of the ledger, and no more',
  )
}

function faultOf({ message }: GraphQLError): GraphqlFault {
  return new GraphqlFault(message, '$.selectionSet')
}

/** The nodes of a document that have one key in the answer. */
interface Collected {
  readonly key: string
  readonly nodes: FieldNode[]
}

/** Collects the fields of selections and of their fragments, within a budget. */
class FieldCollector {
  readonly variables: Variables
  readonly #fragments = new Map<string, FragmentDefinitionNode>()
  #left = MOST_FIELDS

  constructor({ definitions }: DocumentNode, variables: Variables) {
    this.variables = variables
    for (const one of definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(one.name.value, one)
  }

  /** The fields of a row that nodes of one key select. */
  select(shape: Shape<unknown>, nodes: readonly FieldNode[]): Selected[] {
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    return this.fieldsOf(sets).map(({ key, nodes: [node, ...others] }): Selected => {
      const name = node!.name.value
      if (others.some((other) => other.name.value !== name))
        throw new GraphqlFault(`several fields have the key "${key}"`)
      if (name === '__typename') return { kind: 'type', key, typeName: shape.name }
      const relation = shape.relations?.[name]
      if (!relation) return { kind: 'column', key, column: shape.columns[name]! }
      return { kind: 'relation', key, relation, selected: this.select(relation.shape, [node!, ...others]) }
    })
  }

  /** The fields of selections that are merged, by their keys, in their order. */
  fieldsOf(sets: readonly SelectionSetNode[]): readonly Collected[] {
    const byKey = new Map<string, Collected>()
    for (const set of sets) this.#collect(set, byKey)
    return [...byKey.values()]
  }

  #collect({ selections }: SelectionSetNode, byKey: Map<string, Collected>): void {
    for (const selection of selections) {
      if (--this.#left < 0) throw new GraphqlFault(`a document has at most ${MOST_FIELDS} fields`, '$.query')
      if (!this.#isIncluded(selection)) continue
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value
        const collected = byKey.get(key)
        if (collected) collected.nodes.push(selection)
        else byKey.set(key, { key, nodes: [selection] })
        continue
      }
      const part = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value)! : selection
      this.#collect(part.selectionSet, byKey)
    }
  }

  #isIncluded(node: SelectionNode): boolean {
    return coerced(() => {
      const skip = getDirectiveValues(GraphQLSkipDirective, node, this.variables)
      if (skip?.if === true) return false
      return getDirectiveValues(GraphQLIncludeDirective, node, this.variables)?.if !== false
    })
  }
}
