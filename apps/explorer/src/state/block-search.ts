import type { AccountChange, ListedTableItem, TablePage, TypeUsesPage } from '../api/answers.ts'
import { type ApiRequest, ask } from '../api/client.ts'
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
  /** Number of tables of which only the first items were compared. */
  readonly inPart: number
}

interface Range {
  /** The last version before the block. */
  readonly before: string
  /** The last version of the block. */
  readonly after: string
}

const FRAMEWORK = '0x1'
/** Resources of every account and of every object. */
const TYPES = ['0x1::account::Account', '0x1::object::ObjectCore'] as const
/** Accounts that a step compares, with a request each. */
const STEP = 24
/** Requests at the same time. */
const WIDTH = 4
const MOST_CHANGES = 20
/** Items of a table that are compared. */
export const MOST_ITEMS = 100

/**
 * A search for the changes of a block: in the framework, then in accounts, then in objects, a step at a time.
 * @param show called with each state of the search
 */
export function createBlockSearch({ before, after }: Range, show: (search: BlockSearch) => void) {
  const stopped = new AbortController()
  const { signal } = stopped
  const seen = new Set<string>()
  /** Addresses that are known and not compared yet. */
  const queue: string[] = [FRAMEWORK]
  /** Tables that are known and not compared yet; undefined until all of them are known. */
  let tables: readonly SightedTable[] | undefined
  let type = 0
  let cursor: string | undefined
  let state: BlockSearch = {
    accounts: [],
    tables: [],
    compared: 0,
    comparedTables: { count: 0, inPart: 0 },
    isRunning: false,
    isEnded: false,
    failure: undefined,
  }
  const update = (next: Partial<BlockSearch>): void => {
    state = { ...state, ...next }
    if (!signal.aborted) show(state)
  }

  const compare = async (address: string): Promise<void> => {
    if (seen.has(address)) return
    seen.add(address)
    const path = `/accounts/${address}/changes?from=${before}&to=${after}&limit=${MOST_CHANGES}`
    const result = await ask<readonly AccountChange[]>({ path }, signal)
    if ('failure' in result) {
      // The next step compares it again.
      seen.delete(address)
      queue.push(address)
      update({ failure: result.failure })
      return
    }
    const { value, answer } = result
    const changed = { address, changes: value, isCut: answer.cursor !== undefined }
    update({
      compared: state.compared + 1,
      ...(value.length > 0 && { accounts: [...state.accounts, changed] }),
    })
  }

  /** The next accounts or objects, in the order of their addresses. */
  const nextAddresses = async (): Promise<readonly string[]> => {
    const start = cursor === undefined ? '' : `&start=${cursor}`
    const request: ApiRequest = { path: `/types/${TYPES[type]}/uses?limit=${STEP}${start}`, at: after }
    const page = await ask<TypeUsesPage>(request, signal)
    if ('failure' in page) {
      update({ failure: page.failure })
      return []
    }
    cursor = page.answer.cursor
    if (cursor === undefined) type++
    return page.value.uses.flatMap((use) => ('resource' in use && use.resource !== undefined ? use.address : []))
  }

  /** The next step looks for tables again if the node failed, and for their holders. */
  const findTables = async (): Promise<void> => {
    const found = await loadTables(after, signal)
    if (found.failure) {
      update({ failure: found.failure })
      return
    }
    tables = found.tables
    queue.push(...tables.map(({ holder }) => holder))
  }

  const compareTables = async (): Promise<void> => {
    const left: SightedTable[] = []
    await Promise.all(
      (tables ?? []).map(async (table) => {
        const compared = await compareTable(table, { before, after }, signal)
        if ('failure' in compared) {
          left.push(table)
          update({ failure: compared.failure })
          return
        }
        const { count, inPart } = state.comparedTables
        update({
          comparedTables: { count: count + 1, inPart: inPart + Number(!compared.isWhole) },
          ...(compared.items.length > 0 && { tables: [...state.tables, { ...table, items: compared.items }] }),
        })
      }),
    )
    if (tables) tables = left
  }

  const step = async (): Promise<void> => {
    if (tables === undefined) await findTables()
    if (type < TYPES.length) queue.push(...(await nextAddresses()))
    const work = async (): Promise<void> => {
      while (!state.failure) {
        const next = queue.shift()
        if (next === undefined) return
        await compare(next)
      }
    }
    await Promise.all(Array.from({ length: WIDTH }, work))
    if (!state.failure) await compareTables()
  }

  return {
    /** Compares the next accounts. */
    more(): void {
      if (state.isRunning || state.isEnded) return
      update({ isRunning: true, failure: undefined })
      step()
        .then(() => update({ isRunning: false, isEnded: type >= TYPES.length && queue.length === 0 && !state.failure }))
        .catch(() => {})
    },
    stop: () => stopped.abort(),
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
