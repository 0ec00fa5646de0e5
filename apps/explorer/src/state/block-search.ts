import type { AccountChange, ListedTableItem, Slice, TablePage, TypeUsesPage } from '../api/answers.ts'
import { ask, type Result } from '../api/client.ts'
import { type Failure, isLeftOut } from '../api/failure.ts'
import { loadTables } from './ledger-sights.ts'
import type { TableTypes } from './route.ts'
import { tableItemsPath } from './table-items-path.ts'
import { holdersIn } from './type-uses.ts'

/** The values of an account that differ before and after a block. */
export interface ChangedAccount {
  readonly address: string
  readonly changes: readonly AccountChange[]
  /** Whether there are more changes. */
  readonly isCut: boolean
}

/** A table, and the source of its types. */
interface FoundTable {
  readonly handle: string
  readonly types: TableTypes
}

export interface ChangedTable extends FoundTable {
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
  /** Whether the node keeps a slice, whose members are compared. */
  readonly isSlice: boolean
  /** Number of accounts, objects and tables with an unknown part: the slice keeps them since a version. */
  readonly unknown: number
  readonly isRunning: boolean
  /** Whether everything was compared that the lists name. */
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

/** Addresses and tables to compare. */
interface Listed {
  readonly addresses: readonly string[]
  readonly tables: readonly FoundTable[]
}

/** A list in pages. `start` is the end of its path: empty for the first page. */
type List = (range: Range, start: string, signal: AbortSignal) => Promise<Result<Listed>>

function listOf<Page>(path: string, at: keyof Range, itemsOf: (page: Page) => Listed): List {
  return async (range, start, signal) => {
    const page = await ask<Page>({ path: `${path}${start}`, at: range[at] }, signal)
    return 'failure' in page ? page : { answer: page.answer, value: itemsOf(page.value) }
  }
}

function holdersOf(type: string, at: keyof Range, limit: number): List {
  return listOf(`/types/${type}/uses?limit=${limit}`, at, ({ uses }: TypeUsesPage) => {
    return { addresses: holdersIn(uses), tables: [] }
  })
}

/** Holders of the resources of every account and of every object. An object that the block deleted is only before it. */
const ALL_HOLDERS: readonly List[] = [
  holdersOf('0x1::account::Account', 'after', STEP),
  holdersOf('0x1::object::ObjectCore', 'after', STEP),
  holdersOf('0x1::object::ObjectCore', 'before', MOST_USES),
]

/** The members of a slice, which cannot search all accounts. */
const MEMBERS: readonly List[] = [
  listOf(`/-/slice?limit=${STEP}`, 'after', ({ members }: Slice) => ({
    addresses: members.flatMap(({ kind, id }) => (kind === 'account' ? id : [])),
    tables: members.flatMap(({ kind, id, value_type: valueType }) => {
      return kind === 'table' ? { handle: id, types: { ...(valueType !== null && { valueType }) } } : []
    }),
  })),
]

/** Requests at the same time. */
const WIDTH = 4
const MOST_CHANGES = 20
/** Items of a table that are compared. */
export const MOST_ITEMS = 100

/**
 * A search for the changes of a block: in the framework, then in accounts, then in objects, then in those that the block
 * deleted, a step at a time; of a slice, in its members. A step that fails leaves the rest of its work to the next one,
 * which begins by itself if the node was lost or busy.
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
  #tables: readonly FoundTable[] | undefined
  #lists = ALL_HOLDERS
  /** Index of the list that goes on. */
  #list = 0
  #cursor: string | undefined
  #state: BlockSearch = {
    accounts: [],
    tables: [],
    compared: 0,
    comparedTables: { count: 0, inPart: 0 },
    isSlice: false,
    unknown: 0,
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
    return this.#list >= this.#lists.length && this.#queue.length === 0 && !this.#state.failure
  }

  async #step(): Promise<void> {
    if (this.#tables === undefined) await this.#findTables()
    const list = this.#lists[this.#list]
    if (list && !this.#state.failure) await this.#takeNext(list)
    await Promise.all(Array.from({ length: WIDTH }, () => this.#compareQueue()))
    if (!this.#state.failure) await this.#compareTables()
  }

  /** Finds the tables, whose holders are compared, too. The next step tries again if the node failed. */
  async #findTables(): Promise<void> {
    const { tables, failure } = await loadTables(this.#range.after, this.#stopped.signal)
    if (failure && isLeftOut(failure)) {
      this.#lists = MEMBERS
      this.#tables = []
      this.#update({ isSlice: true })
    } else if (failure) this.#update({ failure })
    else {
      this.#tables = tables.map(({ handle, holder }) => ({ handle, types: { holder } }))
      this.#queue.push(...tables.map(({ holder }) => holder))
    }
  }

  /** Takes the next items of a list, in the order of their addresses. */
  async #takeNext(list: List): Promise<void> {
    const start = this.#cursor === undefined ? '' : `&start=${this.#cursor}`
    const page = await list(this.#range, start, this.#stopped.signal)
    if ('failure' in page) {
      this.#update({ failure: page.failure })
      return
    }
    this.#cursor = page.answer.cursor
    if (this.#cursor === undefined) this.#list++
    this.#queue.push(...page.value.addresses)
    this.#tables = [...this.#tables!, ...page.value.tables]
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
      if (this.#noteIfUnknown(result.failure)) return
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
    const left: FoundTable[] = []
    const compare = async (table: FoundTable): Promise<void> => {
      const compared = await compareTable(table, this.#range, this.#stopped.signal)
      if ('failure' in compared) {
        if (this.#noteIfUnknown(compared.failure)) return
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

  /** Counts a member of a slice that the node knows only in part: no later step would learn more. Returns whether it is one. */
  #noteIfUnknown(failure: Failure): boolean {
    if (!isLeftOut(failure)) return false
    this.#update({ unknown: this.#state.unknown + 1 })
    return true
  }

  #update(next: Partial<BlockSearch>): void {
    this.#state = { ...this.#state, ...next }
    if (!this.#stopped.signal.aborted) this.#show(this.#state)
  }
}

/** The changed items among the first ones of a table. */
async function compareTable(
  { handle, types }: FoundTable,
  { before, after }: Range,
  signal: AbortSignal,
): Promise<{ readonly items: readonly ChangedItem[]; readonly isWhole: boolean } | { readonly failure: Failure }> {
  const path = tableItemsPath(handle, types, MOST_ITEMS)
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
