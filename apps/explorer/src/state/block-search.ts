import type { AccountChange, ListedTableItem, TablePage, TypeUsesPage } from '../api/answers.ts'
import { ask } from '../api/client.ts'
import type { Failure } from '../api/failure.ts'
import { loadTables, type SightedTable } from './ledger-sights.ts'

/** The values of an account that differ before and after a block. */
export interface ChangedAccount {
  readonly address: string
  readonly changes: readonly AccountChange[]
  /** Whether there are more changes. */
  readonly isCut: boolean
}

export interface ChangedTable extends SightedTable {
  readonly items: readonly ChangedItem[]
}

export interface ChangedItem {
  readonly key: unknown
  /** Undefined if the item did not exist. */
  readonly before: unknown
  readonly after: unknown
}

/** How far a search for the changes of a block has come. */
export interface BlockSearch {
  readonly accounts: readonly ChangedAccount[]
  readonly tables: readonly ChangedTable[]
  readonly compared: number
  readonly comparedTables: ComparedTables
  readonly isRunning: boolean
  /** Whether every account and object was compared. */
  readonly isEnded: boolean
  readonly failure: Failure | undefined
}

export interface ComparedTables {
  readonly count: number
  /** Number of tables with only their first items compared. */
  readonly inPart: number
}

interface Range {
  /** The last version before the block. */
  readonly before: string
  /** The last version of the block. */
  readonly after: string
}

const FRAMEWORK = '0x1'
/** Accounts that a step compares, with a request each. */
const STEP = 24
/** Most uses of a page: of objects before the block, only those that are not there after it are compared. */
const MOST_USES = 1_000

/** Lists of addresses: resources of every account and of every object. An object that the block deleted is only before it. */
const LISTS = [
  { type: '0x1::account::Account', at: 'after', limit: STEP },
  { type: '0x1::object::ObjectCore', at: 'after', limit: STEP },
  { type: '0x1::object::ObjectCore', at: 'before', limit: MOST_USES },
] as const
/** Requests at the same time. */
const WIDTH = 4
const MOST_CHANGES = 20
/** Items of a table that are compared. */
export const MOST_ITEMS = 100

/**
 * A search for the changes of a block: in the framework, then in accounts, then in objects, then in those that the block
 * deleted, a step at a time. A step that fails leaves the rest of its work to the next one, which begins by itself if
 * the node was lost or busy.
 */
