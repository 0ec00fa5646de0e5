import { partitionPoint } from '@ledger-state/core'
import { type Ledger, ValuePrinter } from '@ledger-state/ledger'
import type { ColumnSource } from 'hyparquet-writer'
import { ByteArena } from './byte-arena.js'
import { type CellList, cellsToColumns, newCellList } from './cell-list.js'
import { BYTES_OF_GROUP, type Column, ROWS_OF_GROUP, type RowSource, TABLES } from './tables.js'
import type { WriteReader } from './write-reader.js'
import type { WrittenKeys } from './written-keys.js'

/** Printers of spans that are kept at the same time: versions of a file are mostly in one span. */
const MOST_PRINTERS = 16

/** The table of writes of a range. Values become JSON only for the row group that is being written. */
export class WriteRows implements RowSource {
  readonly columns: readonly Column[] = TABLES.writes.columns
  readonly #ledger: Ledger
  readonly #writes: WriteReader
  readonly #keys: WrittenKeys
  /** Versions that wrote a module, in order. Between two of them every type stays as it is. */
  readonly #upgrades: readonly bigint[]
  readonly #printers = new Map<number, ValuePrinter>()

  constructor(ledger: Ledger, writes: WriteReader, keys: WrittenKeys) {
    this.#ledger = ledger
    this.#writes = writes
    this.#keys = keys
    const upgrades = new Set<bigint>()
    for (const group of keys.groups) {
      if (group.type.kind !== 'module') continue
      for (const write of keys.writesOf(group)) upgrades.add(writes.version(write))
    }
    this.#upgrades = [...upgrades].sort((a, b) => (a < b ? -1 : 1))
  }

  get count(): number {
    return this.#writes.count
  }

  *toRowGroups(): Generator<ColumnSource[], void> {
    const writes = this.#keys.sorted()
    const arena = new ByteArena()
    for (let from = 0; from < writes.length; ) {
      const cells = this.columns.map(newCellList)
      const start = from
      let bytes = 0
      do {
        bytes += this.#add(cells, arena, writes[from++]!)
      } while (from < writes.length && from - start < ROWS_OF_GROUP && bytes < BYTES_OF_GROUP)
      yield cellsToColumns(this.columns, cells)
      arena.clear()
    }
  }

  /** Adds the cells of a row, and returns their bytes. */
  #add(lists: readonly CellList[], arena: ByteArena, write: number): number {
    const { type, address, key } = this.#keys.groupOf(write)
    const version = this.#writes.version(write)
    const value = this.#writes.value(write, arena)
    const json = value ? this.#printerAt(version).toJson(type.key, value) : undefined
    const text = json === undefined ? undefined : arena.addText(json)
    const time = this.#writes.time(write)
    // In the order of the columns.
    const cells = [version, time, address, type.kind, type.text, key, text, value ?? undefined, value === null]
    for (let at = 0; at < cells.length; at++) lists[at]!.push(cells[at])
    return key.length + (value?.length ?? 0) + (text?.length ?? 0)
  }

  #printerAt(version: bigint): ValuePrinter {
    const span = partitionPoint(this.#upgrades, (upgrade) => upgrade <= version)
    const known = this.#printers.get(span)
    if (known) return known
    if (this.#printers.size === MOST_PRINTERS) this.#printers.clear()
    const printer = new ValuePrinter(this.#ledger.at(version))
    this.#printers.set(span, printer)
    return printer
  }
}
