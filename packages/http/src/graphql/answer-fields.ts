import type { AnswerBytes } from '../admission/answer-bytes.js'
import { matches } from './conditions.js'
import { faultOfField } from './graphql-fault.js'
import { MOST_ROWS_READ } from './limits.js'
import type { AskedField, AskedRows, Selected } from './read-document.js'
import { RowSorter } from './row-order.js'
import { RowValues } from './row-values.js'
import type { Column, Source, Value } from './table.js'

/** Where an answer is written, and the turns in which it is made. */
export interface AnswerPlace {
  readonly out: AnswerBytes
  /** Most bytes of the answer. */
  readonly mostBytes: number
  /** Whether the time of the turn is over. */
  readonly isSpent: () => boolean
  nextTurn(): Promise<void>
}

/** Answers the fields of a document, one after the other, with a row at a time in memory. */
export class FieldAnswerer {
  readonly #source: Source
  readonly #place: AnswerPlace
  readonly #values: RowValues
  #rowsLeft = MOST_ROWS_READ

  constructor(source: Source, place: AnswerPlace) {
    this.#source = source
    this.#place = place
    this.#values = new RowValues(source)
  }

  /** @throws `GraphqlFault`, `overloaded`, `client_left`, and the errors of the reads */
  async answer(fields: readonly AskedField[]): Promise<void> {
    const { out } = this.#place
    out.text('{"data":{')
    for (const [at, field] of fields.entries()) {
      out.text(`${at === 0 ? '' : ','}"${field.key}":`)
      if (field.kind === 'type') out.text(JSON.stringify(field.typeName))
      else if (field.kind === 'count') await this.#answerCount(field)
      else await this.#answerRows(field)
    }
    out.text('}}')
  }

  async #answerCount(field: AskedRows): Promise<void> {
    const { offset, limit } = field
    const end = limit === undefined ? Number.POSITIVE_INFINITY : offset + limit
    let count = 0
    if (limit !== 0) await this.#eachMatch(field, () => ++count < end)
    this.#writeRow(field, field.selected, BigInt(Math.max(0, count - offset)))
  }

  async #answerRows(field: AskedRows): Promise<void> {
    const { out } = this.#place
    const { order, offset } = field
    const limit = field.limit!
    out.text('[')
    let shown = 0
    const write = (row: unknown): void => {
      if (shown++ > 0) out.text(',')
      this.#writeRow(field, field.selected, row)
    }
    if (order.length > 0 && !isInOrder(field)) {
      const sorter = new RowSorter(order, field.table, this.#source)
      await this.#eachMatch(field, (row) => {
        sorter.add(row)
        return true
      })
      for (const row of sorter.sorted().slice(offset, offset + limit)) {
        this.#values.next()
        write(row)
        if (this.#place.isSpent()) await this.#place.nextTurn()
      }
    } else if (limit > 0) {
      let seen = 0
      await this.#eachMatch(field, (row) => {
        if (seen++ >= offset) write(row)
        return shown < limit
      })
    }
    out.text(']')
  }

  /** Visits the rows that match, in the order of the list, until `visit` returns false. */
  async #eachMatch(field: AskedRows, visit: (row: unknown) => boolean): Promise<void> {
    const { name, table, condition } = field
    const rows = table.find(this.#source, condition, field.order[0]?.isDescending ? 'desc' : 'asc')
    if (!rows)
      throw faultOfField(
        name,
        `its filter must name ${table.needs}, with _eq or _in, and in all branches of an _or the same one`,
      )
    for (const row of rows) {
      if (--this.#rowsLeft < 0) {
        throw faultOfField(
          name,
          `this needs more than ${MOST_ROWS_READ} rows; the lists of holdings over HTTP have pages`,
        )
      }
      this.#values.next()
      if (row !== undefined && matches(condition, row, this.#values) === true && !visit(row)) return
      if (this.#place.isSpent()) await this.#place.nextTurn()
    }
  }

  #writeRow(field: AskedRows, selected: readonly Selected[], row: unknown): void {
    const { out, mostBytes } = this.#place
    out.text('{')
    for (const [at, one] of selected.entries()) {
      out.text(`${at === 0 ? '' : ','}"${one.key}":`)
      if (one.kind === 'type') out.text(JSON.stringify(one.typeName))
      else if (one.kind === 'column') out.text(valueToJson(one.column, this.#values.read(one.column, row)))
      else {
        const related = this.#values.read(one.relation, row)
        if (related === undefined) out.text('null')
        else this.#writeRow(field, one.selected, related)
      }
      if (out.length > mostBytes)
        throw faultOfField(field.name, `the answer has more than ${mostBytes} bytes; ask for fewer rows`)
    }
    out.text('}')
  }
}

/** Whether the table gives the rows in the order that is asked for. */
function isInOrder({ table, condition, order }: AskedRows): boolean {
  const name = order.length === 1 ? table.orderedBy?.(condition) : undefined
  return name !== undefined && table.columns[name] === order[0]!.column
}

function valueToJson({ type }: Column<unknown>, value: Value): string {
  return typeof value === 'string' && type !== 'jsonb' ? JSON.stringify(value) : String(value)
}
