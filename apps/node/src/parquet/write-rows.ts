import { partitionPoint } from '@ledger-state/core'
import { type Ledger, ValuePrinter } from '@ledger-state/ledger'
import type { ColumnSource } from 'hyparquet-writer'
import type { WriteReader } from './packed-writes.js'
import { BYTES_OF_GROUP, type Column, ROWS_OF_GROUP, type RowSource, TABLES } from './tables.js'
import { TextArena } from './text-arena.js'
import type { WrittenKeyGroup, WrittenKeys } from './written-keys.js'

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
    const { writes, groups } = this.#keys.sorted()
    const texts = new TextArena()
    for (let from = 0; from < writes.length; ) {
      const rows = new RowGroup()
      do {
        const write = writes[from++]!
        rows.bytes += this.#add(rows, texts, write, groups[write]!)
      } while (from < writes.length && rows.version.length < ROWS_OF_GROUP && rows.bytes < BYTES_OF_GROUP)
      yield this.columns.map(({ name, encoding, hasStatistics = true }) => {
        const data = rows[name as keyof Omit<RowGroup, 'bytes'>]
        return { name, data, statistics: hasStatistics, ...(encoding && { encoding }) }
      })
      texts.clear()
    }
  }

  /** Adds a row, and returns its bytes. */
  #add(rows: RowGroup, texts: TextArena, write: number, { type, address, key }: WrittenKeyGroup): number {
    const version = this.#writes.version(write)
    const value = this.#writes.value(write)
    const json = value ? this.#printerAt(version).toJson(type.key, value) : undefined
    const text = json === undefined ? undefined : texts.add(json)
    rows.version.push(version)
    rows.timestamp.push(this.#writes.time(write))
    rows.address.push(address)
    rows.kind.push(type.kind)
    rows.type.push(type.text)
    rows.state_key.push(key)
    rows.json.push(text)
    rows.value.push(value ?? undefined)
    rows.deleted.push(value === null)
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

/** Rows of a row group, by column. */
class RowGroup {
  readonly version: bigint[] = []
  readonly timestamp: bigint[] = []
  readonly address: (string | undefined)[] = []
  readonly kind: string[] = []
  readonly type: (string | undefined)[] = []
  readonly state_key: Uint8Array[] = []
  readonly json: (Uint8Array | undefined)[] = []
  readonly value: (Uint8Array | undefined)[] = []
  readonly deleted: boolean[] = []
  bytes = 0
}