export class BlockChangesSearch {
  readonly #range: Range
  readonly #show: (search: BlockSearch) => void
  readonly #stopped = new AbortController()
  readonly #seen = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Addresses that are known and not compared yet. */
  readonly #queue: string[] = [FRAMEWORK]
  /** Tables that are known and not compared yet; undefined until all of them are known. */
  #tables: readonly SightedTable[] | undefined
  /** Index of the list that goes on. */
  #list = 0
  #cursor: string | undefined
  #state: BlockSearch = {
    accounts: [],
    tables: [],
    compared: 0,
    comparedTables: { count: 0, inPart: 0 },
    isRunning: false,
    isEnded: false,
    failure: undefined,
  }

  /** @param show called with each state of the search */
  constructor(range: Range, show: (search: BlockSearch) => void) {
    this.#range = range
    this.#show = show
  }

  /** Runs the next step. */
  more(): void {
    if (this.#state.isRunning || this.#state.isEnded) return
    clearTimeout(this.#timer)
    this.#update({ isRunning: true, failure: undefined })
    this.#step()
      .then(() => {
        this.#update({ isRunning: false, isEnded: this.#isEnded })
        const pause = this.#state.failure?.retryAfterMs
        if (pause !== undefined && !this.#stopped.signal.aborted) this.#timer = setTimeout(() => this.more(), pause)
      })
      .catch(() => {})
  }

  stop(): void {
    this.#stopped.abort()
    clearTimeout(this.#timer)
  }

  get #isEnded(): boolean {
    return this.#list >= LISTS.length && this.#queue.length === 0 && !this.#state.failure
  }

  async #step(): Promise<void> {
    if (this.#tables === undefined) await this.#findTables()
    const list = LISTS[this.#list]
    if (list) this.#queue.push(...(await this.#nextAddresses(list)))
    await Promise.all(Array.from({ length: WIDTH }, () => this.#compareQueue()))
    if (!this.#state.failure) await this.#compareTables()
  }

  /** Finds the tables, whose holders are compared, too. The next step tries again if the node failed. */
  async #findTables(): Promise<void> {
    const found = await loadTables(this.#range.after, this.#stopped.signal)
    if (found.failure) {
      this.#update({ failure: found.failure })
      return
    }
    this.#tables = found.tables
    this.#queue.push(...found.tables.map(({ holder }) => holder))
  }

  /** The next accounts or objects, in the order of their addresses. */
  async #nextAddresses({ type, at, limit }: (typeof LISTS)[number]): Promise<readonly string[]> {
    const start = this.#cursor === undefined ? '' : `&start=${this.#cursor}`
    const path = `/types/${type}/uses?limit=${limit}${start}`
    const page = await ask<TypeUsesPage>({ path, at: this.#range[at] }, this.#stopped.signal)
    if ('failure' in page) {
      this.#update({ failure: page.failure })
      return []
    }
    this.#cursor = page.answer.cursor
    if (this.#cursor === undefined) this.#list++
    return page.value.uses.flatMap((use) => ('resource' in use && use.resource !== undefined ? use.address : []))
  }

  async #compareQueue(): Promise<void> {
    while (!this.#state.failure) {
      const next = this.#queue.shift()
      if (next === undefined) return
      await this.#compareAccount(next)
    }
  }

  async #compareAccount(address: string): Promise<void> {
    if (this.#seen.has(address)) return
    this.#seen.add(address)
    const { before, after } = this.#range
    const path = `/accounts/${address}/changes?from=${before}&to=${after}&limit=${MOST_CHANGES}`
    const result = await ask<readonly AccountChange[]>({ path }, this.#stopped.signal)
    if ('failure' in result) {
      this.#seen.delete(address)
      this.#queue.push(address)
      this.#update({ failure: result.failure })
      return
    }
    const { value, answer } = result
    const changed = { address, changes: value, isCut: answer.cursor !== undefined }
    const { compared, accounts } = this.#state
    this.#update({ compared: compared + 1, ...(value.length > 0 && { accounts: [...accounts, changed] }) })
  }

  async #compareTables(): Promise<void> {
    const left: SightedTable[] = []
    const compare = async (table: SightedTable): Promise<void> => {
      const compared = await compareTable(table, this.#range, this.#stopped.signal)
      if ('failure' in compared) {
        left.push(table)
        this.#update({ failure: compared.failure })
        return
      }
      const { tables, comparedTables } = this.#state
      const { count, inPart } = comparedTables
      this.#update({
        comparedTables: { count: count + 1, inPart: inPart + Number(!compared.isWhole) },
        ...(compared.items.length > 0 && { tables: [...tables, { ...table, items: compared.items }] }),
      })
    }
    await Promise.all((this.#tables ?? []).map(compare))
    if (this.#tables) this.#tables = left
  }

  #update(next: Partial<BlockSearch>): void {
    this.#state = { ...this.#state, ...next }
    if (!this.#stopped.signal.aborted) this.#show(this.#state)
  }
}

/** The changed items among the first ones of a table. */
async function compareTable(
  { handle, holder }: SightedTable,
  { before, after }: Range,
  signal: AbortSignal,
): Promise<{ readonly items: readonly ChangedItem[]; readonly isWhole: boolean } | { readonly failure: Failure }> {
  const path = `/tables/${handle}/items?limit=${MOST_ITEMS}&holder=${holder}`
  const [old, young] = await Promise.all([before, after].map((at) => ask<TablePage>({ path, at }, signal)))
  if ('failure' in old!) return old
  if ('failure' in young!) return young
  const isWhole = old!.answer.cursor === undefined && young!.answer.cursor === undefined
  return { items: changedItems(old!.value.items, young!.value.items, isWhole), isWhole }
}

/**
 * The items that differ. Exported for its test.
 * @param isWhole whether these are all items; of a part, an item that only one side has may be beyond the other's end
 */
export function changedItems(
  before: readonly ListedTableItem[],
  after: readonly ListedTableItem[],
  isWhole: boolean,
): readonly ChangedItem[] {
  const keyOf = (item: ListedTableItem): string => JSON.stringify(item.key ?? item.raw_key)
  const contentOf = (item: ListedTableItem): unknown => item.value ?? item.raw_value
  const old = new Map(before.map((item) => [keyOf(item), item]))
  const young = new Map(after.map((item) => [keyOf(item), item]))
  return [...new Map([...old, ...young])].flatMap(([key, item]): readonly ChangedItem[] => {
    const [was, is] = [old.get(key), young.get(key)]
    if ((!was || !is) && !isWhole) return []
    const [from, to] = [was && contentOf(was), is && contentOf(is)]
    if (JSON.stringify(from) === JSON.stringify(to)) return []
    return [{ key: item.key ?? item.raw_key, before: from, after: to }]
  })
}
